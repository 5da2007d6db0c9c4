"""The contact rule as compiled: against its oracle, its defining equations, closed forms of impact; and equilibrium."""

from __future__ import annotations

from dataclasses import replace
from math import gamma, pi, sqrt
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from physics.problems import floats, powers
from scipy.special import lambertw

from engine.physics import contact, finite_difference, modal
from engine.physics.barrier import Barrier, ContactPoints, Obstacles, Polynomial
from engine.physics.contact import ONSET, PLAIN, SHIPPED, Law
from engine.physics.excitation import Excitation
from engine.physics.problem import Contact, Pickup, Problem
from engine.physics.reference import gradient
from engine.physics.reference.gradient import Outlook
from engine.physics.reference.power_law import PowerLaw
from engine.physics.responses import answer_forces
from engine.physics.string import Array, Loss, String

RATE = 48_000.0
EXPONENTS = [1.0, 1.3, 1.5, 2.0, 2.5]
MODELS = {"fd": finite_difference, "modal": modal}
AT = np.array([], np.int64)
many = settings(max_examples=400)
exponents = st.sampled_from(EXPONENTS)


def law(stiffness: float, exponent: float, damping: float = 0.0, rule: int = SHIPPED, dtype: Any = np.float64) -> Law:
    points = ContactPoints(np.array([0.5]), np.zeros(1), np.array([stiffness]))
    return contact.law(points, Contact(stiffness, exponent, damping), RATE, dtype, rule)


# Thousandths: hypothesis would otherwise spend itself on numbers whose squares underflow.
shares = st.integers(-1000, 1000).map(lambda i: i / 1000.0)


@st.composite
def outlooks(draw: st.DrawFn) -> Outlook:
    """Anything a point may meet, micrometres to millimetres; psi with or without memory of a contact."""
    size = draw(powers(-7.0, -3.0))
    before, now, change = (size * draw(shares) for _ in range(3))
    psi = draw(st.one_of(st.just(0.0), powers(-9.0, 2.0)))
    return Outlook(before, now, change, psi, draw(powers(-7.0, -2.0)))


# --- the gradient -----------------------------------------------------------------------------------------------------


@pytest.mark.interpreted
@many
@given(exponent=exponents, at=outlooks(), stiffness=powers(2.0, 12.0))
def test_gradient_is_the_oracles(exponent: float, at: Outlook, stiffness: float) -> None:
    """`entry_secant`, but a point that was inside one step ago and holds nothing does not enter: it waits."""
    compiled, power = law(stiffness, exponent), PowerLaw(stiffness, exponent)
    a = contact.half_gradient(compiled, compiled.slope[0], at.now, at.before, at.change, at.psi, at.compliance)
    wanted = gradient.entry_secant(power, at)
    if at.psi <= 0.0 and at.now <= 0.0 and at.before > 0.0:
        wanted = 0.0
    assert 2.0 * a == pytest.approx(wanted, rel=1e-9)


@given(exponent=exponents, at=outlooks(), stiffness=powers(2.0, 12.0))
def test_onset_gradient_is_the_oracles(exponent: float, at: Outlook, stiffness: float) -> None:
    compiled, power = law(stiffness, exponent, rule=ONSET), PowerLaw(stiffness, exponent)
    a = contact.half_gradient(compiled, compiled.slope[0], at.now, at.before, at.change, at.psi, at.compliance)
    wanted = gradient.onset_secant(power, at)
    if at.psi <= 0.0 and at.now <= 0.0 and at.before > 0.0:
        wanted = 0.0
    assert 2.0 * a == pytest.approx(wanted, rel=1e-9)


