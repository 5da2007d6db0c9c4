"""What a jawari does to the force on the body, and bodies: numbers to hear by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from physics.networks import baj, from_rest, mobility, released

from engine.errors import PhysicsError
from engine.physics.barrier import Barrier, Obstacles, Polynomial
from engine.physics.excitation import Excitation, pulse
from engine.physics.network.bodies import BODIES, COMMON, Plate, modes, named
from engine.physics.network.metered import observe, run
from engine.physics.network.parts import Against, Body, Network, Resonance, Strung
from engine.physics.network.weaving import weave
from engine.physics.problem import Contact
from engine.physics.string import Loss, String

LOSS = Loss(0.6, 6.5e-3, 0.0, 5e-6)


def spectrum(signal: np.ndarray, rate: float, at: float) -> tuple[np.ndarray, np.ndarray]:
    """Power of 80 ms from a moment on, 100 Hz to 16 kHz."""
    count = int(0.08 * rate)
    part = signal[int(at * rate) :][:count] * np.hanning(count)
    power, f = np.abs(np.fft.rfft(part, 1 << 16)) ** 2, np.fft.rfftfreq(1 << 16, 1.0 / rate)
    kept = (f > 100.0) & (f < 16e3)
    return f[kept], power[kept]


def centroid(signal: np.ndarray, rate: float, at: float) -> float:
    f, power = spectrum(signal, rate, at)
    return float((f * power).sum() / power.sum())


def formant(signal: np.ndarray, rate: float, at: float) -> float:
    """The peak above 800 Hz of the power smoothed over 800 Hz."""
    f, power = spectrum(signal, rate, at)
    window = np.hanning(int(800.0 / (f[1] - f[0])))
    smooth = np.convolve(power, window / window.sum(), "same")
    return float(f[f > 800.0][np.argmax(smooth[f > 800.0])])


# --- the sitar --------------------------------------------------------------------------------------------------------

MOMENTS = (0.03, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5)


def brightness(curvature: float | None, rate: float = 96e3) -> np.ndarray:
    """Of the force on the body, over time, of the shipped sitar's string over such a bridge."""
    over = (
        () if curvature is None else (Against(Barrier(Polynomial((0.0, 0.0, -curvature)), 0.0, 0.03, 7), Contact(1e8)),)
    )
    string = baj(loss=LOSS, stiffness=7.95e-5)
    strung = Strung(string, ports=over, excitation=Excitation(0.85, 1.0, 2e-3))
    book = run(weave(Network((strung,)), rate, 20e3), 1.6)
    assert book.balance <= 1e-9
    return np.array([centroid(book.out[:, 0], rate, at) for at in MOMENTS])


def test_a_sitar_opens_after_the_pluck_and_stays_bright() -> None:
    bare = brightness(None)
    assert np.ptp(bare) <= 0.03 * bare[0]
    for curvature in (0.75, 1.0, 2.0):
        found = brightness(curvature)
        assert found[2] >= 1.3 * found[0]
        assert found[-1] >= 1.3 * bare[-1]
        if curvature <= 1.0:
            assert (found[1:4] >= 3.0 * bare[1:4]).all()


def test_the_same_brightness_at_other_rates() -> None:
    at = {rate: brightness(0.75, rate * 48e3) for rate in (1, 2, 4)}
    assert at[2] == pytest.approx(at[4], rel=0.15)
    assert at[1] == pytest.approx(at[2], rel=0.3)


# --- the tanpura ------------------------------------------------------------------------------------------------------


def tanpura(edge: float | None, stiffness: float = 6.03e-5, body: Body | None = None, rate: float = 96e3) -> np.ndarray:
    """Released from its first mode, 3 mm: the force on the body, or what such a body radiates."""
    string = String(1.0, 4.83e-4, 33.06, stiffness, LOSS)
    over = () if edge is None else (Against(Obstacles((edge,), (0.0,)), Contact(3e7)),)
    w = weave(Network((Strung(string, ports=over),), body or Body()), rate, min(0.49 * rate, 40e3))
    released(w, 0, np.array([3e-3]))
    book = from_rest(w, 1.6)
    assert book.balance <= 1e-9
    return book.out[:, 0 if body is None else 1]


