"""Ctrl-C from the first moment of the command to its last: one line, code 130, never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import engine

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
ROOT = Path(__file__).parent.parent
LINE = "jawari: interrupted\n"
COLD = "jawari: compiling for this machine, once; up to 30 seconds\n"
QUICK = ["simulate", "tanpura-string", "--seconds", "2 ms"]

# Interrupts itself as the n-th module is looked for: the same place on a fast machine and on a slow one.
AT_IMPORT = """
import signal, sys

class Bell:
    left = int(sys.argv[1])

    def find_spec(self, *_):
        self.left -= 1
        if self.left == 0:
            signal.raise_signal(signal.SIGINT)

from engine import start

sys.meta_path.insert(0, Bell())
sys.exit(start.main(*sys.argv[2:]))
"""

# The same when a module of this name is looked for, from the command's first line on.
AT_MODULE = """
import signal, sys

class Bell:
    def find_spec(self, name, *_):
        if name == sys.argv[1]:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Bell())
from engine.start import main
sys.exit(main(*sys.argv[2:]))
"""

# Opens something where some of its own are closed, and says what it got.
AT_GAPS = """
import os, sys
from engine import start

def work():
    with open(sys.argv[1], "w") as file:
        file.write(str(min(file.fileno(), 3)))
        return 0

sys.exit(start.run(work))
"""

# Says when it listens; from then on it may be interrupted at any time.
AT_TIME = """
import sys
from engine import start

def work():
    print("listening", flush=True)
    return start.command(*sys.argv[1:])

sys.exit(start.run(work))
"""


def begin(program: str, *words: object, cache: Path | None = None) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)} | ({"JAWARI_CACHE_DIR": str(cache)} if cache else {})
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, words)], env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@pytest.mark.parametrize("count", [1, 20, 100, 250, 500, 800])
def test_an_interrupt_among_the_imports(count: int) -> None:
    """Of numpy, numba, the engine, those that a command brings, and those of later on."""
    process = begin(AT_IMPORT, count, *QUICK)
    out, err = process.communicate(timeout=300)
    assert "Traceback" not in err
    assert (process.returncode, err.replace(COLD, "")) in ((130, LINE), (0, ""))
    assert process.returncode or "balance kept" in out


@pytest.mark.parametrize("name", ["engine.ending", "engine.printable", "engine.terminal", "engine.interrupts"])
def test_an_interrupt_among_the_imports_of_what_listens(name: str) -> None:
    process = begin(AT_MODULE, name, *QUICK)
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (130, LINE)


@pytest.mark.parametrize("closed", ["", "<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_nothing_takes_the_place_of_what_is_closed(closed: str, tmp_path: Path) -> None:
    """JACK's library, for one, writes to standard error what would end up in a take."""
    command = f'exec "$0" -c "$1" "$2" {closed}'
    words = [sys.executable, AT_GAPS, str(tmp_path / "opened")]
    subprocess.run(["sh", "-c", command, *words], env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True, timeout=300)
    assert (tmp_path / "opened").read_text() == "3"


@pytest.mark.parametrize("delay", [0.0, 0.1, 0.3, 0.6, 0.9, 1.2])
def test_an_interrupt_at_any_time(delay: float) -> None:
    process = begin(AT_TIME, *QUICK)
    assert process.stdout is not None
    assert process.stdout.readline() == "listening\n"
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert "Traceback" not in err
    assert (process.returncode, err.replace(COLD, "")) in ((130, LINE), (0, ""))
    assert process.returncode or "balance kept" in out


def test_an_interrupt_while_it_compiles(tmp_path: Path) -> None:
    """LLVM holds the main thread for seconds: another one ends the process."""
    process = begin(AT_TIME, "simulate", "sitar-string", "--seconds", "2 ms", cache=tmp_path)
    assert process.stderr is not None
    assert process.stderr.readline() == COLD
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (130, LINE)


@pytest.mark.parametrize("script", ["render.py", "play.py"])
def test_scripts_are_interrupted_alike(script: str) -> None:
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "scripts" / script), "sitar-string"], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, preexec_fn=lambda: signal.alarm(60),
    )  # fmt: skip
    deadline = time.monotonic() + 20.0
    while not listens(process.pid) and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (130, LINE)


def listens(process: int) -> bool:
    """Whether a process of ours catches Ctrl-C, and has a thread that waits for it."""
    status = Path(f"/proc/{process}/status")
    if not status.exists():
        time.sleep(0.3)
        return True
    return "Threads:\t1\n" not in status.read_text()


# --- what makes it possible -------------------------------------------------------------------------------------------


def test_the_package_imports_nothing_large() -> None:
    """Of the engine only the package, of Python nothing large."""
    program = (
        "import sys; before = set(sys.modules); import engine.start;"
        "brought = {name.split('.')[0] for name in set(sys.modules) - before};"
        "print(*sorted(name for name in sys.modules if name.startswith('engine')), *sorted(brought & {large}))"
    ).replace("{large}", "{'argparse', 'contextlib', 'logging', 'numba', 'numpy', 'threading', 'typing', 'yaml'}")
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "engine engine.start\n"


def test_names_are_what_they_were() -> None:
    """Functions, though modules of the same names lie in its rooms; and what documents named before it moved."""
    program = (
        "import engine.offline.render, engine.study.simulate, engine.commands.simulate, engine;"
        "from engine import simulate, Instrument;"
        "assert callable(engine.render) and callable(engine.simulate) and engine.simulate is simulate;"
        "from engine.recording import record, summarise; import engine.recording;"
        "assert engine.recording.record is engine.study.recording.record is record;"
        "assert set(engine.__all__) <= set(dir(engine)) and engine.__version__;"
        "from engine import *; load_preset('sitar-string')"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        _ = engine.simulat  # type: ignore[attr-defined]