def test_the_onset_s_secant_is_chosen_where_it_is_better() -> None:
    """For steep laws only where a contact lasts three steps."""
    points = ContactPoints(np.array([0.5]), np.zeros(1), np.array([1e6]))
    for exponent, response, rule in ((1.0, 1e-3, ONSET), (1.5, 1e-9, ONSET), (1.5, 1e-3, SHIPPED), (2.5, 1e-12, ONSET)):
        made = contact.law(points, Contact(1e6, exponent), RATE, response=np.array([response]))
        assert made.rule == rule
    assert contact.law(points, Contact(1e6), RATE, rule=PLAIN, response=np.array([1e-3])).rule == PLAIN
    mass, speed = 1.0 / (1e-6 * RATE**2), contact.SPEED
    lasting = PowerLaw(1e6, 1.5).duration(mass, speed) * RATE
    assert contact.steps_in_contact(points, Contact(1e6, 1.5), np.array([1e-6]), RATE) == pytest.approx(lasting)


@given(exponent=exponents, at=outlooks(), stiffness=powers(2.0, 12.0))
def test_plain_gradient_is_the_papers(exponent: float, at: Outlook, stiffness: float) -> None:
    compiled, power = law(stiffness, exponent, rule=PLAIN), PowerLaw(stiffness, exponent)
    a = contact.half_gradient(compiled, compiled.slope[0], at.now, at.before, at.change, at.psi, at.compliance)
    assert 2.0 * a == pytest.approx(gradient.plain(power, at), rel=1e-12)


@pytest.mark.parametrize(("exponent", "form"), [(1.0, 0), (1.5, 1), (2.0, 2), (1.3, 3), (3.7, 3)])
def test_shortcuts_of_the_power_are_the_power(exponent: float, form: int) -> None:
    compiled = law(1e6, exponent)
    assert compiled.form == form
    for eta in (1e-9, 3e-6, 0.2, 7.0):
        assert contact.raised(eta, compiled) == pytest.approx(eta ** ((exponent - 1.0) / 2.0), rel=4e-16)


# --- one step ---------------------------------------------------------------------------------------------------------


class Step(NamedTuple):
    """What `respond` gave, and the change of penetration that follows."""

    force: float
    psi: float
    lost: float
    shift: float


def respond(compiled: Law, at: Outlook) -> Step:
    force, psi, lost = contact.respond(compiled, compiled.slope[0], at.now, at.before, at.change, at.psi, at.compliance)
    return Step(force, psi, lost, at.change - at.compliance * force)


@pytest.mark.interpreted
@many
@given(exponent=exponents, at=outlooks(), stiffness=powers(2.0, 12.0), damping=st.sampled_from([0.0, 0.1, 2.0, 50.0]))
def test_force_never_pulls_and_work_is_accounted_for(
    exponent: float, at: Outlook, stiffness: float, damping: float
) -> None:
    """F >= 0, psi >= 0, dissipation >= 0, and F (eta+ - eta-)/2 = (psi+^2 - psi^2)/2 + lost on any input."""
    step = respond(law(stiffness, exponent, damping), at)
    assert step.force >= 0.0
    assert step.psi >= 0.0
    assert step.lost >= 0.0
    # psi+ - psi and eta+ - eta- may each be a difference of nearly equal numbers: that rounding is all that is left.
    scale = 0.5 * (step.psi**2 + at.psi**2) + step.force * (abs(at.change) + at.compliance * step.force) + step.lost
    assert abs(0.5 * (step.force * step.shift - step.psi**2 + at.psi**2) - step.lost) <= 1e-11 * scale
    if at.now <= 0.0 and at.change < 0.0:
        assert step.psi == 0.0


@many
@given(exponent=exponents, at=outlooks(), stiffness=powers(2.0, 12.0))
def test_a_step_obeys_the_quadratised_equations(exponent: float, at: Outlook, stiffness: float) -> None:
    """psi+ = psi + (g/2)(eta+ - eta-), F = g (psi+ + psi)/2 with the rule's own g: its clips are of rounding only."""
    compiled = law(stiffness, exponent)
    g = 2.0 * contact.half_gradient(compiled, compiled.slope[0], at.now, at.before, at.change, at.psi, at.compliance)
    step = respond(compiled, at)
    magnitude = at.psi + 0.5 * g * (abs(at.change) + at.compliance * step.force)
    assert step.psi == pytest.approx(at.psi + 0.5 * g * step.shift, abs=1e-12 * magnitude)
    assert step.force == pytest.approx(0.5 * g * (step.psi + at.psi), abs=1e-12 * g * magnitude)


