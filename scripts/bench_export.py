#!/usr/bin/env python3
"""Time what is exported against the engine itself: native code on every level, WebAssembly in node, all in turns.

    python3 scripts/bench_export.py [--presets NAME ...] [--seconds S] [--rounds N] [--browser] [--json FILE]

Sixteen notes at a time, struck again every half second, and a wheel that moves all the time, in blocks of 128 frames
at 48 kHz; CPU seconds, the best of some rounds. Native code is the exported object file in a library, called block by
block from here as the engine is. Of several nodes that are here the one with the latest V8 plays; V8 compiles on
threads of its own, and without a core for them it would play what it made in a hurry, so keep this on no single core.
All must play the same bits. JSON: `rows`, for each preset seconds of `engine`, `v2` to `v4`, `wasm`, V8's version, and
the ratios `native_over_engine` and `wasm_over_v3`; with --browser also `browser`: what a page in Chromium takes of a
core for the same notes while they are heard, and how often the sound broke off. It needs a C compiler and node.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from engine import aligned
from engine import messages as midi
from engine.export import web
from engine.export.code import renderer
from engine.export.image import image
from engine.export.job import Export
from engine.export.targets import target_of
from engine.preset.loader import load_preset
from engine.preset.rack import bank
from engine.processor import LEVELS, known
from engine.synth.instrument import Instrument

RATE, BLOCK = 48_000, 128
PRESETS = ("sitar-string", "tanpura-string", "prepared", "slap-bass", "sitar")
KEYS = range(42, 58)
Event = tuple[int, tuple[int, ...]]


def music(seconds: float) -> list[Event]:
    """Sixteen keys, each struck every half second, and a wheel that goes up and down."""
    end, found = int(seconds * RATE), [(0, (midi.CONTROL, midi.MODULATION, 0))]
    for n, key in enumerate(KEYS):
        found += [(at, (midi.NOTE_ON, key, 90)) for at in range(n * 1000, end, RATE // 2)]
    found += [(at, (midi.CONTROL, midi.MODULATION, at // 480 % 40)) for at in range(480, end, 480)]
    return sorted(found)


class Native:
    """The exported object file as a library."""

    def __init__(self, folder: Path, content: bytes) -> None:
        compiler = shutil.which("cc") or sys.exit("bench_export: there is no C compiler")
        (folder / "code.o").write_bytes(renderer(target_of(None), print))
        library = folder / "code.so"
        subprocess.run([compiler, "-shared", "-o", str(library), str(folder / "code.o"), "-lm"], check=True)
        self.code = ctypes.CDLL(str(library))
        self.code.jawari_size.argtypes = (ctypes.c_void_p, ctypes.c_int32, ctypes.c_double)
        self.code.jawari_open.argtypes = (ctypes.c_void_p, *self.code.jawari_size.argtypes)
        self.code.jawari_send.argtypes = (ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p, ctypes.c_int32)
        self.code.jawari_run.argtypes = (ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
        self.image = aligned.zeros(len(content), np.uint8)
        self.image[:] = np.frombuffer(content, np.uint8)
        self.given = self.image.ctypes.data, len(content), float(RATE)
        self.memory = aligned.zeros(self.code.jawari_size(*self.given), np.uint8)

    def play(self, events: list[Event], frames: int, level: int) -> tuple[float, Any]:
        """CPU seconds, and the sound."""
        self.code.jawari_level(level)
        at, call = self.memory.ctypes.data, self.code
        call.jawari_open(at, *self.given)
        out = np.zeros((2, frames), np.float32)
        left, right = out[0].ctypes.data, out[1].ctypes.data
        waiting, begun = 0, time.thread_time()
        for now in range(0, frames, BLOCK):
            while waiting < len(events) and events[waiting][0] < now + BLOCK:
                when, data = events[waiting]
                call.jawari_send(at, when - now, bytes(data), len(data))
                waiting += 1
            call.jawari_run(at, BLOCK, left + 4 * now, right + 4 * now)
        return time.thread_time() - begun, out.T


def engines(made: Instrument, events: list[Event], frames: int) -> tuple[float, Any]:
    """The same of the engine itself."""
    made.reset()
    out, waiting, begun = np.zeros((frames, 2), np.float32), 0, time.thread_time()
    for now in range(0, frames, BLOCK):
        while waiting < len(events) and events[waiting][0] < now + BLOCK:
            made.schedule(*events[waiting])
            waiting += 1
        made.run(out[now : now + BLOCK])
    return time.thread_time() - begun, out


@cache
def newest_node() -> tuple[str, str]:
    """The node whose engine is nearest to a browser's of today, and the engine's version."""
    from export.paging import nodes

    if hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) < 2:
        sys.exit("bench_export: V8 needs a second core for what it compiles meanwhile")
    found: list[tuple[list[int], str]] = []
    for path in nodes():
        version = subprocess.check_output([path, "-p", "process.versions.v8"], text=True)
        found.append(([int(part) for part in version.split("-")[0].split(".")[:2]], path))
    if not found:
        sys.exit("bench_export: there is no node")
    version, path = max(found)
    return path, ".".join(map(str, version))


def in_node(page: Path, events: list[Event], frames: int, folder: Path) -> tuple[float, Any]:
    """The same in node: CPU seconds of the frames alone."""
    rows = folder / "events"
    rows.write_bytes(np.array([(at, midi.packed(*data)) for at, data in events], np.int64).tobytes())
    program = ROOT / "tests" / "export" / "perform.mjs"
    command = [newest_node()[0], program, page / "data.js", "simd", RATE, rows, frames, "exact", BLOCK]
    done = subprocess.run(list(map(str, command)), capture_output=True, check=True)
    sound = np.frombuffer(done.stdout, np.float32).reshape(2, -1).T
    return json.loads(done.stderr)["seconds"], sound


def in_browser(page: Path, events: list[Event], seconds: float) -> dict[str, float]:
    """The same heard, in Chromium: what the page takes of the time, the longest block, how often it broke off."""
    from edit.browsing import launched

    script = """async ([events, seconds, rate]) => {
      const context = new AudioContext({ sampleRate: rate, latencyHint: "interactive" });
      await context.suspend(); // until it has made itself ready, while nothing is heard and so nothing breaks off
      const hears = {};
      const [ready, load] = ["ready", "load"].map((word) => new Promise((done) => (hears[word] = done)));
      const told = (word, found) => hears[word]?.(found);
      const node = await jawari.instrumentNode(context, jawari.data, { events, told });
      node.connect(context.destination);
      await ready;
      await context.resume();
      await new Promise((done) => setTimeout(done, seconds * 1e3));
      node.port.postMessage(["load"]);
      const stats = context.playbackStats ?? context.playoutStats;
      const broke = stats ? stats.underrunEvents ?? stats.fallbackFramesEvents : null;
      return { ...(await load), time: context.currentTime, broke };
    }"""
    with launched("--autoplay-policy=no-user-gesture-required") as browser:
        opened = browser.new_page()
        opened.goto((page / "index.html").as_uri())
        told = [[at, list(data)] for at, data in events]
        found: dict[str, float] = opened.evaluate(script, [told, seconds, RATE])
    found["share"] = found["ms"] / 1e3 / found["time"]
    return found


def measured(name: str, seconds: float, rounds: int, browser: bool, folder: Path) -> dict[str, Any]:
    """A preset's row."""
    preset, frames, events = load_preset(name), int(seconds * RATE) // BLOCK * BLOCK, music(seconds)
    rack, page = bank([preset]), folder / Path(name).stem
    page.mkdir()
    order = Export(rack, (float(RATE),), web.ANYWHERE, print, (KEYS[0], KEYS[-1]), shown=True)
    web.write(order, page)
    native, made = Native(folder, image(rack, (float(RATE),))), Instrument(preset, RATE, BLOCK)
    levels = [n for n, level in enumerate(LEVELS, 2) if level in known()] or [0]
    best: dict[str, float] = {}
    for _ in range(rounds):
        took, wanted = engines(made, events, frames)
        best["engine"] = min(best.get("engine", took), took)
        for who, (took, sound) in {
            **{f"v{level}": native.play(events, frames, level) for level in levels},
            "wasm": in_node(page, events, frames, folder),
        }.items():
            if not np.array_equal(sound, wanted):
                sys.exit(f"bench_export: {name}, {who}: other bits than the engine's")
            best[who] = min(best.get(who, took), took)
    found: dict[str, Any] = {
        "preset": name,
        "seconds": seconds,
        **best,
        "v8": newest_node()[1],
        "native_over_engine": min(best[f"v{n}"] for n in levels) / best["engine"],
    }
    if "v3" in best:
        found["wasm_over_v3"] = best["wasm"] / best["v3"]
    if browser:
        found["browser"] = in_browser(page, events, seconds)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presets", nargs="+", default=PRESETS)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    rows = []
    for name in args.presets:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measured(name, args.seconds, args.rounds, args.browser, Path(folder)))
        print(json.dumps(rows[-1]), flush=True)
    if args.json:
        args.json.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
