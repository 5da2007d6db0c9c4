"""Strings that are tuned by ear sound where they should, judged by all modes of strings and body at once."""

from __future__ import annotations

from math import atan2, cos, log2, pi, sin

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.physics.network.parts import Body, Resonance, Strung
from engine.physics.network.unison import Sounding, bent, by_ear
from engine.physics.pitch import APART, LOOK, PARTIALS, angle
from engine.physics.string import Loss, String

BODY = Body((Resonance(180.0, 12.0, 0.25), Resonance(515.0, 8.0, 0.25)))
MODES, STRUCK = 25, 0.12
STROKES = tuple(sin(n * pi * STRUCK) for n in range(1, PARTIALS + 1))
PUSHES = tuple((1.0 - STRUCK) * cos(n * pi * STRUCK) for n in range(1, PARTIALS + 1))
NONE = (0.0,) * PARTIALS
STEP = 1e-3  # s
PLACES = round(APART / STEP) * np.arange(15)[:, None] + np.arange(round(LOOK / STEP))  # of what each look sees


def wire(frequency: float) -> String:
    return String(0.65, 5e-4, 5e-4 * (2 * 0.65 * frequency) ** 2, 0.0, Loss(0.5))


def course(frequency: float, *cents: float) -> list[Sounding]:
    found = [wire(frequency * 2.0 ** (c / 1200.0)) for c in cents]
    return [Sounding(Strung(string), string, c, strokes=STROKES, pushes=PUSHES) for string, c in zip(found, cents)]


def heard(strings: list[Sounding], body: Body, pitch: float) -> float:
    """By how much of it what is heard of strings struck together lies above a pitch, as engine/physics/pitch.py has it:
    u = sum y sin(b x) + z (1 - x/L), z the sum of the body's modes, and the poles of all of it by a library.
    """
    count = MODES * len(strings)
    size = count + len(body.modes)
    mass, loss, spring = (np.zeros((size, size)) for _ in range(3))
    blow = np.zeros(size)
    for n, own in enumerate(strings):
        s, blow[count:] = own.string, blow[count:] + 1.0 - STRUCK
        mass[count:, count:] += s.density * s.length / 3.0
        spring[count:, count:] += s.tension / s.length
        for i in range(MODES):
            k, m, b = MODES * n + i, 0.5 * s.density * s.length, pi * (i + 1) / s.length
            mass[k, k], spring[k, k] = m, b * b * s.tension / s.density * m
            loss[k, k], blow[k] = 2.0 * float(s.loss.rate(b)) * m, sin(b * STRUCK * s.length)
            mass[k, count:] = mass[count:, k] = s.density / b
    for j, mode in enumerate(body.modes, count):
        w = 2.0 * pi * mode.frequency
        mass[j, j] += mode.mass
        loss[j, j] += mode.mass * w / mode.quality
        spring[j, j] += mode.mass * w * w
    inverse = np.linalg.inv(mass)
    whole = np.block([[np.zeros((size, size)), np.eye(size)], [-inverse @ spring, -inverse @ loss]])
    values, vectors = np.linalg.eig(whole)
    amounts = np.linalg.solve(vectors, np.concatenate([np.zeros(size), inverse @ blow]).astype(complex))
    moved = amounts * vectors[count:size].sum(axis=0) * values * values  # accelerations, as all modes are heard alike
    t = np.arange(0.1, 1.0, STEP)
    off, powers = [], []
    for place in pitch * np.arange(1, PARTIALS + 1):
        near = (values.imag > 0.0) & (np.abs(values.imag / (2.0 * pi) - place) < 0.5 * pitch)
        z = (moved[near, None] * np.exp((values[near] - 2j * pi * place)[:, None] * t)).sum(axis=0)
        coarse = np.angle((z[:-1].conj() * z[1:]).sum()) / STEP
        looks = (z * np.exp(-1j * coarse * (t - 0.1)))[PLACES] @ np.hanning(PLACES.shape[1] + 2)[1:-1]
        off.append((coarse + np.angle((looks[:-1].conj() * looks[1:]).sum()) / APART) / (2.0 * pi * place))
        powers.append(float((np.abs(looks) ** 2).sum()))
    return float(np.average(off, weights=powers))


def tuned(strings: list[Sounding], times: float) -> list[Sounding]:
    return [
        own._replace(string=wire(own.string.pitch * times), strung=Strung(wire(own.string.pitch * times)))
        for own in strings
    ]


@pytest.mark.parametrize("frequency", [120.0, 170.0, 178.0, 182.0, 230.0, 400.0])
@pytest.mark.parametrize("cents", [(0.0,), (0.0, 0.0), (-0.6, 0.6), (0.0, 0.8, -0.6), (-3.0, 3.0)])
def test_a_course_tuned_by_ear_sounds_its_pitch_on_the_body(frequency: float, cents: tuple[float, ...]) -> None:
    """Tuned each by itself it misses by up to 3 cents, where the body has a mode next to it."""
    strings = course(frequency, *cents)
    wanted = frequency * 2.0 ** (sum(cents) / len(cents) / 1200.0)
    off = heard(tuned(strings, by_ear(tuple(strings), BODY, frequency)), BODY, wanted)
    assert abs(1200.0 * log2(1.0 + off)) < 0.2


def test_strings_in_unison_are_bent_by_all_of_them_and_one_way_by_themselves() -> None:
    alone, three = (
        [
            own._replace(strokes=(1.0, *[0.0] * (PARTIALS - 1)), pushes=(0.0,) * PARTIALS)
            for own in course(230.0, *cents)
        ]
        for cents in ((0.0,), (0.0, 0.0, 0.0))
    )  # of one partial
    one = bent(alone, BODY, 230.0)
    assert bent(three, BODY, 230.0) == pytest.approx(3.0 * one, rel=1e-6)
    assert bent(three, BODY, 230.0, together=False) == pytest.approx(one, rel=1e-6)


def test_without_a_body_strings_keep_their_mean() -> None:
    """Of two that beat slowly the mean of both is heard, also where they are tuned to beside the pitch."""
    assert abs(bent(course(440.0, 0.0, 1.0), Body(), 440.0)) < 2e-6
    assert by_ear(tuple(course(440.0, 0.0)), Body(), 440.0) == 1.0
    assert by_ear(tuple(course(440.0, 5.0)), Body(), 440.0) == 1.0


@given(st.floats(-3.1, 3.1), st.floats(1e-6, 1e6))
def test_an_angle_is_that_of_the_library(by: float, length: float) -> None:
    assert angle(length * cos(by), length * sin(by)) == pytest.approx(atan2(sin(by), cos(by)), abs=1e-13)
