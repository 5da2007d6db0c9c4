"""The finite-difference grid: spacing and stability, the loss fit and its limit, difference taps, interpolation."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption
from physics.problems import STEEL, floats, powers, strings
from scipy.optimize import linprog

from engine.errors import PhysicsError
from engine.physics.grid import AUDIBLE, MARGIN, REACH, WORST_FIT, Grid, difference_taps, grid, interpolation, symbol
from engine.physics.string import Array, Loss, String

rates = st.sampled_from([22_050.0, 44_100.0, 48_000.0, 96_000.0, 384_000.0])
# From no loss to a string that is dead in a millisecond; s1 and s3 as strong as the fit may allow.
losses = st.builds(
    Loss,
    st.one_of(st.just(0.0), powers(-2.0, 3.0)),
    st.one_of(st.just(0.0), powers(-4.0, 0.0)),
    st.one_of(st.just(0.0), powers(-5.0, 0.0)),
    st.one_of(st.just(0.0), powers(-8.0, -2.0)),
)


def with_loss(string: String, loss: Loss) -> String:
    return String(string.length, string.density, string.tension, string.stiffness, loss)


def accepted(string: String, rate: float, margin: float = MARGIN) -> Grid:
    """The grid; a law that it refuses is not an example."""
    try:
        return grid(string, rate, margin)
    except PhysicsError:
        raise UnsatisfiedAssumption from None


def terms_of(string: String, g: Grid, rate: float, b: Array) -> tuple[Array, Array, Array]:
    """Q, the backward and the whole loss of wavenumbers b, written out anew from NUMERICS T5."""
    k, h = 1.0 / rate, g.spacing
    s = np.sin(0.5 * b * h)
    c, kappa = np.sqrt(string.tension / string.density), np.sqrt(string.stiffness / string.density)
    q = (c * k / h) ** 2 * s**2 + 4.0 * (kappa * k / h**2) ** 2 * s**4
    backward = sum(r * (4.0 * s**2 / h**2) ** (p + 1) for p, r in enumerate(g.loss.terms[1:]))
    return q, backward + 0.0 * b, backward + g.loss.terms[0]


@given(strings(lossless=True), losses, rates, floats(1.0, 1.3))
def test_every_grid_is_stable_and_passive(string: String, loss: Loss, rate: float, margin: float) -> None:
    """Q + k S <= 1 keeps both roots of T5 inside the unit circle and kinetic energy positive; S >= 0 loses energy."""
    string = with_loss(string, loss)
    g = accepted(string, rate, margin)
    q, backward, whole = terms_of(string, g, rate, string.wavenumbers(g.intervals))
    assert (q + backward / rate).max() <= 1.0 + 1e-12
    assert backward.min() >= -1e-9 * whole.max()
    assert whole.min() >= -1e-9 * whole.max()
    assert g.spacing >= margin * g.limit * (1.0 - 1e-12)
    assert g.intervals * g.spacing == pytest.approx(string.length, rel=1e-14)


@given(strings(lossless=True), losses, rates)
def test_both_roots_stay_inside_the_unit_circle(string: String, loss: Loss, rate: float) -> None:
    string = with_loss(string, loss)
    g = accepted(string, rate)
    k, b = 1.0 / rate, string.wavenumbers(g.intervals - 1)
    q, backward, _ = terms_of(string, g, rate, b)
    r0, z = g.loss.terms[0] * k, 2.0 * k * backward
    for a1, a0 in zip(2.0 - 4.0 * q - z, 1.0 - r0 - z, strict=True):
        assert np.abs(np.roots([1.0 + r0, -a1, a0])).max() <= 1.0 + 1e-9


@given(strings(lossless=True), st.sampled_from([0.0, 2e-3, 5e-2]), rates)
def test_the_grid_is_the_finest_with_its_margin(string: String, s2: float, rate: float) -> None:
    string = with_loss(string, Loss(0.5, 0.0, s2))
    g = grid(string, rate)
    assert string.length / (g.intervals + 1) < MARGIN * g.limit
    # The limit is where the shortest wave of all, b h = pi, has Q + k S = 1.
    at_limit = Grid(g.intervals, g.limit, g.limit, g.loss)
    q, backward, _ = terms_of(string, at_limit, rate, np.array([pi / g.limit]))
    assert float((q + backward / rate)[0]) == pytest.approx(1.0, abs=1e-12)


# --- losses -----------------------------------------------------------------------------------------------------------


def measured_decay(string: String, g: Grid, rate: float, b: Array) -> Array:
    """-ln|z|/k of T5's complex pair."""
    _, backward, _ = terms_of(string, g, rate, b)
    r0 = g.loss.terms[0] / rate
    return -0.5 * rate * np.log((1.0 - r0 - 2.0 * backward / rate) / (1.0 + r0))


