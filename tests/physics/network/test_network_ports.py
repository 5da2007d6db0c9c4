"""Hammers, plectra, dampers, masses, fingers on frets, tension that grows: against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from physics.networks import baj, frequency, frequency_near, from_rest, plucked, released, seven
from scipy.integrate import solve_ivp
from scipy.special import ellipk

from engine.errors import PhysicsError
from engine.physics import modal
from engine.physics.barrier import Barrier, Obstacles, Polynomial
from engine.physics.excitation import Excitation
from engine.physics.modes import modes
from engine.physics.network.metered import Ledger, run
from engine.physics.network.parts import (
    FRAME,
    Against,
    Blow,
    Finger,
    Hammer,
    Link,
    Listening,
    Network,
    Plane,
    Strung,
    Travel,
)
from engine.physics.network.weaving import weave
from engine.physics.problem import Contact, Problem
from engine.physics.string import Loss, String

PIANO = (3.93e-3 / 0.62, 670.0)  # kg/m, N: C4
BASS = (35e-3 / 1.9, 750.0)


# --- hammers ----------------------------------------------------------------------------------------------------------


def hit(wire: tuple[float, float], felt: Contact, hammer: Hammer, rate: float) -> tuple[Ledger, np.ndarray]:
    """A hammer on a string so long that nothing comes back: the run, and the felt's force."""
    string = String(6.0, wire[0], wire[1])
    strung = Strung(string, ports=(Blow(6.0 * 0.4971, 0, felt),))
    book = run(weave(Network((strung,), hammers=(hammer,)), rate, 20e3), 0.012)
    assert book.balance <= 1e-11
    return book, book.force[:, 0]


@pytest.mark.parametrize("rate", [48e3, 96e3])
def test_a_linear_felt_on_an_infinite_string_has_its_closed_form(rate: float) -> None:
    """F = K v e^{-at} sin(w t)/w with a = K/4Z0 and w^2 = K/m - a^2."""
    stiffness, mass, speed = 5e3, 2.97e-3, 2.0
    impedance = np.sqrt(PIANO[0] * PIANO[1])
    _, force = hit(PIANO, Contact(stiffness), Hammer(mass, speed), rate)
    a = stiffness / (4.0 * impedance)
    w, t = np.sqrt(stiffness / mass - a * a), np.arange(force.size) / rate
    exact = np.where(t < np.pi / w, stiffness * speed * np.exp(-a * t) * np.sin(w * t) / w, 0.0)
    assert exact.max() == pytest.approx(4.343, abs=1e-3)
    assert force.max() == pytest.approx(exact.max(), abs=1.5e-3)
    assert np.sqrt(np.mean((force - exact) ** 2)) <= 0.0035 * exact.max() * 48e3 / rate * 1.2


HAMMERS = {  # wire, felt, hammer: peak and contact seen at 48, 96 kHz
    "C4": (PIANO, Contact(4.5e9, 2.5), Hammer(2.97e-3, 2.0), (6.85, 6.78), (4.35, 4.39)),
    "C4 hard": (PIANO, Contact(4.5e9, 2.5), Hammer(2.97e-3, 5.0), (18.5, 18.2), (4.58, 4.7)),
    "C2": (BASS, Contact(4e8, 2.3), Hammer(4.9e-3, 2.0), (10.8, 10.7), (3.42, 3.38)),
}


