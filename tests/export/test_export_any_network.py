"""Networks that are designed when they are opened: at any rate each number of every string is what Python makes."""

from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export.exporting import NEEDED, SECONDS, Opened, music
from export.redesigned import at_any_rate, machine_of, plays_the_same_also_after_a_reset, same
from synth.assemblies import PLAYED

from engine.export import any_rate
from engine.layout import seen
from engine.physics.network.memory import Island, Strand
from engine.preset.files import shipped
from engine.preset.loader import Preset, load_preset
from engine.preset.rack import bank
from engine.preset.room import Room
from engine.synth.instrument import Instrument
from engine.synth.memory import Choir, Joint

ALL = SECONDS >= 20  # in the long run all that are shipped, and more rates
SAMPLE = [("tanpura", 44_100.0), ("sitar", 50_000.0), ("piano", 32_000.0), ("nylon-guitar", 8_000.0)]
FRAMES = 4000


def networks() -> list[str]:
    return [name for name in shipped() if load_preset(name).assembly is not None]


AROUND = {"hub in a room": replace(PLAYED["hub"], room=Room(0.3, 0.4, 5.0))}
SHIPPED = [(name, rate) for name in networks() for rate in (44_100.0, 96_000.0)] if ALL else SAMPLE
OWN = [*((name, 48_000.0) for name in PLAYED if ALL or name != "all"), *((n, 11_025.0) for n in ("all", *AROUND))]
OWN += [(name, 11_025.0) for name in ("frets", "one-way") if ALL]
FRAMES = 4000


def networks() -> list[str]:
    return [name for name in shipped() if load_preset(name).assembly is not None]


AROUND = {"hub in a room": replace(PLAYED["hub"], room=Room(0.3, 0.4, 5.0))}
SHIPPED = [(name, rate) for name in networks() for rate in (44_100.0, 96_000.0)] if ALL else SAMPLE
OWN = [*((name, 48_000.0) for name in PLAYED if ALL or name != "all"), ("all", 11_025.0)]
OWN += [(name, 11_025.0) for name in (("frets", "one-way") if ALL else ())]


def preset(name: str) -> Preset:
    return (PLAYED | AROUND).get(name) or load_preset(name)


def image_of(name: str) -> bytes:
    return at_any_rate(name, preset(name))


def same_network(here: Any, there: Any) -> None:
    """All strings, what they stand on, and what answers them."""
    assert np.array_equal(here.keys.ready, there.keys.ready)
    for row in np.flatnonzero(there.keys.ready).tolist():
        assert here.keys[row] == there.keys[row], row
        one, other = (seen(Choir, m.address + int(m.key_words[row, 0])) for m in (here, there))
        same(one, other, f"choir {row}")
        for n, (at, place) in enumerate(zip(one.strands, other.strands, strict=True)):
            strands = seen(Strand, one.address + int(at)), seen(Strand, other.address + int(place))  # type: ignore[attr-defined]
            same(*strands, f"string {row}.{n}")
    islands = [seen(Island, m.address + int(seen(Joint, m.address + int(m.joint)).island)) for m in (here, there)]
    same(*islands, "island")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any-network")


class TestWithCode:
    pytestmark = NEEDED

    @pytest.mark.parametrize(("name", "rate"), [*SHIPPED, *OWN])
    def test_every_number_is_what_python_designs(self, name: str, rate: float, folder: Path) -> None:
        made, wanted = Opened(folder, image_of(name), rate), Instrument(preset(name), rate)
        assert made.result == 0
        here, there = machine_of(made), wanted.machine
        for scalar in ("rate", "latency", "glide", "fade", "turn", "strip", "oversample"):
            assert getattr(here, scalar) == getattr(there, scalar), scalar
        assert here.hand.window == there.hand.window
        same(here.room, there.room, "room")
        same_network(here, there)

    @pytest.mark.parametrize(
        ("name", "rate"), [*SHIPPED, ("all", 11_025.0), ("rattle", 48_000.0), ("hub in a room", 96_000.0)]
    )
    def test_it_plays_the_same_bits_also_after_a_reset(self, name: str, rate: float, folder: Path) -> None:
        made, wanted = Opened(folder, image_of(name), rate), Instrument(preset(name), rate)
        events = [event for event in music(FRAMES) if event[0] < FRAMES]
        keys = np.flatnonzero(wanted.machine.keys.ready[:128])
        low, high = np.clip((54, 57), keys[0], keys[-1]).tolist()  # the berimbau's highest is 50
        events = sorted([*events, (0, [0x90, low, 100]), (900, [0x90, high, 80])], key=lambda event: event[0])
        plays_the_same_also_after_a_reset(made, wanted, events, FRAMES, 1e-4)


def test_they_are_small() -> None:
    """No number of any mode is in them."""
    for name, most, packed in (("sitar", 60_000, 8_000), ("tanpura", 50_000, 6_500), ("piano", 75_000, 13_000)):
        made = image_of(name)
        assert len(made) < most, name
        assert len(zlib.compress(made, 9)) < packed, name


def test_all_that_are_shipped_can_be_had_at_any_rate() -> None:
    bound = {name: any_rate.bound(bank([load_preset(name)])) for name in shipped()}
    assert [name for name, why in bound.items() if why] == ["slap-bass"]
    assert len(networks()) > 20
