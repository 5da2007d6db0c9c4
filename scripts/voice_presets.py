#!/usr/bin/env python3
"""Voices presets: evens what their keys sound like, as a voicer does, by how hard each key is struck (`voicing`).

    python3 scripts/voice_presets.py                         presets of presets/ whose keys differ too much
    python3 scripts/voice_presets.py harp --json FILE        by what judge_presets.py --json found of every key

Of every key's rms and loudness, as judge_presets.py has them, this finds the least that brings all of them into a band,
adds it to what the preset says already, writes that with as few keys as say it to half a dB, and leaves the others as
they are. A key that touches something is not louder by as much as it is struck harder: judge, and voice again.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from textwrap import fill

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from judge_presets import RATE, Key, heard, names

from engine.preset.loader import load_preset
from engine.preset.splice import spliced
from engine.preset.voicing import MOST, Voicing
from engine.study.buzzing import compass
from engine.synth.instrument import Instrument
from engine.units import key_to_note

WIDE = 36  # keys within which rms is to hold
RMS, LOUD = 5.2, 2.4  # dB apart, LU from the mean: keys within are left alone; judged are 6 and 3
ROUNDS = 2000
GRAIN = 0.5  # dB
TOGETHER = "\u00a0"  # a blank where no line ends

Line = list[tuple[int, float]]  # keys and dB


def lacking(keys: list[Key]) -> dict[int, float]:
    """dB by which each key is to be louder: of two that are too far apart, each comes half of the way."""
    number = np.array([key.number for key in keys])
    rms, loud = np.array([key.rms for key in keys]), np.array([key.loudness for key in keys])
    near, low, high = np.abs(number[:, None] - number) <= WIDE, loud.mean() - LOUD - loud, loud.mean() + LOUD - loud
    found = np.clip(0.0, low, high)
    for _ in range(ROUNDS):
        over = np.where(near, (rms + found)[:, None] - (rms + found), 0.0)
        louder, softer = np.unravel_index(int(np.argmax(over)), over.shape)
        if over[louder, softer] <= RMS:
            break
        found[louder] -= 0.5 * (over[louder, softer] - RMS)
        found[softer] += 0.5 * (over[louder, softer] - RMS)
        found = np.clip(found, low, high)
    return dict(zip(number.tolist(), found.tolist()))


def few(wanted: Line) -> Line:
    """As few of them as say all to within half a grain, by Douglas and Peucker's rule; in whole grains."""
    kept = {0, len(wanted) - 1}
    spans = [(0, len(wanted) - 1)]
    while spans:
        first, last = spans.pop()
        (low, below), (high, above) = wanted[first], wanted[last]
        off = [abs(db - below - (above - below) * (key - low) / (high - low)) for key, db in wanted[first + 1 : last]]
        if off and max(off) > 0.5 * GRAIN:
            middle = first + 1 + int(np.argmax(off))
            kept.add(middle)
            spans += [(first, middle), (middle, last)]
    return [(wanted[n][0], wanted[n][1]) for n in sorted(kept)]


def voiced(name: str, keys: list[Key]) -> tuple[str, Voicing]:
    """A preset's text with the voicing that its keys ask for, and that."""
    file = ROOT / "presets" / f"{name}.yaml"
    before = load_preset(name).voicing
    whole = [
        (key, min(max(GRAIN * round((before.decibels(key) + more) / GRAIN), -MOST), MOST))
        for key, more in lacking(keys).items()
    ]
    line = few(whole)
    text = file.read_text(encoding="utf-8")
    text = spliced(text, {"voicing": None}).replace("\n\n\n", "\n\n") if before.points else text
    if not any(db for _, db in line):
        return text, Voicing()
    return written(text, line), Voicing(tuple(line))


def written(text: str, line: Line) -> str:
    """The text of a preset with a voicing, which stands before its map, or its phrase, or at its end."""
    said = ", ".join(f"[{key_to_note(key)},{TOGETHER}{db:g}{TOGETHER}dB]" for key, db in line)
    group = fill(
        f"voicing: [{said}]", 118, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    ).replace(TOGETHER, " ")
    at = min((place for word in ("map", "phrase") if (place := text.find(f"\n{word}:")) >= 0), default=len(text) - 1)
    return f"{text[: at + 1]}{group}\n{text[at:]}"


def measured(name: str) -> list[Key]:
    """Every key that a preset has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        preset = load_preset(name)
        inst = Instrument(preset, RATE)
    low, high = compass(preset)
    return [heard(inst, preset, key) for key in range(low, high + 1) if key not in inst.silent_keys]


def uneven(keys: list[Key]) -> bool:
    """Whether judge_presets.py would say so."""
    loud = np.array([key.loudness for key in keys])
    spread = max(abs(a.rms - b.rms) for a in keys for b in keys if abs(a.number - b.number) <= WIDE)
    return spread > 6.0 or float(np.abs(loud - loud.mean()).max()) > 3.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("presets", nargs="*", metavar="PRESET", help="default: all of presets/")
    parser.add_argument("--json", type=Path, help="what judge_presets.py kept; without it, keys are measured here")
    args = parser.parse_args()
    known = {}
    if args.json:
        found = json.loads(args.json.read_text(encoding="utf-8"))
        verdicts = found["verdicts"] if isinstance(found, dict) else found
        known = {one["name"]: [Key(**key) for key in one["keys"]] for one in verdicts}
    for name in args.presets or list(known) or names():
        keys = known.get(name) or measured(name)
        if not uneven(keys):
            print(f"{name}: even")
            continue
        text, voicing = voiced(name, keys)
        (ROOT / "presets" / f"{name}.yaml").write_text(text, encoding="utf-8")
        print(f"{name}: " + ", ".join(f"{key_to_note(key)} {db:+g}" for key, db in voicing.points))


if __name__ == "__main__":
    main()