@pytest.mark.parametrize("name", HAMMERS)
def test_a_felt_hammer_follows_its_equation(name: str) -> None:
    """m x'' = -F, y' = F/2 Z0, F = K (x - y)^p, by an integrator of high order."""
    wire, felt, hammer, peaks, contacts = HAMMERS[name]
    impedance = np.sqrt(wire[0] * wire[1])

    def equation(_: float, s: np.ndarray) -> list[float]:
        force = felt.stiffness * max(s[0] - s[2], 0.0) ** felt.exponent
        return [s[1], -force / hammer.mass, force / (2.0 * impedance)]

    def over(_: float, s: np.ndarray) -> float:
        return float(s[0] - s[2])

    over.terminal, over.direction = True, -1  # type: ignore[attr-defined]
    exact = solve_ivp(
        equation, (0.0, 0.02), [0.0, hammer.speed, 0.0], "DOP853", rtol=1e-9, atol=1e-13, events=over, max_step=1e-5
    )
    most = float((felt.stiffness * np.maximum(exact.y[0] - exact.y[2], 0.0) ** felt.exponent).max())
    for rate, peak, contact in zip((48e3, 96e3), peaks, contacts):
        thrown = Hammer(hammer.mass, hammer.speed, -0.37 * hammer.speed / rate)
        _, force = hit(wire, felt, thrown, rate)
        on = np.flatnonzero(force > 0.0)
        lasted = (on[-1] - on[0] + 1) / rate
        assert force.max() == pytest.approx(peak, rel=0.01)
        assert force.max() == pytest.approx(most, rel=0.04)
        assert 1e3 * lasted == pytest.approx(contact, abs=0.2)
        assert lasted == pytest.approx(float(exact.t[-1]), rel=0.08)


def test_one_hammer_hits_the_strings_of_a_course_together() -> None:
    """Two strings of half the impedance at one hammer move as one string of the whole does."""
    felt, hammer = Contact(4.5e9, 2.5), Hammer(2.97e-3, 2.0)
    whole = String(0.62, PIANO[0], PIANO[1])
    half = String(0.62, 0.5 * PIANO[0], 0.5 * PIANO[1])
    one = Strung(whole, ports=(Blow(0.075, 0, felt),))
    two = Strung(half, ports=(Blow(0.075, 0, Contact(0.5 * 4.5e9, 2.5)),))
    alone = run(weave(Network((one,), hammers=(hammer,)), 96e3, 10e3), 0.004)
    course = run(weave(Network((two, two), hammers=(hammer,)), 96e3, 10e3), 0.004)
    assert course.balance <= 1e-11
    assert course.force.sum(axis=1).max() == pytest.approx(alone.force.max(), rel=0.02)
    assert course.hammers[-1] == pytest.approx(alone.hammers[-1], rel=0.03)
    assert course.strings[-1, 0] == pytest.approx(course.strings[-1, 1], rel=0.05)


def test_a_weight_on_a_hammer_is_its_work() -> None:
    falling = Hammer(1e-3, 0.0, 0.0, 0.0, -9.81e-3)
    book = run(weave(Network((Strung(baj()),), hammers=(falling,)), 48e3, 1e3), 0.1)
    assert book.hammers[-1] == pytest.approx(0.5e-3 * (9.81 * 0.1) ** 2, rel=2e-3)
    assert book.balance <= 1e-12


# --- fingers, dampers, masses -----------------------------------------------------------------------------------------


def test_a_finger_lifts_a_string_to_its_triangle_and_lets_it_slip() -> None:
    """2 mm at .85 L in 50 ms: 1.000 N (static .996), 1.001 mJ before it goes, .940 after (static .946)."""
    string = String(0.88, 5.55e-4, 58.8, 7.95e-5, Loss(0.6, 6.5e-3, 0.0, 5e-6))
    up = Travel(2e-3, 0.0, 0.05, 0.05)
    finger = Finger(0.85 * 0.88, Contact(1e4), up, damping=0.5)
    book = run(weave(Network((Strung(string, ports=(finger,)),)), 48e3), 0.1)
    assert book.balance <= 1e-10
    last = round(0.05 * 48e3) - 1
    static = 58.8 * 2e-3 / (0.88 * 0.85 * 0.15) / (1.0 + 58.8 / (0.88 * 0.85 * 0.15) / 1e4)
    assert static == pytest.approx(0.996, abs=1e-3)
    assert book.force[last, 0] == pytest.approx(1.0, abs=0.004)
    assert 1e3 * book.total[last - 1] == pytest.approx(1.001, abs=0.004)
    assert 1e3 * book.total[last + 2] == pytest.approx(0.94, abs=0.004)
    assert not book.force[last + 1 :].any()


