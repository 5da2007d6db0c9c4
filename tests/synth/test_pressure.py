"""Keys that are pressed while they sound: of each note its own; what it does to the pitch, as a clavichord's Bebung."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from synth.assemblies import BODY, CONTROLLERS, baj, of
from synth.playing import GRID, PLAIN, RATE, Event, bend, blocks, cc, cents, on, pitch, pressure, raw, render
from synth.test_voices import clicks, decibels

from engine.physics.string import Array
from engine.preset.assembly import Played
from engine.preset.playing import Controller
from engine.synth.instrument import Instrument

BEBUNG = [{"source": "pressure", "to": "bend", "range": ["0 cents", "100 cents"]}]
A3, E4 = 57, 64


def poly(key: int, value: int, channel: int = 0) -> list[int]:
    return [0xA0 | channel, key, value]


@cache
def _made(model: str) -> Instrument:
    return Instrument({**(PLAIN if model == "modal" else GRID), "map": BEBUNG}, RATE, polyphony=4)


def instrument(model: str = "modal") -> Instrument:
    made = _made(model)
    made.reset()
    return made


def tone(inst: Instrument, events: list[Event], frames: int = RATE) -> Array:
    return raw(inst, [(0, on(A3)), *events], frames)[:, 0]


@pytest.mark.parametrize("model", ["modal", "fd"])
def test_the_pitch_follows_the_finger_and_comes_back(model: str) -> None:
    still = tone(instrument(model), [])
    own = pitch(still[RATE // 10 : RATE // 2], 220.0)
    for value in (127, 64):
        heard = tone(instrument(model), [(0, poly(A3, value)), (RATE // 2, poly(A3, 0))])
        wanted = 100.0 * value / 127.0
        near = 220.0 * 2.0 ** (wanted / 1200.0)
        assert cents(pitch(heard[RATE // 10 : RATE // 2], near), own) == pytest.approx(wanted, abs=0.5)
        assert abs(cents(pitch(heard[6 * RATE // 10 :], 220.0), pitch(still[6 * RATE // 10 :], 220.0))) < 0.1


def test_a_shaken_finger_does_not_click() -> None:
    """Five times a second, as one is shaken, in the steps of a keyboard: above 8 kHz 60 dB below the tone."""
    swing = [round(63.5 - 63.5 * np.cos(2.0 * np.pi * 5.0 * n / 200.0)) for n in range(200)]
    shaken = [(RATE // 4 + n * RATE // 400, poly(A3, value)) for n, value in enumerate(swing)]
    heard, still = tone(instrument(), shaken), tone(instrument(), [])
    later = slice(RATE // 4, None)
    assert decibels(clicks(heard)[later]) < decibels(still[later]) - 60.0
    assert decibels((heard - still)[later]) > decibels(still[later]) - 20.0


def test_each_key_bends_its_own_note() -> None:
    """The other sounds as it does alone; and on another channel the same key is another note."""
    inst = instrument()

    def of_both(*events: Event) -> Array:
        inst.reset()
        return raw(inst, events, 12_000)

    pressed = (2000, poly(A3, 100))
    both = of_both((0, on(A3)), (10, on(E4)), pressed)
    assert both == pytest.approx(of_both((0, on(A3)), pressed) + of_both((10, on(E4))), abs=1e-12)
    assert np.abs(both - of_both((0, on(A3)), (10, on(E4)))).max() > 1e-3 * np.abs(both).max()
    channels = of_both((0, on(A3)), (10, on(A3, 90, 1)), (2000, poly(A3, 100, 1)))
    assert channels == pytest.approx(
        of_both((0, on(A3))) + of_both((10, on(A3, 90, 1)), (2000, poly(A3, 100, 1))), abs=1e-12
    )


def test_a_key_that_tells_goes_before_its_channel_until_it_is_struck_again() -> None:
    def of_all(*events: Event) -> Array:
        return tone(instrument(), list(events), 12_000)

    told = of_all((1000, poly(A3, 60)), (3000, pressure(127)))
    assert (told == of_all((1000, poly(A3, 60)))).all()
    assert (of_all((1000, pressure(60))) == of_all((1000, poly(A3, 60)))).all()
    anew = of_all((1000, poly(A3, 60)), (3000, pressure(127)), (6000, on(A3)))
    assert (anew == of_all((1000, poly(A3, 60)), (5999, pressure(127)), (6000, on(A3)))).all()
    assert (anew[6000:] != of_all((1000, poly(A3, 60)), (6000, on(A3)))[6000:]).any()
    back = of_all((1000, poly(A3, 60)), (3000, cc(121, 0)))
    assert (back == of_all((1000, pressure(60)), (3000, cc(121, 0)))).all()


def test_a_preset_that_is_bent_is_the_wheel_at_rest_there() -> None:
    """Half a semitone is a quarter of the wheel's way: the same number, so the same bits."""
    inst = Instrument({**PLAIN, "map": [], "bend": "50 cents"}, RATE, polyphony=4)
    still = render(inst, [(0, on(A3)), (100, on(E4))], 8000)
    inst = Instrument({**PLAIN, "map": []}, RATE, polyphony=4)
    assert (render(inst, [(0, bend(2048)), (0, on(A3)), (100, on(E4))], 8000) == still).all()


def test_strings_on_a_bridge_are_bent_by_their_keys_too() -> None:
    """And in no block differently."""
    bent = Controller("pressure", "bend", 0.0, 50.0)
    preset = of(Played(baj()), body=BODY)
    made = Instrument(replace(preset, controllers=(*CONTROLLERS, bent)), RATE, polyphony=4)
    events = [(0, on(A3)), (50, on(E4)), (1000, poly(A3, 127)), (3000, poly(E4, 30)), (5000, poly(A3, 0))]
    whole = render(made, events, 8000)
    for size in (1, 37, 512):
        made.reset()
        assert (render(made, events, 8000, blocks(size, 8000)) == whole).all()
    made.reset()
    render(made, events[:3], 4000)
    found = {int(v.key): float(v.semitones) for v in made.machine.voices if v.state}
    assert found == {A3: pytest.approx(0.5, abs=1e-6), E4: 0.0}
