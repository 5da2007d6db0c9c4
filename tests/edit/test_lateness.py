"""An open page makes no block late, also where the interpreter is busy: measure_editor.py --busy, for a moment."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import pytest
from live.jack import needs_jack

import engine

pytest.importorskip("aiohttp", reason="needs aiohttp: pip install 'jawari[edit]'")

pytestmark = [
    needs_jack,
    pytest.mark.alone,
    pytest.mark.skipif(
        "PYTEST_XDIST_WORKER" in os.environ, reason="measures time, so nothing may run beside it: run pytest -m alone"
    ),
]

SECONDS = 5.0  # with the page, and as long without, which is the control
ALLOWED = 0.005  # of the blocks more than without the page: a virtual machine stands still now and then
TIMES = 4


def script() -> ModuleType:
    path = Path(engine.__file__).parent.parent / "scripts" / "measure_editor.py"
    spec = importlib.util.spec_from_file_location("measure_editor", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_more_blocks_are_late_with_a_page_than_without(capsys: pytest.CaptureFixture[str]) -> None:
    measure = script()
    for _ in range(TIMES):
        found = measure.busy("sitar-string", SECONDS, SECONDS)
        (watched, alone), (blocks, control) = found["lost"], found["blocks"]
        with capsys.disabled():
            print(f"\nlate: {watched} of {blocks} with a page, {alone} of {control} without", end="")
        assert found["frames"] > 1.0  # it was shown something
        if watched / blocks <= alone / control + ALLOWED:
            return
    raise AssertionError(f"{watched} of {blocks} blocks are late with a page, {alone} of {control} without")
