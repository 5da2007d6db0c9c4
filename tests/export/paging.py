"""What the tests of exported pages share: pages made once, and what plays them: node, a browser."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from export.exporting import FRAMES, LOWEST, RATE, SECONDS, Opened, music, rack

from engine.export import web
from engine.export.job import Export
from engine.messages import packed

SHORT = int(min(SECONDS, 1.0) * RATE)  # frames, where the long run would tell nothing more


@cache
def node() -> str | None:
    """Node, as the system has it or as playwright brings it along."""
    if found := shutil.which("node"):
        return found
    try:
        from playwright._impl._driver import compute_driver_executable
    except ImportError:
        return None
    return str(compute_driver_executable()[0])


def order(*names: str, rates: tuple[float, ...] = (RATE,)) -> Export:
    return Export(rack(*names), rates, web.ANYWHERE, print, (LOWEST, web.KEYS[1]), shown=True)


@cache
def page_of(folder: Path, *names: str, rates: tuple[float, ...] = (RATE,)) -> Path:
    """The folder of an exported page, for a rate or, without, for any."""
    made = folder / "-".join([*(Path(name).stem for name in names), *map(str, rates)])
    if not made.exists():
        made.mkdir()
        web.write(order(*names, rates=rates), made)
    return made


def events(names: tuple[str, ...]) -> list[tuple[int, list[int]]]:
    return [(at, data) for at, data in music(programs=len(names)) if at < FRAMES]


def performed(
    page: Path,
    names: tuple[str, ...],
    how: str,
    code: str,
    *blocks: int,
    frames: int = FRAMES,
    rate: int = RATE,
    designs: Sequence[Any] = (),
) -> tuple[Any, dict[str, int]]:
    """What node makes of a page, [frames, 2], and what it says of it."""
    rows = page / "events"
    rows.write_bytes(np.array([(at, packed(*data)) for at, data in events(names)], np.int64).tobytes())
    told = [page / "data.js", code, rate, rows, frames, how, *blocks]
    told += ["--", json.dumps(designs)] if designs else []
    command = [str(node()), str(Path(__file__).with_name("perform.mjs")), *map(str, told)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    return np.frombuffer(done.stdout, np.float32).reshape(2, -1).T, json.loads(done.stderr)


def native(folder: Path, image: bytes, rate: int, names: tuple[str, ...], designs: Sequence[Any], frames: int) -> Any:
    """What the exported C code plays that goes on, at some frames, in designs of these values."""
    told = iter([(at, data[:2] if data[0] & 0xE0 == 0xC0 else data) for at, data in events(names) if at < frames])
    players, heard, at, (frame, data) = [Opened(folder, image, rate)], list[Any](), 0, next(told)
    for until, values in [*designs, (frames, None)]:
        while frame < until:
            assert players[-1].send(frame - at, *data) == 1
            frame, data = next(told, (frames, []))
        heard.append(players[-1].run(until - at))
        if values:
            players.append(Opened(folder, image, rate, np.array(values, float)))
            assert players[-1].code.jawari_follow(players[-1].at, players[-2].at) == 1
        at = until
    return np.concatenate(heard)