@many
@example(at=Outlook(0.0, 1.3e-05, 0.000131, 1e-05, 0.001), stiffness=1e11, damping=1.0)
@example(at=Outlook(0.0, 9e-06, 0.000228, 3.144550645279597e-07, 0.009943942256835762), stiffness=1e10, damping=1.0)
@given(at=outlooks(), stiffness=powers(2.0, 12.0), damping=powers(-2.0, 2.0))
def test_damping_obeys_its_equation_where_it_does_not_pull(at: Outlook, stiffness: float, damping: float) -> None:
    """F = g (psi+ + psi)/2 + mu psi (psi+ - psi)/k while compressing (§5.3), limited on the way out.

    On a stiff point psi+ is psi and a small difference of what the string wanted and what the force took away, each of
    `magnitude`: to no more than the rounding of that can the equation hold.
    """
    compiled = law(stiffness, 1.5, damping)
    step, elastic = respond(compiled, at), respond(law(stiffness, 1.5), at)
    g = 2.0 * contact.half_gradient(compiled, compiled.slope[0], at.now, at.before, at.change, at.psi, at.compliance)
    if at.now > 0.0 and at.psi > 0.0:
        viscous = damping * RATE * at.psi * (step.psi - at.psi)
        wanted = 0.5 * g * (step.psi + at.psi) + viscous
        magnitude = at.psi + 0.5 * g * (abs(at.change) + at.compliance * step.force)
        terms = (g + damping * RATE * at.psi) * magnitude
        if at.change >= 0.0:
            assert step.force == pytest.approx(wanted, abs=1e-12 * terms)
        else:
            assert wanted - 1e-12 * terms <= step.force <= elastic.force * (1.0 + 1e-11) + 1e-12 * terms
    else:
        assert step == elastic


@given(at=outlooks(), exponent=exponents)
def test_float32_stays_float32(at: Outlook, exponent: float) -> None:
    single = law(1e6, exponent, 0.5, dtype=np.float32)
    values = [np.float32(v) for v in at]
    out = contact.respond(single, single.slope[0], values[1], values[0], *values[2:])
    assert all(np.isfinite(v) for v in out)
    assert min(out) >= 0.0


# --- every node over one step, against the scheme written out ---------------------------------------------------------


def solved(points: ContactPoints, exponent: float, response: Array, free: Array, touch: Any, order: range) -> Array:
    """The sweep of §2.3 word for word, with the oracle's gradient: the forces of a step."""
    force = np.zeros(free.size)
    for k in order:
        eta, eta_before = points.height[k] - touch.now[k], points.height[k] - touch.before[k]
        change = touch.before[k] - free[k] - 2.0 * response[k] @ force
        if touch.psi[k] <= 0.0 and eta <= 0.0 and points.height[k] <= free[k]:
            continue  # not even the predicted position, before the others push, is inside
        power = PowerLaw(float(points.stiffness[k]), exponent)
        at = Outlook(eta_before, eta, change, touch.psi[k], response[k, k])
        g = gradient.entry_secant(power, at) if eta_before <= 0.0 or eta > 0.0 or touch.psi[k] > 0.0 else 0.0
        force[k] = g * (touch.psi[k] + 0.25 * g * change) / (1.0 + 0.25 * g**2 * response[k, k])
    return force


