"""All that follows from a preset at a sample rate: what `jawari presets show` prints. SI units throughout."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from math import gamma, inf, pi, sqrt
from typing import Any

import numpy as np

from engine import module
from engine.errors import PhysicsError, PhysicsWarning, PresetError, SettingError
from engine.physics import finite_difference, modal, two_point
from engine.physics.excitation import pulse
from engine.physics.string import Array, String
from engine.preset.loader import Preset
from engine.study.buzzing import Buzz, buzzing
from engine.study.couplings import Instrumental, instrumental
from engine.study.intoned import Tuned, tuned_off
from engine.study.simulate import warn_of_points
from engine.synth.keys import Design, preset_key
from engine.units import decay_to_t60, key_to_note

OCTAVES = range(24, 97, 12)  # C1 to C7
PARTIALS = (1_000.0, 5_000.0, 10_000.0)  # Hz at which decay is told, beside the fundamental
IMPACT = 0.5  # m/s of the contact whose duration is told; it only matters where the exponent is not 1
RATES = (1_000.0, 768_000.0)  # Hz

_BLOCK = 2048  # steps of a kernel call that is timed: the call itself costs little then
_TIMED = 0.02  # s


@dataclass(frozen=True)
class Octave:
    """A key: its pitch, and what stands for its string: modes or grid intervals; none, with the reason, if silent."""

    note: str
    pitch: float | None
    size: int | None
    silent_because: str


@dataclass(frozen=True)
class Touching:
    """The contact points of the preset's own string, and the shortest free contact among them.

    `mass` is what a force on the point moves within one step (W = k^2 / mass), `duration` that
    mass against that stiffness (§5.2).
    """

    points: int
    first: float
    last: float
    stiffness: tuple[float, float]  # least and most, N/m^exponent a point
    exponent: float
    mass: float
    duration: float
    samples: float


@dataclass(frozen=True)
class Description:
    """A preset's derived quantities."""

    preset: Preset
    sample_rate: float
    rate: float  # of the model
    pitch: float  # f0 of the ideal string, Hz
    first_partial: float  # Hz
    inharmonicity: float  # B
    wave_speed: float  # m/s
    decay: tuple[tuple[float, float], ...]  # frequency (Hz) and T60 (s)
    size: int  # modes, or grid intervals
    octaves: tuple[Octave, ...]
    touching: Touching | None
    buzz: tuple[Buzz, ...]
    tuned: tuple[Tuned, ...]
    loss_error: float | None  # of finite differences: worst relative error of the decay rate in the audible band
    cost: float | None  # s per output sample, measured here and now; of several strings the instrument has it
    notes: tuple[str, ...]
    instrument: Instrumental | None = None  # of several strings

    @property
    def voices(self) -> float | None:
        """How many such strings this core could keep sounding."""
        return None if self.cost is None else 1.0 / (self.cost * self.sample_rate)


def describe(preset: Preset, sample_rate: float = 48_000.0) -> Description:
    """Design the preset's own string and the Cs, and time the kernel for an instant."""
    if not RATES[0] <= sample_rate <= RATES[1]:
        raise SettingError("sample rate", float(sample_rate), f"must be {RATES[0]:g} to {RATES[1]:g} Hz", "try 48000")
    if preset.assembly:  # what is asked of several strings below plays them, by the engine's module
        module.tell_if_cold()
        module.ready()
    rate, string = sample_rate * preset.oversample, preset.problem.string
    first_partial = string.pitch * sqrt(1.0 + string.inharmonicity)

    def at(pitch: float | None) -> tuple[Design | None, str]:
        key = preset_key(preset, pitch, rate)
        return key.design, key.silent_because

    own, reason = at(first_partial)
    if own is None:
        error = PresetError(f"{preset.name} at {rate:g} Hz: {reason}")
        error.exit_code = PhysicsError.exit_code
        raise error
    octaves = []
    for key in OCTAVES:
        design, reason = at(preset.tuning[key])
        count = None if design is None else size(design)
        octaves.append(Octave(key_to_note(key), preset.tuning[key], count, reason))
    return Description(
        preset=preset,
        sample_rate=sample_rate,
        rate=rate,
        pitch=string.pitch,
        first_partial=first_partial,
        inharmonicity=string.inharmonicity,
        wave_speed=string.wave_speed,
        decay=tuple((f, _t60(string, f)) for f in (first_partial, *PARTIALS)),
        size=size(own),
        octaves=tuple(octaves),
        touching=touching(own),
        buzz=buzzing(preset, sample_rate),
        tuned=tuned_off(preset, sample_rate),
        loss_error=own.grid.loss.worst_error if isinstance(own, finite_difference.Design) else None,
        cost=None if preset.assembly else seconds_a_step(own, best=preset.quality == "best") * preset.oversample,
        notes=_notes(own),
        instrument=instrumental(preset, preset.assembly, sample_rate) if preset.assembly else None,
    )


