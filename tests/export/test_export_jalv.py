"""jalv, LV2's own host for JACK, plays the plugin: events on their frames come back as the engine's bits."""

from __future__ import annotations

import ctypes.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from export.bundling import bundle, order
from export.exporting import FRAMES, NEEDED, expected, music
from virtual_card import jack_server, wait_for

from engine.export import lv2

MISSING = [name for name in ("jalv", "jackd", "jack_lsp") if shutil.which(name) is None]
pytestmark = [
    *NEEDED,
    pytest.mark.skipif(bool(MISSING), reason=f"without {', '.join(MISSING)} no host plays: apt install jalv jackd2"),
    pytest.mark.skipif(ctypes.util.find_library("jack") is None, reason="JACK's library is not found"),
]
PROGRAM = Path(__file__).with_name("feeding.py")


@pytest.mark.parametrize("name", ["sitar-string", "slap-bass"])
def test_jalv_plays_the_engines_bits(name: str, tmp_path: Path) -> None:
    """Names of clients are of this process only, so no other server's clients are in the way (live/jack.py)."""
    folder, events, result = tmp_path / "plugins", tmp_path / "events.json", tmp_path / "heard.npz"
    folder.mkdir()
    bundle(folder, name)
    events.write_text(json.dumps([event for event in music() if event[0] < FRAMES]))
    host, own = f"jalv-{os.getpid()}", f"feeder-{os.getpid()}"
    with jack_server(tmp_path) as server:
        around = {**server.environment, "LV2_PATH": f"{folder}:/usr/lib/lv2"}
        command = ["jalv", "-x", "-n", host, lv2.uri(order(name))]
        # At the end of its input it ends.
        quiet = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(command, env=around, **quiet) as playing:
            try:
                wait_for(lambda: f"{host}:right" in server.ports(), "jalv")
                told = [sys.executable, str(PROGRAM), own, host, str(events), str(FRAMES), str(result)]
                subprocess.run(told, env=server.environment, check=True, timeout=300)
            finally:
                playing.kill()
    with np.load(result) as found:
        sound, period = found["sound"], int(found["period"])
    wanted = expected(name)
    same = [late for late in range(0, 4 * period, period) if np.array_equal(sound[late : late + FRAMES], wanted)]
    assert same == [period]  # what comes back to who asked is of the period before
