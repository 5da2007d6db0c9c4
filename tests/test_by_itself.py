"""What Python calls over a bridge: kept and found again, and never what other compiled code is kept with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine import cache
from engine.compiled import INTERPRETED

pytestmark = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
ROOT = Path(__file__).parents[1]

KERNELS = """
from __future__ import annotations
from engine.compiled import called_by_python

@called_by_python
def grow(group, by) -> None:
    (a, b), count = group
    for i in range(a.size):
        a[i] += by * b[i, 0] + count

@called_by_python
def grown(group, by):
    grow(group, by)
    return group[0][0][0]
"""
CALLS = """
import sys
import numpy as np
from kernels import grow, grown
group = (np.zeros(3), np.ones((3, 2))), 2
if "bridge" in sys.argv:
    grow(group, 0.5)
if "caller" in sys.argv:
    print(grown(group, 0.5))
print(*group[0][0])
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "kernels.py").write_text(KERNELS, encoding="utf-8")
    return tmp_path


def said(place: Path, *words: str) -> list[str]:
    paths = os.pathsep.join((str(ROOT), str(place)))
    around = {**os.environ, "PYTHONPATH": paths, cache.VARIABLE: str(place / "kept")}
    done = subprocess.run(
        [sys.executable, "-c", CALLS, *words], capture_output=True, text=True, env=around, cwd=place, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_what_is_kept_with_a_caller_needs_no_bridge(place: Path) -> None:
    """Nor does it matter who came first."""
    assert said(place, "bridge", "caller") == ["5.0", "5.0 5.0 5.0"]
    assert said(place, "caller") == ["2.5", "2.5 2.5 2.5"]
    assert said(place, "bridge") == ["2.5 2.5 2.5"]
    kept = {file.name.partition("-")[0]: file for file in (place / "kept").rglob("*.nbc")}
    assert kept.keys() == {"kernels.grow", "kernels.grown"}
    assert len(list((place / "kept").rglob("*-bridge.nbc"))) == 1


def test_what_no_door_is_given_is_numbas(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays that do not lie in one piece."""
    monkeypatch.syspath_prepend(str(place))
    from kernels import grow  # type: ignore[import-not-found]

    wide = np.zeros((3, 2))
    grow(((wide[:, 0], np.ones((3, 2))), 2), 0.5)
    assert wide[:, 0].tolist() == [2.5] * 3
