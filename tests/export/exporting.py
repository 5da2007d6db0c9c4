"""What the tests of exports share: code and images made once, a piece of music, what Python makes of it."""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import aligned
from engine.compiled import INTERPRETED
from engine.export.code import renderer
from engine.export.header import header
from engine.export.image import image
from engine.export.knobs import dials
from engine.export.targets import here, target_of
from engine.messages import packed
from engine.preset.loader import Preset, load_preset
from engine.preset.rack import Rack, bank
from engine.synth.ensemble import Ensemble, design_part
from engine.synth.instrument import Instrument
from engine.synth.mts import tunings

RATE = 48_000
SECONDS = float(os.environ.get("JAWARI_EXPORT_SECONDS", "0.4"))  # of music; 20 for the long run
FRAMES = int(SECONDS * RATE)
RAGGED = (1, 64, 333, 128, 1024, 5, 8192)  # sizes of blocks
PRESETS = ("sitar-string", "tanpura-string", "prepared", "slap-bass")  # the last one is a grid
LOWEST = 35  # key of the music
NETWORK = "sitar-full"  # four strings that are played and thirteen that answer, on one bridge, and a body
Event = tuple[int, list[int]]

COMPILER = shutil.which("cc")
NEEDED = [
    pytest.mark.skipif(INTERPRETED, reason="nothing is compiled"),
    pytest.mark.skipif(sys.platform != "linux", reason="programs are linked and run as Linux does"),
    pytest.mark.skipif(COMPILER is None, reason="there is no C compiler: apt install gcc libc6-dev"),
]


