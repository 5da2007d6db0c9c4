"""The finite-difference grid: spacing and stability, the loss fit and its limit, difference taps, interpolation."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption
from physics.problems import STEEL, floats, powers, strings
from scipy.optimize import linprog

from engine.errors import PhysicsError
from engine.physics import finite_difference
from engine.physics.dispersion import BINOMIALS, FEW, HIGHEST, MANY, REACH, courant, symbol, taps
from engine.physics.grid import MARGIN, Grid, grid, highest_tension, interpolation
from engine.physics.losses import LOWEST, WORST_FIT, LossFit, far_taps, loss_taps
from engine.physics.string import Array, Loss, String
from engine.preset.loader import load_preset
from engine.synth.keys import design_key

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


def across(near: Array, b: Array, h: float) -> Array:
    """What symmetric taps make of a wave."""
    return np.asarray(near[0] + 2.0 * sum(tap * np.cos(j * b * h) for j, tap in enumerate(near) if j))


def terms_of(string: String, g: Grid, rate: float, b: Array) -> tuple[Array, Array, Array]:
    """Q, the backward and the whole loss of wavenumbers b, from the taps."""
    q = across(taps(g.elastic, string.tension), b, g.spacing) / 4.0
    offset, far = far_taps(g.loss)
    backward = across(loss_taps(g.loss), b, g.spacing)
    backward += sum(2.0 * tap * np.cos(m * b * g.spacing) for m, tap in zip(offset, far, strict=True))
    return q, backward, backward + g.loss.s0


@given(strings(lossless=True), losses, rates, floats(1.0, 1.3))
def test_every_grid_is_stable_and_passive(string: String, loss: Loss, rate: float, margin: float) -> None:
    """Q + k S <= 1 keeps both roots of §5.5 inside the unit circle and kinetic energy positive; S >= 0 loses energy."""
    string = with_loss(string, loss)
    g = accepted(string, rate, margin)
    q, backward, whole = terms_of(string, g, rate, string.wavenumbers(g.intervals))
    assert q.min() >= -1e-12
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
    r0, z = g.loss.s0 * k, 2.0 * k * backward
    for a1, a0 in zip(2.0 - 4.0 * q - z, 1.0 - r0 - z, strict=True):
        assert np.abs(np.roots([1.0 + r0, -a1, a0])).max() <= 1.0 + 1e-9


@given(strings(lossless=True), st.sampled_from([0.0, 2e-3, 5e-2]), rates)
def test_the_grid_is_the_finest_with_its_margin(string: String, s2: float, rate: float) -> None:
    string = with_loss(string, Loss(0.5, 0.0, s2))
    g = grid(string, rate)
    assert string.length / (g.intervals + 1) < MARGIN * g.limit
    # The limit is where some wave costs nothing: Q + k S = 1, or Q = 0.
    powers = g.elastic.at.size
    for spacing, passes in ((g.limit * (1.0 + 1e-6), True), (g.limit * (1.0 - 1e-3), False)):
        q = through(string, spacing, rate, powers, string.tension)
        a = np.linspace(0.0, 4.0, 257)[1:]
        load = np.polyval(q, a) + s2 / rate / spacing**2 * a
        assert (load.max() <= 1.0 + 1e-9 and np.polyval(q, a).min() >= 0.0) == passes


def through(string: String, spacing: float, rate: float, powers: int, tension: float) -> Array:
    """The polynomial without constant term through the exact sin^2(w k/2), highest power first: by a linear system."""
    first, last = pi / string.length, string.wavenumber_at(min(HIGHEST, 0.25 * rate))
    last = min(last, 0.9 * pi / spacing, 40.0 * first if powers == FEW else np.inf)
    roots = np.cos((2.0 * np.arange(1, powers + 1) - 1.0) * pi / (2 * powers))
    place = (roots[0] - roots) / (roots[0] + 1.0)
    b = np.sqrt(first**2 + place * max(last**2 - first**2, first**2))
    a = 4.0 * np.sin(0.5 * b * spacing) ** 2
    w = np.sqrt((tension * b**2 + string.stiffness * b**4) / string.density)
    table = (a[:, None] / a.max()) ** np.arange(powers, 0, -1)
    return np.append(np.linalg.solve(table, np.sin(0.5 * w / rate) ** 2) / a.max() ** np.arange(powers, 0, -1), 0.0)


@given(strings(lossless=True), rates, st.sampled_from([0.3, 1.0, 1.2]))
def test_chosen_partials_are_exact_at_any_tension(string: String, rate: float, stretch: float) -> None:
    """And between them Q is the one polynomial through them."""
    g = accepted(string, rate)
    powers = g.elastic.at.size
    assert powers in (FEW, MANY)
    b = string.wavenumbers(g.intervals)
    q = across(taps(g.elastic, stretch * string.tension), b, g.spacing) / 4.0
    through_them = through(string, g.spacing, rate, powers, stretch * string.tension)
    wanted = np.polyval(through_them, 4.0 * np.sin(0.5 * b * g.spacing) ** 2)
    assert np.abs(q - wanted).max() <= 1e-8 * np.abs(wanted).max()
    w = np.sqrt((stretch * string.tension * b[0] ** 2 + string.stiffness * b[0] ** 4) / string.density)
    assert q[0] == pytest.approx(np.sin(0.5 * w / rate) ** 2, rel=1e-8)


def test_two_powers_are_a_stiffness_of_their_own_where_waves_are_long() -> None:
    """EI' = EI + (T h^2/12)(1 - (c k/h)^2): what the modified equation asks for."""
    string, rate = String(0.88, 5.55e-4, 58.8, 1e-6), 768_000.0
    g = grid(string, rate, 1.2)
    assert g.elastic.at.size == FEW
    c2, h, k = string.tension / string.density, g.spacing, 1.0 / rate
    near = taps(g.elastic, string.tension)
    stiffness = near[2] * h**4 / k**2 * string.density
    wanted = string.stiffness + string.tension * h**2 / 12.0 * (1.0 - c2 * (k / h) ** 2)
    assert stiffness - string.stiffness == pytest.approx(wanted - string.stiffness, rel=2e-3)
    assert stiffness > 1.1 * string.stiffness


