#!/usr/bin/env python3
"""Measure the editor: how soon a turned knob is heard, what an open page costs, whether blocks come late for it.

    python3 scripts/measure_editor.py [--seconds 20] [--preset sitar ...]
    python3 scripts/measure_editor.py --busy [--seconds 600]        ten minutes with a page, and ten without

On JACK's dummy card if there is one, at 128 frames. With and without a page in turns, since other programs' load is
everybody's. --busy keeps the editor's own interpreter busy meanwhile, with what holds its lock: loops, sorting, the
garbage collector, slow regular expressions. Results go to scripts/measured/editor.json, from which
scripts/make_tables.py writes its table.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import aiohttp
import numpy as np
from virtual_card import jack_server, missing

from engine.profiling.computer import computer

RESULT = ROOT / "scripts" / "measured" / "editor.json"
KEYS = {"sitar": (38, 45, 50, 61), "sitar-string": (49, 54, 56, 61), "slap-bass": (31, 38, 43, 46)}  # that ring
KNOBS = {
    "sitar": ("barrier.curvature", 0.5, 0.005, "1/m"),
    "sitar-string": ("barrier.curvature", 0.5, 0.005, "1/m"),
    "slap-bass": ("string.loss.s2", 2e-4, 2e-6, "m²/s"),
}
TURNS = 30.0  # Hz
SLICE = 10.0  # s with a page, then as long without
BUSY = """
import gc, random, re, sys, threading
def busy():
    sys.stdin.readline()  # until it is up: what is compiled meanwhile would take minutes
    while True:
        sum(n * n for n in range(200_000))
        sorted(random.random() for _ in range(100_000))
        re.match("(a+)+b", 18 * "a")
        gc.collect()
threading.Thread(target=busy, daemon=True).start()
from engine.cli import main
sys.exit(main(sys.argv[1:]))
"""


class Editor:
    """The program, and how much of a core it has used."""

    def __init__(self, preset: str, environment: dict[str, str], card: bool, busy: bool = False) -> None:
        program = ["-c", BUSY] if busy else ["-m", "engine.cli"]
        command = [sys.executable, *program, "edit", preset, "--no-browser", "--midi", "none"]
        self.process = subprocess.Popen(
            command + ([] if card else ["--device", "none"]),
            env=environment,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        assert self.process.stderr is not None
        found = next(m for line in self.process.stderr if (m := re.search(r":(\d+)/#(\S+)", line)))
        self.port, self.token = found.groups()
        assert self.process.stdin is not None
        self.process.stdin.write("up\n")
        self.process.stdin.flush()

    @property
    def used(self) -> float:
        """Seconds of processor so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def line(self, session: Any) -> Any:
        own = f"127.0.0.1:{self.port}"
        return session.ws_connect(f"http://{own}/line", protocols=("jawari", self.token), origin=f"http://{own}")


async def ring(line: Any, keys: tuple[int, ...]) -> None:
    for key in keys:
        await line.send_str(json.dumps({"do": "note", "key": key, "velocity": 100}))


async def seen(line: Any, seconds: float) -> dict[str, Any]:
    """What a page is told in this time, or until it is told how many blocks were late."""
    found: dict[str, Any] = {"frames": 0, "heard": [], "lost": None, "blocks": None, "answers": []}
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 or found["lost"] is None:
        try:
            message = await line.receive(max(left, 1.0))
        except TimeoutError:
            break
        if message.type is aiohttp.WSMsgType.BINARY:
            numbers = np.frombuffer(message.data, np.float32)
            found["frames"] += numbers[0] == 0
            if numbers[0] == 2:
                found["lost"], found["blocks"] = int(numbers[6]), int(numbers[7])
        elif message.type is aiohttp.WSMsgType.TEXT:
            said = json.loads(message.data)
            if said.get("event") == "heard" and said["what"] == "sounding":
                found["heard"].append(said["ms"])
    return found


