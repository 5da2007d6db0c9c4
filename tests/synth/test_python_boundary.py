"""What Python may do to an instrument and what it may not: arrays, messages, their order, threads, copies."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mido
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synth.playing import RATE, SMALL, Event, cc, instrument, off, on, render

from engine.errors import EngineError
from engine.synth import memory
from engine.synth.admission import AT_ONCE, admitted
from engine.synth.errors import BusyError, CallError
from engine.synth.instrument import Instrument

pytestmark = pytest.mark.usefixtures("shared_designs")

FRAMES = 64
NOTES: list[Event] = [(0, on(50)), (100, on(57)), (700, off(50)), (900, cc(1, 90))]


# --- arrays -----------------------------------------------------------------------------------------------------------


def read_only() -> Any:
    out = np.zeros((FRAMES, 2), np.float32)
    out.flags.writeable = False
    return out


def misaligned() -> Any:
    return np.zeros(FRAMES * 8 + 1, np.uint8)[1:].view(np.float32).reshape(FRAMES, 2)


class Lookalike:
    """Has all that used to be asked for, and no memory."""

    dtype, ndim, shape = np.dtype(np.float32), 2, (FRAMES, 2)
    flags = np.zeros((1, 1), np.float32).flags
    ctypes = np.zeros((1, 1), np.float32).ctypes


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "immutable bytes": (lambda: np.frombuffer(bytes(8 * FRAMES), np.float32).reshape(-1, 2), "not writeable"),
    "read-only": (read_only, "not writeable"),
    "broadcast": (lambda: np.broadcast_to(np.zeros((1, 2), np.float32), (FRAMES, 2)), "not c-contiguous"),
    "misaligned": (misaligned, "not aligned"),
    "every second frame": (lambda: np.zeros((2 * FRAMES, 2), np.float32)[::2], "not c-contiguous"),
    "transposed": (lambda: np.zeros((2, FRAMES), np.float32).T, "not c-contiguous"),
    "doubles": (lambda: np.zeros((FRAMES, 2)), "this is float64"),
    "other byte order": (lambda: np.zeros((FRAMES, 2), np.dtype(np.float32).newbyteorder()), "this is .f4"),
    "one channel": (lambda: np.zeros((FRAMES, 1), np.float32), "shape"),
    "flat": (lambda: np.zeros(2 * FRAMES, np.float32), "shape"),
    "three dimensions": (lambda: np.zeros((FRAMES, 2, 1), np.float32), "shape"),
    "a list": (lambda: [[0.0, 0.0]] * FRAMES, "this is list"),
    "bytes": (lambda: bytes(8 * FRAMES), "this is bytes"),
    "a lookalike": (Lookalike, "this is Lookalike"),
    "nothing": (lambda: None, "this is NoneType"),
}


@pytest.mark.parametrize("way", ["run", "process"])
@pytest.mark.parametrize("fault", REFUSED)
def test_only_memory_that_can_take_a_block_is_written_to(fault: str, way: str) -> None:
    make, words = REFUSED[fault]
    inst, out = instrument("modal"), make()
    inst.schedule(0, on(60))
    with pytest.raises(CallError, match=f"float32.*{words}") as caught:
        inst.run(out) if way == "run" else inst.process([], out)
    assert "\n" not in str(caught.value)
    assert inst.clock == 0
    if isinstance(out, np.ndarray):
        assert not out.any()


def test_an_immutable_object_stays_as_it_is() -> None:
    data = bytes(8 * FRAMES)
    inst = instrument("modal")
    inst.schedule(0, on(60, 127))
    with pytest.raises(CallError):
        inst.run(np.frombuffer(data, np.float32).reshape(-1, 2))
    assert data == bytes(8 * FRAMES)


def test_files_in_memory_are_written_where_they_may_be(tmp_path: Path) -> None:
    wanted = render(instrument("modal"), [(0, on(60))], 600)
    file = tmp_path / "sound.raw"
    out = np.memmap(file, np.float32, "w+", shape=(600, 2))
    inst = instrument("modal")
    inst.schedule(0, on(60))
    inst.run(out)
    out.flush()
    assert (np.fromfile(file, np.float32).reshape(-1, 2) == wanted).all()
    with pytest.raises(CallError, match="writeable"):
        inst.run(np.memmap(file, np.float32, "r", shape=(600, 2)))


def test_a_block_without_frames_is_one() -> None:
    inst = instrument("modal")
    inst.run(np.zeros((0, 2), np.float32))
    inst.process([mido.Message("note_on", note=60, velocity=100)], np.zeros((0, 2), np.float32))
    out = np.zeros((500, 2), np.float32)
    inst.run(out)
    assert (out == render(instrument("modal"), [(0, on(60))], 500)).all()


# --- messages ---------------------------------------------------------------------------------------------------------

NO_MESSAGES: list[Any] = [
    [0x90, 60, 300],
    [0x90, -1, 100],
    [0x90, 60, 200],
    [0x190, 60, 100],
    [0x90, 60.0, 100],
    [0x90, "60", 100],
    [0x90, None, 100],
    [0x90, 10**5000, 100],
    [0x90, 60],
    [0x90],
    [0x90, 60, 100, 0],
    [0xD0, 1, 2, 3],
    [0xD0, 200],
    [0xD0],
    "abc",
    {0x90: 60},
    5,
    None,
]


@pytest.mark.parametrize("data", NO_MESSAGES, ids=range(len(NO_MESSAGES)))
def test_what_is_no_message_is_refused_in_one_line(data: Any) -> None:
    """Bytes out of their range changed the others: 300 for the velocity was a note of another channel."""
    inst = instrument("modal")
    for call in (
        lambda: inst.schedule(0, data),
        lambda: inst.process([(data, 0.0)], np.zeros((8, 2), np.float32)),
        lambda: inst([(data, 0.0)], 0.01, RATE),
    ):
        with pytest.raises(CallError) as caught:
            call()
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 250
    assert inst.silent


@pytest.mark.parametrize("data", [b"\x90\x3c\x64", bytearray(b"\x90\x3c\x64"), memoryview(b"\x90\x3c\x64")])
def test_bytes_of_any_kind_are_a_message(data: Any) -> None:
    for same in (data, np.frombuffer(bytes(data), np.uint8), tuple(data), [np.uint8(0x90), np.int8(60), np.int64(100)]):
        assert admitted(same) == [0x90 | 60 << 8 | 100 << 16]


def test_a_short_message_may_be_filled_up() -> None:
    assert admitted([0xD0, 5, 0]) == admitted([0xD0, 5]) == [0xD0 | 5 << 8]


def test_a_message_cut_short_is_told_what_it_is() -> None:
    with pytest.raises(CallError, match=r"^message 145 60: has 2 bytes, and a whole note on has 3$"):
        admitted([0x91, 60])


@pytest.mark.parametrize("sample", [1.5, 0.0, "0", None, 1 << 62, float("nan"), np.float64(3)])
def test_a_sample_is_a_whole_number(sample: Any) -> None:
    inst = instrument("modal")
    with pytest.raises(CallError, match="whole number"):
        inst.schedule(sample, on(60))
    assert inst.schedule(np.int32(3), on(60))
    assert inst.schedule(-5, cc(3, 1)) if inst.silent else True


@pytest.mark.parametrize(
    "seconds", [float("nan"), float("inf"), -float("inf"), "soon", None, 10**400, [0.1], 1j, 1e300]
)
def test_a_time_is_seconds(seconds: Any) -> None:
    inst, out = instrument("modal"), np.zeros((64, 2), np.float32)
    with pytest.raises(CallError, match="seconds"):
        inst.process([(on(60), 0.0), (on(62), seconds)], out)
    assert inst.silent
    assert inst.clock == 0


@pytest.mark.parametrize("messages", [5, None, "C4", b"\x90\x3c\x64", [on(60)], [0x90, 60, 100], np.zeros((2, 100))])
def test_what_is_no_list_of_messages_is_refused(messages: Any) -> None:
    inst = instrument("modal")
    with pytest.raises(CallError, match="mido"):
        inst.process(messages, np.zeros((64, 2), np.float32))


# --- order and room ---------------------------------------------------------------------------------------------------


def test_a_message_out_of_order_is_refused() -> None:
    """It would have waited for what was scheduled before it: a note at 0 was heard half a second later."""
    inst = instrument("modal")
    assert inst.schedule(500, on(60))
    with pytest.raises(CallError, match="sample 100: a message for sample 500 waits"):
        inst.schedule(100, on(62))
    with pytest.raises(CallError, match="sample 499"):
        inst.process([(on(62), 499 / RATE)], np.zeros((600, 2), np.float32))
    assert inst.clock == 0
    assert inst.schedule(500, on(64))
    out = np.zeros((900, 2), np.float32)
    inst.run(out)
    assert (out == render(instrument("modal"), [(500, on(60)), (500, on(64))], 900)).all()
    assert inst.schedule(100, on(62)), "nothing waits any more: it is late, and obeyed at once"


def test_process_takes_messages_in_any_order() -> None:
    wanted = render(instrument("modal"), NOTES, 1200)
    inst, out = instrument("modal"), np.zeros((1200, 2), np.float32)
    inst.process([(data, sample / RATE) for sample, data in reversed(NOTES)], out)
    assert (out == wanted).all()


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 90), st.integers(0, 127)), max_size=30), st.integers(1, 6))
def test_a_block_takes_more_messages_than_the_ring_holds(some: list[tuple[int, int]], times: int) -> None:
    """All obeyed on their samples: the same bits as in blocks of one frame, and nothing lost."""
    many = [(n % 90, cc(3, n % 128)) for n in range(times * 2000)]
    score = sorted([*many, *((at, on(30 + value // 2)) for at, value in some)], key=lambda event: event[0])
    whole, single = instrument("modal"), np.zeros((100, 2), np.float32)
    for n in range(100):
        whole.process([(data, 0.0) for at, data in score if at == n], single[n : n + 1])
    inst, out = instrument("modal"), np.zeros((100, 2), np.float32)
    inst.process([(data, at / RATE) for at, data in score], out)
    assert inst.report()["events_lost"] == 0
    assert (out == single).all()
    assert (inst([(data, at / RATE) for at, data in score], 100 / RATE, RATE, buffer_size=37) == single.T).all()


def test_too_many_messages_at_one_sample_go_on_with_the_next() -> None:
    """As `render` has it: a ring full of controllers, and the last note two samples later."""
    inst, out = instrument("modal"), np.zeros((600, 2), np.float32)
    inst.process([*[(cc(3, n % 128), 0.0) for n in range(2 * AT_ONCE)], (on(60), 0.0)], out)
    assert inst.report()["events_lost"] == 0
    assert (out == render(instrument("modal"), [(2, on(60))], 600)).all()


def test_messages_that_fit_nowhere_are_refused_before_anything_is_played() -> None:
    inst, out = instrument("modal"), np.ones((64, 2), np.float32)
    later = [(cc(3, n % 128), 0.01 + n / RATE) for n in range(memory.RING_SIZE + 1)]
    with pytest.raises(CallError, match=r"4097 messages for after the block: 4096 may wait"):
        inst.process(later, out)
    assert (inst.clock, inst.silent, out.min()) == (0, True, 1.0)
    inst.process(later[1:], out)
    assert inst.report()["events_lost"] == 0


# --- one at a time ----------------------------------------------------------------------------------------------------


def test_while_one_caller_plays_another_gets_an_exception() -> None:
    inst = instrument("modal")
    ways: dict[str, Callable[[], Any]] = {
        "run": lambda: inst.run(np.zeros((64, 2), np.float32)),
        "process": lambda: inst.process([], np.zeros((64, 2), np.float32)),
        "call": lambda: inst([], 0.01, RATE),
        "another rate": lambda: inst([], 0.01, 44_100),
        "reset": inst.reset,
    }
    caught = []

    def meddle() -> None:
        for name, way in ways.items():
            try:
                way()
            except BusyError:
                caught.append(name)
        assert inst.schedule(0, on(60)), "messages may come at any time"

    with inst._turn:
        side_by_side(meddle)
        with pytest.raises(BusyError, match="playing for another caller; wait for that one, or make an instrument"):
            inst.reset()
    assert caught == list(ways)
    assert (render(inst, [], 500) == render(instrument("modal"), [(0, on(60))], 500)).all()


def test_two_threads_on_one_instrument_come_to_an_end() -> None:
    """Both looped for ever. Every block is either rendered or refused."""
    inst = Instrument(SMALL["modal"], RATE, polyphony=32)
    for key in range(40, 70):
        inst.schedule(0, on(key))
    rendered: list[int] = []
    gate = threading.Barrier(2)

    def playing() -> None:
        out = np.zeros((4800, 2), np.float32)
        gate.wait()
        for _ in range(10):
            try:
                inst.run(out)
                rendered.append(len(out))
            except BusyError:
                pass

    side_by_side(playing, playing)
    assert inst.clock == sum(rendered) > 0


def side_by_side(*jobs: Callable[[], None]) -> None:
    threads = [threading.Thread(target=job, daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)


def test_nor_may_a_caller_come_back_from_within() -> None:
    """A message that plays the instrument while it is being asked what it is, before anything has begun."""

    class Meddler:
        time = 0.0

        def bytes(self) -> list[int]:
            with inst._turn:
                inst.run(np.zeros((64, 2), np.float32))
            return on(60)

    inst = instrument("modal")
    with pytest.raises(BusyError):
        inst.process([Meddler()], np.zeros((64, 2), np.float32))
    inst.process([], np.zeros((64, 2), np.float32))


def test_what_is_refused_is_an_error_of_the_engine_and_one_of_python() -> None:
    assert issubclass(CallError, EngineError)
    assert issubclass(CallError, TypeError)
    assert issubclass(CallError, ValueError)
    assert issubclass(BusyError, EngineError)
    assert issubclass(BusyError, RuntimeError)


# --- copies -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "way",
    [copy.copy, copy.deepcopy, lambda inst: pickle.loads(pickle.dumps(inst))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_a_copy_is_silent_and_shares_nothing(way: Callable[[Instrument], Instrument]) -> None:
    inst = Instrument(SMALL["grid frets"], 44_100.0, 100, 1, 3, "just on D", mono=True)
    wanted = render(inst, NOTES, 1500)
    other = way(inst)
    assert (other.clock, other.silent) == (0, True)
    settings = ("preset", "sample_rate", "block_size", "oversample", "polyphony", "tuning", "channels")
    assert [getattr(other, name) for name in settings] == [getattr(inst, name) for name in settings]
    both = [(made._bank.block, made._bank.image) for made in (inst, other)]
    assert not any(np.shares_memory(a, b) for a in both[0] for b in both[1])
    inst.run(np.zeros((500, 1), np.float32))
    address = inst.address
    del inst
    assert other.address != address
    assert (render(other, NOTES, 1500) == wanted).all()


SPAWNED = """
import pickle, sys
import numpy as np
inst = pickle.load(sys.stdin.buffer)
out = np.zeros((1000, 2), np.float32)
inst.schedule(0, [0x90, 60, 100])
inst.run(out)
sys.stdout.buffer.write(out.tobytes())
"""


def test_a_pickle_is_played_in_another_process() -> None:
    inst = instrument("modal")
    done = subprocess.run(
        [sys.executable, "-c", SPAWNED],
        input=pickle.dumps(inst), capture_output=True, check=True, timeout=300, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.stdout == render(instrument("modal"), [(0, on(60))], 1000).tobytes()
