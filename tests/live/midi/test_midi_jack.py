"""Every way in, with a real MIDI server and notes from another process: JACK with its dummy driver."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import mido
import numpy as np
import pytest
from live.jack import Server, jack_server, needs_jack
from live.midi_playing import Sender, be_busy, connect, forget, held_after, is_whole, packed, wait_for, waiting
from live.program import Program, program

from engine.live.errors import MissingPart, PortError
from engine.live.midi.any_backend import any_backend
from engine.live.midi.inputs import FIRST, LONG_REST, Inputs
from engine.live.midi.native import native
from engine.live.midi.polled import polled
from engine.live.midi.way import Way
from engine.live.player import Player

pytestmark = needs_jack

Find = Callable[[], Way]
WAYS: dict[str, Find] = {"native": native, "polled": polled, "any backend": any_backend}
INLET = FIRST
WITHIN = 60.0  # s


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with (
        pytest.MonkeyPatch.context() as patch,
        jack_server(tmp_path_factory.mktemp("jack"), period=64, real_time=True) as running,
    ):
        patch.setenv("JACK_DEFAULT_SERVER", running.name)
        patch.delenv("MIDO_BACKEND", raising=False)
        yield running


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Way]:
    if request.param == "any backend":
        monkeypatch.setenv("MIDO_BACKEND", "live.queued_backend")
    made = find(request.param)
    yield made
    made.close()


def find(name: str) -> Way:
    """JACK now and then refuses a client when it has much to do; the program would look again, too."""
    end = time.monotonic() + WITHIN
    while True:
        try:
            return WAYS[name]()
        except MissingPart as error:
            pytest.skip(f"{name}: {error}")
        except PortError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


@pytest.fixture
def player() -> Player:
    return Player(48_000, 128)


# --- messages ---------------------------------------------------------------------------------------------------------

PHRASE = [
    *([0x90, 60, 100], [0x95, 61, 1], [0xB0, 64, 127], [0xC3, 5], [0xE0, 0, 64], [0xD0, 33], [0xA0, 60, 9]),
    *([0x80, 60, 0], [0x95, 61, 0], [0xB0, 123, 0]),
]
FOREIGN = [
    [0xF8],
    [0xFE],
    [0xFA],
    [0xF0, 0x7E, 0x7F, 9, 1, 0xF7],
    [0xF2, 1, 2],
    [0x90, 60],
    [60, 100],
    [0x90, 0x90, 64],
]


def test_messages_come_whole_and_in_order_whatever_is_between(way: Way, player: Player) -> None:
    mixed = [message for pair in zip(PHRASE, [*FOREIGN, *FOREIGN]) for message in pair]
    with Sender("keys") as keys:
        port = way.open("keys:out", player.inlet(INLET))
        connect(keys, player, INLET)
        keys.play(mixed)
        rows = wait_for(player, INLET, len(PHRASE))
        port.close()
    assert [message for _, message in rows] == [packed(message) for message in PHRASE]
    assert [at for at, _ in rows] == sorted(at for at, _ in rows)


def test_stamps_are_of_the_clock_that_sounds_are_placed_by(way: Way, player: Player) -> None:
    with Sender("keys") as keys:
        port = way.open("keys:out", player.inlet(INLET))
        connect(keys, player, INLET)
        sent = keys.play([[0x90, 60, 100]] * 20)
        rows = wait_for(player, INLET, 20)
        port.close()
    late = np.array([at for at, _ in rows]) - sent
    assert len(late) == 20
    assert late.min() > -2_000_000  # a stamp may be a poll early
    assert np.median(late) < 20_000_000


def test_a_virtual_input_can_be_played_into(way: Way, player: Player) -> None:
    port = way.open_virtual("door", player.inlet(INLET))
    with Sender("keys", "to door") as keys:
        connect(keys, player, INLET)
        keys.play(PHRASE)
        rows = wait_for(player, INLET, len(PHRASE))
    port.close()
    assert [message for _, message in rows] == [packed(message) for message in PHRASE]


def test_a_closed_port_says_no_more(way: Way, player: Player) -> None:
    with Sender("keys") as keys:
        port = way.open("keys:out", player.inlet(INLET))
        connect(keys, player, INLET)
        keys.begin([[0x90, 60, 100]] * 300, gap=0.001)
        wait_for(player, INLET, 10)
        port.close()  # in the midst
        count = len(waiting(player, INLET))
        time.sleep(0.1)
        assert len(waiting(player, INLET)) == count
        port.close()  # for the second time
        assert 10 <= count < 300


def test_a_port_that_is_not_there_cannot_be_opened(way: Way, player: Player) -> None:
    with pytest.raises(PortError, match="nobody:nothing"):
        way.open("nobody:nothing", player.inlet(INLET))


def test_names_are_those_of_outputs_for_midi_only(way: Way) -> None:
    assert way.names() == []
    with Sender("keys"), Sender("keys"):
        assert sorted(way.names()) == ["keys-01:out", "keys:out"]


# --- time -------------------------------------------------------------------------------------------------------------


# The control: a program that has nothing else to do, in the same server at the same time.
IDLE = """
from engine.live.midi.native import native
from live.midi_playing import waiting
player, way = Player(48000, 128), native()
port = way.open("keys:out", player.inlet(2))
tell(open=True)
input()
tell(rows=waiting(player, 2))
port.close()
way.close()
"""


@contextmanager
def idle_listener(way: Way) -> Iterator[Program | None]:
    """Somebody who hears the same as a way without an interpreter in it."""
    if "C library" not in way.title:
        yield None
        return
    with program(os.environ, IDLE) as running:
        assert running.told()["open"]
        yield running


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_no_note_is_lost_or_overtaken(way: Way, player: Player, busy: bool, server: Server) -> None:
    """And without an interpreter in the path none is late, however little time it has.

    Nothing is lost but what JACK says that it has dropped: where a client misses a period, what that held is gone.
    """
    notes = [[0x90, 1 + i % 127, 1 + i // 127] for i in range(200)]
    wanted = [packed(note) for note in notes]
    with Sender("keys") as keys, idle_listener(way) as control:
        port = way.open("keys:out", player.inlet(INLET))
        connect(keys, player, INLET)
        missed = server.missed
        keys.begin(notes, gap=0.005)
        be_busy(1.3) if busy else time.sleep(1.1)
        sent = dict(zip(wanted, keys.sent()))
        rows = wait_for(player, INLET, len(notes))
        missed = server.missed - missed
        port.close()
        if control:
            control.go_on()
        idle = [(at, note) for at, note in control.told()["rows"] if note in sent] if control else []
    came = [message for _, message in rows]
    print(f"{way.title}: {len(notes) - len(came)} of {len(notes)} lost, {missed} periods missed by JACK's clients")
    assert came == [note for note in wanted if note in came]
    assert len(notes) - len(came) <= missed
    if control:
        assert on_time(rows, sent) >= on_time(idle, sent) - 0.01


def on_time(rows: list[tuple[int, int]], sent: dict[int, int]) -> float:
    """Of the notes that came, those that took as long as most of them, to 2 ms: how many depends on the machine."""
    late = np.array([at - sent[message] for at, message in rows])
    share = float(np.mean(np.abs(late - np.median(late)) < 2e6))
    print(f"median {np.median(late) / 1e6:.2f} ms, 99 % {np.percentile(late, 99) / 1e6:.2f} ms, {share:.1%} on time")
    return share


# --- bad bytes --------------------------------------------------------------------------------------------------------


def heard(way: Way, flood: list[list[int]]) -> list[int]:
    """What is to be heard of it. mido takes a port's messages for a stream of bytes and finds more."""
    if "mido" not in way.title:
        return [packed(message) for message in flood if is_whole(message)]
    kept = [message for message in flood if message[0] not in (0xF1, 0xF8, 0xFE)]  # RtMidi drops these
    found = mido.parse_all([byte for message in kept for byte in message])
    return [packed(message.bytes()) for message in found if is_whole(message.bytes())]


