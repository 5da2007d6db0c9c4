"""Without Python, the engine's module plays the same bits: in a program in C, here and on a processor of another kind.

The other one is ARM (aarch64), which qemu runs: what plays is compiled for it once and kept.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numba import types
from one_string import ONE_STRING
from synth.playing import SMALL, bend, cc, instrument, off, on, pressure

from engine import cache as disk
from engine import lowering, module
from engine.compiled import INTERPRETED
from engine.messages import packed
from engine.processor import PROCESSOR, Processor

pytestmark = [
    pytest.mark.skipif(INTERPRETED, reason="nothing is compiled"),
    pytest.mark.skipif(sys.platform != "linux", reason="the program is linked and run as Linux does"),
]
SOURCE = Path(__file__).with_name("player.c")
ARM = Processor("generic", "", "aarch64-unknown-linux-gnu")
CALLED = ("engine.synth.renderer.play", "engine.synth.ring.push")  # by player.c
FRAMES = 9000
EVENTS = [
    *((480 * i, on(key, 40 + key, i % 3)) for i, key in enumerate((31, 40, 47, 52, 59, 64, 76))),
    *((900 + 53 * i, cc(1, 7 * i % 128)) for i in range(80)),
    *((2400 + 97 * i, bend(400 * i - 8000, 1)) for i in range(40)),
    *((1440 + 11 * i, pressure(i, 2)) for i in range(60)),
    *((3300, cc(number, 40, channel)) for number in (2, 7, 10, 16, 17, 74) for channel in range(2)),
    *((4300, cc(64, 90)), (4800, off(40, 1)), (5000, on(40, 127, 1)), (7000, cc(64, 0)), (8000, cc(120, 0, 2))),
]


@cache
def program(folder: Path, processor: Processor, compiler: str) -> Path:
    """The player for a processor."""
    name = f"{disk_folder(processor)}/module"
    content = disk.read(name)
    if content is None:
        content = module.make() if processor == PROCESSOR else what_plays(processor)
        disk.write(name, content)
    built, files = folder / f"player-{processor.family}", []
    for number, code in enumerate(module.objects(content)):
        files.append(folder / f"part{number}.o")
        files[-1].write_bytes(code)
    static = [] if processor == PROCESSOR else ["-static"]
    command = [compiler, "-O1", "-Wall", "-Wextra", "-Werror", *static, "-o", built, SOURCE, *files, "-lm"]
    subprocess.run(command, check=True)
    return built


def what_plays(processor: Processor) -> bytes:
    """What the program calls, without what designs, records and listens to cards: it takes a third less."""
    doors = {name: lowering.Door(module.ENTRIES[name], (types.int64,) * 3) for name in CALLED}
    made, returning = lowering.compiled(doors, module.declared, lambda share: None, processor)
    return module.sealed([made], returning)


def disk_folder(processor: Processor) -> str:
    """Where its module is kept: this machine's is there already."""
    here = module.name().partition("/")[0]
    return here if processor == PROCESSOR else f"{here}-{processor.triple}"


def played(command: list[str], name: str, folder: Path) -> None:
    """Compare what a program makes of an instrument's memory with what the instrument itself makes of it."""
    inst, events = instrument(name), sorted(EVENTS, key=lambda event: event[0])
    memory, list_of_events = folder / "memory", folder / "events"
    memory.write_bytes(inst._bank.block.tobytes())
    list_of_events.write_bytes(np.array([(at, packed(*data)) for at, data in events], np.int64).tobytes())
    done = subprocess.run(
        [*command, memory, list_of_events, str(FRAMES), str(inst.channels)], stdout=subprocess.PIPE, check=False
    )
    assert done.returncode == 0
    out = np.zeros((FRAMES, inst.channels), np.float32)
    for sample, data in events:
        assert inst.schedule(sample, data)
    inst.run(out)
    assert np.abs(out).max() > 0.01
    assert done.stdout == out.tobytes()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("player")


@pytest.mark.parametrize("name", ["sitar-string", "slap-bass"])
def test_a_program_in_c_plays_the_same_bits(name: str, folder: Path) -> None:
    compiler = shutil.which("cc")
    if not compiler or PROCESSOR.family not in ("x86", "arm"):
        pytest.skip("there is no C compiler: apt install gcc libc6-dev")
    played([str(program(folder, PROCESSOR, compiler))], name, folder)


@pytest.mark.parametrize("name", [*ONE_STRING, *SMALL])
def test_arm_plays_the_same_bits(name: str, folder: Path) -> None:
    compiler, emulator = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("qemu-aarch64")
    if not compiler or not emulator:
        pytest.skip("nothing runs ARM's code: apt install qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross")
    played([emulator, str(program(folder, ARM, compiler))], name, folder)
