"""Shared helpers of the tests live beside them and are imported by package name (`physics.problems`).

Those that scripts share live with the scripts. What the tests find around them is made the same everywhere.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

# Before numpy is there: tests run beside each other, and threads that wait for a core would be counted as work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent
sys.path.insert(0, str(TESTS))
sys.path.append(str(TESTS.parent / "scripts"))

# What a user may have set for programs like ours, and would change what these tests are about.
for _name in ("JAWARI_DEBUG", "MIDO_BACKEND", "NO_COLOR", "PYTHONWARNINGS", "COLUMNS", "LINES", "SD_ENABLE_ASIO"):
    os.environ.pop(_name, None)

os.environ["JAWARI_PRESETS_DIR"] = os.path.join(os.path.dirname(__file__), "no presets of anybody's own")

# Signals that whoever started this ignores, as a shell does for what it puts into the background, would stay ignored.
for _signal in (signal.SIGINT, *(getattr(signal, name) for name in ("SIGHUP", "SIGQUIT") if hasattr(signal, name))):
    if signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, signal.default_int_handler if _signal == signal.SIGINT else signal.SIG_DFL)

# The same examples every time, a failure in CI is a failure at the desk; others by scripts/check.py --random.
settings.register_profile("repeatable", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("random", derandomize=False, deadline=None, print_blob=True, database=None)
settings.load_profile("repeatable")


# What these files need is made once by a worker and takes minutes. By file, since marks (xdist_group) are not seen
# where pytest 9.2 and pytest-xdist 3.8 meet: no test is in a group there.
TOGETHER = {
    "tests/export/": "export",
    "tests/edit/test_page": "page",
    "tests/synth/test_without_python.py": "arm",
    "tests/test_packaging.py": "wheel",
}


@pytest.hookimpl(optionalhook=True)  # without pytest-xdist nobody asks
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Have one worker run all of a group."""
    from xdist.scheduler import LoadGroupScheduling

    class Together(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            found = (group for files, group in TOGETHER.items() if nodeid.startswith(files))
            return next(found, None) or str(super()._split_scope(nodeid))

    return Together(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks at groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs JACK runs in one worker: see live/jack.py."""
    from live.jack import GROUP, needs_jack  # late: only here is the path to it known

    for item in items:
        if needs_jack.mark in item.iter_markers("skipif"):
            item.add_marker(pytest.mark.xdist_group(GROUP))