def stir(problem: Problem, model: str, seed: int) -> tuple[Any, Any, Any]:
    """A design and a state of it in mid-flight near the barrier, some points in, some entering; and one let go."""
    m = MODELS[model]
    d = m.design(problem, RATE)
    random = np.random.default_rng(seed)
    states = m.state(d.coefficients), m.state(d.coefficients)
    push = 0.3 * random.standard_normal(int(random.integers(20, 90)))
    for s in states:
        m.kernel(d.coefficients, s, push, np.zeros((push.size, len(problem.pickups))))
    states[1].touch.psi[:] = 0.0
    return d, *states


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("exponent", [1.0, 1.5])
def test_a_step_of_the_grids_kernel_is_each_nodes_own(exponent: float, seed: int) -> None:
    string = String(0.3, 1e-3, 60.0, 1e-5, Loss(2.0))
    floor = Barrier(Polynomial((-1e-6, 0.0, -1e-5)), 0.05, 0.25)
    problem = Problem(string, floor, Contact(1e8 / 1e-6 ** (exponent - 1.0), exponent), Excitation(0.37))
    d, s, free = stir(problem, "fd", seed)
    c, out, count = d.coefficients, np.zeros((1, 1)), d.points.height.size
    first, turn = c.surface.first_node + finite_difference.ORIGIN, int(s.clock[0])
    nodes = slice(first, first + count)
    old, now, new = ((s.level0, s.level1, s.level2)[(i + turn) % 3] for i in range(3))
    before = s.touch._replace(now=now[nodes].copy(), before=old[nodes].copy(), psi=s.touch.psi[:count].copy())
    below = c.surface._replace(height=np.full(c.surface.height.size, -1.0))
    finite_difference.kernel(c._replace(surface=below), free, np.zeros(1), out)
    unheld = (free.level0, free.level1, free.level2)[(2 + turn) % 3][nodes]
    wanted = solved(d.points, exponent, c.surface.answer * np.eye(count), unheld, before, range(count))
    finite_difference.kernel(c, s, np.zeros(1), out)
    assert s.touch.force[:count] == pytest.approx(wanted, rel=1e-6, abs=1e-9 * (1e-3 + wanted.max()))
    assert new[nodes] == pytest.approx(unheld + c.surface.answer * wanted, abs=1e-15)


# --- impact of one mode on an obstacle: closed forms ------------------------------------------------------------------


def impact(exponent: float, samples: int, damping: float = 0.0) -> tuple[Problem, float, float]:
    """A string whose slack first mode meets an obstacle at 1 m/s for `samples`; its modal mass, and §5.2's depth."""
    length, density, pitch = 1.0, 0.02, 0.02
    mass, inverse = 0.5 * density * length, 1.0 / (exponent + 1.0)
    deepest = samples / RATE / 2.0 / (sqrt(pi) * gamma(1.0 + inverse) / gamma(0.5 + inverse))
    stiffness = 0.5 * (exponent + 1.0) * mass / deepest ** (exponent + 1.0)
    string = String(length, density, density * (2.0 * length * pitch) ** 2)
    obstacle = Obstacles((0.5 * length,), (-3.3 / RATE,))
    still = Excitation(0.5, 0.0)
    return Problem(string, obstacle, Contact(stiffness, exponent, damping), still, (Pickup(0.5),)), mass, deepest


def fall(problem: Problem, steps: int) -> tuple[Array, Array, float]:
    """Displacement and force over the flight of mode 1 from rest height at -1 m/s; psi at its end."""
    d = modal.design(problem, RATE, band=0.03)
    assert d.modes.frequency.size == 1
    d.coefficients.remainder[:], d.coefficients.direct[:] = 0.0, 0.0  # this mode and nothing else
    answer_forces(d.coefficients, np.zeros(d.coefficients.forward.size))
    s = modal.state(d.coefficients)
    s.odd[0], s.touch.before[0] = 1.0 / RATE, 1.0 / RATE
    out, force = np.zeros((steps, 1)), np.zeros(steps)
    for n in range(steps):
        modal.kernel(d.coefficients, s, np.zeros(1), out[n : n + 1])
        force[n] = s.touch.force[0]
    return out[:, 0], force, float(s.touch.psi[0])