def test_of_a_flood_of_anything_the_whole_messages_arrive(way: Way, server: Server) -> None:
    """All of them. What was in a period that one of JACK's clients missed is lost: then everything is sent anew."""
    dice = np.random.default_rng(3)
    flood = [dice.integers(0, 256, dice.integers(1, 4)).tolist() for _ in range(1500)]
    flood = [message for message in flood if message[0] != 0xF0]  # RtMidi would wait for its end
    flood[::5] = [[0x90 | int(dice.integers(16)), int(dice.integers(128)), 100] for _ in flood[::5]]
    good = heard(way, flood)
    assert len(good) > 300
    for _ in range(3):
        player, missed = Player(48_000, 128), server.missed
        with Sender("keys") as keys:
            port = way.open("keys:out", player.inlet(INLET))
            connect(keys, player, INLET)
            keys.play(flood, gap=0.0002)
            came = [message for _, message in wait_for(player, INLET, len(good))]
            missed = server.missed - missed
            print(f"{way.title}: {len(came)} of {len(good)} messages, {missed} periods missed by JACK's clients")
            keys.play([[0xF0, 1, 2, 3], [0x90, 60, 100]])  # SysEx without an end, and the plug is drawn
            keys.end()
            port.close()
        player.let_go(INLET)
        assert not held_after([message for _, message in waiting(player, INLET)])
        if came == good:
            return
        assert missed, "what nobody missed must be there"
    assert came == good


# --- plugging ---------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["native", "polled"])
def source(request: pytest.FixtureRequest, server: Server) -> Find:
    find(request.param).close()
    return WAYS[request.param]


