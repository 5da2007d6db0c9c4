"""MIDI's tuning standard: what its messages say, and that strings sound there, to a cent's fraction."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synth.playing import (
    PLAIN,
    RATE,
    SMALL,
    Event,
    bend,
    blocks,
    cents,
    decibels,
    instrument,
    off,
    on,
    pitch,
    raw,
    render,
)

from engine.synth.idle import adopt
from engine.synth.instrument import Instrument
from engine.synth.mts import NO_CHANGE, sysex, tunings

pytestmark = pytest.mark.usefixtures("shared_designs")

both = pytest.mark.parametrize("name", ["modal", "grid"])
codes = st.integers(0, NO_CHANGE - 1)
keys = st.integers(0, 127)
END = 0xF7


def three(code: int) -> list[int]:
    return [code >> 14, code >> 7 & 0x7F, code & 0x7F]


def code_for(hertz: float) -> int:
    return round(16384.0 * (69.0 + 12.0 * log2(hertz / 440.0)))


def one_by_one(changes: Sequence[tuple[int, int]], at_once: bool = True, bank: bool = False) -> list[int]:
    """The single note change of some (key, code)."""
    flat = [byte for key, code in changes for byte in (key, *three(code))]
    head = [8, 7, 3, 5] if bank or not at_once else [8, 2, 5]
    return [0xF0, 0x7F if at_once else 0x7E, 0x10, *head, len(changes), *flat, END]


def bulk(all_codes: Sequence[int], bank: bool = False) -> list[int]:
    flat = [byte for code in all_codes for byte in three(code)]
    head = [8, 4, 0, 1] if bank else [8, 1, 1]
    return [0xF0, 0x7E, 0x7F, *head, *b"a scale of mine ", *flat, 0x55, END]


def octave(cents_of: Sequence[int], at_once: bool = True) -> list[int]:
    return [0xF0, 0x7F if at_once else 0x7E, 0x7F, 8, 8, 3, 0x7F, 0x7F, *(64 + c for c in cents_of), END]


def fine_octave(values: Sequence[int]) -> list[int]:
    """Values from 0 to 16383, 8192 being no cents and 16384 a hundred."""
    return [0xF0, 0x7F, 0x7F, 8, 9, 3, 0x7F, 0x7F, *(byte for v in values for byte in (v >> 7, v & 0x7F)), END]


def read(data: Sequence[int]) -> list[tuple[int, int, bool]]:
    """(key, code, at once) of what a message says, from the numbers that travel."""
    assert all(m & 0xFF == 0xF0 and m >> 38 == 0 for m in tunings(data))
    return [(m >> 8 & 0x7F, m >> 16 & 0x1FFFFF, bool(m >> 37)) for m in tunings(data)]


# --- bytes ------------------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(keys, codes), min_size=1, max_size=127), st.booleans(), st.booleans())
def test_single_note_changes(changes: list[tuple[int, int]], at_once: bool, bank: bool) -> None:
    data = one_by_one(changes, at_once, bank)
    assert read(data) == [(key, code, at_once) for key, code in changes]
    # What goes into a file says the same, key by key.
    assert [found for message in tunings(data) for found in read(sysex(message))] == read(data)
    for message in tunings(data):
        assert tunings(sysex(message)) == [message]


@given(st.lists(codes, min_size=128, max_size=128), st.booleans())
def test_a_bulk_dump(all_codes: list[int], bank: bool) -> None:
    assert read(bulk(all_codes, bank)) == [(key, code, False) for key, code in enumerate(all_codes)]


def test_keys_may_be_left_alone() -> None:
    assert read(one_by_one([(60, NO_CHANGE), (61, 5), (62, NO_CHANGE)])) == [(61, 5, True)]
    left = [NO_CHANGE] * 128
    left[77] = 77 << 14
    assert read(bulk(left)) == [(77, 77 << 14, False)]


def test_an_octave_in_cents() -> None:
    """Away from equal temperament, in every octave; beyond the lowest note and the highest nothing can be said."""
    just = [0, 12, 4, 16, -14, -2, -10, 2, 14, -16, 18, -12]
    found = read(octave(just))
    assert [key for key, _, _ in found] == list(range(128))
    for key, code, at_once in found[1:]:
        assert at_once
        assert abs(100.0 * (code / 16384.0 - key) - just[key % 12]) <= 0.5 * 100.0 / 16384.0 * (1.0 + 1e-9)
    assert not any(at_once for _, _, at_once in read(octave(just, at_once=False)))
    assert read(octave([-64] * 12))[0][1] == 0
    fine = read(fine_octave([8192, 0, 16383, *[8192] * 9]))
    assert [code - (key << 14) for key, code, _ in fine[60:64]] == [0, -16384, 16382, 0]
    assert max(code for _, code, _ in read(octave([63] * 12))) < NO_CHANGE


def broken() -> dict[str, list[int]]:
    whole, dump = one_by_one([(60, 5), (61, 6)]), bulk([0] * 128)
    some_channels = octave([0] * 12)
    some_channels[7] = 1
    return {
        "no end": whole[:-1],
        "one byte less": [*whole[:-2], END],
        "one byte more": [*whole[:-1], 0, END],
        "a status within": [*whole[:9], 0x90, *whole[10:]],
        "somebody's own": [0xF0, 0x43, *whole[2:]],
        "another matter": [*whole[:3], 9, *whole[4:]],
        "no such form": [*whole[:4], 3, *whole[5:]],
        "not in real time": [0xF0, 0x7E, *whole[2:]],
        "a dump in real time": [0xF0, 0x7F, *dump[2:]],
        "half a dump": dump[:300],
        "for some channels": some_channels,
        "nothing": [],
        "too long": [0xF0, 0x7F, *[0] * 1000, END],
    }


@pytest.mark.parametrize("why", broken())
def test_what_is_not_whole_says_nothing(why: str) -> None:
    assert tunings(broken()[why]) == []
    inst = instrument("modal")
    assert inst.schedule(0, broken()[why])
    assert inst.machine.ring.written[0] == 0


@given(st.binary(max_size=600), st.sampled_from([b"", b"\xf0\x7f\x7f\x08\x02", b"\xf0\x7e\x7f\x08\x01"]))
def test_rubbish_is_no_fault(rubbish: bytes, head: bytes) -> None:
    for key, code, _ in read(head + rubbish + b"\xf7"):
        assert 0 <= key < 128
        assert 0 <= code < NO_CHANGE


# --- strings ----------------------------------------------------------------------------------------------------------


def detuned(inst: Instrument, score: list[Event], hertz: float, frames: int = 36000) -> float:
    """Cents between what sounds at the end and a pitch."""
    return abs(cents(pitch(raw(inst, score, frames)[9600:, 0], hertz), hertz))


@both
@pytest.mark.parametrize("hertz", [250.0, 261.0, 293.3])
def test_a_key_is_struck_where_its_tuning_has_it(name: str, hertz: float) -> None:
    """C4, some cents down or nearly two semitones up: by each message; the standard's step is 0.006 cents."""
    code = code_for(hertz)
    dump = [code if key == 60 else NO_CHANGE for key in range(128)]
    for message in (one_by_one([(60, code)]), one_by_one([(60, code)], False), bulk(dump), bulk(dump, bank=True)):
        inst = instrument(name)
        assert detuned(inst, [(0, message), (100, on(60))], hertz) < 0.2
        assert inst.report()["watchdog"] == 0


