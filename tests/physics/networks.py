"""Networks for tests: random ones with everything on, and a few fixed ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.physics.barrier import Barrier, Obstacles, Polynomial
from engine.physics.excitation import Excitation, pulse
from engine.physics.network.coming import bend, enter, withdraw
from engine.physics.network.meetings import OBSTACLE
from engine.physics.network.metered import Ledger, observe
from engine.physics.network.parts import (
    BRIDGE,
    FRAME,
    Against,
    Blow,
    Body,
    Finger,
    Hammer,
    Link,
    Listening,
    Network,
    Plane,
    PortLike,
    Resonance,
    Strung,
    Travel,
)
from engine.physics.network.resting import release
from engine.physics.network.weaving import Woven, weave
from engine.physics.problem import Contact
from engine.physics.string import Loss, String

LOSSLESS = Loss()
SEVEN = (95.0, 210.0, 330.0, 520.0, 900.0, 1700.0, 3100.0)  # Hz: a body of seven modes
SEVEN_Q = (20.0, 25.0, 30.0, 30.0, 40.0, 40.0, 40.0)
SEVEN_MASS = (0.3, 0.2, 0.25, 0.3, 0.3, 0.3, 0.3)


def steel(rng: Any, wanted: float = 0.7) -> String:
    """A string of steel of any gauge and pitch; with such a probability, lossy."""
    length, diameter, pitch = rng.uniform(0.2, 1.2), rng.uniform(0.1e-3, 1.2e-3), rng.uniform(50.0, 600.0)
    density = 7850.0 * np.pi * diameter**2 / 4.0
    loss = Loss(rng.uniform(0.0, 3.0), rng.uniform(0.0, 2e-2), 0.0, 10 ** rng.uniform(-7.0, -4.0))
    return String(
        length,
        density,
        density * (2.0 * length * pitch) ** 2,
        2e11 * np.pi * diameter**4 / 64.0,
        loss if rng.random() < wanted else Loss(),
    )


def power(rng: Any, low: float, high: float) -> float:
    return float(10 ** rng.uniform(low, high))


def angle(rng: Any, planes: int) -> float:
    return float(rng.uniform(0.0, np.pi)) if planes == 2 else float(rng.choice([0.0, np.pi]))


def barriers(rng: Any, string: String, planes: int) -> list[PortLike]:
    found: list[PortLike] = []
    for _ in range(rng.integers(0, 3)):
        law = Contact(
            power(rng, 3.0, 10.0), float(rng.choice([1.0, 1.3, 1.5, 2.5])), float(rng.choice([0.0, 0.5, 50.0]))
        )
        height = -rng.uniform(0.0, 2e-3) * rng.integers(0, 2) + 2e-5 * (rng.random() < 0.1)
        stands = str(rng.choice([BRIDGE, FRAME]))
        moving = Travel(rng.uniform(-1e-3, 1e-3), rng.uniform(0.0, 0.01), rng.uniform(0.0, 0.02))
        travel = moving if rng.random() < 0.3 else Travel()
        friction = rng.uniform(0.0, 1.0) if planes == 2 and rng.random() < 0.5 else 0.0
        turned = 0.0 if rng.random() < 0.8 else np.pi
        if rng.random() < 0.5:
            start = rng.uniform(0.0, 0.3) * string.length
            stop = start + rng.uniform(0.01, 0.3) * string.length
            profile = Polynomial((0.0, 0.0, -rng.uniform(0.0, 2.0)), start)
            barrier: Any = Barrier(profile, start, stop, int(rng.integers(1, 8)), height)
        else:
            places = tuple(np.sort(rng.uniform(1e-3, 0.98, rng.integers(1, 4))) * string.length)
            barrier = Obstacles(places, (height,) * len(places))
        found.append(Against(barrier, law, stands, turned, friction, travel))
    return found


def touches(rng: Any, string: String, planes: int, hammers: int) -> list[PortLike]:
    def anywhere() -> float:
        return float(rng.uniform(0.03, 0.97) * string.length)

    found: list[PortLike] = []
    if hammers:
        for _ in range(rng.integers(0, 3)):
            felt = Contact(power(rng, 6.0, 11.0), float(rng.choice([1.0, 2.3, 3.0])), float(rng.choice([0.0, 0.5])))
            found.append(Blow(anywhere(), int(rng.integers(hammers)), felt, angle(rng, planes)))
    for _ in range(rng.integers(0, 3)):
        has = rng.random(3) < 0.6
        stiffness, resistance, mass = has * [power(rng, 1.0, 7.0), power(rng, -2.0, 3.0), power(rng, -5.0, -2.0)]
        way = Travel(rng.uniform(-3e-3, 3e-3), rng.uniform(0.0, 0.01), rng.uniform(0.0, 0.02), rng.uniform(0.02, 0.05))
        travel = way if rng.random() < 0.6 else Travel()
        found.append(Link(anywhere(), stiffness, resistance, mass, angle(rng, planes), travel))
    if rng.random() < 0.4:
        way = Travel(rng.uniform(0.0, 3e-3), rng.uniform(0.0, 0.01), rng.uniform(0.002, 0.02), rng.uniform(0.02, 0.05))
        law = Contact(power(rng, 2.0, 5.0), float(rng.choice([1.0, 1.5])))
        slip = power(rng, -2.0, 1.0) if rng.random() < 0.5 else np.inf
        damping = power(rng, -2.0, 0.5) if rng.random() < 0.5 else 0.0
        found.append(Finger(anywhere(), law, way, slip, damping, -1e-4 * (rng.random() < 0.5), angle(rng, planes)))
    return found


def random_string(rng: Any, hammers: int, most: int = 110) -> Strung:
    """One string with anything on it."""
    string, planes = steel(rng), (Plane(),)
    if rng.random() < 0.4:
        turned = rng.uniform(0.0, np.pi)
        planes = (Plane(turned), Plane(turned + 0.5 * np.pi, rng.uniform(-2.0, 2.0), band=6e3))
    ports = barriers(rng, string, len(planes)) + touches(rng, string, len(planes), hammers)
    pulse = Excitation(rng.uniform(0.05, 0.95), rng.choice([-1.0, 1.0]) * power(rng, -2.0, 0.7), power(rng, -3.5, -2.0))
    area = np.pi * rng.uniform(0.1e-3, 1.2e-3) ** 2 / 4.0
    return Strung(
        string,
        rng.uniform(-1.5, 1.5),
        planes,
        tuple(ports),
        pulse if rng.random() < 0.7 else None,
        rng.uniform(0.0, np.pi),
        2e11 * area if rng.random() < 0.4 else 0.0,
        int(rng.integers(1, 60)),
        min(rng.uniform(3e3, 20e3), most * string.pitch),
        (Listening(0.3 * string.length),) * int(rng.integers(0, 2)),
    )


def random_body(rng: Any, struck: bool = False) -> Body:
    directions = int(rng.integers(1, 4))
    modes = tuple(
        Resonance(
            float(np.exp(rng.uniform(np.log(30.0), np.log(8e3)))),
            rng.uniform(5.0, 200.0),
            power(rng, -4.0, 0.0),
            tuple(rng.normal(size=directions)),
            tuple(rng.normal(size=2)),
            float(rng.normal()) if struck else None,
        )
        for _ in range(rng.integers(0, 40))
    )
    return Body(modes, tuple(rng.uniform(0.0, np.pi, directions)))


def random_network(rng: Any, most: int = 5) -> Network:
    """Strings, contacts, ports, hammers, body, stretching: any of them."""
    hammers = tuple(
        Hammer(
            power(rng, -3.0, -1.5), rng.uniform(0.1, 5.0), -1e-5, rng.uniform(0.0, 0.01), -0.1 * (rng.random() < 0.3)
        )
        for _ in range(rng.integers(0, 3))
    )
    strings = tuple(random_string(rng, len(hammers)) for _ in range(rng.integers(1, most + 1)))
    knock = Excitation(0.5, power(rng, -2.0, 1.0), 1e-3) if rng.random() < 0.3 else None
    return Network(strings, random_body(rng), hammers, knock)


def seven(weights: tuple[float, ...] = (1.0, 0.8, -0.9, 1.0, 0.7, 1.0, 0.6)) -> Body:
    """A body of seven modes."""
    return Body(tuple(Resonance(*parts, (w,)) for *parts, w in zip(SEVEN, SEVEN_Q, SEVEN_MASS, weights)))


def baj(cents: float = 0.0, loss: Loss = LOSSLESS, stiffness: float = 0.0) -> String:
    """A sitar's first string."""
    return String(0.88, 5.55e-4, 58.8 * 2.0 ** (cents / 600.0), stiffness, loss)


