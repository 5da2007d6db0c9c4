"""Whatever comes: random messages, parameters and blocks, opened and reset again and again, in C and in WebAssembly.

A sample of it runs always; JAWARI_EXPORT_MESSAGES=1000000 is the long run, in which it is opened 1000 times, too.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from export.exporting import COMPILER, NEEDED, NETWORK, RATE, code, image_of, rack
from export.paging import node, page_of

from engine.compiled import INTERPRETED
from engine.export import lv2
from engine.export.header import header
from engine.export.job import ROOM, Export
from engine.export.knobs import dials
from engine.export.targets import target_of

MESSAGES = int(os.environ.get("JAWARI_EXPORT_MESSAGES", "8000"))
OPENINGS = 1000 if MESSAGES > 100_000 else 60
PLAYED = [("sitar-string", "slap-bass"), (NETWORK,)]
pytestmark = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
CHECKS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("storm")


@pytest.mark.parametrize("names", PLAYED, ids=str)
def test_a_program_in_c_minds_nothing(names: tuple[str, ...], folder: Path) -> None:
    """Under the sanitizers, and with nothing behind its memory."""
    for mark in NEEDED[1:]:
        if mark.args[0]:
            pytest.skip(mark.kwargs["reason"])
    (folder / "jawari.h").write_text(header(rack(*names), dials(rack(*names)), (RATE,)))
    (folder / "code.o").write_bytes(code())
    image = folder / "image"
    image.write_bytes(image_of(*names))
    source, program = Path(__file__).with_name("storm.c"), folder / "storm"
    words = ["-O1", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", f"-I{folder}", *CHECKS]
    subprocess.run([str(COMPILER), *words, "-o", str(program), str(source), str(folder / "code.o"), "-lm"], check=True)
    told = [str(program), str(image), str(RATE), str(MESSAGES), str(OPENINGS), "1"]
    done = subprocess.run(told, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_nor_do_many_lv2_plugins_on_many_threads(folder: Path) -> None:
    """Made at changing rates, activated again and again, with random ports and blocks; the sanitizers count leaks."""
    for mark in NEEDED[1:]:
        if mark.args[0]:
            pytest.skip(mark.kwargs["reason"])
    rates = (44100.0, float(RATE))
    presets = rack("prepared", "slap-bass")
    made = Export(presets, rates, target_of(None), print)
    files = {"jawari.h": header(presets, made.dials, rates).encode(), "shape.h": lv2.shape(made).encode()}
    for name, content in (files | {"jawari.image": made.image, "code.o": code()}).items():
        (folder / name).write_bytes(content)
    ports = 4 + len(made.dials) + 1
    sources = [Path(__file__).with_name("lv2storm.c"), ROOM / "lv2" / "plugin.c", folder / "code.o"]
    words = ["-O1", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-pthread", *CHECKS]
    places = [f"-I{place}" for place in (folder, ROOM, ROOM / "lv2")]
    program = folder / "lv2storm"
    subprocess.run([str(COMPILER), *words, *places, "-o", str(program), *map(str, sources), "-lm"], check=True)
    told = [str(program), str(folder), str(ports), str(OPENINGS // 4), "4", "1", *map(str, rates)]
    done = subprocess.run(told, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    refused = "is not made for 12345 Hz, but for 44100, 48000 Hz"
    assert all(refused in line for line in done.stderr.splitlines()), done.stderr


@pytest.mark.skipif(node() is None, reason="nothing runs WebAssembly: apt install nodejs")
@pytest.mark.parametrize("names", PLAYED, ids=str)
def test_nor_does_webassembly(names: tuple[str, ...], folder: Path) -> None:
    told = [page_of(folder, *names) / "data.js", "simd", RATE, MESSAGES // 2, OPENINGS]
    command = [str(node()), str(Path(__file__).with_name("storm.mjs")), *map(str, told)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
