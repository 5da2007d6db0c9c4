"""Instruments that are designed anew: a new note has the bits that Python plays with those values, others go on."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export.exporting import NEEDED, RATE, Opened
from export.redesigned import at_any_rate, beyond_their_range_at_its_end, goes_on_as_in_live_play, machine_of, told
from export.test_export_any_rate import OWN, same_keys

from engine.export import designs, image
from engine.physics import contact
from engine.preset.loader import Preset, load_preset
from engine.preset.rack import bank
from engine.preset.schema import KEYS as TABLE
from engine.preset.schema import plain
from engine.synth import keyed, keys
from engine.synth.bank import Setup
from engine.synth.bank import design as design_all
from engine.synth.instrument import Instrument
from engine.synth.memory import FREE, KEYS

BLOCK = 128
# A preset with other values, each over its shipped or own ones: every key that an instrument is designed for.
CHANGED: list[tuple[str, dict[str, float]]] = [
    ("sitar-string", {"barrier.curvature": 1.9, "contact.stiffness": 3e6}),
    ("sitar-string", {"string.stiffness": 2.2e-4, "string.loss.s3": 1.6e-5, "release": 0.4}),
    ("sitar-string", {"string.stiffness": 2e-5, "barrier.curvature": 0.2, "excitation.position": 0.3}),
    (
        "prepared",
        {"string.stiffness": 0.02, "contact.stiffness": 2e6, "contact.exponent": 1.9, "excitation.force": 20.0},
    ),
    ("pressed", {"barrier.height": 1e-4, "contact.exponent": 2.4, "contact.damping": 0.4, "pickups.0.at": 0.23}),
    ("pins", {"barrier.height": -5e-5, "string.loss.s1": 1.5e-3, "excitation.duration": 3e-3, "pickups.0.at": 0.12}),
    ("slope", {"contact.stiffness": 2e9, "string.stiffness": 2.5e-5, "string.loss.s1": 0.02}),
]


def base(name: str) -> Preset:
    return load_preset(OWN.get(name, name))


def image_of(name: str) -> bytes:
    return at_any_rate(name, base(name))


def values(name: str, changes: dict[str, float]) -> list[float]:
    """By their numbers; of all others none."""
    return told(base(name), changes)


@cache
def gains(name: str) -> Any:
    return Instrument(base(name), RATE).design.keys.gain[:KEYS]


def python(name: str, changes: dict[str, float], patched: pytest.MonkeyPatch, rate: float = RATE) -> Instrument:
    """The preset with these values, as loud and as tuned as it is by itself: neither is heard anew in an export."""
    own, made = base(name), load_preset(OWN.get(name, name), changes)
    heard, numbers = keys._kept_pitch, {hz: number for number, hz in enumerate(own.tuning.frequencies)}

    def as_heard(problem: Any, model: str, by: str, pitch: float, *rest: Any) -> float:
        struck = keys.struck(own.problem, own.voicing.harder(numbers[pitch]))
        return float(heard(struck, model, by, pitch, *rest))

    loud = gains(name)
    with patched.context() as patch:
        patch.setattr(keys, "_kept_pitch", as_heard)
        setup = Setup(made, rate, made.oversample, made.polyphony, 2, made.tuning)
        return Instrument.of(setup, design_all(setup, None, loud))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("designs")


class TestWithCode:
    pytestmark = NEEDED

    @pytest.mark.parametrize(("name", "changes"), CHANGED, ids=str)
    def test_every_number_is_what_python_designs(
        self, name: str, changes: dict[str, float], folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made, wanted = Opened(folder, image_of(name), RATE, values(name, changes)), python(name, changes, monkeypatch)
        assert made.result == 0
        same_keys(machine_of(made), wanted.machine)

    def test_values_beyond_their_range_are_at_its_end(self, folder: Path) -> None:
        beyond_their_range_at_its_end(folder, image_of("sitar-string"), base("sitar-string"), 54)

    @pytest.mark.parametrize(("name", "changes"), [CHANGED[n] for n in (0, 4, 5)], ids=str)
    def test_what_sounds_goes_on_as_in_live_play(
        self, name: str, changes: dict[str, float], folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        old, new = Opened(folder, image_of(name)), Opened(folder, image_of(name), RATE, values(name, changes))
        echo = 2.0 * base(name).room.decay if base(name).room else 0.0  # in which it falls by 120 dB
        made = Instrument(base(name), RATE), python(name, changes, monkeypatch)
        goes_on_as_in_live_play(old, new, *made, 1e-3, echo)

    @pytest.mark.parametrize("place", [0, 1])
    def test_a_part_of_a_rack_goes_on_as_it_does_by_itself(self, place: int, folder: Path) -> None:
        """The same bits, whoever else is in the rack and is designed anew for the same knob, silent as it is."""
        names, key = ("prepared", "tanpura-string"), "string.stiffness"
        whole = bank([base(name) for name in names])
        own = {own.key: own.value for own in designs.owned(base(names[place]))}
        told = [1.5 * own[key] if dial.key == key else float("nan") for dial in designs.designed(whole)]
        sounds = []
        for content, wanted, part in (
            (image.image(whole, ()), told, place),
            (image_of(names[place]), values(names[place], {key: 1.5 * own[key]}), 0),
        ):
            old, new = Opened(folder, content), Opened(folder, content, RATE, wanted)
            assert old.code.jawari_take(old.at, part) == 1
            old.send(3, 0x90, 50, 100)
            before = old.run(2000)
            assert new.code.jawari_follow(new.at, old.at) == 1
            new.send(20, 0x90, 57, 100)
            sounds.append(np.concatenate([before, new.run(4000)]))
        assert np.abs(sounds[0][2000:]).max() > 1e-3
        assert np.array_equal(*sounds)

    def test_messages_that_wait_are_obeyed_once(self, folder: Path) -> None:
        """A note that was sent before and begins after; its end, too."""
        wanted = Opened(folder, image_of("prepared"))
        old, new = Opened(folder, image_of("prepared")), Opened(folder, image_of("prepared"))
        for made in (wanted, old):
            for at, data in (
                (10, (0x90, 60, 100)),
                (900, (0x90, 48, 80)),
                (1500, (0x80, 60, 0)),
                (1600, (0xB0, 1, 100)),
            ):
                assert made.send(at, *data) == 1
        new.redesign(values("prepared", {}))
        expected = wanted.run(4000)
        first = old.run(800)
        assert new.code.jawari_follow(new.at, old.at) == 1
        rest = new.run(3200)
        assert np.array_equal(first, expected[:800])
        assert np.abs(rest[:100]).max() > 1e-4
        assert np.abs(rest[600:] - expected[1400:]).max() < 0.5 * np.abs(expected).max()
        for key in (60, 48):
            assert sum(voice.key == key and voice.state != FREE for voice in machine_of(new).voices) <= 1

    def test_an_elder_that_is_heard_waits_for_its_turn(self, folder: Path) -> None:
        made = [Opened(folder, image_of("prepared")) for _ in range(3)]
        made[0].send(0, 0x90, 60, 100)
        made[0].run(500)
        assert made[1].code.jawari_follow(made[1].at, made[0].at) == 1
        assert made[2].code.jawari_follow(made[2].at, made[1].at) == 0
        made[1].run(2000)
        assert made[2].code.jawari_follow(made[2].at, made[1].at) == 1
        made[2].run(100)
        made[2].code.jawari_reset(made[2].at)  # nothing of it is left then
        assert made[2].code.jawari_alone(made[2].at) == 1
        assert not made[2].run(500).any()


def test_what_can_be_changed_is_the_schemas(folder: Path) -> None:
    for name in ("sitar-string", "plain", *OWN):
        moved = {controller.to for controller in base(name).controllers}
        dials = designs.designed(bank([base(name)]))
        assert not moved & {dial.key for dial in dials}
        assert [dial.number for dial in dials] == list(range(len(dials)))
        assert len({designs.number_of(dial) for dial in dials}) == len(dials)
        for dial in dials:
            key = TABLE[plain(dial.key)]
            assert (dial.unit, dial.effect) == (key.unit, key.meaning)
            assert key.low <= dial.low <= dial.own <= dial.high <= key.high
            assert dial.low < dial.high


def test_names_are_made_of_keys() -> None:
    assert [designs.named(key) for key in ("string.loss.s3", "release", "pickups.1.at")] == [
        *("String loss s3", "Release", "Pickup 2 at")
    ]


def test_numbers_never_change() -> None:
    """Hosts keep them with sessions."""
    assert keyed.DESIGNED.index("barrier.curvature") == keyed.CURVATURE == 1
    assert keyed.DESIGNED.index("release") == keyed.RELEASE == 13
    assert keyed.PICKUP == 32


@pytest.mark.parametrize("exponent", [1.0, 1.3, 1.5, 2.0, 3.0, 10.0])
def test_lasting_is_that_of_contacts(exponent: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyed, "gamma", keyed.gamma.py_func)
    assert keyed.lasting.py_func(exponent) == pytest.approx(contact.lasting(exponent), rel=1e-14)
