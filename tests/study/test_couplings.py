"""What is told of strings on a body, against the poles of string and body together."""

from __future__ import annotations

from math import log, pi
from pathlib import Path

import numpy as np
import pytest

from engine.cli import main
from engine.physics.network.parts import Body, Resonance, Strung
from engine.physics.network.unison import Sounding, by_ear
from engine.physics.string import Loss, String
from engine.study.couplings import mobility, standing

SITAR = Path(__file__).parents[1] / "preset" / "instruments" / "sitar-full.yaml"


def test_a_bodys_mobility_is_that_of_its_modes() -> None:
    """At its resonance a mode gives Q/(M w), far above 1/(j w M), far below j w/(M w0^2)."""
    body, w = Body((Resonance(200.0, 20.0, 0.3),)), 2 * pi * 200.0
    assert mobility(body, 0.0, 200.0) == pytest.approx(20.0 / (0.3 * w), rel=1e-12)
    assert mobility(body, 0.0, 2e5) == pytest.approx(1.0 / (0.3 * 1000 * w * 1j), rel=1e-3)
    assert mobility(body, 0.0, 0.2) == pytest.approx(1e-3 * 1j / (0.3 * w), rel=1e-3)
    assert mobility(body, pi / 2, 200.0) == 0.0
    two = Body((Resonance(200.0, 20.0, 0.3, (1.0, 0.5)),), (0.0, pi / 2))
    assert mobility(two, pi / 2, 200.0) == pytest.approx(0.25 * 20.0 / (0.3 * w), rel=1e-12)


BODY = Body((Resonance(180.0, 12.0, 0.25), Resonance(515.0, 8.0, 0.25)))


def wire(frequency: float) -> String:
    return String(0.65, 5e-4, 5e-4 * (2 * 0.65 * frequency) ** 2, 0.0, Loss(0.5))


def pole(string: String, body: Body) -> complex:
    """T b cot(b L) with b = -j s/c at the bridge against s/Y(s), solved by Newton's method in complex numbers."""
    c = string.wave_speed

    def off(s: complex) -> complex:
        wave = (s + 0.5) / (1j * c)  # uniform damping shifts the poles of the string by s0
        y = sum(s / (m.mass * (s * s + s * w / m.quality + w * w)) for m in body.modes for w in (2 * pi * m.frequency,))
        return complex(string.tension * wave * np.cos(wave * 0.65) * y + s * np.sin(wave * 0.65))

    s = 2j * pi * string.pitch - 0.5
    for _ in range(60):
        slope = (off(s + 1e-4) - off(s - 1e-4)) / 2e-4
        s -= off(s) / slope
    return s


@pytest.mark.parametrize("frequency", [120.0, 170.0, 230.0, 400.0])
def test_decay_and_pitch_on_a_body_are_those_of_the_coupled_pole(frequency: float) -> None:
    found, s = standing(Strung(wire(frequency)), BODY, "A3"), pole(wire(frequency), BODY)
    assert log(1000.0) / -s.real == pytest.approx(found.coupled, rel=0.05)
    cents = 1200.0 * log(s.imag / (2 * pi * frequency)) / log(2.0)
    assert cents == pytest.approx(found.bend, abs=0.05 + 0.05 * abs(found.bend))
    assert found.alone == pytest.approx(log(1000.0) / 0.5)


@pytest.mark.parametrize("frequency", [120.0, 170.0, 230.0, 400.0])
def test_a_string_tuned_by_ear_sounds_its_pitch_on_the_body(frequency: float) -> None:
    """Which one tuned alone misses by up to 1.3 cents. Nothing but its first partial is struck."""
    own = Sounding(Strung(wire(frequency)), wire(frequency), strokes=(1.0, *[0.0] * 7))
    free = frequency * by_ear((own,), BODY, frequency)
    heard = pole(wire(free), BODY).imag / (2 * pi)
    assert abs(1200.0 * log(heard / frequency)) / log(2.0) < 0.05


def test_nothing_moves_a_wall() -> None:
    found = standing(Strung(String(0.65, 5e-4, 50.0)), Body(), "")
    assert (found.mobility, found.share, found.bend) == (0.0, 0.0, 0.0)


def test_show_tells_of_every_string_and_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["presets", "show", str(SITAR)]) == 0
    said = capsys.readouterr().out
    assert said.count("moves the body by") == 17
    assert "F#3-F#5: F#3, 58.8 N, 0.18 kg/s, moves the body by " in said
    assert "28 modes, 105 to 8600 Hz, the first of 250 g, two-way" in said
    assert "off: it is heard in hard basses and pulled strings only" in said
    assert "what answers" in said.split("parts cost")[1]
    assert main(["presets", "show", str(SITAR), "--json", "--set", "strings.0.string.stretching=yes",
                 "--set", "strings.0.string.elasticity=14 kN", "--set", "body.scale=1.1"]) == 0  # fmt: skip
    assert '"stretching": true' in capsys.readouterr().out
