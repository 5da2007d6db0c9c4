"""What PortAudio and RtMidi call: from threads of their own, whether the interpreter is busy or not."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from live.driving import packed, replay
from numpy.typing import NDArray
from synth.playing import SMALL, cc, off, on

from engine.compiled import FLAGS, INTERPRETED, load_acquire, now
from engine.live.player import Player
from engine.live.thread import callback
from engine.synth.instrument import Instrument

if INTERPRETED:
    pytest.skip("C can call compiled code only", allow_module_level=True)

AUDIO = ctypes.CFUNCTYPE(
    ctypes.c_int,
    *(ctypes.c_size_t, ctypes.c_size_t, ctypes.c_ulong, ctypes.c_size_t, ctypes.c_ulong, ctypes.c_size_t),
)
MIDI = ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t)
audio, midi = AUDIO(callback.audio.address), MIDI(callback.midi.address)


def on_a_thread(job: Callable[[], Any]) -> Any:
    """The job's result, from a thread that has never run before."""
    got: list[Any] = []
    thread = threading.Thread(target=lambda: got.append(job()))
    thread.start()
    thread.join(60)
    return got[0]


def posted(player: Player) -> NDArray[np.int64]:
    """The word in which the callback finds whom it plays."""
    return np.array([player.address], np.int64)


def blocks(player: Player, sizes: list[int], flags: int = 0) -> NDArray[np.float32]:
    """What a library hears that calls the player."""
    heard, post = [], posted(player)
    for size in sizes:
        out = np.full((size, player.channels), np.nan, np.float32)
        assert audio(0, out.ctypes.data, size, 0, flags, post.ctypes.data) == 0
        heard.append(out)
    return np.concatenate(heard)


@pytest.mark.parametrize("name", ["bridge", "grid frets"])
def test_the_samples_are_those_of_an_offline_render(name: str) -> None:
    """Numbers too small for a float32 are zero on the card's thread, and that is all the difference."""
    inst, player, rng = Instrument(SMALL[name], 8000), Player(8000, 128), np.random.default_rng(4)
    assert player.change(inst)

    def session() -> NDArray[np.float32]:
        heard = []
        for data in (
            on(50, 90),
            cc(1, 30),
            on(57),
            cc(64, 127),
            off(50),
            on(62, 120),
            cc(1, 90),
            cc(64, 0),
            cc(123, 0),
        ):
            assert player.send(data)
            heard.append(blocks(player, rng.integers(1, 2000, 3).tolist()))
        return np.concatenate([*heard, blocks(player, [1024] * 60)])

    got, journal = on_a_thread(session), player.new_events()
    assert len(journal) == 9
    assert (got == replay(inst, journal, len(got))).all()


@numba.njit(**FLAGS)
def product(a: Any, b: Any) -> Any:
    return a * b


def test_the_thread_that_calls_gets_its_arithmetic_back() -> None:
    """The renderer takes the smallest numbers as zero, for as long as it runs."""

    def job() -> tuple[float, float]:
        before = product(1e-310, 0.5)
        blocks(Player(48_000, 64), [64])
        return before, product(1e-310, 0.5)

    before, after = on_a_thread(job)
    assert before == after > 0.0


def test_the_host_s_arguments_arrive() -> None:
    player = Player(48_000, 64, channels=3)
    got = on_a_thread(lambda: blocks(player, [64, 100], flags=4))
    assert (got == 0.0).all()
    assert player.gauges.underflows == 2
    before, rows = time.perf_counter_ns(), player.new_blocks()
    assert rows[:, 2].tolist() == [64, 100]
    assert (rows[:, 0] < before).all()
    assert (rows[:, 0] > before - 10e9).all()


def test_midi_from_a_thread_of_its_own() -> None:
    player = Player(48_000, 128)
    sent = [on(60), [0xD3, 7], off(60)]

    def port() -> None:
        for data in (*sent, [0xF8], [0x90, 60], [0xF0, 1, 2, 3, 0xF7], [0xC0, 1]):  # nobody is program 2
            midi(0.1, bytes(data), len(data), player.inlet(5))

    on_a_thread(port)
    time.sleep(0.01)
    on_a_thread(lambda: blocks(player, [128]))
    assert player.new_events()[:, 1].tolist() == [packed(data) for data in sent]


# --- the interpreter --------------------------------------------------------------------------------------------------

FRAMES, RATE = 128, 48_000
PERIOD = round(FRAMES / RATE * 1e9)


@numba.njit(**FLAGS)
def drive(call: Any, post: Any, out: Any, stop: Any) -> None:
    """A sound card: calls for each block when it is due, on a thread that the interpreter knows nothing of."""
    due = now()
    while load_acquire(stop, 0) == 0:
        while now() < due:
            pass
        call(0, out, FRAMES, 0, 0, post)
        due += PERIOD


def compile_drive(call: Any, player: Player) -> None:
    """It may take a while, and then notes that wait are no longer worth beginning."""
    drive(call, posted(player).ctypes.data, 0, np.ones(1, np.int64))


def longest_wait(call: Any, player: Player, times: Callable[[], list[int]]) -> float:
    """The longest time without a block, as a share of the time for which one call holds the interpreter."""
    out, stop, rng = np.zeros((FRAMES, 2), np.float32), np.zeros(1, np.int64), np.random.default_rng(1)
    post = posted(player)
    many = rng.random(1_500_000).tolist()
    compile_drive(call, player)
    thread = threading.Thread(target=drive, args=(call, post.ctypes.data, out.ctypes.data, stop))
    thread.start()
    time.sleep(0.05)
    begun = time.perf_counter_ns()
    sorted(many)
    ended = time.perf_counter_ns()
    time.sleep(0.05)
    stop[0] = 1
    thread.join(10)
    assert ended - begun > 50 * PERIOD
    came = np.array([t for t in times() if begun - 10 * PERIOD < t < ended + 10 * PERIOD])
    assert len(came) > 50
    return float(np.diff(came).max() / (ended - begun))


def test_blocks_go_on_while_the_interpreter_is_busy() -> None:
    player = Player(RATE, FRAMES)
    assert player.change(Instrument(SMALL["bridge"], RATE))
    compile_drive(audio, player)
    assert player.send(on(50))
    assert longest_wait(audio, player, lambda: player.new_blocks()[:, 0].tolist()) < 0.5
    assert player.take_peak()[0] > 0.01


def test_a_python_callback_in_the_same_place_waits_for_it() -> None:
    """The control: what the compiled callback is for."""
    begun: list[int] = []

    def python(nothing: int, out: int, frames: int, times: int, flags: int, player: int) -> int:
        begun.append(time.perf_counter_ns())
        return 0

    assert longest_wait(AUDIO(python), Player(RATE, FRAMES), lambda: begun) > 0.8