@pytest.mark.parametrize("rate", [48_000.0, 96_000.0, 384_000.0])
@pytest.mark.parametrize("loss", [STEEL, Loss(0.6, 0.0, 0.0, 5e-6), Loss(0.6, 6.5e-3), Loss(1.0, 1e-3, 0.0, 1e-6)])
def test_the_reported_fit_is_what_the_scheme_does(loss: Loss, rate: float) -> None:
    """Over every audible mode; what is left of 0.4 % is the scheme's own time step."""
    string = String(0.88, 5.55e-4, 58.8, 7.95e-5, loss)
    g = grid(string, rate)
    b = audible(string, g.intervals)
    measured = float(np.abs(measured_decay(string, g, rate, b) / loss.rate(b) - 1.0).max())
    assert measured == pytest.approx(g.loss.worst_error, abs=4e-3)
    assert 0.0 < g.loss.worst_error <= WORST_FIT
    assert len(g.loss.terms) <= REACH + 1


@given(strings(lossless=True), powers(-2.0, 2.0), powers(-5.0, -2.0), rates)
def test_s0_and_s2_are_realised_as_they_are(string: String, s0: float, s2: float, rate: float) -> None:
    g = grid(with_loss(string, Loss(s0, 0.0, s2)), rate)
    assert g.loss.terms == (s0, s2)
    assert g.loss.worst_error == 0.0
    # And long waves, which the grid resolves, decay by s0 + s2 b^2.
    b = string.wavenumbers(1)
    assume(g.intervals > 50)
    wanted = s0 + s2 * b**2
    assert measured_decay(with_loss(string, Loss(s0, 0.0, s2)), g, rate, b) == pytest.approx(wanted, rel=2e-3)


def audible(string: String, intervals: int) -> Array:
    """Wavenumbers of the grid's modes between 20 Hz and 20 kHz."""
    b = string.wavenumbers(intervals - 1)
    f = string.undamped_frequency(b) / (2.0 * pi)
    return b[(f >= AUDIBLE[0]) & (f <= AUDIBLE[1])]


def best_possible(string: String, intervals: int, terms: int) -> float:
    """The least worst error of any fit with so many terms: a linear programme."""
    loss, b = string.loss, audible(string, intervals)
    s = symbol(b, string.length / intervals)
    whole = loss.s0 + loss.s1 * b + loss.s2 * s + loss.s3 * b**3
    target = (loss.s1 * b + loss.s3 * b**3) / whole
    basis = (s / s.max())[:, None] ** np.arange(terms) / whole[:, None]
    basis, ones = basis / np.abs(basis).max(axis=0), np.ones((b.size, 1))
    limits = np.block([[basis, -ones], [-basis, -ones]])
    cost, free = np.append(np.zeros(terms), 1.0), [(None, None)] * (terms + 1)
    return float(linprog(cost, limits, np.concatenate([target, -target]), bounds=free).fun)


@pytest.mark.parametrize("rate", [48_000.0, 192_000.0])
@pytest.mark.parametrize("loss", [STEEL, Loss(0.6, 6.5e-3), Loss(0.6, 6.5e-3, 1e-3, 5e-6)])
def test_no_fit_is_much_better(loss: Loss, rate: float) -> None:
    string = String(0.88, 5.55e-4, 58.8, 7.95e-5, loss)
    g = grid(string, rate)
    best = best_possible(string, g.intervals, len(g.loss.terms))
    assert best * (1.0 - 1e-6) <= g.loss.worst_error <= 1.05 * best


@given(strings(lossless=True), losses, rates)
def test_a_fit_is_within_its_limit_or_refused(string: String, loss: Loss, rate: float) -> None:
    assert accepted(with_loss(string, loss), rate).loss.worst_error <= WORST_FIT


