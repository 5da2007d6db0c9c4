"""MIDI's table against mido's and RtMidi's; messages packed and taken apart: in Python, compiled, as arrays."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import mido
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mido.messages.specs import SPECS

from engine import messages as midi
from engine.compiled import called_by_python

BYTES = st.integers(0, 127)
CHANNEL_STATUS = st.integers(midi.NOTE_OFF, midi.SYSEX - 1)
# What mido calls otherwise.
NAMES = {
    "polytouch": "key pressure",
    "aftertouch": "channel pressure",
    "pitchwheel": "pitch wheel",
    "sysex": "system exclusive",
    "songpos": "song position",
}


@st.composite
def channel_messages(draw: st.DrawFn) -> bytes:
    """All that may be played, whole."""
    status = draw(CHANNEL_STATUS)
    return bytes((status, *draw(st.tuples(BYTES, BYTES))))[: mido.messages.specs.SPEC_BY_STATUS[status]["length"]]


# --- the table --------------------------------------------------------------------------------------------------------


def test_messages_are_those_of_mido() -> None:
    theirs = {s["status_byte"]: (s["length"], NAMES.get(s["type"], s["type"].replace("_", " "))) for s in SPECS}
    ours = {m.status: (float("inf") if m.size is None else m.size, m.name) for m in midi.MESSAGES}
    assert ours == theirs
    assert mido.messages.specs.SYSEX_END == midi.SYSEX_END


def test_a_status_tells_a_channel_message_and_how_long_it_is() -> None:
    for status in range(256):
        spec = mido.messages.specs.SPEC_BY_STATUS.get(status)
        assert midi.is_channel_message(status) == (spec is not None and "channel" in spec["value_names"])
        if midi.is_channel_message(status):
            assert midi.size_of(status) == spec["length"]


def test_controllers_are_those_of_rtmidi() -> None:
    theirs = pytest.importorskip("rtmidi.midiconstants")
    for ours, name in (
        *((name, name) for name in ("VOLUME", "PAN", "EXPRESSION", "SUSTAIN", "SOSTENUTO")),
        *((name, name) for name in ("ALL_SOUND_OFF", "ALL_NOTES_OFF")),
        *(("BANK", "BANK_SELECT_MSB"), ("BANK_FINE", "BANK_SELECT_LSB"), ("MODULATION", "MODULATION_WHEEL")),
        *(("DATA", "DATA_ENTRY_MSB"), ("DATA_FINE", "DATA_ENTRY_LSB")),
        *(("DATA_UP", "DATA_INCREMENT"), ("DATA_DOWN", "DATA_DECREMENT")),
        *(("NRPN", "NRPN_MSB"), ("NRPN_FINE", "NRPN_LSB"), ("RPN", "RPN_MSB"), ("RPN_FINE", "RPN_LSB")),
        *(("VOLUME_FINE", "VOLUME_LSB"), ("PAN_FINE", "PAN_LSB"), ("SOFT", "SOFT_PEDAL")),
        *(("FIRST_SOUND", "SOUND_CONTROLLER_1"), ("LAST_SOUND", "SOUND_CONTROLLER_10")),
        *(("BRIGHTNESS", "SOUND_CONTROLLER_5"), ("FIRST_EFFECT", "EFFECTS_1"), ("LAST_EFFECT", "EFFECTS_5")),
        ("RESET_CONTROLLERS", "RESET_ALL_CONTROLLERS"),
    ):
        assert getattr(midi, ours) == getattr(theirs, name), ours
    for number, word in (
        *((2, "BREATH_CONTROLLER"), (4, "FOOT_CONTROLLER"), (5, "PORTAMENTO_TIME"), (8, "BALANCE")),
        *((65, "PORTAMENTO"), (69, "HOLD_2"), (84, "PORTAMENTO_CONTROL")),
        *((88, "HIGH_RESOLUTION_VELOCITY_PREFIX"), (122, "LOCAL_CONTROL"), (124, "OMNI_MODE_OFF")),
        *((125, "OMNI_MODE_ON"), (126, "MONO_MODE_ON"), (127, "POLY_MODE_ON")),
    ):
        assert number == getattr(theirs, word)
        assert number in midi.CONTROLLERS


def test_every_controller_has_a_name_of_its_own_in_the_order_of_numbers() -> None:
    assert len(set(midi.CONTROLLERS.values())) == len(midi.CONTROLLERS)
    assert list(midi.CONTROLLERS) == sorted(midi.CONTROLLERS)
    assert min(midi.CONTROLLERS) >= 0
    assert max(midi.CONTROLLERS) < midi.KEYS


@pytest.mark.parametrize(
    ("status", "name"), [(0x93, "note on"), (0xCF, "program change"), (0xF8, "clock"), (0xF4, "unknown message")]
)
def test_a_status_has_a_name(status: int, name: str) -> None:
    assert midi.named(status) == name


# --- packed and taken apart -------------------------------------------------------------------------------------------


@given(channel_messages())
def test_what_is_packed_comes_out_again(data: bytes) -> None:
    message = midi.packed(*data)
    assert message == int.from_bytes(data, "little")
    assert midi.unpacked(message) == tuple(data)
    theirs = mido.Message.from_bytes(data)
    assert midi.channel(message) == theirs.channel
    assert midi.kind(message) == mido.messages.specs.SPEC_BY_TYPE[theirs.type]["status_byte"]
    assert midi.begins_note(message) == (theirs.type == "note_on" and theirs.velocity > 0)
    assert midi.ends_note(message) == (theirs.type == "note_off" or (theirs.type == "note_on" and theirs.velocity == 0))


@given(st.integers(0, 15), st.integers(-8192, 8191))
def test_a_wheel_stands_where_mido_says(channel: int, bend: int) -> None:
    message = midi.bent(channel, bend)
    assert midi.unpacked(message) == tuple(mido.Message("pitchwheel", channel=channel, pitch=bend).bytes())
    assert midi.bend(message) == bend


@given(st.binary(min_size=1, max_size=3))
def test_whole_is_what_mido_can_read(data: bytes) -> None:
    try:
        theirs = mido.Message.from_bytes(data)
    except (ValueError, IndexError):  # it looks for the second byte of a pitch wheel where there is none
        theirs = None
    whole = theirs is not None and hasattr(theirs, "channel")
    assert bool(midi.is_whole(int.from_bytes(data, "little"), len(data))) == whole


ASKED = (midi.status, midi.kind, midi.channel, midi.first, midi.second, midi.bend, midi.size_of)


@called_by_python
def _all_of(message: Any, found: Any) -> None:
    """What every question says, in the order of ASKED, then yes and no; and the message put together again."""
    found[0], found[1], found[2] = midi.status(message), midi.kind(message), midi.channel(message)
    found[3], found[4], found[5] = midi.first(message), midi.second(message), midi.bend(message)
    found[6], found[7] = midi.size_of(message), midi.is_channel_message(midi.status(message))
    found[8], found[9] = midi.begins_note(message), midi.ends_note(message)
    found[10] = midi.packed(midi.status(message), midi.first(message), midi.second(message))
    found[11] = midi.bent(midi.channel(message), midi.bend(message))
    for size in range(4):
        found[12 + size] = midi.is_whole(message, size)


@pytest.mark.interpreted
def test_compiled_code_and_arrays_say_the_same() -> None:
    values = [0, 1, 63, 64, 66, 120, 123, 127, 128, 255]
    every = [s | a << 8 | b << 16 for s in range(256) for a in values for b in values]
    array = np.array(every, np.int64)
    columns = [np.asarray(ask(array)) for ask in ASKED]
    compiled = np.zeros(16, np.int64)
    for row, message in enumerate(every):
        _all_of(message, compiled)
        asked = [int(ask(message)) for ask in ASKED]
        assert compiled[: len(ASKED)].tolist() == asked == [int(column[row]) for column in columns]
        assert bool(compiled[7]) == midi.is_channel_message(message & 0xFF)
        assert (bool(compiled[8]), bool(compiled[9])) == (midi.begins_note(message), midi.ends_note(message))
        assert compiled[10] == midi.packed(asked[0], asked[3], asked[4])
        assert compiled[11] == midi.bent(asked[2], asked[5])
        assert [bool(whole) for whole in compiled[12:]] == [bool(midi.is_whole(message, size)) for size in range(4)]


def test_bytes_are_asked_as_bytes() -> None:
    """A column of a score has eight bits, and stays so."""
    octets = np.arange(256, dtype=np.uint8)
    for ask in (midi.kind, midi.channel, midi.status):
        assert ask(octets).dtype == np.uint8
        assert ask(octets).tolist() == [ask(octet) for octet in range(256)]
    assert midi.size_of(octets).tolist() == [midi.size_of(octet) for octet in range(256)]


def test_everything_that_is_asked_is_known_to_compiled_code() -> None:
    functions = {name for name in vars(midi) if callable(getattr(midi, name)) and name.islower()}
    assert {function.__name__ for function in midi.COMPILED_TOO} == functions - {"unpacked", "named"}


def test_the_table_comes_without_numba() -> None:
    """Presets and scores need its names, and numba takes half a second."""
    code = "import engine.messages, sys; sys.exit('numba' in sys.modules)"
    assert subprocess.run((sys.executable, "-c", code), check=False).returncode == 0