@pytest.mark.parametrize("rate", [88_200.0, 96_000.0, 176_400.0, 192_000.0])
@pytest.mark.parametrize("key", range(28, 88, 3))
def test_every_partial_of_a_bass_is_within_two_cents(key: int, rate: float) -> None:
    """Up to the fortieth or 20 kHz, with its losses, from the poles (§5.5); the paper's own is fifty cents off."""
    preset = load_preset("slap-bass")
    made = design_key(preset.problem, preset.model, preset.keys, 440.0 * 2.0 ** ((key - 69) / 12.0), rate).design
    assert isinstance(made, finite_difference.Design)
    string, g = made.problem.string, made.grid
    b = string.wavenumbers(min(40, g.intervals - 1))
    w = np.sqrt(string.undamped_frequency(b) ** 2 - string.loss.rate(b) ** 2)
    b, w = b[w <= 2.0 * pi * HIGHEST], w[w <= 2.0 * pi * HIGHEST]
    q, backward, _ = terms_of(string, g, rate, b)
    r0, z = g.loss.s0 / rate, 2.0 * backward / rate
    found = np.arccos((1.0 - 2.0 * q - 0.5 * z) / np.sqrt((1.0 + r0) * (1.0 - r0 - z))) * rate
    assert np.abs(1200.0 * np.log2(found / w)).max() <= 2.0