def test_a_finger_slips_at_its_force() -> None:
    finger = Finger(0.85 * 0.88, Contact(1e4), Travel(4e-3, 0.0, 0.05), slip=0.8)
    book = run(weave(Network((Strung(baj(), ports=(finger,)),)), 48e3, 8e3), 0.06)
    gone = int(np.flatnonzero(book.force[:, 0] > 0.8)[0])
    assert book.force[gone, 0] < 0.9
    assert not book.force[gone + 1 :].any()
    assert book.balance <= 1e-10


@pytest.mark.parametrize("n", [1, 3])
def test_a_weak_damper_at_a_point_has_its_rate(n: int) -> None:
    """d sigma_n = (R / rho L) sin^2 b x; .4945 1/s for the first mode."""
    string, felt = String(0.65, 5e-4, 60.0), Link(0.23, resistance=2e-4)
    w = weave(Network((Strung(string, ports=(felt,)),)), 96e3, 5e3)
    released(w, 0, np.eye(1, n, n - 1)[0] * 1e-3)
    book = from_rest(w, 1.0)
    rate = -np.polyfit(np.arange(book.total.size) / w.rate, np.log(book.total), 1)[0] / 2.0
    wanted = 2e-4 / (5e-4 * 0.65) * np.sin(n * np.pi * 0.23 / 0.65) ** 2
    assert rate == pytest.approx(wanted, rel=1e-3)
    assert n != 1 or rate == pytest.approx(0.4945, abs=5e-4)


@pytest.mark.parametrize("n", [1, 3])
def test_a_small_mass_at_a_point_lowers_its_partial(n: int) -> None:
    """dw/w = -(m / rho L) sin^2 b x."""
    string, bolt = String(0.65, 5e-4, 60.0), Link(0.23, mass=2e-7)
    w = weave(Network((Strung(string, ports=(bolt,), listening=(Listening(0.23),)),)), 96e3, 5e3)
    released(w, 0, np.eye(1, n, n - 1)[0] * 1e-3)
    heard = frequency_near(from_rest(w, 1.0).out[:, 1], w.rate, n * string.pitch)
    wanted = -2e-7 / (5e-4 * 0.65) * np.sin(n * np.pi * 0.23 / 0.65) ** 2
    assert heard / (n * string.pitch) - 1.0 == pytest.approx(wanted, rel=0.01)


def test_a_felt_that_comes_at_the_end_of_a_note_leaves_partials_with_nodes_there() -> None:
    felt = Link(baj().length / 3.0, resistance=1.0, travel=Travel(0.0, 0.05, 0.01))
    w = weave(Network((Strung(baj(), ports=(felt,)),)), 48e3, 3e3)
    ringing = {}
    for n in (2, 3):
        w.reset()
        released(w, 0, np.eye(1, n, n - 1)[0] * 1e-3)
        book = from_rest(w, 0.3)
        assert book.balance <= 1e-10
        assert book.total[round(0.049 * 48e3)] == pytest.approx(book.total[0], rel=1e-9)
        ringing[n] = book.total[-1] / book.total[0]
    assert ringing[2] < 1e-6
    assert ringing[3] == pytest.approx(1.0, abs=1e-6)


def held(fret: Contact, finger: Link | Finger, seconds: float = 1.2) -> Ledger:
    """A string stopped a fourth up by a fret and a finger 15 mm behind it, plucked once it is."""
    string = String(0.648, 5.8e-4, 70.0, 0.0, Loss(0.5))
    stopped = 0.648 * 2.0 ** (-5.0 / 12.0)
    over = Against(Obstacles((stopped,), (-1e-4,)), fret, FRAME)
    pluck = Excitation(0.1, 1.0, 1e-3, 0.1)
    strung = Strung(string, ports=(over, finger), excitation=pluck, listening=(Listening(0.05),))
    book = run(weave(Network((strung,)), 96e3, 20e3), seconds)
    assert book.balance <= 1e-9
    return book


