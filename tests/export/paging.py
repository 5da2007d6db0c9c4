"""What the tests of exported pages share: pages made once, and what plays them: node, a browser."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from export.exporting import FRAMES, LOWEST, RATE, SECONDS, Opened, music, rack
from export.redesigned import machine_of

from engine.export import web
from engine.export.job import Export
from engine.layout import seen
from engine.messages import packed
from engine.synth.memory import HELD, RELEASED, Choir

SHORT = int(min(SECONDS, 1.0) * RATE)  # frames, where the long run would tell nothing more


@cache
def nodes() -> list[str]:
    """Node, as the system has it and as playwright brings it along."""
    found = [path] if (path := shutil.which("node")) else []
    with suppress(ImportError):
        from playwright._impl._driver import compute_driver_executable

        found.append(str(compute_driver_executable()[0]))
    return found


def node() -> str | None:
    """One of them, if there is any."""
    return nodes()[0] if nodes() else None


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
) -> tuple[Any, dict[str, Any]]:
    """What node makes of a page, [frames, 2], and what it says of it."""
    rows = page / "events"
    rows.write_bytes(np.array([(at, packed(*data)) for at, data in events(names)], np.int64).tobytes())
    told = [page / "data.js", code, rate, rows, frames, how, *blocks]
    told += ["--", json.dumps(designs)] if designs else []
    command = [str(node()), str(Path(__file__).with_name("perform.mjs")), *map(str, told)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    return np.frombuffer(done.stdout, np.float32).reshape(2, -1).T, json.loads(done.stderr)


def native(
    folder: Path, image: bytes, rate: int, names: tuple[str, ...], designs: Sequence[Any], frames: int, block: int = 128
) -> tuple[Any, list[int]]:
    """What the exported C code plays that goes on in designs of these values, from some frames on, or as many blocks
    later as a finger is on its way to a fret; and when it did."""
    told = [(at, data[:2] if data[0] & 0xE0 == 0xC0 else data) for at, data in events(names) if at < frames]
    players, heard, at = [Opened(folder, image, rate)], list[Any](), 0
    followed: list[int] = []

    def play(until: int) -> int:
        while told and told[0][0] < until:
            frame, data = told.pop(0)
            assert players[-1].send(frame - at, *data) == 1
        heard.append(players[-1].run(until - at))
        return until

    for frame, values in designs:
        at = play(frame)
        heir = Opened(folder, image, rate, np.array(values, float))
        while a_finger_lands(players[-1]):
            assert heir.code.jawari_follow(heir.at, players[-1].at) == 0
            at = play(at + block)
        assert heir.code.jawari_follow(heir.at, players[-1].at) == 1
        players.append(heir)
        followed.append(at)
    play(frames)
    return np.concatenate(heard), followed


def a_finger_lands(player: Opened) -> bool:
    """Whether a string that is held, or rings, is on its way to another length."""
    m = machine_of(player)
    sounding = [v for v in range(m.slots) if m.joint and m.voices[v].state in (HELD, RELEASED)]
    return any(seen(Choir, m.address + int(m.voice_words[v, 0])).landing[0] for v in sounding)
