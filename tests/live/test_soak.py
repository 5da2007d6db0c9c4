"""scripts/soak.py: some seconds of it, and that it notices what it is there for."""

from __future__ import annotations

import itertools
import json
import mmap
import subprocess
import sys
from pathlib import Path

import pytest
import soak
from live.driving import Card
from live.jack import jack_server, needs_jack
from synth.playing import SMALL

from engine.live.player import Player
from engine.synth.instrument import Instrument

TIMES = 3
ASKED = 0.9 * 6.0 * 48000 / 128  # blocks of a card that is on time


@needs_jack
@pytest.mark.alone  # how much the card asks for depends on what else runs
def test_some_seconds_are_sound(tmp_path: Path) -> None:
    wanted = ("--jack", "--minutes", "0.1", "--preset", "plain", "--json", str(tmp_path / "soak.json"))
    with jack_server(tmp_path) as server:
        for _ in range(TIMES):
            run = subprocess.run(
                [sys.executable, soak.__file__, *wanted],
                env=server.environment,
                capture_output=True,
                text=True,
                timeout=300,
            )
            blocks = json.loads((tmp_path / "soak.json").read_text())["blocks"]
            if blocks > ASKED:
                break
            print(f"the card asked for {blocks} blocks, not {ASKED:.0f}: the machine was busy; measured once more")
    said = [line for line in run.stderr.splitlines() if "compiling for this machine" not in line]
    assert (run.returncode, said) == (0, [])
    report = json.loads((tmp_path / "soak.json").read_text())
    assert report["card"] == "system (JACK Audio Connection Kit)"
    assert "straight to the player" in report["midi"]
    assert report["blocks"] > ASKED
    assert report["events"] > 3 * 130, "what releases everything, and music"
    assert report["peak"] > 0.01
    assert (report["stuck_notes"], report["events_lost"], report["events_lost_on_the_way"]) == (0, 0, 0)
    assert 20.0 < report["memory_mb"] < 2000.0
    assert "stuck notes: 0\n" in run.stdout


def test_a_note_that_does_not_end_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soak, "RING_OUT", 0.2)
    player = Player(8000, 128)
    assert player.change(Instrument(SMALL["bridge"], 8000))
    card = Card(player)
    for message in ((0x90, 60, 100), (0x91, 60, 100), (0xB0, 64, 127)):
        assert player.send(message, int(card.time))
    card.run(5)
    assert soak.stuck(player) == 2
    monkeypatch.setattr(soak.time, "sleep", lambda seconds: None)
    assert soak.release(player.send) == len(soak.CHANNELS) * 130
    card.run_now()
    for _ in range(2000):
        card.run()
    assert soak.stuck(player) == 0


def test_growth_is_told_from_accidents() -> None:
    level = [100.0, 100.1] * 20
    assert abs(soak.growth(level)) <= 0.1
    assert abs(soak.growth([150.0, *level, 150.0])) <= 0.1
    assert soak.growth([megabytes + n * 0.05 for n, megabytes in enumerate(level)]) > soak.MOST_GROWTH


def test_memory_is_that_of_this_process() -> None:
    before = soak.memory()
    with mmap.mmap(-1, 50_000_000) as ballast:  # not from the heap, where as much may have been free already
        for page in range(0, len(ballast), mmap.PAGESIZE):
            ballast[page] = 1
        assert 40.0 < soak.memory() - before < 60.0


def test_music_is_music() -> None:
    """Nothing but channel messages; at no time more keys than a hand or two; every channel plays."""
    held: list[tuple[int, int]] = [(0, 60)]
    seen = set()
    for wait, message in itertools.islice(soak.music(3), 20_000):
        assert 0.0 <= wait < 1.0
        assert 0x80 <= message[0] <= 0xEF
        assert max(message[1:]) < 128
        seen.add((message[0] & 0xF0, message[0] & 0x0F))
        if message[0] & 0xF0 == 0x90:
            held.append((message[0] & 0x0F, message[1]))
        elif message[0] & 0xF0 == 0x80:
            held.remove((message[0] & 0x0F, message[1]))
        assert len(held) <= soak.MOST_HELD
    assert seen == {(kind, channel) for kind in (0x80, 0x90, 0xB0, 0xD0, 0xE0) for channel in soak.CHANNELS}
