"""What a key of a preset is: its name, how it is read, its unit, its range, its meaning."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

AUTO = "auto"  # of a count: what follows from the rest


@dataclass(frozen=True)
class Key:
    """One key: numbers have an SI unit and a range, words their choices, text and lists a range of lengths."""

    name: str
    kind: str  # how it is read: table, tuning, span, or a reader of kinds.py
    meaning: str
    default: object = None  # None: required, or what the meaning says
    unit: str = ""
    low: float = -inf
    high: float = inf
    choices: tuple[object, ...] = ()
    required: bool = False  # where its group (and its profile) is given
    profiles: tuple[str, ...] = ()  # the barrier's profiles, or the exciter's kinds, it belongs to; all if empty
    replaces: tuple[str, ...] = ()  # what an override of this key makes moot in the preset
    usual: tuple[float, float] = (0.0, inf)  # a number without unit above these is asked about: is another unit meant?
    units: tuple[str, ...] = ()  # which ones people think in