def test_a_thread_makes_a_formant_that_falls() -> None:
    """What van Walstijn et al., DAFx-16, heard at .3 .5 .75 1 s, of 5 mm; lower and longer at 2 mm; none without."""
    at = (0.3, 0.5, 0.75, 1.0)
    edge = tanpura(5e-3)
    found = [formant(edge, 96e3, t) for t in at]
    assert found == pytest.approx([2407.0, 2404.0, 2176.0, 1740.0], rel=0.06)
    near = tanpura(2e-3)
    assert [formant(near, 96e3, t) for t in at[1:]] == pytest.approx([1661.0, 1702.0, 1632.0], rel=0.05)
    assert formant(near, 96e3, 1.5) == pytest.approx(1412.0, rel=0.05)
    for plain in (tanpura(5e-3, 0.0), tanpura(None)):
        assert max(formant(plain, 96e3, t) for t in (0.5, 1.0)) < 900.0


def test_its_frequency_goes_with_the_root_of_stiffness() -> None:
    """f ~ EI^-1/2: twice and four times the stiffness."""
    one, two, four = (formant(tanpura(5e-3, 6.03e-5 * factor), 96e3, 0.5) for factor in (1.0, 2.0, 4.0))
    assert [two / one, four / one] == pytest.approx([0.5**0.5, 0.5], rel=0.06)


@pytest.mark.parametrize("rate", [48e3, 192e3])
def test_an_edge_stands_where_it_stands_at_any_rate(rate: float) -> None:
    """Of the same modes. What those above would give way by is made up for: without it 2 mm make 1.96 kHz at 96 kHz."""
    string = String(1.0, 4.83e-4, 33.06, 6.03e-5, LOSS)
    over = (Against(Obstacles((2e-3,), (0.0,)), Contact(3e7)),)
    found = []
    for each in (96e3, rate):
        w = weave(Network((Strung(string, ports=over),)), each, 20e3)
        released(w, 0, np.array([3e-3]))
        found.append(formant(from_rest(w, 0.6).out[:, 0], each, 0.5))
    assert found[1] == pytest.approx(found[0], rel=0.01)
    assert found[0] == pytest.approx(1651.0, rel=0.02)


def noise(rate: float) -> float:
    """dB of partials over what lies between them, 2 to 6 kHz, in the first 0.1 s of a thread's C5."""
    string = String(1.0, 4.83e-4, 529.0, 6.03e-5, LOSS)
    over = (Against(Obstacles((5e-3,), (0.0,)), Contact(3e7)),)
    strung = Strung(string, ports=over, excitation=Excitation(0.42, 1.6, 1.25e-3))
    heard = run(weave(Network((strung,)), rate, 20e3), 0.1).out[:, 0]
    power, f = np.abs(np.fft.rfft(heard * np.blackman(heard.size), 1 << 18)) ** 2, np.fft.rfftfreq(1 << 18, 1.0 / rate)
    band = (f > 2e3) & (f < 6e3)
    n = np.arange(1, 40)
    partials = string.pitch * 1.0025 * n * np.sqrt(1.0 + string.inharmonicity * n * n)
    near = np.abs(f[band, None] - partials).min(axis=1) < 0.2 * string.pitch
    return float(10.0 * np.log10(power[band][near].sum() / power[band][~near].sum()))


def test_a_thread_makes_no_noise() -> None:
    """Contacts of a step or two, begun by a guess, gave 20 and 30 dB, at x8 50."""
    assert min(noise(48e3), noise(96e3)) > 60.0


def test_a_radiating_tanpura_grows_for_half_a_second() -> None:
    def grown(signal: np.ndarray) -> float:
        powers = [np.mean(signal[int(t * 96e3) :][:7680] ** 2) for t in (0.1, 0.5)]
        return float(10.0 * np.log10(powers[1] / powers[0]))

    body = named("tanpura", weight=1e3)  # so heavy that it is only heard
    assert grown(tanpura(5e-3, body=body)) >= 8.0
    assert grown(tanpura(None, body=body)) <= 0.0


# --- the force on the body --------------------------------------------------------------------------------------------