def released(w: Woven, string: int, shape: Any) -> None:
    """Hold a string in a shape, mode by mode, and let go."""
    release(w.island.bridge, w.strand(string), w.points[string], np.asarray(shape, float))


def plucked(count: int, height: float, at: float) -> np.ndarray:
    """The modes of a triangle."""
    n = np.arange(1, count + 1)
    return 2.0 * height / (n**2 * np.pi**2 * at * (1.0 - at)) * np.sin(n * np.pi * at)


def from_rest(w: Woven, seconds: float) -> Ledger:
    """What follows, metered, with nothing that pushes."""
    return observe(w, round(seconds * w.rate))


def frequency(signal: np.ndarray, rate: float) -> float:
    """Mean frequency, by where it crosses zero upwards."""
    signal = signal - signal.mean()
    at = np.flatnonzero((signal[:-1] < 0.0) & (signal[1:] >= 0.0))
    exact = at - signal[at] / (signal[at + 1] - signal[at])
    return float(rate * (exact.size - 1) / (exact[-1] - exact[0]))


def frequency_near(signal: np.ndarray, rate: float, guess: float) -> float:
    """The frequency of a partial, by how its phase goes on from one half of the signal to the other."""
    half = signal.size // 2
    beaten = signal[: 2 * half] * np.exp(-2j * np.pi * guess / rate * np.arange(2 * half))
    first, second = (np.sum(np.hanning(half) * part) for part in (beaten[:half], beaten[half:]))
    return float(guess + np.angle(second / first) * rate / (2.0 * np.pi * half))


