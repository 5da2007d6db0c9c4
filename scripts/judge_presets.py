#!/usr/bin/env python3
"""Judges presets by what anybody may ask of an instrument: level, buzz and brightness over its keys, velocity, chords.

    python3 scripts/judge_presets.py                    all presets of presets/: a table, and what each lacks
    python3 scripts/judge_presets.py sitar --json FILE
    python3 scripts/make_tables.py --measure judged     what presets/README.md says of all of them

Everything is measured on what is heard at 48 kHz, but for contact and energy, which are those of `simulate(as_played)`:
every key that the instrument has (its compass), a second of each at velocity 100.

    level      largest difference in rms within any three octaves, dB             at most 6
    loudness   momentary loudness (EBU Tech 3341), mean of the keys, LUFS         within 1 of -26
    keys       and the largest departure of one of them from it, LU               at most 3
    buzz       share of the time in which strings touch, lowest, middle, highest key, %
    bright     centroid in harmonics, lowest, middle, highest key: of seven of them, evenly chosen, none is more than 4
               times as bright as the next
    velocity   from 20 to 127 on the middle key, dB, and how many times brighter  at least 30, and 1.05; of who
               says that force hardly matters (velocity.force below 0.5: a jack plucks or does not) nothing
    tuning     largest departure of a note from its pitch, the mean of its partials by power (engine/physics/pitch.py),
               cents                                                              at most 1, 2 where strings touch;
               what says intonation: string is bent on purpose
    chord      ten keys at once at velocity 127: share of frames that the live limiter bends in 2 s, %, and the deepest
               bend, dB                                                            at most 1 %
    DC         mean of a note from 0.2 s on, dB of its rms                         at most -60
    click      what is heard above 8 kHz around note-off, dB more than before or without it; what lies 60 dB below the
               whole sound is not heard                                            at most 6
    energy     balance over 0.25 s, relative; and that it never rises              at most 1e-9
    bits       the same in blocks of 64 and of 37 frames
    cost       of the chord while it sounds, % of a core
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from engine import messages as midi
from engine.errors import EngineError, PhysicsWarning
from engine.physics import pitch as told
from engine.physics.network.parts import Against
from engine.physics.string import Array
from engine.preset.loader import Preset, load_preset
from engine.preset.playing import STRING
from engine.study.buzzing import STRUCK, compass, touched
from engine.study.simulate import simulate
from engine.synth.choirs import strung_for
from engine.synth.following import periods
from engine.synth.instrument import Instrument
from engine.synth.keys import preset_key
from engine.synth.output import limit_block
from engine.synth.rehearsal import LOUDNESS
from engine.synth.weighting import OFFSET, k_weighting

RATE, STEPS, SECOND = 48_000, 7, 1.0
HELD, HOP = 0.6, RATE // 10
UNHEARD = -60.0  # dB of the sound


@dataclass
class Key:
    """One key, at velocity 100."""

    number: int
    rms: float  # dB
    loudness: float  # LUFS
    bright: float  # centroid in harmonics
    cents: float
    offset: float  # mean, dB of rms


@dataclass
class Verdict:
    """What was measured of a preset, and what is wrong."""

    name: str
    keys: list[Key] = field(default_factory=list)
    buzz: list[float] = field(default_factory=list)
    velocity: tuple[float, float] = (0.0, 1.0)
    steady: bool = False
    free: bool = False  # tuned as strings, not as they are heard
    chord: tuple[float, float] = (0.0, 0.0)
    click: float = 0.0
    energy: float = 0.0
    rises: float = 0.0
    same_bits: bool = True
    cost: float = 0.0
    wrong: list[str] = field(default_factory=list)

    def demand(self, holds: bool, what: str) -> None:
        """What is wrong unless it holds."""
        if not holds:
            self.wrong.append(what)


# --- measures ---------------------------------------------------------------------------------------------------------


def decibels(power: float) -> float:
    """Of a power."""
    return float(10.0 * np.log10(power + 1e-30))


def played(
    inst: Instrument, keys: list[int], velocity: int, seconds: float, off: float = 0.0, block: int = 64
) -> Array:
    """What is heard of keys struck together, before the limiter."""
    inst.reset()
    for key in keys:
        inst.schedule(0, [midi.NOTE_ON, key, velocity])
    for key in keys if off else ():
        inst.schedule(round(off * RATE), [midi.NOTE_OFF, key, 64])
    out = np.zeros((round(seconds * RATE), inst.channels), np.float32)
    for start in range(0, len(out), block):
        inst.run(out[start : start + block])
    return out


def momentary(sound: Array) -> float:
    """LUFS of the loudest 400 ms."""
    from scipy.signal import sosfilt

    sos = [[*row[:3], 1.0, *row[3:]] for row in k_weighting(RATE)]
    squares = (sosfilt(sos, sound.astype(float), axis=0) ** 2).sum(axis=1)
    hops = squares[: len(squares) // HOP * HOP].reshape(-1, HOP).mean(axis=1)
    return OFFSET + decibels(np.convolve(hops, np.full(4, 0.25), "valid").max())


def centroid(sound: Array, pitch: float) -> float:
    """In harmonics of a pitch, up to 16 kHz, of the first half second."""
    part = sound[: RATE // 2].astype(float).mean(axis=1)
    power = np.abs(np.fft.rfft(part * np.hanning(part.size))) ** 2
    f = np.fft.rfftfreq(part.size, 1.0 / RATE)
    heard = (f > 0.5 * pitch) & (f < 16e3)
    return float((f * power)[heard].sum() / power[heard].sum() / pitch)


def departure(sound: Array, pitch: float, inharmonicity: float, touched: bool = False) -> float:
    """How far a note is from its pitch, cents, as engine/physics/pitch.py says what that is.

    A partial is found through few periods, and then looked at: strings and modes of the body beside it are other tones.
    """
    off, power = list[float](), list[float]()
    for n, place in enumerate(told.places(pitch, inharmonicity), 1):
        apart = periods(pitch) / pitch
        _, near = followed(sound, place, 2.0 * apart, apart)
        strong, near = followed(sound, near, told.LOOK, told.APART)
        off.append(told.departure(near, n, place, pitch, touched))
        power.append(strong)
    return float(1200.0 * np.log2(1.0 + told.mean(off, power)))


def followed(sound: Array, near: float, long: float, apart: float) -> tuple[float, float]:
    """A partial's power, and its frequency, from looks at it that take so many seconds each and are so many apart.

    Under Hann's window of whole periods other harmonics lie on zeros of its spectrum.
    """
    span, hop = round(long * RATE), round(apart * RATE)
    part = sound[round(told.FROM * RATE) : round(told.UNTIL * RATE)].astype(float)
    window = 0.5 - 0.5 * np.cos(2.0 * np.pi * (np.arange(span) + 0.5) / span)
    still = part.T * np.exp(-2j * np.pi * near / RATE * np.arange(len(part)))
    z = (np.lib.stride_tricks.sliding_window_view(still, span, axis=1)[:, ::hop] @ window).T
    turned = float(np.angle((z[:-1].conj() * z[1:]).sum())) * RATE / (2.0 * np.pi * hop)
    return float((np.abs(z) ** 2).sum()), near + turned


def lowest(preset: Preset, key: int) -> tuple[float, float, bool]:
    """Of the lowest string that a key sounds: its pitch, Hz, its inharmonicity, and whether something may touch it."""
    pitch, a = float(preset.tuning[key] or 0.0), preset.assembly
    if a is None:
        design, barrier = preset_key(preset, pitch, RATE * preset.oversample).design, preset.problem.barrier
        return pitch, design.problem.string.inharmonicity if design else 0.0, barrier is not None
    part, course = min(((part, c) for part in a.places(key)[0] for c in part.courses), key=lambda own: own[1].ratio)
    string = strung_for(preset, part, course, pitch).strung.string
    return pitch * course.ratio, string.inharmonicity, any(isinstance(port, Against) for port in part.strung.ports)


def above(sound: Array, at: int, hertz: float = 8e3) -> float:
    """dB above a frequency of 10 ms around a sample."""
    part = sound[at - 240 : at + 240].astype(float) * np.hanning(480)[:, None]
    return decibels(float((np.abs(np.fft.rfft(part, axis=0))[round(hertz / 100.0) :] ** 2).sum()))


# --- one preset -------------------------------------------------------------------------------------------------------


def judged(name: str, quick: bool = False) -> Verdict:
    """All there is to say about a preset; quickly, of three keys of it."""
    v = Verdict(name)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        preset = load_preset(name)
        inst = Instrument(preset, RATE)
    v.wrong += [str(one.message) for one in said if issubclass(one.category, PhysicsWarning)]
    v.steady, v.free = preset.velocity.force < 0.5, preset.intonation == STRING
    low, high = compass(preset)
    ready = [key for key in range(low, high + 1) if key not in inst.silent_keys]
    v.demand(len(ready) == high + 1 - low, f"{high + 1 - low - len(ready)} of its keys are silent")
    chosen = sorted({ready[round(n)] for n in np.linspace(0, len(ready) - 1, 3 if quick else len(ready))})
    middle = min(chosen, key=lambda key: abs(key - (low + high) / 2))
    for key in chosen:
        v.keys.append(heard(inst, preset, key))
    for key in (chosen[0], middle, chosen[-1]):
        v.buzz.append(touched(preset, key, RATE) or 0.0)
    across_velocity(v, inst, preset, middle)
    in_chords(v, inst, ready)
    letting_go(v, inst, middle)
    conserving(v, preset, middle)
    blocks = [played(inst, [middle], 100, 0.3, 0.2, block) for block in (64, 37)]
    v.same_bits = bool((blocks[0] == blocks[1]).all())
    conclude(v)
    return v


def heard(inst: Instrument, preset: Preset, key: int) -> Key:
    """One key for a second."""
    pitch = float(preset.tuning[key] or 0.0)
    sound = played(inst, [key], 100, SECOND)
    rms = decibels(float((sound.astype(float) ** 2).mean()))
    cents = departure(sound, *lowest(preset, key))
    later = sound[round(0.2 * RATE) :].astype(float)  # when a step has left the filter at 5 Hz
    window = np.hanning(len(later))
    mean = float(np.abs((later * window[:, None]).sum(axis=0) / window.sum()).max())
    return Key(key, rms, momentary(sound), centroid(sound, pitch), cents, decibels(mean * mean) - rms)


def across_velocity(v: Verdict, inst: Instrument, preset: Preset, key: int) -> None:
    """Soft against loud."""
    pitch = float(preset.tuning[key] or 0.0)
    soft, loud = (played(inst, [key], velocity, SECOND) for velocity in (20, 127))
    v.velocity = (momentary(loud) - momentary(soft), centroid(loud, pitch) / centroid(soft, pitch))


def chord(ready: list[int], strings: int) -> list[int]:
    """Ten keys, as far apart as hands may be, or as many as there are strings for."""
    first = max(0, len(ready) // 2 - 18)
    apart = max(1, min(4, (len(ready) - 1) // 9))
    return ready[first : first + 10 * apart : apart][: min(10, strings)]


def in_chords(v: Verdict, inst: Instrument, ready: list[int]) -> None:
    """Ten keys, as far apart as hands may be, at velocity 127: what the live limiter does, and what it costs."""
    before = time.process_time()
    out = played(inst, chord(ready, inst.polyphony), 127, 2.0)
    v.cost = 100.0 * (time.process_time() - before) / 2.0
    bent = np.array(out, np.float32, order="C")
    limit_block(bent.ctypes.data, *bent.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nan_to_num(np.abs(out) / np.abs(bent), nan=1.0)
    v.chord = (100.0 * float((out != bent).any(axis=1).mean()), 20.0 * float(np.log10(ratio.max())))
    v.demand(np.abs(bent).max() < 1.0, "a chord of ten is cut off")


def letting_go(v: Verdict, inst: Instrument, key: int) -> None:
    """Note-off, against the same sound before and against how it would have gone on."""
    off = round(HELD * RATE) + inst.latency
    gone, stays = played(inst, [key], 100, 1.0, HELD), played(inst, [key], 100, 1.0)
    around = range(off, off + round(0.1 * RATE), 240)
    heard = {at: max(above(stays, at), above(stays, at - 4800), above(stays, at, 0.0) + UNHEARD) for at in around}
    v.click = max(above(gone, at) - heard[at] for at in around)


def conserving(v: Verdict, preset: Preset, key: int) -> None:
    """The energy of all there is, and whether it rises once nothing strikes any more."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PhysicsWarning)
        sim = simulate(preset, STRUCK + 0.2, RATE, key=key, as_played=True)
    after = sim.energy.total[sim.time > STRUCK + excited(preset)]
    v.energy = sim.energy_drift
    if not any(part.rattles for part in (preset.assembly.played if preset.assembly else ())):  # weight goes on working
        v.rises = float(np.diff(after).max(initial=0.0)) / max(float(sim.energy.total.max()), 1e-30)