@pytest.mark.parametrize("loss", [Loss(0.0, 1e-2), Loss(0.0, 0.0, 0.0, 5e-6), Loss(0.01, 0.05), Loss(0.0, 6.5e-3)])
def test_a_law_that_even_differences_cannot_follow_is_refused(loss: Loss) -> None:
    """|b| or |b|^3 alone over several octaves is no polynomial of b^2: not even the best fit is good enough."""
    string = String(0.88, 5.55e-4, 58.8, 7.95e-5, loss)
    with pytest.raises(PhysicsError, match=r"finite differences miss this decay by [0-9.]+%, more than 10%") as caught:
        grid(string, 48_000.0)
    assert caught.value.key == "string.loss"
    assert "use model: modal" in caught.value.remedy
    assert best_possible(string, 120, REACH + 1) > WORST_FIT


def test_a_loss_too_strong_for_the_rate_is_refused() -> None:
    with pytest.raises(PhysicsError, match="grid intervals"):
        grid(String(0.88, 5.55e-4, 58.8, 7.95e-5, Loss(0.0, 0.0, 1e3)), 48_000.0)


def test_a_string_too_high_for_the_rate_is_refused() -> None:
    with pytest.raises(PhysicsError, match=r"leaves 2 grid intervals of .* at least 3 .* raise the sample rate"):
        grid(String(0.05, 1e-3, 1e3 * (2 * 0.05 * 9e3) ** 2 * 1e-6, 0.0), 48_000.0)


# --- differences and interpolation ------------------------------------------------------------------------------------


@given(st.lists(floats(-3.0, 3.0), min_size=1, max_size=REACH + 1), floats(1e-3, 0.1))
def test_taps_are_powers_of_the_second_difference(terms: list[float], spacing: float) -> None:
    whole, power = np.zeros(2 * REACH + 1), np.array([1.0])
    for term in terms:
        pad = REACH - power.size // 2
        whole += term * np.pad(power, (pad, pad))
        power = np.convolve(power, np.array([-1.0, 2.0, -1.0]) / spacing**2)
    taps = difference_taps(tuple(terms), spacing)
    assert np.abs(taps - whole[REACH:]).max() <= 1e-13 * np.abs(whole).max()


@given(floats(0.0, 1.0), st.integers(5, 60), st.sampled_from([2, 3, 4]))
def test_interpolation_is_lagranges_on_the_odd_image(place: float, intervals: int, points: int) -> None:
    spacing = 0.7 / intervals
    x = min(place * 0.7, 0.7)
    first, weights = interpolation(x, spacing, intervals, points)
    assert first >= 1
    assert first + points - 1 <= max(intervals - 1, points)
    u = np.random.default_rng(intervals).standard_normal(intervals + 1)
    u[[0, -1]] = 0.0
    beyond = points
    image = np.concatenate([-u[beyond:0:-1], u, -u[-2 : -2 - beyond : -1]])
    cell = min(int(x / spacing), intervals - 1)
    near = np.arange(points) - points // 2 + 1
    polynomial = np.linalg.solve(np.vander(near.astype(float)), image[cell + near + beyond])
    wanted = np.polyval(polynomial, x / spacing - cell)
    assert weights @ u[first : first + points] == pytest.approx(float(wanted), abs=1e-11)


@given(st.integers(4, 60), st.data())
def test_interpolation_at_a_node_is_that_node(intervals: int, data: st.DataObject) -> None:
    node = data.draw(st.integers(1, intervals - 1))
    first, weights = interpolation(node * 0.01, 0.01, intervals, 4)
    picked = np.zeros(intervals + 8)
    picked[first : first + 4] = weights
    assert picked[node] == pytest.approx(1.0, abs=1e-9)
    assert np.abs(np.delete(picked, node)).max() <= 1e-9


def test_symbol_tends_to_the_wavenumber_squared() -> None:
    b = np.array([1.0, 10.0, 100.0])
    for spacing in (1e-3, 1e-4):
        assert symbol(b, spacing) == pytest.approx(
            b**2 * (1.0 - (b * spacing) ** 2 / 12.0), rel=(0.1 * spacing * 1e2) ** 3
        )