BEHIND = 0.648 * 2.0 ** (-5.0 / 12.0) + 0.015
PRESS = Travel(-4e-3, 0.0, 0.05)


@pytest.mark.parametrize(("stiffness", "cents"), [(1e5, -2.4), (1e7, 0.0)])
def test_a_finger_behind_a_fret_stops_the_string(stiffness: float, cents: float) -> None:
    """Partials 1, 2, 5 off by so many cents, at 80 kHz as at 20, and the fret bears 12-15 N all the time."""
    book = held(Contact(stiffness), Link(BEHIND, 2e4, 1.0, travel=PRESS))
    from_then = round(0.15 * 96e3)
    assert 9.0 < book.force[from_then:, 0].min() < 16.0
    assert book.force[-500:, 0].mean() == pytest.approx(book.force[from_then : from_then + 500, 0].mean(), rel=0.01)
    signal = book.out[from_then:, 1] - book.out[from_then:, 1].mean()
    spectrum = np.abs(np.fft.rfft(signal * np.hanning(signal.size), 1 << 20))
    first = np.sqrt(70.0 / 5.8e-4) / (2.0 * 0.648 * 2.0 ** (-5.0 / 12.0))
    for n in (1, 2, 5):
        low, high = (int(n * first * edge * (1 << 20) / 96e3) for edge in (0.94, 1.06))
        top = low + int(np.argmax(spectrum[low:high]))
        a, b, c = np.log(spectrum[top - 1 : top + 2])
        heard = (top + 0.5 * (a - c) / (a - 2.0 * b + c)) * 96e3 / (1 << 20)
        assert 1200.0 * np.log2(heard / (n * first)) == pytest.approx(cents, abs=0.1)


def test_two_stiff_contacts_that_last_are_refused_with_the_remedy() -> None:
    finger = Finger(BEHIND, Contact(1e7), Travel(4e-3, 0.0, 0.05), angle=np.pi)
    with pytest.raises(PhysicsError, match=r"no stiffer than 100000 N/m.*make it a spring"):
        held(Contact(1e7), finger, 0.01)


# --- tension that grows -----------------------------------------------------------------------------------------------

AREA = np.pi * 0.15e-3**2
WIRE = String(0.88, 7800.0 * AREA, 7800.0 * AREA * (2.0 * 0.88 * 185.0) ** 2)


@pytest.mark.parametrize(("height", "cents"), [(1e-3, 0.500), (3e-3, 4.490), (8e-3, 31.395)])
def test_one_mode_of_a_stretched_string_is_duffings(height: float, cents: float) -> None:
    """f = sqrt((k + k3 a^2)/m)/(4 K), K the complete elliptic integral."""
    w = weave(Network((Strung(WIRE, 0.0, stretching=2e11 * AREA, listening=(Listening(0.3),)),)), 96e3)
    released(w, 0, np.array([height]))
    book = from_rest(w, 0.5)
    assert book.balance <= 1e-11
    b = np.pi / 0.88
    stiff, cubic = WIRE.tension * b**2 * 0.44, 2e11 * AREA * 0.88 * b**4 / 8.0
    parameter = cubic * height**2 / (2.0 * (stiff + cubic * height**2))
    exact = np.sqrt((stiff + cubic * height**2) / (WIRE.density * 0.44)) / (4.0 * ellipk(parameter))
    glide = 1200.0 * np.log2(exact / WIRE.pitch)
    assert glide == pytest.approx(cents, abs=2e-3)
    assert 1200.0 * np.log2(frequency(book.out[:, 1], w.rate) / WIRE.pitch) == pytest.approx(glide, abs=3e-3)