def excited(preset: Preset) -> float:
    """For how long something pushes that is no part of the string, s."""
    courses = [c.onset for part in preset.assembly.played for c in part.courses] if preset.assembly else [0.0]
    return max(courses)


def conclude(v: Verdict) -> None:
    """What is wrong, by the bounds above."""
    level = {key.number: key.rms for key in v.keys}
    spread = max(abs(level[a] - level[b]) for a in level for b in level if abs(a - b) <= 36)
    loud = [key.loudness for key in v.keys]
    mean = float(np.mean(loud))
    v.demand(spread <= 6.0, f"rms differs by {spread:.1f} dB within three octaves")
    v.demand(abs(mean - LOUDNESS) <= 1.0, f"{mean:.1f} LUFS, {LOUDNESS:g} are asked for")
    v.demand(
        max(abs(x - mean) for x in loud) <= 3.0, f"a key is {max(abs(x - mean) for x in loud):.1f} LU off the others"
    )
    some = [v.keys[n] for n in sorted({round(n) for n in np.linspace(0, len(v.keys) - 1, STEPS)})]
    for one, two in pairwise(some):
        step = max(one.bright, two.bright) / min(one.bright, two.bright)
        v.demand(
            step <= 4.0, f"key {two.number} is {step:.1f} times as bright in harmonics as key {one.number}, or it is"
        )
    v.demand(v.steady or v.velocity[0] >= 30.0, f"velocity 20 to 127 is {v.velocity[0]:.1f} dB")
    v.demand(v.steady or v.velocity[1] >= 1.05 or v.velocity[1] <= 0.95, "velocity does not change the colour")
    most, worst = 2.0 if max(v.buzz) > 0.0 else 1.0, max(v.keys, key=lambda key: abs(key.cents))
    others = sum(abs(key.cents) > most for key in v.keys) - 1
    also = f", and {others} others are too far" if others > 0 else ""
    v.demand(v.free or abs(worst.cents) <= most, f"key {worst.number} is {worst.cents:+.1f} cents off{also}")
    offset = max(key.offset for key in v.keys)
    v.demand(offset <= -60.0, f"DC of {offset:.0f} dB")
    v.demand(v.chord[0] <= 1.0, f"the limiter bends {v.chord[0]:.2f} % of a chord of ten")
    v.demand(v.click <= 6.0, f"a click of {v.click:.1f} dB at note-off")
    v.demand(v.energy <= 1e-9, f"energy is kept to {v.energy:.0e}")
    v.demand(v.rises <= 1e-12, f"energy rises by {v.rises:.0e}")
    v.demand(v.same_bits, "other blocks, other bits")