def mobility(body: Body, s: complex) -> complex:
    """Velocity per force at the bridge, of a body that moves in one direction."""
    w0 = [2.0 * np.pi * mode.frequency for mode in body.modes]
    parts = zip(body.modes, w0)
    return sum(m.shape[0] ** 2 * s / (m.mass * (s * s + w / m.quality * s + w * w)) for m, w in parts)


def laws(rng: Any, network: Network, rate: float, steps: int = 300, parts: int = 4) -> tuple[float, float]:
    """Let a network play while strings are bent, come and go: the worst error of its balance, and the least force.

    An AssertionError says which law it broke: losses lose, forces push, nothing is stored below zero, all is a number.
    """
    w, worst, least = weave(network, rate), 0.0, 0.0
    i = w.island
    one_sided = np.array([point.kind == OBSTACLE for points in w.points for point in points], bool)
    force = np.zeros((steps * parts, len(network.strings)))
    for n, strung in enumerate(network.strings):
        if strung.excitation is not None:
            force[:, n] = pulse(strung.excitation, rate, steps * parts)
    knock = rng.normal(size=(steps * parts, i.bridge.now.size)) * (network.knock is not None)
    knock[steps:] = 0.0
    sounding = list(range(len(network.strings)))
    for part in range(parts):
        here = slice(part * steps, (part + 1) * steps)
        book = observe(w, steps, force[here], knock[here])
        assert np.isfinite(book.out).all()
        assert np.diff(book.lost).min() >= -1e-13 * max(float(book.total.max()), float(book.lost[-1]))
        worst = max(worst, book.balance)
        least = min(least, float(book.force[:, one_sided].min(initial=0.0)))
        for n, strung in enumerate(network.strings):
            assert (w.strand(n).points.psi[: w.strand(n).points.obstacles] >= 0.0).all()
            if rng.random() < 0.5:
                bend(w.base, n, strung.string.tension * rng.uniform(0.97, 1.03), rng.choice([0.0, 5.0]))
        if len(sounding) > 1 and rng.random() < 0.5:
            withdraw(w.base, sounding.pop(int(rng.integers(len(sounding)))))
        away = set(range(len(network.strings))) - set(sounding)
        if away and rng.random() < 0.5:
            sounding.append(min(away))
            enter(w.base, sounding[-1])
    return worst, least