@both
def test_a_sounding_string_glides_if_it_is_told_at_once(name: str) -> None:
    hertz = 270.0
    for at_once, wanted in ((True, hertz), (False, 440.0 * 2.0**-0.75)):
        told: list[Event] = [(0, on(60)), (2400, one_by_one([(60, code_for(hertz))], at_once))]
        assert detuned(instrument(name), told, wanted) < 0.2
        assert detuned(instrument(name), [*told, (4000, on(60))], hertz) < 0.2  # struck again, it goes there anyway


@both
def test_bends_come_on_top(name: str) -> None:
    hertz = 255.0
    score: list[Event] = [(0, one_by_one([(60, code_for(hertz))])), (0, on(60)), (2400, bend(4096))]
    assert detuned(instrument(name), score, hertz * 2.0 ** (1.0 / 12.0)) < 0.2


def test_an_octave_is_heard() -> None:
    third = [0, 0, 0, 0, -14, 0, 0, 0, 0, 0, 0, 0]
    wanted = 440.0 * 2.0 ** ((64 - 0.14 - 69) / 12.0)
    assert detuned(instrument("modal"), [(0, octave(third)), (0, on(64))], wanted) < 0.2


def test_it_counts_from_the_pitch_not_from_the_key() -> None:
    """An instrument in another tuning goes to the same frequency."""
    inst = Instrument({**PLAIN, "map": []}, RATE, tuning="A4=432")
    assert detuned(inst, [(0, one_by_one([(57, code_for(230.0))])), (0, on(57))], 230.0) < 0.2


