"""Windows' plugins, played under wine by the hosts of the other tests: the engine's bits.

Their code takes minutes to compile, so this is for the long run (JAWARI_EXPORT_SECONDS=20).
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export.exporting import FRAMES, NEEDED, RATE, SECONDS, Opened, expected, rack
from export.test_export_clap import MIDI, PARAMETER, PAUSE, ROW, SIZES, Ready, Row, Unfrozen
from export.test_export_designs import image_of as unfrozen
from export.test_export_designs import values as values_of
from export.test_export_vst3 import as_midi

from engine.export import clap, linking, vst3
from engine.export.designs import designed, number_of
from engine.export.job import ROOM
from engine.export.shape import DESIGNED
from engine.export.targets import target_of
from engine.messages import packed

WINE = next(filter(None, map(shutil.which, ("wine64", "wine", "/usr/lib/wine/wine64"))), None)
TARGET = target_of("windows-x86_64")
pytestmark = [
    *NEEDED,
    pytest.mark.skipif(WINE is None, reason="nothing runs Windows' programs: apt install wine64"),
    pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="nothing links them: pip install ziglang"),
    pytest.mark.skipif(SECONDS < 20, reason="minutes of compiling: JAWARI_EXPORT_SECONDS=20"),
]
NAME = "sitar-string"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("wine")


def heard(folder: Path, form: str, library: Path, rows: list[Row], frames: int = FRAMES, times: int = 2) -> Any:
    """What the host of a format hears, so many times; everything lies where wine has its Z:."""
    host, events = folder / f"{form}host.exe", folder / "events"
    words = ["-std=c11", "-O1", f"-I{ROOM}", f"-I{ROOM / form}", "-o", str(host)]
    source = Path(__file__).with_name(f"{form}host.c")
    subprocess.run([*linking.compiler(TARGET), *words, str(source)], check=True)
    events.write_bytes(np.array(rows, ROW).tobytes())
    around = {**os.environ, "WINEPREFIX": str(folder / "prefix"), "WINEDEBUG": "-all", "DISPLAY": ""}
    told = [f"Z:{library}", str(RATE), f"Z:{events}", str(frames), str(times)]
    done = subprocess.run([str(WINE), str(host), *told], capture_output=True, check=False, env=around, timeout=600)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return np.frombuffer(done.stdout, np.float32).reshape(2, -1).T


@pytest.mark.parametrize("form", ["clap", "vst3"])
def test_a_host_under_wine_hears_what_the_engine_plays(form: str, folder: Path) -> None:
    made = folder / form
    made.mkdir()
    {"clap": clap.write, "vst3": vst3.write}[form](Ready(rack(NAME), (float(RATE),), TARGET, print), made)
    found = {"clap": "*.clap", "vst3": "*.vst3/Contents/x86_64-win/*.vst3"}[form]
    assert np.array_equal(heard(folder, form, next(made.glob(found)), as_midi()), expected(NAME))


def test_a_thread_of_windows_designs_what_is_followed(folder: Path) -> None:
    """As that of Linux does (test_export_clap.py): the block after the pause begins with it."""
    made = folder / "any"
    made.mkdir()
    clap.write(Unfrozen(rack("prepared"), (), TARGET, print), made)
    number = next(DESIGNED + number_of(dial) for dial in designed(rack("prepared")) if dial.key == "string.stiffness")
    paused = next(start for start in np.cumsum(SIZES * 3).tolist() if start > 3000)
    rows: list[Row] = [
        (0, (MIDI, packed(0x90, 54, 100), 0, 0), 0.0),
        (paused - 40, (PARAMETER, number, -1, -1), 0.005),
        (paused - 39, (PARAMETER, number, -1, -1), 0.02),
        (paused, (PAUSE, 3000, 0, 0), 0.0),
        (paused + 10, (MIDI, packed(0x90, 66, 90), 0, 0), 0.0),
    ]
    sound = heard(folder, "clap", next(made.glob("*.clap")), rows, 9600, 1)
    old = Opened(folder, unfrozen("prepared"))
    new = Opened(folder, unfrozen("prepared"), RATE, values_of("prepared", {"string.stiffness": 0.02}))
    old.send(0, 0x90, 54, 100)
    before = old.run(paused)
    assert new.code.jawari_follow(new.at, old.at) == 1
    new.send(10, 0x90, 66, 90)
    assert np.array_equal(sound, np.concatenate([before, new.run(9600 - paused)]))