async def measure(editor: Editor, preset: str, seconds: float) -> dict[str, Any]:
    keys, (path, start, by, unit) = KEYS[preset], KNOBS[preset]
    alone, watched, lost_alone, lost_watched, blocks, frames = [], [], 0, 0, 0, 0
    async with aiohttp.ClientSession() as session:
        for _ in range(3):  # in turns
            async with editor.line(session) as line:
                await ring(line, keys)
                before = await seen(line, 0.3)
                used, begun = editor.used, time.monotonic()
                found = await seen(line, seconds / 3)
                watched.append((editor.used - used) / (time.monotonic() - begun))
                frames += found["frames"]
                lost_watched += found["lost"] - before["lost"]
                blocks += found["blocks"] - before["blocks"]
            used, begun = editor.used, time.monotonic()
            await asyncio.sleep(seconds / 3)
            alone.append((editor.used - used) / (time.monotonic() - begun))
            async with editor.line(session) as line:
                after = await seen(line, 0.3)
                lost_alone += after["lost"] - found["lost"]
        async with editor.line(session) as line:
            await ring(line, keys)

            async def turn() -> None:
                for n in range(int(seconds * TURNS)):
                    value = f"{start + by * (n % 60):.6g} {unit}"
                    await line.send_str(json.dumps({"do": "set", "path": path, "value": value, "gesture": 1}))
                    if n % 60 == 0:
                        await ring(line, keys)
                    await asyncio.sleep(1.0 / TURNS)

            task = asyncio.create_task(turn())
            turned = await seen(line, seconds + 0.5)
            await task
    heard = np.array(turned["heard"])
    return {
        "preset": preset,
        "changes": int(seconds * TURNS),
        "heard": len(heard),
        "p50": float(np.quantile(heard, 0.5)),
        "p99": float(np.quantile(heard, 0.99)),
        "worst": float(heard.max()),
        "page": float(np.median(watched) - np.median(alone)),
        "frames": frames / seconds,
        "blocks": blocks,
        "lost_alone": lost_alone,
        "lost_watched": lost_watched,
    }


async def lateness(editor: Editor, preset: str, seconds: float, slice: float = SLICE) -> dict[str, Any]:
    """Blocks that came late in so many seconds with a page, and in as many without, in turns."""
    found = {"preset": preset, "lost": [0, 0], "blocks": [0, 0], "frames": 0}
    async with aiohttp.ClientSession() as session:
        for n in range(2 * max(round(seconds / slice), 1)):
            alone = n % 2
            async with editor.line(session) as line:
                await ring(line, KEYS[preset])
                before = await seen(line, 1.0)  # what was late is known a little later
                after = await seen(line, 1.0 if alone else slice + 1.0)
            if alone:
                await asyncio.sleep(slice)
                async with editor.line(session) as line:
                    after = await seen(line, 1.0)
            found["lost"][alone] += after["lost"] - before["lost"]
            found["blocks"][alone] += after["blocks"] - before["blocks"]
            found["frames"] += 0 if alone else after["frames"] / (slice + 1.0) / max(round(seconds / slice), 1)
    return {**found, "seconds": seconds}


def busy(preset: str, seconds: float, slice: float = SLICE) -> dict[str, Any]:
    """The same, of an editor whose interpreter is busy."""
    with tempfile.TemporaryDirectory() as name, jack_server(Path(name), period=128, real_time=True) as server:
        editor = Editor(preset, server.environment, True, busy=True)
        try:
            return asyncio.run(lateness(editor, preset, seconds, slice))
        finally:
            editor.process.send_signal(2)
            editor.process.wait(20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--preset", nargs="+", default=list(KEYS), choices=list(KEYS))
    parser.add_argument("--busy", action="store_true", help="blocks that come late while the interpreter is busy")
    args = parser.parse_args()
    rows, stamp = [], {"computer": computer(), "date": date.today().isoformat()}
    if args.busy:
        if why := missing():
            sys.exit(f"measure_editor: --busy {why}")
        found = json.loads(RESULT.read_text())
        found["busy"] = {**stamp, "rows": [busy(preset, args.seconds) for preset in args.preset]}
        print(json.dumps(found["busy"]["rows"]))
        RESULT.write_text(json.dumps(found, indent=1) + "\n")
        return
    with tempfile.TemporaryDirectory() as name:
        card = not missing()
        for preset in args.preset:
            if card:
                with jack_server(Path(name), period=128, real_time=True) as server:
                    editor = Editor(preset, server.environment, card)
                    rows.append(asyncio.run(measure(editor, preset, args.seconds)))
                    editor.process.send_signal(2)
                    editor.process.wait(20)
            else:
                editor = Editor(preset, dict(os.environ), card)
                rows.append(asyncio.run(measure(editor, preset, args.seconds)))
                editor.process.send_signal(2)
                editor.process.wait(20)
            print(json.dumps(rows[-1]), flush=True)
    kept = {"busy": json.loads(RESULT.read_text())["busy"]} if RESULT.exists() else {}
    RESULT.write_text(json.dumps({**stamp, "card": card, "rows": rows, **kept}, indent=1) + "\n")


if __name__ == "__main__":
    main()
