"""`--format c`: a program in C plays what the engine plays, to the last bit, on every level and kind of processor."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export.exporting import (
    COMPILER,
    FRAMES,
    NEEDED,
    PRESETS,
    RAGGED,
    RATE,
    SECONDS,
    Opened,
    built,
    code,
    expected,
    image_of,
    music,
    rack,
    retuned,
    written,
)
from live import guard

from engine import cache, cli
from engine.export.code import SYMBOLS, kept
from engine.export.image import image
from engine.export.memory import DAMAGED, HEAD, MISPLACED, OTHER_RATE, OTHER_VERSION, Head
from engine.export.targets import target_of
from engine.layout import fields_of
from engine.processor import LEVELS, known
from engine.synth.instrument import Instrument

pytestmark = NEEDED


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("export")


def played(command: list[str], names: tuple[str, ...], folder: Path, *words: object, **how: Any) -> tuple[Any, str]:
    """The sound of the player, [frames, 2], and what it said."""
    files = written(folder, *names)
    told = [str(files[0]), str(RATE), str(files[1]), str(FRAMES), *map(str, words)]
    done = subprocess.run([*command, *told], capture_output=True, check=False, **how)
    assert done.returncode == 0, done.stderr
    return np.frombuffer(done.stdout, np.float32).reshape(2, -1).T, done.stderr.decode()


@pytest.mark.parametrize("name", PRESETS)
def test_a_program_plays_the_same_bits_on_every_level(name: str, folder: Path) -> None:
    """In ragged blocks; and with guard.c watching, which ends a program that asks for memory or calls the system."""
    program, wanted = str(built(folder)), expected(name)
    around = {} if guard.missing() else {"LD_PRELOAD": str(guard.library())}
    levels = [n for n, level in enumerate(LEVELS, 2) if level in known()] or [0]
    for level in levels:
        sound, said = played([program], (name,), folder, level, 1, 1, *RAGGED, env={**os.environ, **around})
        assert said.strip().endswith(f"level {level}")
        assert np.array_equal(sound, wanted)


def test_several_presets_are_programs(folder: Path) -> None:
    names = ("sitar-string", "slap-bass")
    sound, _ = played([str(built(folder))], names, folder, 0, 1, 1, 256)
    assert np.array_equal(sound, expected(*names))


def test_many_times_and_threads_are_the_same(folder: Path) -> None:
    sound, _ = played([str(built(folder))], ("prepared",), folder, 0, 5, 4, 64, 200)
    assert np.array_equal(sound, expected("prepared"))


@pytest.mark.parametrize(("processor", "level"), [("Nehalem", 2), ("Haswell", 3)])
def test_the_processor_decides_the_level(processor: str, level: int, folder: Path) -> None:
    emulator = shutil.which("qemu-x86_64")
    if not emulator or "x86-64-v2" not in known():
        pytest.skip("nothing pretends to be another x86 processor: apt install qemu-user")
    files, short = written(folder, "plain"), 2000
    command = [emulator, "-cpu", processor, str(built(folder)), str(files[0]), str(RATE), str(files[1]), str(short)]
    done = subprocess.run([*command, "0", "1", "1", "128"], capture_output=True, check=True)
    assert f"level {level}" in done.stderr.decode().splitlines()  # qemu itself has something to say, too
    sound = np.frombuffer(done.stdout, np.float32).reshape(2, -1).T
    assert np.array_equal(sound, expected("plain")[:short])


@pytest.mark.parametrize("name", ["sitar-string", "slap-bass"])
def test_arm_plays_the_same_bits(name: str, folder: Path) -> None:
    compiler, emulator = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("qemu-aarch64")
    if not compiler or not emulator:
        pytest.skip("nothing runs ARM's code: apt install qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross")
    if SECONDS < 20 and cache.read(kept(target_of("linux-aarch64"))) is None:
        pytest.skip("ARM's code takes half a minute to compile: JAWARI_EXPORT_SECONDS=20 has it made")
    program = built(folder, "linux-aarch64", compiler, "-static")
    sound, said = played([emulator, str(program)], (name,), folder, 0, 1, 1, 100)
    assert said.strip().endswith("level 0")
    assert np.array_equal(sound, expected(name))


def test_the_code_has_no_symbol_but_the_apis(folder: Path) -> None:
    if not shutil.which("nm"):
        pytest.skip("nothing lists symbols: apt install binutils")
    (folder / "listed.o").write_bytes(code())
    said = subprocess.run(["nm", "-g", folder / "listed.o"], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in said.splitlines()]
    assert {row[-1] for row in rows if row[-2] != "U"} == set(SYMBOLS)
    assert {row[-1] for row in rows if row[-2] == "U"} <= {"memset", "memcpy", "fmod"}


# --- called as a library ----------------------------------------------------------------------------------------------


def place(name: str) -> int:
    return next(part.offset for part in fields_of(Head) if part.name == name)


def test_a_damaged_image_is_refused(folder: Path) -> None:
    whole = image_of("prepared")
    for at in (0, place("total"), place("check"), place("sections"), HEAD, len(whole) // 2, len(whole) - 8):
        broken = bytearray(whole)
        broken[at] ^= 4
        assert Opened(folder, bytes(broken)).result == DAMAGED, at
    for size in (0, 8, HEAD, len(whole) - 8, len(whole) - 1):
        assert Opened(folder, whole[:size]).result == DAMAGED, size
    assert Opened(folder, np.random.default_rng(1).bytes(4096)).result == DAMAGED
    other = bytearray(whole)
    other[place("layout")] ^= 1
    assert Opened(folder, bytes(other)).result == OTHER_VERSION
    for rate in (44_100.0, 0.0, float("nan"), -RATE):
        assert Opened(folder, whole, rate).result == OTHER_RATE


def test_misplaced_memory_is_refused(folder: Path) -> None:
    made = Opened(folder, image_of("prepared"))
    arguments = made.image.ctypes.data, made.image.size, float(RATE)
    assert made.result == 0
    assert made.code.jawari_open(made.at + 8, *arguments) == MISPLACED
    assert made.code.jawari_open(None, *arguments) == MISPLACED
    assert made.code.jawari_open(made.at, made.image.ctypes.data + 1, made.image.size, float(RATE)) == MISPLACED


def test_midis_tuning_standard_is_obeyed(folder: Path) -> None:
    """Single keys, an octave and all keys, and messages that are none of it; what finds no room comes later, whole."""
    octave = [0xF0, 0x7E, 0x7F, 8, 8, 3, 0x7F, 0x7F, *range(40, 52), 0xF7]
    whole = [0xF0, 0x7E, 0, 8, 1, 0, *[32] * 16, *(n for key in range(128) for n in (key, 20, key)), 0, 0xF7]
    wrong = [[0xF0, 0x7E, 0, 8, 1, 0xF7], [0xF0, 0x43, 1, 2, 0xF7], whole[:-1], [0xF0, *[1] * 600, 0xF7]]
    tunings = [*retuned(), *((2000, message) for message in wrong), (5000, octave), (9000, whole)]
    events = sorted([*music(), *tunings], key=lambda event: event[0])
    made, sound, now = Opened(folder, image_of("prepared")), [], 0
    for at, data in (event for event in events if event[0] < FRAMES):
        if at > now:
            sound.append(made.run(at - now))
            now = at
        assert made.send(0, *data) == 1
    sound.append(made.run(FRAMES - now))
    assert np.array_equal(np.concatenate(sound), expected("prepared", more=tunings))
    made.code.jawari_reset(made.at)
    assert [made.send(10, 0xB0, 3, n % 128) for n in range(4000)] == [1] * 4000
    assert made.send(10, *whole) == 0
    made.run(11)
    assert made.send(0, *whole) == 1


def test_what_is_no_message_does_nothing(folder: Path) -> None:
    made = Opened(folder, image_of("prepared"))
    for data in ([], [0x90], [0x90, 60], [0x90, 60, 200], [60, 60, 60], [0xF8], [0xF0, 1, 2], [0xC0, 1, 1], [0x90] * 9):
        assert made.send(0, *data) == 1
    assert not made.run(500).any()


def test_a_full_ring_says_so_and_takes_the_message_later(folder: Path) -> None:
    made = Opened(folder, image_of("prepared"))
    sent = 0
    while made.send(100, 0xB0, 20, sent & 127):
        sent += 1
    assert sent == 4096
    made.run(101)
    assert made.send(0, 0x90, 60, 100)
    assert made.run(4000).any()


def test_latency_is_the_instruments(folder: Path) -> None:
    made = Opened(folder, image_of("sitar-string"))
    assert made.code.jawari_latency(made.at) == Instrument("sitar-string", RATE).latency > 0


@pytest.mark.parametrize(("number", "value", "controller", "share"), [(0, -5e-5, 1, 0.5), (1, 1e-3, 74, 6 / 7)])
def test_a_parameter_stands_where_its_controller_would(
    number: int, value: float, controller: int, share: float, folder: Path
) -> None:
    """Of the sitar: the barrier's height by the wheel, the pluck's duration by controller 74."""
    made, inst = Opened(folder, image_of("sitar-string")), Instrument("sitar-string", RATE)
    assert made.code.jawari_turn(made.at, number, value) == 1
    made.send(0, 0x90, 54, 100)
    outs = {"turned": made.run(400)}
    for name, at in (("exact", share * 127), ("below", int(share * 127) - 4), ("above", int(share * 127) + 5)):
        inst.reset()
        inst.machine.channels.position[:, controller] = at
        inst.schedule(0, [0x90, 54, 100])
        outs[name] = np.zeros((400, 2), np.float32)
        inst.run(outs[name])
    # No longer: the contact's chaos makes another sound of the last bit.
    off = {name: float(np.abs(outs["turned"] - out).max()) for name, out in outs.items()}
    assert off["exact"] < 0.01 * min(off["below"], off["above"])


def test_a_parameter_that_is_none_or_no_number_moves_nothing(folder: Path) -> None:
    made = Opened(folder, image_of("sitar-string"))
    assert [made.code.jawari_turn(made.at, n, 1.0) for n in (-1, 3, 1 << 30)] == [0, 0, 0]
    assert [made.code.jawari_turn(made.at, 0, v) for v in (float("nan"), float("inf"))] == [0, 0]
    assert [made.code.jawari_take(made.at, n) for n in (-1, 1, 128, 1 << 30)] == [0, 0, 0, 0]
    made.send(0, 0x90, 54, 100)
    untouched = Opened(folder, image_of("sitar-string"))
    untouched.send(0, 0x90, 54, 100)
    assert np.array_equal(made.run(3000), untouched.run(3000))
    made.code.jawari_turn(made.at, 0, 1e9)  # beyond its range: at its end
    assert np.isfinite(made.run(3000)).all()


def test_every_rate_is_an_instrument_of_its_own(folder: Path) -> None:
    whole = image(rack("prepared"), (44_100.0, 96_000.0))
    for rate in (96_000, 44_100):
        made, inst = Opened(folder, whole, rate), Instrument("prepared", rate)
        made.send(7, 0x90, 55, 100)
        inst.schedule(7, [0x90, 55, 100])
        out = np.zeros((3000, 2), np.float32)
        inst.run(out)
        assert out.any()
        assert np.array_equal(made.run(3000), out)
    assert Opened(folder, whole, RATE).result == OTHER_RATE


def test_random_messages_and_parameters_do_no_harm(folder: Path) -> None:
    made, chance = Opened(folder, image_of("prepared")), np.random.default_rng(7)
    for _ in range(40):
        for _ in range(200):
            made.send(int(chance.integers(-(1 << 31), 1 << 31)) >> int(chance.integers(32)), *chance.bytes(3))
            made.code.jawari_send(
                made.at, 3, bytes([0x80 | int(chance.integers(112)), *chance.integers(128, size=2)]), 3
            )
        made.code.jawari_turn(made.at, int(chance.integers(4)), float(chance.normal() * 10.0 ** chance.integers(-9, 9)))
        assert np.isfinite(made.run(int(chance.integers(1, 2000)))).all()
    made.code.jawari_reset(made.at)
    untouched = Opened(folder, image_of("prepared"))
    for one in (made, untouched):
        one.send(0, 0x90, 55, 100)
    assert np.array_equal(made.run(2000), untouched.run(2000))


def test_a_part_that_is_taken_plays(folder: Path) -> None:
    both, alone = Opened(folder, image_of("sitar-string", "slap-bass")), Opened(folder, image_of("slap-bass"))
    assert both.code.jawari_take(both.at, 1) == 1
    for made in (both, alone):
        made.send(0, 0x93, 50, 90)
    late = both.code.jawari_latency(both.at) - alone.code.jawari_latency(alone.at)
    first, second = both.run(4000), alone.run(4000)
    assert second.any()
    assert np.array_equal(first[late:], second[: 4000 - late])


def test_the_example_builds_and_plays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the sanitizers."""
    monkeypatch.chdir(folder)
    assert cli.main(["export", "prepared", "--format", "c"]) == 0
    there = folder / "prepared-c"
    names = {"LICENSE", "README.md", "example.c", "jawari-export.json", "jawari.h", "jawari.image", "jawari.o"}
    assert {file.name for file in there.iterdir()} == names
    checks = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    command = [str(COMPILER), "-Wall", "-Wextra", "-Werror", *checks, "-o", "example", "example.c", "jawari.o", "-lm"]
    subprocess.run(command, check=True, cwd=there)
    subprocess.run(["./example", "jawari.image", str(RATE), "notes.wav"], check=True, cwd=there)
    content = (there / "notes.wav").read_bytes()
    sound = np.frombuffer(content, np.float32, offset=44)
    assert sound.size == 2 * 4 * RATE
    assert 0.01 < np.abs(sound).max() < 10.0
    words = ["./example", "jawari.image", "4000", "x.wav"]
    refused = subprocess.run(words, cwd=there, capture_output=True, check=False)
    assert (refused.returncode, refused.stderr) == (
        1,
        b"jawari.image: has no instrument for this sample rate; README.md says for which\n",
    )
