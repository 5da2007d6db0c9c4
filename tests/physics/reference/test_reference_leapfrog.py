"""Paper 002's own modal scheme: its equations solved as they stand, sharp modes, energy, and where it leads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.errors import PhysicsError
from engine.physics import modal
from engine.physics.barrier import Obstacles
from engine.physics.excitation import Excitation, pulse
from engine.physics.modes import modes, shape
from engine.physics.problem import Contact, Pickup, Problem
from engine.physics.record import Run
from engine.physics.reference import leapfrog_modal
from engine.physics.reference.power_law import PowerLaw
from engine.physics.string import Array, Loss, String

RATE = 44_100.0
NEVER = np.zeros(0, np.int64)
STRING = String(1.0, 6.3e-3, 500.0, 9.8e-3, Loss())
STRUCK = Problem(
    STRING,
    Obstacles((0.42, 0.5, 0.77), (-1e-4, -1e-4, -2e-4)),
    Contact(5e6, 1.4),
    Excitation(0.4, 10.0, 1e-3),
    (Pickup(0.9),),
)


def run(problem: Problem, rate: float = RATE, seconds: float = 0.015) -> Run:
    force = pulse(problem.excitation, rate, round(seconds * rate))
    return leapfrog_modal.run(problem, rate, force, at=NEVER)


def as_printed(problem: Problem, steps: int, signs: float) -> Array:
    """(57)-(60) word for word, one dense system a step; `signs` is -1 with those of the psi terms mended (E4)."""
    string, k = problem.string, 1.0 / RATE
    m = modes(string, RATE, leapfrog_modal.MARGIN * RATE / np.pi)
    points = problem.modal_points()
    x, law = shape(m.wavenumber, points.position), PowerLaw(float(points.stiffness[0]), problem.contact.exponent)
    struck, heard = (shape(m.wavenumber, np.array([at]))[0] for at in (problem.excitation.position, 0.9))
    norm = string.density * 0.5 * string.length
    f, out = pulse(problem.excitation, RATE, steps), np.zeros(steps)
    q, earlier, psi = np.zeros(m.wavenumber.size), np.zeros(m.wavenumber.size), np.zeros(points.height.size)
    for n in range(steps):
        g = np.array([law.psi_slope(eta) for eta in points.height - x @ q])
        # Q_p = k/2 <g^2 dt. eta, X_p> / norm with dt. eta = -sum X (q+ - q-)/2k: a matrix on q+ - q-.
        coupling = signs * -0.25 * (x.T * g**2) @ x / norm
        free = m.frequency**2 * q - f[n] * struck / norm + signs * (psi * g) @ x / norm
        system = np.eye(q.size) / k**2 + coupling
        after = np.linalg.solve(system, (2.0 * q - earlier) / k**2 + coupling @ earlier - free)
        psi = psi - 0.5 * g * (x @ (after - earlier))
        earlier, q = q, after
        out[n] = heard @ q
    return out


def test_a_run_is_the_printed_equations_with_mended_signs() -> None:
    found = run(STRUCK, seconds=0.005).log
    assert (found.force > 0.0).sum(axis=0).min() > 2
    wanted = as_printed(STRUCK, found.out.shape[0], signs=-1.0)
    assert np.abs(found.out[:, 0] - wanted).max() < 1e-9 * np.abs(wanted).max()


def test_as_printed_it_is_unstable() -> None:
    """E4: a string that swings by a millimetre is thrown half a metre far."""
    mended, printed = (np.abs(as_printed(STRUCK, 300, signs=signs)).max() for signs in (-1.0, 1.0))
    assert printed > 100.0 * mended


def test_energy_is_kept_and_the_contact_may_pull() -> None:
    log = run(STRUCK).log
    total = log.kinetic + log.potential + log.contact
    assert np.abs(total - log.work).max() < 1e-12 * total.max()
    assert log.potential.min() > -1e-12 * total.max()
    assert log.force.min() < 0.0


@pytest.mark.parametrize("mode", [1, 20, 60])
def test_modes_are_as_sharp_as_leapfrog_makes_them(mode: int) -> None:
    free = replace(STRUCK, barrier=Obstacles((), ()), pickups=(Pickup(0.013),))
    w = modes(STRING, RATE, RATE / np.pi).frequency[mode - 1]
    assert np.sin(0.5 * leapfrog_modal.sounding(w, RATE) / RATE) == pytest.approx(0.5 * w / RATE, rel=1e-12)

    def sine(x: Array) -> Array:
        return np.asarray(1e-3 * np.sin(mode * np.pi * x), np.float64)

    out = leapfrog_modal.run(free, RATE, np.zeros(400), at=NEVER, initial=sine).log.out[:, 0]
    t = (np.arange(400) + 1.0) / RATE
    wanted = 1e-3 * np.sin(mode * np.pi * 0.013) * np.cos(leapfrog_modal.sounding(w, RATE) * t)
    assert np.abs(out - wanted).max() < 1e-9 * 1e-3


def test_it_leads_where_exact_poles_lead() -> None:
    one = replace(STRUCK, barrier=Obstacles((0.5,), (-1e-4,)))
    apart = []
    for factor in (1, 4):
        force = pulse(one.excitation, factor * RATE, factor * 441)
        poles = modal.run(modal.design(one, factor * RATE), force, at=NEVER).log.out
        own = leapfrog_modal.run(one, factor * RATE, force, at=NEVER).log.out
        apart.append(float(np.sqrt(np.mean((own - poles) ** 2) / np.mean(poles**2))))
    assert apart[1] < 0.3 * apart[0] < 0.03


def test_losses_are_refused() -> None:
    lossy = replace(STRUCK, string=replace(STRING, loss=Loss(1.0)))
    with pytest.raises(PhysicsError, match="modal-plain"):
        run(lossy)
