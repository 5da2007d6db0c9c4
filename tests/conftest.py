"""Shared helpers of the tests live beside them and are imported by package name (`physics.problems`).

Those that scripts share live with the scripts. What the tests find around them is made the same everywhere.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
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


# Workers take whole files, since what a file needs is made once by each that runs a part of it: kernels are compiled,
# presets designed, programs started. What several files share goes together, by the first name here that fits: code
# that takes minutes to compile, and the one JACK server that there may be (live/jack.py). By name, since marks
# (xdist_group) are not seen where pytest 9.2 and pytest-xdist 3.8 meet: no test is in a group there.
TOGETHER = {
    "tests/export/": "export",
    **dict.fromkeys(("tests/edit/test_page", "tests/live/audio/", "tests/live/midi/test_midi_jack.py"), "jack"),
    **dict.fromkeys(("tests/live/test_play.py", "tests/live/thread/test_guard.py"), "jack"),
}
# What takes longest begins first, or a worker would be left with it when the others have nothing more to do.
FIRST = (
    *("export", "jack", "tests/synth/test_without_python.py", "tests/test_bounds.py", "tests/test_packaging.py"),
    *("tests/robustness/test_cases.py", "tests/physics/test_kernels.py", "tests/synth/test_image.py"),
    *("tests/edit/test_studio.py", "tests/test_module.py", "tests/physics/reference/test_reference_strings.py"),
    *("tests/test_presets_command.py", "tests/synth/test_ensemble.py", "tests/synth/test_instrument.py"),
    *("tests/robustness/test_at_once.py", "tests/synth/test_budget.py", "tests/test_cli.py"),
)


@pytest.fixture(scope="module")
def shared_designs() -> Iterator[None]:
    """For files of tests that play strings and design the same ones again and again."""
    import designs  # the engine, which not everything here needs

    with designs.shared():
        yield


def group(nodeid: str) -> str:
    """What one worker runs all of."""
    return next((name for files, name in TOGETHER.items() if nodeid.startswith(files)), nodeid.partition("::")[0])


@pytest.hookimpl(optionalhook=True)  # without pytest-xdist nobody asks
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Hand out groups, in their order."""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group(nodeid)

    if config.getvalue("dist") != "loadgroup":
        return None
    config.option.loadscopereorder = False  # by how many tests they have
    return Together(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where several work, in the order in which they take groups."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        rank = {name: number for number, name in enumerate(FIRST)}
        items.sort(key=lambda item: rank.get(group(item.nodeid), len(FIRST)))
