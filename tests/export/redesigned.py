"""Exported instruments beside Python's: what plays alike, what takes over alike, and values that nobody can have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from export.exporting import RATE, Event, Opened

from engine import messages as midi
from engine.export import designs, image
from engine.export.memory import Exported
from engine.layout import fields_of, seen
from engine.preset.loader import Preset
from engine.preset.rack import bank
from engine.synth.ensemble import Seats
from engine.synth.instrument import Instrument
from engine.synth.memory import FREE, Desk, Machine
from engine.synth.mixing import play_together
from engine.synth.routing import hand_on

BLOCK = 128
IMAGES: dict[str, bytes] = {}


def at_any_rate(name: str, preset: Preset) -> bytes:
    """The image of a preset that all tests know by this name: made once."""
    if name not in IMAGES:
        IMAGES[name] = image.image(bank([preset]), ())
    return IMAGES[name]


def machine_of(made: Opened, part: int = 0) -> Machine:
    """The memory of an instrument that was opened."""
    front = seen(Exported, made.at)
    return seen(Machine, int(seen(Desk, made.at + int(front.desk)).parts[part].machine))


def same(one: Any, other: Any, path: str) -> None:
    """Each number in two records, wherever it lies."""
    for part in fields_of(type(one)):
        here, there, name = getattr(one, part.name), getattr(other, part.name), f"{path}.{part.name}"
        if part.kind == "record":
            same(here, there, name)
        elif part.name != "strands":  # these are places
            here, there = np.array(here), np.array(there)
            assert here.shape == there.shape, name
            assert here.tobytes() == there.tobytes() or np.array_equal(here, there), name


def told(preset: Preset, changes: dict[str, float]) -> list[float]:
    """Values by their numbers; of all others none."""
    numbers = {dial.key: dial.number for dial in designs.designed(bank([preset]))}
    found = [float("nan")] * len(numbers)
    for key, value in changes.items():
        found[numbers[key]] = value
    return found


def plays_the_same_also_after_a_reset(
    made: Opened, wanted: Instrument, events: Sequence[Event], frames: int, least: float
) -> None:
    """Bit by bit, and so loudly at least."""
    expected = np.zeros((frames, 2), np.float32)
    at = 0
    for sample, data in events:
        wanted.run(expected[at:sample])
        at = sample
        assert wanted.schedule(sample, data)
    wanted.run(expected[at:])
    assert np.abs(expected).max() > least
    for _ in range(2):
        sound, now = [], 0
        for sample, data in events:
            sound.append(made.run(sample - now))
            now = sample
            assert made.send(0, *data) == 1
        sound.append(made.run(frames - now))
        assert np.array_equal(np.concatenate(sound), expected)
        made.code.jawari_reset(made.at)


def beyond_their_range_at_its_end(folder: Path, content: bytes, preset: Preset, key: int) -> None:
    """Sounds of values at the ends are those of values far beyond; as many keys sound as the preset's own."""
    own = Instrument(preset, RATE).machine.keys.ready.sum()
    dials = designs.designed(bank([preset]))
    for ends in ([dial.low for dial in dials], [dial.high for dial in dials]):
        sounds = []
        for beyond in (1.0, 1e6):
            values = [dial.own + beyond * (end - dial.own) for dial, end in zip(dials, ends)]
            made = Opened(folder, content, RATE, values)
            assert machine_of(made).keys.ready.sum() == own
            made.send(0, 0x90, key, 100)
            sounds.append(made.run(2000))
        assert np.isfinite(sounds[0]).all()
        assert np.array_equal(*sounds)


def goes_on_as_in_live_play(
    old: Opened, new: Opened, first: Instrument, second: Instrument, least: float, echo: float = 0.0
) -> None:
    """The same bits: strings that ring, the wheel where it was, notes that end or begin in that very block.

    The old one is there until its room has rung out, which takes so many seconds of `echo`, if it is in one.
    """
    seats = Seats(2, first.latency)
    seats.put_on(0, first, on_all_channels=True)
    before = [(0, 0x90, 50, 100), (40, 0x90, 57, 90), (300, 0xB0, 1, 70), (500, 0xE0, 0, 80)]
    after = [(5, 0x80, 57, 40), (9, 0x90, 62, 110), (9, 0xB0, 1, 20), (400, 0x90, 50, 60)]
    sounds: list[list[Any]] = [[], []]
    played = old
    for n, block in enumerate(range(0, 60 * BLOCK, BLOCK)):
        if n == 30:
            seats.put_on(1, second, on_all_channels=True, heir=1)
            play_together(seats.address, 0, 0)
            assert new.code.jawari_alone(new.at) == 1
            assert new.code.jawari_follow(new.at, old.at) == 1
            assert new.code.jawari_alone(new.at) == 0
            played = new
        start = 0 if n < 30 else 30 * BLOCK
        for at, *data in before if n < 30 else after:
            if block <= start + at < block + BLOCK:
                played.send(start + at - block, *data)
                assert hand_on(seats.address, start + at, midi.packed(*data))
        out = np.zeros((BLOCK, 2), np.float32)
        play_together(seats.address, BLOCK, out.ctypes.data)
        sounds[0].append(out)
        sounds[1].append(played.run(BLOCK))
    wanted, heard = map(np.concatenate, sounds)
    assert np.abs(wanted).max() > least
    assert np.array_equal(heard, wanted)
    assert new.code.jawari_alone(new.at) == (echo == 0.0)  # the old one is as good as gone
    played.run(int(echo * RATE))
    assert new.code.jawari_alone(new.at) == 1
    assert all(voice.state == FREE for voice in machine_of(old).voices)