@pytest.mark.parametrize(("exponent", "within"), [(1.0, 2e-2), (1.5, 1e-3), (2.3, 1e-3)])
def test_elastic_impact(exponent: float, within: float) -> None:
    """§5.1 and §5.2 at 100 samples per contact: depth and duration; impulse 2 m v, all given back."""
    samples = 100
    problem, mass, deepest = impact(exponent, samples)
    u, force, psi = fall(problem, 3 * samples)
    assert psi == 0.0
    assert -3.3 / RATE - u.min() == pytest.approx(deepest, rel=within)
    assert np.count_nonzero(force) == pytest.approx(samples, abs=2)
    assert force.sum() / RATE == pytest.approx(2.0 * mass, rel=1e-5)
    assert (u[-1] - u[-2]) * RATE == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.3])
@pytest.mark.parametrize("samples", [2, 3, 6])
def test_even_a_contact_of_few_samples_gives_everything_back(exponent: float, samples: int) -> None:
    """The plain rule keeps up to two thirds of the energy here (§2.1)."""
    u, force, psi = fall(impact(exponent, samples)[0], 60)
    assert psi == 0.0
    assert force.min() == 0.0
    assert (u[-1] - u[-2]) * RATE == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize("exponent", [1.0, 1.5])
@pytest.mark.parametrize("speed_number", [0.1, 0.5, 2.0])
def test_damped_impact_rebounds_by_lambert_w(speed_number: float, exponent: float) -> None:
    """§5.3's closed form; the quadratised contact is 0.1 to 0.8 % off at 76 samples."""
    w = speed_number
    exact = (1.0 + float(np.real(lambertw(-(1.0 + w) * np.exp(-(1.0 + w)))))) / -w * -1.0
    u, force, psi = fall(impact(exponent, 200, damping=w)[0], 900)
    assert psi == 0.0
    assert force.min() == 0.0
    assert (u[-1] - u[-2]) * RATE == pytest.approx(exact, rel=5e-3)


# --- static equilibrium -----------------------------------------------------------------------------------------------


def pressed_string(points: int, stiffness: float, exponent: float = 1.0) -> Problem:
    """Paper 004 Fig. 3: 30 mm of bridge rise 56 um above the rest line."""
    string = String(0.5, 5.55e-4, 50.0, 7.95e-5, Loss(0.6, 6.5e-3, 0.0, 5e-6))
    bump = Barrier(Polynomial((0.0, 7.5e-3, -0.25)), 0.0, 0.03, points)
    return Problem(string, bump, Contact(stiffness, exponent), Excitation(0.7, 0.0), (Pickup(0.9),))


@st.composite
def pressed(draw: st.DrawFn) -> tuple[Array, ContactPoints, float]:
    """The compliance of a taut string at some points, and obstacles that may lift it."""
    count = draw(st.integers(1, 12))
    x = np.sort(draw(st.lists(floats(0.02, 0.98), min_size=count, max_size=count, unique=True)))
    height = 1e-3 * np.array(draw(st.lists(shares, min_size=count, max_size=count)))
    exponent = draw(exponents)
    stiffness = draw(powers(-3.0, 4.0)) / 1e-4**exponent
    b = np.arange(1, 200) * np.pi
    shapes = np.sin(np.outer(x, b))
    compliance = (shapes / (0.5 * 50.0 * b**2)) @ shapes.T
    return compliance, ContactPoints(x, height, np.full(count, stiffness)), exponent


