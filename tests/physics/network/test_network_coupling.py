"""Strings, bridge and body against theory: poles of the coupled system, exchange, double decay."""

from __future__ import annotations

import numpy as np
import pytest
from physics.networks import baj, from_rest, mobility, released, seven

from engine.physics.modes import modes
from engine.physics.network.metered import observe
from engine.physics.network.parts import Body, Network, Plane, Resonance, Strung
from engine.physics.network.weaving import Woven, weave
from engine.physics.string import Loss, String


def poles(w: Woven) -> np.ndarray:
    """The network's own, in 1/s: what one step makes of each mode's two values, one after the other, as a matrix."""
    strands, b = [w.strand(n) for n in range(len(w.network.strings))], w.island.bridge
    sizes = [planes.modes.wavenumber.size for planes in w.planes] + [len(w.network.body.modes)]
    banks = [s.bank for s in strands] + [b.bank]

    def state() -> np.ndarray:
        odd = int(b.clock[0]) & 1
        pairs = [(s.bank.latest, s.bank.last) for s in strands]
        pairs.append((b.bank.odd, b.bank.even) if odd else (b.bank.even, b.bank.odd))
        newest, last = zip(*((x[:n], y[:n]) for (x, y), n in zip(pairs, sizes)))
        return np.concatenate([*newest, *last])

    count = 2 * sum(sizes)
    matrix = np.zeros((count, count))
    for column in range(count):
        w.reset()
        value, at = np.zeros(count), 0
        value[column] = 1.0
        for half in (0, 1):
            for bank, n in zip(banks, sizes):
                (bank.odd if half else bank.even)[:n] = value[at : at + n]
                at += n
        moving = b.bank.rows[: b.now.size]
        b.now[:], b.before[:] = moving @ b.bank.even, moving @ b.bank.odd
        for s in strands:
            ends = s.bank.rows[: s.now.size]
            s.now[:], s.before[:] = ends @ s.bank.even, ends @ s.bank.odd
        observe(w, 1)
        matrix[:, column] = state()
    values = np.linalg.eigvals(matrix)
    assert np.abs(values).max() <= 1.0 + 1e-12
    return np.log(values.astype(complex)) * w.rate


def root(strings: list[tuple[String, float]], body: Body, guess: complex) -> complex:
    """Of the exact equation for ideal strings on a body, prod sinh(g L) (1 + Y(s) sum D(s)) = 0, by Muller's method."""

    def equation(s: complex) -> complex:
        slow = [np.sqrt(string.density / string.tension) for string, _ in strings]
        sines = [np.sinh(s * r * string.length) for r, (string, _) in zip(slow, strings)]
        total = complex(np.prod(sines))
        for n, (string, weight) in enumerate(strings):
            others = np.prod([sine for m, sine in enumerate(sines) if m != n])
            drive = weight**2 * string.tension * slow[n] * np.cosh(s * slow[n] * string.length)
            total += drive * others * mobility(body, s)
        return total

    x = [guess, guess * (1.0 + 1e-6), guess * (1.0 - 1e-6)]
    y = [equation(v) for v in x]
    for _ in range(40):
        d1, d2 = (y[1] - y[0]) / (x[1] - x[0]), (y[2] - y[1]) / (x[2] - x[1])
        bend = (d2 - d1) / (x[2] - x[0])
        slope = d2 + bend * (x[2] - x[1])
        rooted = np.sqrt(slope * slope - 4.0 * y[2] * bend + 0j)
        step = -2.0 * y[2] / max((slope + rooted, slope - rooted), key=abs)
        x, y = [*x[1:], x[2] + step], [*y[1:], equation(x[2] + step)]
        if abs(step) < 1e-13 * abs(x[2]):
            break
    return x[2]


@pytest.mark.parametrize(("rate", "cents", "decay"), [(48e3, 0.0015, (0.006, 0.06)), (96e3, 0.0004, (0.0015, 0.015))])
def test_coupled_poles_are_those_of_the_exact_equation(rate: float, cents: float, decay: tuple[float, float]) -> None:
    strings = [(baj(), 1.0), (baj(3.0), 0.8)]
    network = Network(tuple(Strung(string, weight) for string, weight in strings), seven())
    found = poles(weave(network, rate, 0.45 * rate))
    found = found[(found.imag > 0.0) & (found.imag < 2.0 * np.pi * 5e3)]
    exact = np.array([root(strings, network.body, pole) for pole in found])
    assert len(set(np.round(exact, 3))) == found.size > 45  # each its own
    assert np.abs(1200.0 * np.log2(found.imag / exact.imag)).max() <= cents
    off = np.abs(found.real / exact.real - 1.0)
    low = exact.imag < 2.0 * np.pi * 1e3
    assert off[low].max() <= decay[0]
    assert np.median(off[~low]) <= decay[1]


def test_a_body_damps_and_detunes_each_partial_by_its_mobility_there() -> None:
    """delta s_n = -(T/L) Y(j w_n), and seen figures."""
    body = seven((1.0,) * 7)
    found = poles(weave(Network((Strung(baj()),), body), 96e3, 6e3))
    for n, seen in ((1, -0.16177 - 0.84845j), (3, -0.1328 + 0.7387j), (10, -0.01902 + 0.2276j)):
        free = 1j * 2.0 * np.pi * n * baj().pitch
        shift = found[np.argmin(np.abs(found - free) + 1e9 * (found.real < -20.0))] - free
        wanted = -58.8 / 0.88 * mobility(body, free)
        assert abs(shift - wanted) <= 0.03 * abs(wanted)
        assert abs(shift - seen) <= 2e-3 * abs(seen)