def test_the_force_on_the_body_is_the_pull_less_what_stands_on_the_bridge() -> None:
    """pull.y - sum (S_k + x_k/L) F_k, with S_k = sum (c/m) V_k; but for the droop of second differences."""
    rate, points = 192e3, 5
    over = Against(Barrier(Polynomial((0.0, 0.0, -0.75)), 0.0, 0.03, points), Contact(1e8))
    w = weave(
        Network((Strung(baj(stiffness=7.95e-5), ports=(over,), excitation=Excitation(0.85, 1.0, 2e-3)),)), rate, 20e3
    )
    steps, s = round(0.05 * rate), w.strand(0)
    b = w.planes[0].modes.wavenumber
    pull_row = 58.8 * b + 7.95e-5 * b**3
    x = (np.arange(points) + 0.5) * 6e-3
    share = np.sin(np.outer(x, b)) @ (5.55e-4 / b) / (0.5 * 5.55e-4 * 0.88) + x / 0.88
    force = pulse(Excitation(0.85, 1.0, 2e-3), rate, steps)[:, None]
    felt, pulled = np.zeros(steps), np.zeros(steps)
    for n in range(steps):
        pulled[n] = pull_row @ s.bank.latest[: b.size]
        book = observe(w, 1, force[n : n + 1])
        felt[n], pulled[n] = book.out[0, 0], pulled[n] - share @ book.force[0]
    assert np.abs(felt).max() > 0.3
    powers = [np.abs(np.fft.rfft(v * np.hanning(steps))) ** 2 for v in (felt, pulled)]
    f = np.fft.rfftfreq(steps, 1.0 / rate)
    for low, high in ((0.0, 1e3), (1e3, 4e3), (4e3, 8e3)):
        here = (f > low) & (f < high)
        assert 10.0 * np.log10(powers[0][here].sum() / powers[1][here].sum()) == pytest.approx(0.0, abs=0.15)


# --- bodies -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(BODIES))
def test_a_body_of_another_size_is_the_same_one(name: str) -> None:
    """Not another plate of its kind: only frequencies are other ones, and of modes that pass 200 Hz the side."""
    own, larger = named(name), named(name, 0.7)
    assert larger.radiates == own.radiates * 0.7
    for one, other in zip(own.modes, larger.modes, strict=True):
        same = replace(one, frequency=one.frequency * 0.7)
        if other.frequency < COMMON <= one.frequency:
            assert np.array_equal(np.abs(one.heard), np.abs(other.heard))
            same = replace(same, heard=other.heard)
        assert same == other


@pytest.mark.parametrize(
    ("plate", "mean"),
    [(Plate(0.05, 9.0, 0.02, 114.0, 1100.0), 1.39e-3), (Plate(0.06, 1.9, 0.03, 50.0, 600.0), 7.9e-3)],
)
def test_modes_at_random_have_a_plates_mobility_on_the_mean(plate: Plate, mean: float) -> None:
    """Re Y = n/4M."""
    f = np.linspace(2.0 * plate.low, 0.9 * plate.high, 300)
    found = []
    for seed in range(40):
        body = Body(modes(Plate(plate.density, plate.mass, plate.loss, plate.low, plate.high, seed)))
        found.append([mobility(body, 2j * np.pi * x).real for x in f])
    assert plate.density / 4.0 / plate.mass == pytest.approx(mean, rel=0.01)
    assert np.mean(found) == pytest.approx(mean, rel=0.08)
    low, high = np.percentile(found, [10, 90]) / mean
    assert 0.05 < low < 0.4
    assert 1.5 < high < 3.0


@pytest.mark.parametrize("name", BODIES)
def test_every_named_body_carries_a_string_and_radiates(name: str) -> None:
    strung = Strung(baj(loss=LOSS), excitation=Excitation(0.85, 1.0, 2e-3))
    book = run(weave(Network((strung,), named(name)), 48e3, 8e3), 0.2)
    assert book.balance <= 1e-9
    assert book.body.max() > 0.0
    assert np.abs(book.out[:, 1:3]).max(axis=0).min() > 0.0
    assert 0.1 < book.total[-1] / book.total.max() < 1.0


def test_radiation_loses_the_bass() -> None:
    """Butterworth's high-pass: -3 dB where it begins to radiate, 12 dB an octave below."""
    levels = []
    for f in (50.0, 100.0, 200.0, 400.0, 1600.0):
        heard = []
        for radiates in (0.0, 400.0):
            body = Body((Resonance(f, 1e3, 1.0),), radiates=radiates)
            w = weave(Network((Strung(baj(), 0.0),), body, knock=Excitation(0.5, 1.0, 1e-3)), 48e3, 1e3)
            heard.append(np.abs(run(w, 0.2).out[4800:, 1]).max())
        levels.append(20.0 * np.log10(heard[1] / heard[0]))
    want = [-10.0 * np.log10(1.0 + (400.0 / f) ** 4) for f in (50.0, 100.0, 200.0, 400.0, 1600.0)]
    assert levels == pytest.approx(want, abs=0.15)


def test_bodies_that_cannot_be_are_refused() -> None:
    with pytest.raises(PhysicsError, match="must be one of tanpura, sitar"):
        named("cello")
    with pytest.raises(PhysicsError, match="at most 256 modes"):
        Plate(1.0, 1.0, 0.02, 100.0, 1000.0)
    with pytest.raises(PhysicsError, match="one number for each of 2 directions"):
        Body((Resonance(100.0, 20.0, 1.0),), (0.0, 1.0))