# --- all of them ------------------------------------------------------------------------------------------------------

HEAD = ("preset", "level", "loudness", "keys", "buzz", "bright", "velocity", "tuning", "chord", "DC", "click", "energy")


def row(v: Verdict) -> list[str]:
    """As the table has it."""
    level, loud = {key.number: key.rms for key in v.keys}, [key.loudness for key in v.keys]
    mean = float(np.mean(loud))
    ends = (v.keys[0], v.keys[len(v.keys) // 2], v.keys[-1])
    return [
        f"`{v.name}`",
        f"{max(abs(level[a] - level[b]) for a in level for b in level if abs(a - b) <= 36):.1f} dB",
        f"{mean:.1f}",
        f"{max(abs(x - mean) for x in loud):.1f} LU",
        " ".join(f"{100.0 * share:.0f}" for share in v.buzz) + " %",
        " ".join(f"{key.bright:.1f}" for key in ends),
        f"{v.velocity[0]:.0f} dB, ×{v.velocity[1]:.2f}",
        "" if v.free else f"{max(abs(key.cents) for key in v.keys):.1f} cents",
        f"{v.chord[0]:.2f} %, {v.chord[1]:.1f} dB",
        f"{max(key.offset for key in v.keys):.0f} dB",
        f"{v.click:+.0f} dB",
        f"{v.energy:.0e}",
    ]


def table(verdicts: list[Verdict]) -> str:
    """In Markdown."""
    lines = [list(HEAD), ["---", *["--:"] * (len(HEAD) - 1)], *(row(v) for v in verdicts)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def report(found: dict[str, Any]) -> str:
    """The table of verdicts that were kept, and what is wrong with them."""
    verdicts = [Verdict(**{**one, "keys": [Key(**key) for key in one["keys"]]}) for one in found["verdicts"]]
    wrong = [f"- `{v.name}`: {'; '.join(v.wrong)}." for v in verdicts if v.wrong]
    said = ["Beyond what is asked:", "", *wrong] if wrong else ["All are within what is asked."]
    return "\n".join([table(verdicts), "", *said])


def names() -> list[str]:
    """All presets of the folder."""
    return sorted(path.stem for path in (ROOT / "presets").glob("*.yaml"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("presets", nargs="*", metavar="PRESET", help="default: all of presets/")
    parser.add_argument("--quick", action="store_true", help="three keys of each instead of all")
    parser.add_argument("--json", type=Path, help="where to keep all figures")
    args = parser.parse_args()
    verdicts, refused = list[Verdict](), 0
    for name in args.presets or names():
        try:
            verdicts.append(judged(name, args.quick))
        except EngineError as error:
            print(f"{name}: {error}", flush=True)
            refused += 1
            continue
        v = verdicts[-1]
        print(f"{v.name}: {'; '.join(v.wrong) or 'good'}  ({v.cost:.0f} % of a core)", flush=True)
    print("", table(verdicts), sep="\n")
    if args.json:
        args.json.write_text(json.dumps([asdict(v) for v in verdicts], indent=1), encoding="utf-8")
    sys.exit(1 if refused or any(v.wrong for v in verdicts) else 0)


if __name__ == "__main__":
    main()