def test_all_modes_of_a_plucked_string_glide_by_their_formula() -> None:
    """cents_n = (1200/ln 2)(EA/16T)(sum b_j^2 a_j^2 + b_n^2 a_n^2/2): 2.44 2.37 2.12 2.11 for n = 1, 2, 5, 10."""
    string = baj(stiffness=7.95e-5)
    kept = modes(string, 96e3, 20e3)
    shape = plucked(kept.wavenumber.size, 2e-3, 0.85)
    heard = []
    for stiffness in (2e11 * AREA, 0.0):
        w = weave(Network((Strung(string, 0.0, stretching=stiffness),)), 96e3, 20e3)
        released(w, 0, shape)
        rows = np.zeros((2400, shape.size))
        book = [from_rest(w, 0.0)]
        for n in range(2400):
            book = [from_rest(w, 10.0 / 96e3)]
            s = w.strand(0)
            rows[n] = s.bank.even[: shape.size]
        assert book[-1].balance <= 1e-11
        heard.append(rows)
    t = np.arange(2400) * 10.0 / 96e3
    window = np.hanning(1200)
    for n, cents in ((1, 2.43), (2, 2.35), (5, 2.11), (10, 2.09)):
        f = []
        for rows in heard:
            beaten = rows[:, n - 1] * np.exp(-1j * kept.frequency[n - 1] * t)
            ends = [np.sum(window * beaten[:1200]), np.sum(window * beaten[1200:])]
            f.append(kept.frequency[n - 1] + np.angle(ends[1] / ends[0]) / (1200 * 10.0 / 96e3))
        stretch = (kept.wavenumber * shape) ** 2
        formula = 1200.0 / np.log(2.0) * 2e11 * AREA / (16.0 * 58.8) * (stretch.sum() + 0.5 * stretch[n - 1])
        glide = 1200.0 * np.log2(f[0] / f[1])
        assert glide == pytest.approx(formula, abs=0.05)
        assert glide == pytest.approx(cents, abs=0.05)


# --- where parts are off ----------------------------------------------------------------------------------------------


def test_a_string_alone_is_the_string_of_old() -> None:
    """On a bridge that cannot move it does what modal.py does, where it touches nothing.

    Where it does, the two take their points by different rules: one after the other here, all at once there.
    """
    string = String(0.88, 5.55e-4, 58.8, 7.95e-5, Loss(0.6, 6.5e-3, 0.0, 5e-6))
    pluck = Excitation(0.85, 1.0, 2e-3)
    d = modal.design(Problem(string, None, Contact(1e8), pluck), 48e3, band=20e3)
    c, s = d.coefficients, modal.state(d.coefficients)
    w = weave(Network((Strung(string, excitation=pluck),)), 48e3, 20e3)
    run(w, 0.01)
    force, out = np.zeros(480), np.zeros((480, 1))
    t = np.arange(480)
    force[:97] = 0.5 * (1.0 - np.cos(2.0 * np.pi * t[:97] / 96.0))
    modal.kernel(c, s, force, out)
    assert np.abs(s.even).max() > 1e-5
    assert w.strand(0).bank.even == pytest.approx(np.asarray(s.even), abs=1e-12)


def test_parts_that_are_off_change_no_bit() -> None:
    """A string that moves no bridge keeps its bits whatever is beside it."""
    string = baj(loss=Loss(0.6))
    over = Against(Barrier(Polynomial((0.0, 0.0, -0.75)), 0.0, 0.03, 4), Contact(1e8))
    pluck = Excitation(0.85, 1.0, 2e-3)
    mine = Strung(string, 0.0, ports=(over,), excitation=pluck, listening=(Listening(0.1),))
    alone = run(weave(Network((mine,)), 48e3, 8e3), 0.03).out[:, 1]
    others = (mine, Strung(baj(3.0), excitation=pluck, listening=(Listening(0.1),)))
    together = run(weave(Network(others, seven()), 48e3, 8e3), 0.03)
    heard = together.out[:, together.out.shape[1] - 2]
    assert (heard == alone).all()
    doubled = Strung(string, 0.0, (Plane(), Plane(np.pi / 2.0)), (over,), pluck, listening=(Listening(0.1),))
    assert run(weave(Network((doubled,)), 48e3, 8e3), 0.03).out[:, 1] == pytest.approx(alone, abs=1e-12)
