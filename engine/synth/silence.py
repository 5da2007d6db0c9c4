"""Keys that will stay silent, known before anything is played: which, and why, in one line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from engine.preset.loader import Preset
from engine.preset.tuning import Tuning
from engine.synth.budget import Budget, thinned
from engine.synth.keys import TunedKey, design_keys, preset_key
from engine.synth.memory import SPARE_VOICES
from engine.synth.rehearsal import REHEARSED
from engine.units import key_to_note

_NUMBER = re.compile(r"[-+]?[0-9][0-9.]*(?:e[-+]?[0-9]+)?")


def try_design(preset: Preset, sample_rate: float) -> list[TunedKey]:
    """All that an instrument would be refused for, without making it; its keys."""
    rate = sample_rate * preset.oversample
    keys = design_keys(preset, preset.tuning, rate, Budget(preset.polyphony + SPARE_VOICES))
    thinned({number: design for number in REHEARSED if (design := keys[number].design) is not None})
    return keys


def keys_of_piece(
    preset: Preset, sample_rate: float, oversample: int | None, tuning: Tuning | None, wanted: Iterable[int]
) -> dict[int, TunedKey]:
    """Some keys, designed: as long as they are kept, the instrument that plays them need not design them again."""
    rate = sample_rate * (preset.oversample if oversample is None else oversample)
    scale = preset.tuning if tuning is None else tuning
    return {n: preset_key(preset, scale[n], rate, harder=preset.voicing.harder(n)) for n in sorted(set(wanted))}


def silent_keys(keys: Mapping[int, TunedKey]) -> dict[int, str]:
    """Those that will be silent, with the reason."""
    return {number: key.silent_because for number, key in keys.items() if key.design is None}


def told(silent: Mapping[int, str]) -> str:
    """In one line: ranges of keys for each kind of reason, and the reason of its first key; "" if none is silent."""
    kinds: dict[str, list[int]] = {}
    for key in sorted(silent):
        kinds.setdefault(_NUMBER.sub("", silent[key]), []).append(key)
    return "; ".join(f"{_ranges(keys)} silent: {silent[keys[0]]}" for keys in kinds.values())


def _ranges(keys: list[int]) -> str:
    """C1 to E1, G7 are."""
    spans: list[list[int]] = []
    for key in keys:
        if spans and key == spans[-1][-1] + 1:
            spans[-1].append(key)
        else:
            spans.append([key])
    names = [key_to_note(s[0]) + (f" to {key_to_note(s[-1])}" if len(s) > 1 else "") for s in spans]
    return ", ".join(names) + (" are" if len(keys) > 1 else " is")
