"""The computer's keys: what is typed is played, a held key is heard once, and nothing hangs."""

from __future__ import annotations

import io
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from live.pseudo_terminal import POSIX, terminal

from engine.commands import play
from engine.compiled import now
from engine.live.player import Player
from engine.live.screen import computer_keys as module
from engine.live.screen.computer_keys import HOLD, STILL, ComputerKeys, Repeats
from engine.live.screen.key_table import COMMANDS, PIANO, TABLE, Command, help_lines, hint
from engine.live.screen.typed import Typed
from engine.live.thread.block import run_block


class Recorder:
    """Stands for a player: keeps what is sent, with its time."""

    def __init__(self) -> None:
        self.at, self.sent = 0.0, []  # type: float, list[tuple[float, list[int]]]

    def send(self, data: list[int]) -> bool:
        self.sent.append((self.at, list(data)))
        return True

    def of(self, status: int) -> list[tuple[float, int, int]]:
        return [(at, data[1], data[2]) for at, data in self.sent if data[0] & 0xF0 == status]


class Hands(Typed):
    """Somebody who types at given times."""

    live = True

    def __init__(self) -> None:
        self.text = ""

    def take(self, wait: float = 0.0) -> str:
        text, self.text = self.text, ""
        return text


class Desk:
    """Keys, hands and a recorder on one invented clock, looked at every 10 ms."""

    def __init__(self, **options: Any) -> None:
        self.player, self.hands = Recorder(), Hands()
        self.keys = ComputerKeys(self.player, stream=self.hands, clock=lambda: self.player.at, **options)  # type: ignore[arg-type]
        self.commands: list[Command] = []

    def until(self, end: float) -> None:
        while self.player.at < end - 1e-9:
            self.player.at = min(self.player.at + 0.01, end)
            self.commands += self.keys.poll()

    def type(self, at: float, text: str) -> None:
        self.until(at)
        self.hands.text = text
        self.commands += self.keys.poll()

    def hold(self, at: float, character: str, seconds: float, wait: float = 0.5, period: float = 0.033) -> None:
        """What a held key sends."""
        self.type(at, character)
        for i in range(int((seconds - wait) / period) + 1):
            self.type(at + wait + i * period, character)

    def names(self) -> list[int]:
        return [key for _, key, _ in self.player.of(0x90)]


# --- what keys mean ---------------------------------------------------------------------------------------------------


def test_letters_are_a_piano() -> None:
    desk = Desk()
    for i, character in enumerate(PIANO):
        desk.type(0.3 * i, character)
    assert desk.names() == list(range(48, 48 + len(PIANO)))
    assert [key % 12 in (1, 3, 6, 8, 10) for key in desk.names()] == [c in "wetyuop" for c in PIANO]


def test_octave_velocity_channel_and_capitals() -> None:
    desk = Desk(channel=3)
    for i, character in enumerate("axAvzzazszcccacv" + "v" * 9 + "a" + "c" * 20 + "a"):
        desk.type(0.2 * i, character)
    assert [(key, velocity) for _, key, velocity in desk.player.of(0x90)] == [
        (48, 100), (60, 100), (36, 110), (26, 110), (12, 80), (12, 127), (12, 10),
    ]  # fmt: skip
    assert {data[0] & 0x0F for _, data in desk.player.sent} == {3}


def test_octaves_end_where_midi_does() -> None:
    desk = Desk()
    for i, character in enumerate("z" * 20 + "a" + "x" * 20 + "ag;"):
        desk.type(0.2 * i, character)
    assert desk.names() == [0, 120, 127]  # ";" would be 136


def test_a_pluck_is_let_go_after_its_hold() -> None:
    desk = Desk()
    desk.type(1.0, "a")
    desk.type(1.2, "d")
    desk.until(3.0)
    assert desk.player.of(0x90) == [(1.0, 48, 100), (1.2, 52, 100)]
    assert desk.player.of(0x80) == [(pytest.approx(1.0 + HOLD), 48, 64), (pytest.approx(1.2 + HOLD), 52, 64)]


def test_touched_again_a_string_is_plucked_again() -> None:
    """Four touches a second for two seconds: every one is heard, and the note ends once."""
    desk = Desk()
    for i in range(8):
        desk.type(0.25 * i, "a")
    desk.until(5.0)
    assert desk.names() == [48] * 8
    assert desk.player.of(0x80) == [(pytest.approx(7 * 0.25 + HOLD, abs=0.011), 48, 64)]