def music(frames: int = FRAMES, programs: int = 1) -> list[Event]:
    """Notes, wheel, bend, pressure, a sound controller, pedal, on two channels; and program changes if there are."""
    chance, found = random.Random(frames), [(0, [0xC0 | c, 0]) for c in range(2)]
    for start in range(0, frames, 2400):
        channel, key = chance.randrange(2), chance.randrange(LOWEST, 84)
        found.append((start, [0x90 | channel, key, chance.randrange(40, 127)]))
        found.append((start + chance.randrange(2000, 9000), [0x80 | channel, key, 64]))
        if programs > 1:
            found.append((start + 1000, [0xC0 | channel, chance.randrange(programs)]))
    for at in range(300, frames, 600):
        channel, kind = chance.randrange(2), chance.randrange(5)
        value = chance.randrange(128)
        found.append((at + chance.randrange(400), [
            [0xB0 | channel, 1, value], [0xE0 | channel, value, 50 + value // 5], [0xD0 | channel, value],
            [0xB0 | channel, 74, value], [0xB0 | channel, 64, value],
        ][kind]))  # fmt: skip
    return sorted(found, key=lambda event: event[0])


def retuned() -> list[Event]:
    """Keys of the music at other pitches, from the middle of their notes on: SysEx of MIDI's tuning standard."""
    chance, found = random.Random(7), list[Event]()
    for at, (status, key, *_) in music():
        if status & 0xF0 == 0x90:
            change = (key, key + chance.randrange(-3, 3), chance.randrange(128), chance.randrange(128))
            found.append((at + 1500, [0xF0, 0x7F, 0x7F, 8, 2, 0, 1, *change, 0xF7]))
    return found


def preset(name: str) -> Preset:
    """A shipped one, or the whole sitar."""
    if name != NETWORK:
        return load_preset(name)
    return load_preset(Path(__file__).parents[1] / "preset" / "instruments" / "sitar-full.yaml")


@cache
def rack(*names: str) -> Rack:
    return bank([preset(name) for name in names])


@cache
def image_of(*names: str) -> bytes:
    return image(rack(*names), (float(RATE),))


@cache
def code(target: str | None = None) -> bytes:
    return renderer(target_of(target), print)


def expected(*names: str, more: Sequence[Event] = (), rate: float = RATE) -> Any:
    """What the engine plays, [frames, 2]; with `more` events."""
    events = sorted([*music(programs=len(names)), *more], key=lambda event: event[0])
    if len(names) == 1:
        player: Any = Instrument(rack(*names).parts[0].preset, rate)
    else:
        parts = [design_part(part, RATE, 128, None, None, None, False) for part in rack(*names).parts]
        player = Ensemble(rack(*names), parts.__getitem__, RATE)
    out, at = np.zeros((FRAMES, 2), np.float32), 0
    for sample, data in events:
        if sample >= FRAMES:
            break
        player.run(out[at:sample])  # so the ring never fills
        at = max(at, sample)
        assert player.schedule(sample, data)
    player.run(out[at:])
    assert np.abs(out).max() > 0.01
    return out


def built(folder: Path, target: str | None = None, compiler: str | None = COMPILER, *flags: str) -> Path:
    """The player, and beside it the header."""
    source, made = Path(__file__).with_name("player.c"), folder / f"player-{target or here()}"
    (folder / "jawari.h").write_text(header(rack("sitar-string"), dials(rack("sitar-string")), (RATE,)))
    (folder / "code.o").write_bytes(code(target))
    words = ["-O1", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{folder}", *flags]
    command = [str(compiler), *words, "-o", str(made), str(source), str(folder / "code.o"), "-lm"]
    subprocess.run(command, check=True)
    return made


def written(folder: Path, *names: str) -> tuple[Path, Path]:
    """The image and the events as files."""
    picture, events = folder / f"{'-'.join(names)}.image", folder / f"{len(names)}.events"
    if not picture.exists():
        picture.write_bytes(image_of(*names))
    events.write_bytes(rows(music(programs=len(names))))
    return picture, events


def rows(events: Sequence[Event]) -> bytes:
    """As the hosts here read them: frame, and message, of which one that tunes a key is packed as rings have it."""
    words = [(at, tunings(data)[0] if data[0] == 0xF0 else packed(*data)) for at, data in events if at < FRAMES]
    return np.array(words, np.int64).tobytes()


@cache
def library(folder: Path) -> Any:
    """The code as a library that ctypes loads."""
    (folder / "library.o").write_bytes(code())
    made = folder / "library.so"
    subprocess.run([str(COMPILER), "-shared", "-o", str(made), str(folder / "library.o"), "-lm"], check=True)
    found = ctypes.CDLL(str(made))
    whole, real, place = ctypes.c_int32, ctypes.c_double, ctypes.c_void_p
    found.jawari_size.argtypes = (place, whole, real)
    found.jawari_open.argtypes = (place, place, whole, real)
    found.jawari_turn.argtypes = (place, whole, real)
    found.jawari_turn_channel.argtypes, found.jawari_members.argtypes = (place, whole, whole, real), (place,)
    found.jawari_take.argtypes = (place, whole)
    found.jawari_send.argtypes = (place, whole, ctypes.c_char_p, whole)
    found.jawari_redesign.argtypes = (place, place, whole, real, place)
    found.jawari_follow.argtypes, found.jawari_alone.argtypes = (place, place), (place,)
    found.jawari_run.argtypes = (place, whole, place, place)
    found.jawari_reset.argtypes = found.jawari_latency.argtypes = (place,)
    return found


class Opened:
    """An instrument in memory of ours."""

    def __init__(self, folder: Path, content: bytes, rate: float = RATE, values: Any = None) -> None:
        self.code = library(folder)
        self.image = aligned.zeros(len(content), np.uint8)
        self.image[:] = np.frombuffer(content, np.uint8)
        self.size = self.code.jawari_size(self.image.ctypes.data, len(content), rate)
        self.memory = aligned.zeros(max(self.size, 64), np.uint8)
        self.at = self.memory.ctypes.data
        self.result = self.code.jawari_open(self.at, self.image.ctypes.data, len(content), rate)
        if values is not None:
            self.redesign(values, rate)

    def redesign(self, values: Any, rate: float = RATE) -> None:
        """With other values, by their numbers."""
        told = np.array(values, float)
        place = self.image.ctypes.data, self.image.size, rate
        self.result = self.code.jawari_redesign(self.at, *place, told.ctypes.data)

    def run(self, frames: int) -> Any:
        out = np.zeros((2, frames), np.float32)
        self.code.jawari_run(self.at, frames, out[0].ctypes.data, out[1].ctypes.data)
        return out.T

    def send(self, frame: int, *data: int) -> int:
        return int(self.code.jawari_send(self.at, frame, bytes(data), len(data)))