@settings(max_examples=200)
@given(pressed())
def test_equilibrium_satisfies_its_equations(case: tuple[Array, ContactPoints, float]) -> None:
    """F = K [b - S F]^al to 1e-12, or as far as the rounding of b - S F lets a stiff spring know its force."""
    compliance, points, exponent = case
    force = contact.equilibrium(compliance, points, exponent)
    eta = np.clip(points.height - compliance @ force, 0.0, None)
    slope = exponent * points.stiffness.max() * eta.max() ** (exponent - 1.0)
    unknown = 4.0 * np.finfo(float).eps * np.abs(points.height).max() * slope
    assert np.abs(force - points.stiffness * eta**exponent).max() <= 1e-12 * force.max() + unknown
    assert force.min() >= -1e-14 * force.max()
    assert bool((points.height <= 0.0).all()) == bool((force == 0.0).all())


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("stiffness", [1e6, 1e9, 1e12])
def test_a_string_pressed_by_its_barrier_stays_at_rest(model: str, stiffness: float) -> None:
    """Nodes of the grid act for themselves, and one modal point is alone: there equilibrium is a fixed point."""
    d = MODELS[model].design(pressed_string(1, stiffness), RATE)
    run = MODELS[model].run(d, np.zeros(4000), at=AT)
    assert run.log.force[0].max() > 0.05  # it does lean on the barrier
    assert np.abs(run.log.out - run.start).max() <= 1e-10 * np.abs(run.start).max()
    assert np.ptp(run.log.force, axis=0).max() <= 1e-8 * run.log.force.max()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("exponent", [1.3, 1.5, 2.5])
def test_a_curved_law_stays_at_rest_where_contact_is_resolved(model: str, exponent: float) -> None:
    """g^2 Cc / 4 < 1 at rest, that is a contact resonance well below Nyquist. Stiffer, rest is unstable: see below."""
    problem = pressed_string(1, 1e5 / 1e-5 ** (exponent - 1.0), exponent)
    run = MODELS[model].run(MODELS[model].design(problem, RATE), np.zeros(4000), at=AT)
    assert run.log.force[0].max() > 0.02
    assert np.abs(run.log.out - run.start).max() <= 1e-10 * np.abs(run.start).max()


@pytest.mark.parametrize("rate", [RATE, 4.0 * RATE])
@pytest.mark.parametrize("stiffness", [1e7, 1e9])
def test_several_pressed_points_chatter_within_one_step_of_their_force(rate: float, stiffness: float) -> None:
    """The sweep's order shifts force between neighbours at every step, so a stiff pressed bridge is not quite at rest.

    What bounds it: no energy comes from anywhere, no point pulls, and no point moves further than the force it may
    carry moves it in a step.
    """
    d = modal.design(pressed_string(7, stiffness), rate)
    s = modal.state(d.coefficients)
    log = modal.run(d, np.zeros(6000), at=AT).log
    total = log.kinetic + log.potential + log.contact
    assert total.max() <= total[0] * (1.0 + 1e-12)
    assert log.force.min() >= 0.0
    rest = s.touch.now.copy()
    reach = float((d.coefficients.response[:, :7] @ log.force.max(axis=0)).max())
    out, moved = np.zeros((1, 1)), 0.0
    for _ in range(6000):
        modal.kernel(d.coefficients, s, np.zeros(1), out)
        moved = max(moved, float(np.abs(s.touch.now - rest).max()))
    assert 0.0 < moved <= reach


def test_a_pressed_bridge_of_linear_springs_is_at_rest() -> None:
    """Where all contacts last, one solve has them all: nothing is left to chatter."""
    for factor in (1, 2, 4):
        d = modal.design(pressed_string(7, 1e7), factor * RATE)
        run = modal.run(d, np.zeros(2400 * factor), at=AT)
        assert np.abs(run.log.out - run.start).max() <= 1e-11 * np.abs(run.start).max()


@pytest.mark.parametrize("model", MODELS)
def test_a_barrier_below_the_string_stores_nothing(model: str) -> None:
    problem = pressed_string(7, 1e8)
    assert problem.barrier is not None
    below = replace(problem, barrier=replace(problem.barrier, profile=Polynomial((0.0, 0.0, -0.25))))
    log = MODELS[model].run(MODELS[model].design(below, RATE), np.zeros(50), at=AT).log
    assert (log.out == 0.0).all()
    assert (log.force == 0.0).all()
    assert (log.kinetic + log.potential + log.contact == 0.0).all()