def exchange(cents: float) -> tuple[float, float]:
    """When a second string has most of the first one's energy, and what share; its theory in Weinreich's terms."""
    body = Body((Resonance(np.sqrt(2e5 / 0.05) / (2.0 * np.pi), 1e6, 0.05),))
    w = weave(Network((Strung(baj()), Strung(baj(cents))), body), 48e3, 1e3)
    released(w, 0, np.array([1e-3]))
    book = from_rest(w, 4.0)
    assert book.balance <= 1e-9
    smooth = np.convolve(book.strings[:, 1], np.ones(260) / 260, "same") / book.total[0]
    most = float(smooth.max())
    flat = np.flatnonzero(smooth > 0.999 * most)
    return float(flat.mean() / w.rate), most


def test_two_equal_strings_exchange_all_they_have() -> None:
    seconds, share = exchange(0.0)
    assert seconds == pytest.approx(2.68, abs=0.02)
    assert share == pytest.approx(1.0, abs=3e-3)


def test_detuned_strings_exchange_a_part() -> None:
    """|zeta|^2 / (|zeta|^2 + dw^2/4) = .753 at 2.33 s."""
    seconds, share = exchange(1.0)
    assert seconds == pytest.approx(2.33, abs=0.06)
    assert share == pytest.approx(0.753, abs=5e-3)


@pytest.mark.parametrize("cents", [0.0, 0.5, 1.0, 2.0, 4.0])
def test_two_strings_on_a_resistive_bridge_have_weinreichs_poles(cents: float) -> None:
    body = Body((Resonance(400.0 * np.sqrt(2.0), np.sqrt(0.5) + 1e-9, 30.0 / (4.0 * np.pi * 400.0)),))
    w = weave(Network((Strung(baj()), Strung(baj(cents))), body), 96e3, 2e3)
    found = poles(w)
    w1, w2 = (2.0 * np.pi * baj(c).pitch for c in (0.0, cents))
    zeta, middle = 58.8 / 0.88 * mobility(body, 1j * w1), 0.5j * (w1 + w2)
    apart = np.sqrt(zeta**2 - (w1 - w2) ** 2 / 4.0 + 0j)
    wanted = sorted((middle - zeta + apart, middle - zeta - apart), key=lambda s: s.real)
    near = sorted(found[np.argsort(np.abs(found - middle))][:2], key=lambda s: s.real)
    for pole, theory in zip(near, wanted):
        assert abs(pole - theory) <= 0.006 * abs(zeta)


def test_two_planes_decay_twice_as_weinreichs_matrix_says() -> None:
    """One string, two planes on one bridge that moves at 30 degrees: 4 then .6 1/s."""
    theta, loss = np.pi / 6.0, Loss(0.6)
    body = Body((Resonance(185.0, 6.0, 0.1),), (theta,))
    string = baj(loss=loss)
    strung = Strung(string, 1.0, (Plane(0.0), Plane(np.pi / 2.0, 0.5)))
    w = weave(Network((strung,), body), 48e3, 1.5e3)
    count = modes(string, 48e3, 1.5e3).wavenumber.size
    released(w, 0, np.concatenate([[1e-3], np.zeros(2 * count - 1)]))
    book = from_rest(w, 5.1)
    w1, w2 = (2.0 * np.pi * string.pitch * 2.0 ** (c / 1200.0) for c in (0.0, 0.5))
    zeta = 58.8 / 0.88 * mobility(body, 1j * w1)
    c, s = np.cos(theta), np.sin(theta)
    matrix = [[-0.6 - zeta * c * c, -zeta * c * s], [-zeta * c * s, -0.6 - zeta * s * s + 1j * (w2 - w1)]]
    rates, shapes = np.linalg.eig(matrix)
    assert sorted(-rates.real) == pytest.approx([0.606, 4.043], abs=2e-3)
    part = np.linalg.solve(shapes, [1.0, 0.0]) * (c * shapes[0] + s * shapes[1])
    period = round(w.rate / string.pitch)
    beaten = book.out[:, 0] * np.exp(-1j * w1 * np.arange(book.out.shape[0]) / w.rate)
    level = np.abs(np.convolve(beaten, np.ones(8 * period) / (8 * period), "same"))
    at = np.array([0.1, 0.3, 0.6, 1.0, 2.0, 5.0])
    measured = 20.0 * np.log10(level[(at * w.rate).astype(int)])
    theory = 20.0 * np.log10(np.abs((part[:, None] * np.exp(rates[:, None] * at)).sum(axis=0)))
    assert measured - measured[0] == pytest.approx([0.0, -7.3, -18.1, -30.3, -39.5, -55.4], abs=0.15)
    assert measured - measured[0] == pytest.approx(theory - theory[0], abs=1.1)


def test_a_bridge_in_three_directions_that_do_not_mix_is_three_bridges() -> None:
    """Modes that move it in one direction each: strings in planes along them do not know of each other."""
    modes = (Resonance(150.0, 10.0, 0.05, (1.0, 0.0)), Resonance(260.0, 15.0, 0.03, (0.0, 1.0)))
    across = (0.0, np.pi / 2.0)
    both = Network((Strung(baj(), 1.0, tuple(Plane(a) for a in across)),), Body(modes, across))
    found = np.sort_complex(poles(weave(both, 48e3, 2e3)))
    alone = [
        poles(weave(Network((Strung(baj()),), Body((Resonance(m.frequency, m.quality, m.mass),))), 48e3, 2e3))
        for m in modes
    ]
    assert found == pytest.approx(np.sort_complex(np.concatenate(alone)), rel=1e-7, abs=1e-4)