def test_a_keyboard_that_comes_later_works_and_is_let_go_when_it_leaves(source: Find, player: Player) -> None:
    said: list[str] = []
    inputs = Inputs(player, None, False, said.append, source)
    assert inputs.names == []
    with Sender("keys") as keys:
        inputs.tick()
        assert inputs.names == ["keys:out"]
        connect(keys, player, INLET)
        keys.play([[0x90, 60, 100], [0x91, 62, 100], [0xB1, 64, 127], [0x80, 60, 0]])
        rows = wait_for(player, INLET, 4)
        assert held_after([message for _, message in rows]) == {(1, 62)}
    time.sleep(0.1)
    inputs.tick()
    assert inputs.names == []
    messages = [message for _, message in waiting(player, INLET)]
    assert not held_after(messages)
    assert packed([0xB1, 64, 0]) in messages[4:]
    forget(player, INLET)
    with Sender("keys") as keys:
        inputs.tick()
        connect(keys, player, INLET)
        keys.play([[0x90, 60, 100]])
        assert len(wait_for(player, INLET, 1)) == 1
        inputs.close()
    assert said == ["MIDI: keys:out", "MIDI: keys:out is gone", "MIDI: keys:out"]


def test_a_name_is_looked_for_among_what_is_there(source: Find, player: Player) -> None:
    with Sender("keys"), Sender("pads"):
        inputs = Inputs(player, ["PAD"], True, lambda line: None, source)
        assert inputs.names == ["jawari", "pads:out"]
        inputs.close()
        said: list[str] = []
        Inputs(player, ["nord"], False, said.append, source).close()
        assert said == ["MIDI: waiting for an input with nord in its name; there are: keys:out, pads:out"]
    Inputs(player, ["nord"], False, said.append, source).close()
    assert said[1:] == ["MIDI: waiting for an input with nord in its name; there is none at all"]


def test_looking_costs_next_to_nothing(source: Find, player: Player) -> None:
    with Sender("keys"), Sender("pads"):
        inputs = Inputs(player, None, True, lambda line: None, source)
        took = []
        for _ in range(50):
            begun = time.perf_counter()
            inputs.tick()
            took.append(time.perf_counter() - begun)
        inputs.close()
    print(f"a tick takes {1e3 * np.median(took):.3f} ms")
    assert np.median(took) < 0.005


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_server_that_ends_takes_nobody_with_it(
    source: Find,
    how: signal.Signals,
    player: Player,
    server: Server,
    capfd: pytest.CaptureFixture[str],
) -> None:
    said: list[str] = []
    with Sender("keys") as keys:
        inputs = Inputs(player, ["keys"], True, said.append, source)
        assert inputs.names == ["jawari", "keys:out"]
        connect(keys, player, INLET + 1)
        keys.play([[0x90, 60, 100]])
        assert len(wait_for(player, INLET + 1, 1)) == 1
        server.stop(how)
        time.sleep(0.2)
        for _ in range(20):  # it looks for another all the while
            inputs.tick()
    assert inputs.names == []
    assert not held_after([message for _, message in waiting(player, INLET + 1)])
    server.start()
    for _ in range(LONG_REST):
        inputs.tick()
    assert inputs.names == ["jawari"]
    with Sender("keys", "to jawari-midi") as keys:
        forget(player, INLET)
        connect(keys, player, INLET)
        keys.play(PHRASE)
        assert len(wait_for(player, INLET, len(PHRASE))) == len(PHRASE)
    inputs.close()
    assert said == ["MIDI: jawari", "MIDI: keys:out", "MIDI: JACK's server is gone; waiting for it", "MIDI: jawari"]

    assert capfd.readouterr().err == ""


def test_rtmidi_itself_does_not_see_that_the_server_is_dead(source: Find, server: Server) -> None:
    """Why there is a watch: were this to change, it could go."""
    with Sender("keys"):
        made = source()
        assert made.names() == ["keys:out"]
        assert made.alive
        server.stop(signal.SIGKILL)
        time.sleep(0.2)
        assert made.names() == ["keys:out"]
        assert not made.alive
        made.close()
    server.start()


CARELESS = """
import sys, time
from engine.live.midi.inputs import Inputs
from engine.live.midi.native import native
from engine.live.midi.polled import polled
from engine.live.player import Player
inputs = Inputs(Player(48000, 128), None, False, lambda line: None, {"native": native, "polled": polled}[sys.argv[1]])
print(inputs.names, flush=True)
time.sleep(0.2)
"""


def test_a_program_may_end_without_closing_anything(source: Find) -> None:
    """Drivers go on writing to the very last moment: into memory that must still be there."""
    with Sender("keys") as keys:
        keys.begin([[0x90, 60, 100]] * 20_000, gap=0.0003)
        command = [sys.executable, "-c", CARELESS, source.__name__]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "['keys:out']\n", "")


def test_libraries_do_not_write_to_the_terminal(
    source: Find, player: Player, capfd: pytest.CaptureFixture[str]
) -> None:
    inputs = Inputs(player, None, True, lambda line: None, source)  # in passing it tries ALSA, which is not there
    inputs.tick()
    inputs.close()
    assert capfd.readouterr() == ("", "")