def size(design: Design) -> int:
    """Modes, or grid intervals."""
    return design.grid.intervals if isinstance(design, finite_difference.Design) else design.modes.wavenumber.size


def _t60(string: String, frequency: float) -> float:
    rate = float(string.loss.rate(np.asarray(string.wavenumber_at(frequency))))
    return decay_to_t60(rate) if rate > 0.0 else inf


def touching(design: Design) -> Touching | None:
    """The contact points of a design; None if its string touches nothing."""
    points, exponent = design.points, design.problem.contact.exponent
    if not points.position.size:
        return None
    mass = 1.0 / (design.rate**2 * _responses(design))
    with np.errstate(divide="ignore"):  # no stiffness: a contact that never ends
        duration = contact_duration(mass, points.stiffness, exponent)
    shortest = int(np.argmin(duration))
    return Touching(
        points=points.position.size,
        first=float(points.position[0]),
        last=float(points.position[-1]),
        stiffness=(float(points.stiffness.min()), float(points.stiffness.max())),
        exponent=exponent,
        mass=float(mass[shortest]),
        duration=float(duration[shortest]),
        samples=float(duration[shortest] * design.rate),
    )


def _responses(design: Design) -> Array:
    """Displacement of each contact point within a step, per newton on it."""
    count, c = design.points.position.size, design.coefficients
    if isinstance(c, modal.Coefficients):
        return np.diagonal(c.response)[:count]
    if c.surface.obstacle_node.size:
        return np.diagonal(c.surface.response)
    return np.full(count, c.surface.answer)


def contact_duration(mass: Array, stiffness: Array, exponent: float, speed: float = IMPACT) -> Array:
    """How long a mass that arrives at `speed` stays in a power-law contact (§5.2): pi sqrt(m/K) for exponent 1."""
    n = exponent + 1.0
    deepest = (0.5 * n * mass * speed**2 / stiffness) ** (1.0 / n)
    return 2.0 * deepest / speed * sqrt(pi) * gamma(1.0 + 1.0 / n) / gamma(0.5 + 1.0 / n)


def _notes(design: Design) -> tuple[str, ...]:
    if not isinstance(design, modal.Design):
        return ()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PhysicsWarning)
        warn_of_points(design)
    return tuple(str(warning.message) for warning in caught)


def seconds_a_step(design: Design, seconds: float = _TIMED, *, best: bool = False) -> float:
    """What a step of this string costs here and now: the median of some blocks after a pluck."""
    run = _stepper(design, best)
    run(pulse(design.problem.excitation, design.rate, _BLOCK))  # compiled, warm and plucked
    silence = np.zeros(_BLOCK)
    took: list[float] = []
    until = time.perf_counter() + seconds
    while not took or time.perf_counter() < until:
        before = time.perf_counter()
        run(silence)
        took.append(time.perf_counter() - before)
    return float(np.median(took)) / _BLOCK


def _stepper(design: Design, best: bool) -> Callable[[Array], Any]:
    if best and isinstance(design, modal.Design):
        c = two_point.coefficients(design)
        s, heard = two_point.state(c), np.zeros((_BLOCK, design.width))
        return lambda force: two_point.kernel(c, s, force, 0.0, heard)
    scheme: Any = modal if isinstance(design, modal.Design) else finite_difference
    state = scheme.state(design.coefficients)
    out = np.zeros((_BLOCK, design.width))
    return lambda force: scheme.kernel(design.coefficients, state, force, out)
