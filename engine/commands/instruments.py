"""What `jawari presets show` says of an instrument of several strings: a name and a text a line."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from engine.study.couplings import Instrumental, Standing


def instrument_rows(d: Instrumental) -> Iterator[tuple[str, str]]:
    """Its strings on their body, and what they cost."""
    a = d.assembly
    for n, string in enumerate(d.strings):
        first = n in (0, len(a.played))
        yield (("strings" if string.played else "answering") if first else ""), _string(string)
    yield "body", f"{_body(d)}, {a.coupling}"
    stretched = sum(string.stretching for string in d.strings)
    off = "off: it is heard in hard basses and pulled strings only"
    yield "stretching", f"on {stretched} of {len(d.strings)} strings" if stretched else off
    c = d.costs
    ns = [
        f"{c.key} {1e9 * c.strings:.0f} ns",
        f"what answers {1e9 * c.sympathetic:.0f} ns",
        f"body {1e9 * c.body:.0f} ns",
    ]
    yield "parts cost", ", ".join(ns) + " a sample, measured here, each string by itself"


def _body(d: Instrumental) -> str:
    modes = d.assembly.body.modes
    if not modes:
        return "none: a frame that does not move"
    pitches = [mode.frequency for mode in modes]
    return f"{d.modes} modes, {min(pitches):.4g} to {max(pitches):.4g} Hz, the first of {1e3 * modes[0].mass:.4g} g"


def _string(s: Standing) -> str:
    who = f"{s.played}: {s.name}" if s.played else s.name
    told = f"{who}, {s.tension:.3g} N, {s.impedance:.2g} kg/s"
    if s.mobility == 0.0:
        return f"{told}, moves nothing; T60 {_seconds(s.alone)}"
    body = f"moves the body by {100 * s.mobility:.2g} %" + (f", weighs {100 * s.share:.2g} % of it" if s.share else "")
    return f"{told}, {body}; T60 {_seconds(s.alone)} alone, {_seconds(s.coupled)} on it, {s.bend:+.2g} cents, tuned out"


def _seconds(seconds: float) -> str:
    return f"{seconds:.2g} s" if isfinite(seconds) else "never"