@given(strings(lossless=True), losses, rates)
def test_every_tension_up_to_the_highest_is_passive(string: String, loss: Loss, rate: float) -> None:
    string = with_loss(string, loss)
    g = accepted(string, rate)
    highest, b = highest_tension(string, g, rate), string.wavenumbers(g.intervals)
    assert highest >= string.tension * (1.0 - 1e-9)
    for tension in np.linspace(0.0, highest, 23):
        q, backward, _ = terms_of(String(1.0, 1.0, max(tension, 1e-9)), g, rate, b)
        assert q.min() >= -1e-12
        assert (q + backward / rate).max() <= 1.0


# --- losses -----------------------------------------------------------------------------------------------------------


def measured_decay(string: String, g: Grid, rate: float, b: Array) -> Array:
    """-ln|z|/k of §5.5's complex pair."""
    _, backward, _ = terms_of(string, g, rate, b)
    r0 = g.loss.s0 / rate
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
    assert len(g.loss.offsets) <= REACH or rate > 96_000.0


@given(strings(lossless=True), powers(-2.0, 2.0), powers(-5.0, -2.0), rates)
def test_s0_and_s2_are_realised_as_they_are(string: String, s0: float, s2: float, rate: float) -> None:
    g = grid(with_loss(string, Loss(s0, 0.0, s2)), rate)
    assert (g.loss.s0, g.loss.offsets) == (s0, (1,))
    assert g.loss.weights[0] * g.spacing**2 == pytest.approx(s2, rel=1e-15)
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
    return b[(f >= LOWEST) & (f <= HIGHEST)]


def best_possible(string: String, g: Grid, rate: float) -> float:
    """The least worst error of any weights of the same offsets, with 0 <= S and k S <= 1 - Q: a linear programme."""
    loss, h, offsets = string.loss, g.spacing, g.loss.offsets
    every, heard = string.wavenumbers(g.intervals), audible(string, g.intervals)
    rows = [
        np.column_stack([np.ones(b.size), *(4.0 * np.sin(0.5 * m * b * h) ** 2 for m in offsets)])
        for b in (heard, every)
    ]
    law, bound = (loss.s0 + loss.s1 * b + loss.s2 * symbol(b, h) + loss.s3 * b**3 for b in (heard, every))
    near, far = rows[0] / law[:, None], rows[1] / bound[:, None]
    least = 0.5 + 0.5 * loss.s0 / law
    far[:, 0] = 0.0
    q = courant(g.elastic, string.tension, 4.0 * np.sin(0.5 * every * h) ** 2, MARGIN**0.5)
    room, one, none = (1.0 - q) * rate / bound, np.ones((heard.size, 1)), np.zeros((every.size, 1))
    capped = np.maximum(room, 1.0)[:, None]
    table = np.block([[near, -one], [-near, -one], [-far, none], [far / capped, none], [-near, 0.0 * one]])
    limits = np.concatenate([one[:, 0], -one[:, 0], none[:, 0], room / capped[:, 0], -least])
    cost, free = np.append(np.zeros(len(offsets) + 1), 1.0), [(loss.s0, None)] + [(None, None)] * (len(offsets) + 1)
    return float(linprog(cost, table, limits, bounds=free).fun)


@pytest.mark.parametrize("rate", [48_000.0, 96_000.0, 192_000.0])
@pytest.mark.parametrize("loss", [STEEL, Loss(0.6, 6.5e-3), Loss(0.6, 6.5e-3, 1e-3, 5e-6)])
def test_no_fit_is_much_better(loss: Loss, rate: float) -> None:
    string = String(0.88, 5.55e-4, 58.8, 7.95e-5, loss)
    g = grid(string, rate)
    best = best_possible(string, g, rate)
    assert best * (1.0 - 1e-3) <= g.loss.worst_error <= 1.05 * best


