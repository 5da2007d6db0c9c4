"""qtractor's scanner, a packaged host's way into a CLAP plugin: it loads it, makes it and asks what it is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from export.exporting import NEEDED, rack
from export.test_export_clap import plugin

from engine.export.knobs import dials

SCANNER = next(Path("/usr/lib").glob("*/qtractor/qtractor_plugin_scan"), None)
NONE = pytest.mark.skipif(SCANNER is None, reason="no packaged host of CLAP is here: apt install qtractor")
pytestmark = [*NEEDED, NONE]


@pytest.mark.parametrize("names", [("sitar-string",), ("sitar-string", "slap-bass")], ids=str)
def test_qtractor_finds_an_instrument(names: tuple[str, ...], tmp_path: Path) -> None:
    library = plugin(tmp_path, *names)
    told = f"CLAP:{library}\n"
    done = subprocess.run([str(SCANNER)], input=told, capture_output=True, text=True, check=True, timeout=300)
    kind, name, sounds, notes, parameters, *_, where, _, _ = done.stdout.strip().split("|")
    assert (kind, name, where) == ("CLAP", rack(*names).name, str(library))
    assert (sounds, notes) == ("0:2", "1:0")  # what comes in and goes out
    assert parameters == f"{len(dials(rack(*names))) + (len(names) > 1)}:0"