def test_the_tuning_it_has_changes_no_bit() -> None:
    notes: list[Event] = [(10, on(57)), (20, on(64)), (900, off(57))]
    same = bulk([key << 14 for key in range(128)])
    for name in ("modal", "grid bridge"):
        inst = instrument(name)
        assert (raw(inst, [(0, same), *notes], 2400) == raw(instrument(name), notes, 2400)).all()


def test_other_keys_hear_nothing_of_it() -> None:
    notes: list[Event] = [(10, on(57)), (900, off(57))]
    told: list[Event] = [(500, one_by_one([(58, code_for(300.0))]))]
    assert (raw(instrument("modal"), [*told, *notes], 2400) == raw(instrument("modal"), notes, 2400)).all()


def test_reset_brings_the_design_back() -> None:
    inst = instrument("modal")
    raw(inst, [(0, one_by_one([(57, code_for(300.0))])), (0, on(57))], 100)
    inst.reset()
    assert (raw(inst, [(0, on(57))], 2400) == raw(instrument("modal"), [(0, on(57))], 2400)).all()


MOVED: list[Event] = [
    (0, on(50)),
    (33, one_by_one([(50, code_for(150.0)), (57, code_for(224.0))])),
    (100, on(57, 90, 3)),
    (1000, bend(3000)),
    (1501, bulk([(key << 14) + 1000 for key in range(128)])),
    (1600, on(50, 80)),
    (2000, octave([20] * 12)),
    (2500, off(57, 3)),
]


@pytest.mark.parametrize("name", [*SMALL, "sitar-string"])
def test_blocks_of_any_size_give_the_same_bits(name: str) -> None:
    whole = render(instrument(name), MOVED, 4000)
    assert decibels(whole) > -60.0
    for size in (1, 37, 64, 512):
        assert (render(instrument(name), MOVED, 4000, blocks(size, 4000)) == whole).all()


@pytest.mark.parametrize("name", ["modal", "bridge", "grid", "grid frets"])
@pytest.mark.parametrize("code", [0, 40 << 14, 100 << 14, NO_CHANGE - 1])
def test_no_tuning_is_too_far(name: str, code: int) -> None:
    """A grid goes as far as it can bear, no string goes slack, and all come back."""
    inst = instrument(name)
    far = [(2000, one_by_one([(60, code)])), (12000, one_by_one([(60, 60 << 14)]))]
    out = render(inst, [(0, on(60)), *far, (14000, on(60))], 24000)
    assert np.isfinite(out).all()
    assert inst.report()["watchdog"] == 0
    assert inst.machine.voices.semitones[0] == 0.0


def test_who_adopts_is_tuned_alike() -> None:
    first, second = Instrument(PLAIN, RATE), Instrument(PLAIN, RATE)
    render(first, [(0, bulk([(key << 14) + 77 * key for key in range(128)]))], 500)
    assert adopt(second.address, 500, first.address) == 1
    score = [(500, on(57)), (900, on(64, 60))]
    assert (render(first, score, 2400) == render(second, score, 2400)).all()