@pytest.mark.parametrize("wait", [0.2, 0.25, 0.5, 0.66, 1.0])
@pytest.mark.parametrize("period", [0.02, 0.033, 0.09])
def test_a_held_key_holds_its_note(wait: float, period: float) -> None:
    desk = Desk()
    desk.hold(0.0, "s", 2.0, wait, period)  # the wait is learned here
    desk.until(5.0)
    desk.player.sent.clear()
    desk.hold(10.0, "a", 3.0, wait, period)
    last = desk.player.at
    desk.until(20.0)
    assert desk.player.of(0x90) == [(pytest.approx(10.0), 48, 100)]
    assert desk.player.of(0x80) == [(pytest.approx(last + STILL, abs=0.011), 48, 64)]


def test_the_first_held_key_is_plucked_at_most_twice() -> None:
    desk = Desk()
    desk.hold(0.0, "a", 5.0)
    desk.until(10.0)
    assert len(desk.names()) == 2
    assert len(desk.player.of(0x80)) in (1, 2)


def test_pedal_and_commands_do_not_repeat() -> None:
    desk = Desk()
    desk.hold(0.0, "s", 1.0)
    desk.hold(5.0, " ", 3.0)
    assert desk.player.of(0xB0) == [(5.0, 64, 127)]
    desk.type(9.0, " ")
    assert desk.player.of(0xB0)[1:] == [(9.0, 64, 0)]
    desk.hold(10.0, "+", 3.0)
    assert desk.commands == [Command.NEXT]


def test_commands() -> None:
    desk = Desk()
    desk.until(1.0)
    for i, character in enumerate("+=][-_?\tqQ\x03\x04"):
        desk.type(2.0 + 0.2 * i, character)
    n, p, q = Command.NEXT, Command.PREVIOUS, Command.QUIT
    assert desk.commands == [n, n, n, p, p, p, Command.HELP, Command.LIST, q, q, q, q]
    assert desk.player.sent == []


def test_without_keys_letters_are_silent_and_commands_work() -> None:
    desk = Desk(plucking=False)
    for i, character in enumerate("asd zx cv+q"):
        desk.type(0.2 * i, character)
    assert desk.player.sent == []
    assert desk.commands == [Command.NEXT, Command.QUIT]
    assert desk.keys.hint == "- + preset, Tab list, ? help, q quit"


def test_escape_ends_all_sound() -> None:
    desk = Desk()
    desk.type(0.0, "a")
    desk.type(0.2, " ")
    desk.type(0.4, "\x1b")
    assert desk.commands == [Command.SILENCE]
    after = [data for at, data in desk.player.sent if at == 0.4]
    assert after[:2] == [[0x80, 48, 64], [0xB0, 64, 0]]
    assert after[2:] == [[0xB0 | channel, 120, 0] for channel in range(16)]
    desk.until(5.0)
    assert len(desk.player.of(0x80)) == 1


TYPING = st.lists(
    st.tuples(st.floats(0.0, 2.0), st.text(st.sampled_from(PIANO + "zxcv +?\x1b") | st.characters(), max_size=4))
)


@given(TYPING, st.sampled_from([0.05, 0.5, 3.0]))
def test_whatever_is_typed_no_note_hangs(typing: list[tuple[float, str]], hold: float) -> None:
    desk, at = Desk(hold=hold), 0.0
    for gap, text in typing:
        at += gap
        desk.type(at, text)
    desk.until(at + hold + 2.0)
    sounding: set[int] = set()
    for _, data in desk.player.sent:
        if data[0] & 0xF0 == 0x90:
            sounding.add(data[1])
        elif data[0] & 0xF0 == 0x80:
            assert data[1] in sounding
            sounding.discard(data[1])
    assert not sounding


@given(TYPING)
def test_leaving_lets_go_at_once(typing: list[tuple[float, str]]) -> None:
    desk, at = Desk(), 0.0
    with desk.keys:
        for gap, text in typing:
            at += gap
            desk.type(at, text)
    on, pedal = set(), 0
    for _, data in desk.player.sent:
        if data[0] & 0xF0 in (0x80, 0x90):
            (on.add if data[0] & 0x10 else on.discard)(data[1])
        elif data[1] == 64:
            pedal = data[2]
    assert not on
    assert pedal == 0


def test_the_hint_tells_the_state() -> None:
    desk = Desk()
    assert desk.keys.hint == "keys from C3, velocity 100, - + preset, Tab list, ? help, q quit"
    for i, character in enumerate("xc "):
        desk.type(0.2 * i, character)
    assert desk.keys.hint == "keys from C4, velocity 90, pedal down, - + preset, Tab list, ? help, q quit"


def test_help_fits_and_names_every_key() -> None:
    for plucking in (False, True):
        lines = help_lines(plucking)
        assert all(len(line) < 80 and line.isprintable() for line in lines)
        assert all(f" {word} " in f" {' '.join(lines)} " for word in ("q", "?", "Esc", "Tab", "+", "-", "[", "]"))
    words = " ".join(help_lines(True)).split()
    assert all(character in words for character in PIANO + "zxcv")
    black, white = (f"{line:22}" for line in help_lines(True)[:2])  # as they lie on a piano
    at = [max(black.find(f" {key} "), white.find(f" {key} ") if step else -1) for step, key in enumerate(PIANO)]
    assert at == sorted(at)


