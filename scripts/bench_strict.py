#!/usr/bin/env python3
"""Time what strict arithmetic costs: the renderer as it is, and with products fused and sums reordered as LLVM likes.

    python3 scripts/bench_strict.py [PRESET ...] [--everything] [--seconds S] [--json FILE]

Loose is the vector code, as it was before arithmetic became the same on every processor; `--everything`: scalars, too.
Strings that collide amplify the last bit: two runs that round differently meet their barriers at other times, and one
may have more contacts to solve than the other. So both renderers are given the same memory before every block, as the
strict one left it, and a block is too short for them to part. Where code happens to lie decides as much as what it
does, up to a tenth: each renderer is loaded several times, and the fastest counts. They take turns; a row is the median
of block by block ratios, strict / loose, of eight strings that are plucked again and again, and beside it the same of
the strict renderer against itself, which says how far to trust that.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from numba.core import types
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import engine
from engine import lowering, module
from engine import messages as midi
from engine.synth.renderer import play

PRESETS = ("plain", "sitar", "slap-bass", "piano", "oud", "tanpura-string", "sitar-string", "wave-bridge")
RATE, BLOCK = 48_000, 64
KEYS = [43 + 2 * n for n in range(8)]
AGAIN = RATE // BLOCK // 2  # blocks between plucks of a key
PLACES = 3  # where each renderer lies
FLAGS = "reassoc nsz contract"  # LLVM's language reference, "Fast-Math Flags"
ANY, OF_VECTORS = re.compile(r"= (fadd|fsub|fmul|fdiv|fneg) "), re.compile(r"= (fadd|fsub|fmul|fdiv|fneg) (?=<)")


@contextmanager
def loosened(arithmetic: re.Pattern[str]) -> Iterator[None]:
    """Of what is compiled within, such sums and products may be fused and reordered."""
    usual = lowering._parsed

    def parsed(written: Any, kept: Any) -> Any:
        return llvm.parse_assembly(arithmetic.sub(rf"= \1 {FLAGS} ", str(usual(written, kept))))

    lowering._parsed = parsed
    try:
        yield
    finally:
        lowering._parsed = usual


class Renderer:
    """All that `play` is, in several places."""

    def __init__(self, content: bytes) -> None:
        self.codes = [module.Code(content) for _ in range(PLACES)]
        kind = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 3)
        self.plays = [kind(code.address(play.symbol)) for code in self.codes]  # type: ignore[attr-defined]


def compiled() -> bytes:
    """The same as it is kept."""
    doors = {play.symbol: lowering.Door(play, (types.int64,) * 3)}  # type: ignore[attr-defined]
    made, returning = lowering.compiled(doors, module.declared, lambda share: None)
    return module.sealed([made], returning)


def times(name: str, renderers: tuple[Renderer, ...], seconds: float) -> NDArray[np.float64]:
    """Seconds of every block with each of them; what the last of them leaves is gone on from."""
    made = engine.Instrument(name, RATE, BLOCK, polyphony=16)
    out = np.zeros((BLOCK, made.channels), np.float32)
    memory = np.frombuffer((ctypes.c_uint8 * made.changing).from_address(made.address), np.uint8)
    kept = np.empty_like(memory)
    count = round(seconds * RATE / BLOCK)
    found = np.zeros((len(renderers), count))
    for n in range(count):
        for i, key in enumerate(KEYS):
            if (n + i * AGAIN // len(KEYS)) % AGAIN == 0 or n == 0:
                made.schedule(made.clock, (midi.NOTE_ON, key, 60 + 5 * i))
        kept[:] = memory
        took: list[list[float]] = [[] for _ in renderers]
        for place in range(PLACES):
            for which, renderer in enumerate(renderers):
                memory[:] = kept
                begun = time.perf_counter()
                renderer.plays[place](made.address, BLOCK, out.ctypes.data)
                took[which].append(time.perf_counter() - begun)
        found[:, n] = [min(those) for those in took]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("presets", nargs="*", default=PRESETS, metavar="PRESET")
    parser.add_argument("--everything", action="store_true", help="loosen scalar code, too")
    parser.add_argument("--seconds", type=float, default=1.0, help="of sound for each (1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    args = parser.parse_args()
    content = compiled()
    with loosened(ANY if args.everything else OF_VECTORS):
        loose = Renderer(compiled())
    control, strict = Renderer(content), Renderer(content)
    report = {}
    for name in args.presets:
        other, same, own = times(name, (loose, control, strict), args.seconds)
        cost, trust = float(np.median(own / other)), float(np.median(own / same))
        report[name] = {"strict_over_loose": cost, "strict_over_itself": trust, "block_us": 1e6 * float(np.median(own))}
        print(f"{name:16} {cost:.3f} ({trust:.3f}); {report[name]['block_us']:.1f} us a block", flush=True)
    mean = float(np.exp(np.mean([np.log(row["strict_over_loose"]) for row in report.values()])))
    print(f"on the average   {mean:.3f}")
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