def test_losses_cap_no_grid_and_their_error_falls_with_the_rate() -> None:
    """Sitar, x1 to x32: as many intervals as without loss, and a fit that is the closer the finer the grid."""
    string = String(0.88, 5.55e-4, 58.8, 7.95e-5, STEEL)
    errors = []
    for factor in (1, 2, 4, 8, 16, 32):
        g = grid(string, 48_000.0 * factor)
        assert g.intervals >= 0.99 * grid(with_loss(string, Loss()), 48_000.0 * factor).intervals
        errors.append(g.loss.worst_error)
    assert g.intervals > 1180
    assert (np.diff(errors) < 0.0).all()
    assert errors[-1] < 1e-3


def test_a_free_string_s_error_falls_with_the_rate() -> None:
    """50 ms of a plucked sitar from the poles of the grid (§5.5) against those of the string, x1 to x32."""
    string = String(0.88, 5.55e-4, 58.8, 7.95e-5, STEEL)
    b = string.wavenumbers(99)
    decay = string.loss.rate(b)
    w = np.sqrt(string.undamped_frequency(b) ** 2 - decay**2)
    pulse = 2e-3 * np.arange(400) / 400.0
    strength = np.exp(-1j * np.outer(w, pulse)) @ (1.0 - np.cos(2.0 * pi * pulse / 2e-3)) * np.sin(b * 0.7) / w
    heard, t = strength * np.sin(b * 0.09), np.arange(2400) / 48_000.0

    def sound(w: Array, decay: Array) -> Array:
        return np.asarray((heard[:, None] * np.exp((1j * w - decay)[:, None] * t)).imag.sum(0))

    exact, errors = sound(w, decay), []
    for factor in (1, 2, 4, 8, 16, 32):
        rate = 48_000.0 * factor
        g = grid(string, rate)
        q, backward, _ = terms_of(string, g, rate, b)
        r0, z = g.loss.s0 / rate, 2.0 * backward / rate
        size = np.sqrt((1.0 - r0 - z) / (1.0 + r0))
        angle = np.arccos((1.0 - 2.0 * q - 0.5 * z) / (1.0 + r0) / size)
        errors.append(np.linalg.norm(sound(angle * rate, -np.log(size) * rate) - exact) / np.linalg.norm(exact))
    assert (np.diff(errors) < 0.0).all(), errors
    assert errors[0] < 1e-3
    assert errors[-1] < 2e-5


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
    bare = grid(with_loss(string, Loss(0.1)), 48_000.0)
    assert best_possible(string, replace(bare, loss=LossFit(0.0, (1, 2, 3, 4), (0.0,) * 4, 0.0)), 48_000.0) > WORST_FIT


def test_a_loss_too_strong_for_the_rate_is_refused() -> None:
    with pytest.raises(PhysicsError, match="grid intervals"):
        grid(String(0.88, 5.55e-4, 58.8, 7.95e-5, Loss(0.0, 0.0, 1e3)), 48_000.0)


def test_a_string_too_high_for_the_rate_is_refused() -> None:
    with pytest.raises(PhysicsError, match=r"leaves 2 grid intervals of .* at least 3 .* raise the sample rate"):
        grid(String(0.05, 1e-3, 1e3 * (2 * 0.05 * 9e3) ** 2 * 1e-6, 0.0), 48_000.0)


# --- differences and interpolation ------------------------------------------------------------------------------------


@given(st.lists(floats(-3.0, 3.0), min_size=1, max_size=REACH))
def test_taps_are_powers_of_the_second_difference(terms: list[float]) -> None:
    whole, power = np.zeros(2 * REACH + 1), np.array([1.0])
    for term in terms:
        power = np.convolve(power, np.array([-1.0, 2.0, -1.0]))
        pad = REACH - power.size // 2
        whole += 4.0 * term * np.pad(power, (pad, pad))
    found = np.zeros(REACH + 1)
    for p, term in enumerate(terms):
        found += 4.0 * term * BINOMIALS[p]
    assert np.abs(found - whole[REACH:]).max() <= 1e-12 * max(np.abs(whole).max(), 1e-300)


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