def test_panel_help_and_documents_name_the_same_keys() -> None:
    """All of them from one table; what is obeyed is in it."""
    readme = (Path(module.__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    told = play.KEYS
    for keys in TABLE.values():
        for text in (readme, told):
            assert f"{keys.shown} {keys.does}" in text
    assert f"\n{hint()}\n" in readme
    for word in hint().replace(",", "").split():
        assert word in ["preset", "list", "help", "quit"] or any(word in keys.shown.split() for keys in TABLE.values())
    assert not set(COMMANDS) & set(PIANO + "zxcv ")
    assert len(COMMANDS) == sum(len(keys.characters) for keys in TABLE.values())


# --- repeats ----------------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(0.13, 3.0), max_size=40))
def test_without_a_held_key_every_touch_counts(gaps: list[float]) -> None:
    repeats, at = Repeats(), 0.0
    for gap in gaps:
        at += gap
        assert not repeats.repeated("a", at)
    assert repeats.wait is None


@given(st.floats(0.2, 1.0), st.floats(0.02, 0.1), st.integers(0, 2**32 - 1))
def test_the_wait_is_learned_despite_jitter(wait: float, period: float, seed: int) -> None:
    random, repeats = np.random.default_rng(seed), Repeats()

    def held(start: float) -> list[bool]:
        times = [start, *(start + wait + period * np.arange(20))]
        return [repeats.repeated("a", at + random.uniform(0.0, 0.015)) for at in times]

    assert held(0.0) == [False, False] + [True] * 19
    assert repeats.wait == pytest.approx(wait, abs=0.016)
    assert held(100.0) == [False] + [True] * 20


@given(st.floats(0.2, 1.0), st.integers(2, 20))
def test_touches_at_the_very_pace_of_the_wait_are_soon_heard(wait: float, touches: int) -> None:
    repeats = Repeats()
    for at in (0.0, wait, wait + 0.03, wait + 0.06):
        repeats.repeated("a", at)
    assert repeats.wait == wait
    assert sum(repeats.repeated("s", 10.0 + wait * i) for i in range(touches)) == 1


def test_another_character_between_is_another_touch() -> None:
    repeats = Repeats()
    assert [repeats.repeated(c, 0.05 * i) for i, c in enumerate("abab")] == [False] * 4


# --- a real player, and no terminal at all ----------------------------------------------------------------------------


@POSIX
def test_plucks_reach_the_journal() -> None:
    player, out = Player(48_000, 128), np.zeros((128, 2), np.float32)
    commands: list[Command] = []

    def play(keys: ComputerKeys, events: int) -> None:
        """Blocks at times of our own, until so many events have been obeyed."""
        end = now() + 5 * 10**9
        while player.gauges.events < events and now() < end:
            commands.extend(keys.poll(0.01))
            run_block(player.address, 128, out.ctypes.data, 0, now() + 10**7)

    with terminal() as (ours, stream):
        with ComputerKeys(player, stream=stream, hold=0.1) as keys:
            os.write(ours, b"a")
            play(keys, 2)
            os.write(ours, b"g")
            play(keys, 3)
            os.write(ours, b" \x1b")
            play(keys, 6 + 16)
            os.write(ours, b"s")
            play(keys, 6 + 16 + 1)
        play(keys, 6 + 16 + 2)
    messages = [[m & 0xFF, m >> 8 & 0xFF, m >> 16] for m in player.new_events()[:, 1].tolist()]
    assert messages == [
        [0x90, 48, 100],
        [0x80, 48, 64],
        [0x90, 55, 100],
        *([[0xB0, 64, 127], [0x80, 55, 64]] if messages[3][0] == 0xB0 else [[0x80, 55, 64], [0xB0, 64, 127]]),
        [0xB0, 64, 0],
        *([0xB0 | channel, 120, 0] for channel in range(16)),
        [0x90, 50, 100],
        [0x80, 50, 64],
    ]
    assert commands == [Command.SILENCE]
    assert player.gauges.stale == 0


def test_no_terminal_no_keys(tmp_path: Path) -> None:
    (tmp_path / "input").write_text("aqa")
    with (tmp_path / "input").open() as file:
        for stream in (file, io.StringIO("aq"), SimpleNamespace(isatty=lambda: True)):
            recorder = Recorder()
            with ComputerKeys(recorder, stream=stream) as keys:  # type: ignore[arg-type]
                assert keys.poll() == keys.poll(0.01) == []
                assert (keys.live, keys.hint) == (False, "")
            assert recorder.sent == []
