#!/usr/bin/env python3
"""Run every check: lint, format, types, the kernels interpreted, the tests. Ends with the test runner's summary.

    python3 scripts/check.py [OPTIONS] [ARGUMENTS FOR PYTEST]

If the packages it needs are missing, it makes an environment in .venv and installs them there first, in the versions of
scripts/constraints.txt, with which all of this is known to pass. From the system it installs, only on Debian and its
kin and only as root, and says so before: jackd2 (a virtual sound card), libportaudio2 and librtmidi6 (real sound and
MIDI for the tests of live play), qemu-user, gcc-aarch64-linux-gnu and its C library (to run ARM's code), chromium
(a browser for the tests of the editor's page and of exported ones), lv2-dev, lilv-utils, sordi, serdi and dpf-source
(which look into plugins, or say what they are made of), jalv, qtractor and ardour (which take one in, or play it).
Without them some tests are skipped, and say why.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from ctypes.util import find_library
from pathlib import Path

import shifted_clock
from bootstrap import HOME, ROOT, absent_from_system, floors, install_from_system, portaudio, run_in_environment

NEEDED = (
    *("numpy", "numba", "yaml", "soundfile", "sounddevice", "matplotlib", "scipy", "mido"),
    *("pytest", "xdist", "hypothesis", "ruff", "mypy", "hatchling"),
    *("aiohttp", "playwright", "axe_playwright_python"),
)
CONSTRAINTS = ROOT / "scripts" / "constraints.txt"
CLOCKED = ("tests/live", "tests/profiling", "tests/robustness", "tests/test_compiled.py")  # what reads a clock

MARK = "mark.interpreted"
ALONE = "mark.alone"
MEASURED = "tests that measure time"
# Tests as Python's own code, into which pytest rewrites them, and the engine's module: all workers find them made.
READY = "import pytest; from engine import module; pytest.main(['--collect-only', '--quiet']); module.ready()"
LONGEST = ("--durations=25", "--durations-min=5")  # are named: what to shorten first

Check = tuple[str, list[str], dict[str, str]]


def options() -> tuple[argparse.Namespace, list[str]]:
    """What was asked for, and what pytest is to be told."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--no-system", action="store_true", help="install nothing from the system")
    parser.add_argument("--random", action="store_true", help="other random examples than the usual ones")
    parser.add_argument(
        "--clock",
        choices=shifted_clock.CLOCKS,
        help="only the tests that read clocks, as if the machine had just been started, or years ago (Linux)",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--floors", action="store_true", help="only the tests, with the oldest packages declared")
    which.add_argument("--newest", action="store_true", help="only the tests, with the newest packages there are")
    return parser.parse_known_args()


def enter_environment(args: argparse.Namespace) -> None:
    """Go on in an environment with the packages that were asked for."""
    if args.floors:
        home = HOME.with_name(".venv-floors")
        home.mkdir(exist_ok=True)
        lowest = home / "constraints.txt"
        lowest.write_text("".join(f"{line}\n" for line in floors("dev")), encoding="utf-8")
        run_in_environment(__file__, NEEDED, "[dev]", home, ("--constraint", str(lowest)))
    elif args.newest:
        newest = ("--upgrade", "--upgrade-strategy", "eager")
        run_in_environment(__file__, NEEDED, "[dev]", HOME.with_name(".venv-newest"), newest)
    else:
        run_in_environment(__file__, NEEDED, "[dev]", HOME, ("--constraint", str(CONSTRAINTS)))


def virtual_sound_card(may_install: bool) -> None:
    """A sound server with a dummy card, PortAudio and RtMidi: what the tests of live play need besides Python."""
    if sys.platform != "linux":
        return
    wanted = {
        "jackd2": shutil.which("jackd") is not None,
        "libportaudio2": portaudio(),
        "librtmidi6": find_library("rtmidi") is not None,  # its name in Debian 12 and Ubuntu 22.04, and later
    }
    absent = absent_from_system(wanted)
    if may_install:
        absent = install_from_system(wanted, "a virtual sound card and real MIDI for the tests of live play")
    if absent:
        print(f"without {', '.join(absent)} some tests of live play are skipped", flush=True)


def another_processor(may_install: bool) -> None:
    """What compiles and runs ARM's code on this machine."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return
    wanted = {
        "qemu-user": shutil.which("qemu-aarch64") is not None,
        "gcc-aarch64-linux-gnu": shutil.which("aarch64-linux-gnu-gcc") is not None,
        "libc6-dev-arm64-cross": Path("/usr/aarch64-linux-gnu/include/stdio.h").is_file(),
    }
    absent = absent_from_system(wanted)
    if may_install:
        absent = install_from_system(wanted, "to play the same bits on ARM")
    if absent:
        print(f"without {', '.join(absent)} nothing is played on ARM", flush=True)


def browser(may_install: bool) -> None:
    """What the tests of pages drive; any that is of Chromium's kind will do."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    wanted = {"chromium": any(shutil.which(name) for name in names)}
    absent = absent_from_system(wanted)
    if may_install and sys.platform == "linux":
        absent = install_from_system(wanted, "a browser for the tests of pages")
    if absent:
        print("without chromium the tests of pages are skipped", flush=True)


def validators(may_install: bool) -> None:
    """What looks into LV2 bundles as hosts do, and plays them, and the headers of CLAP and VST 3."""
    if sys.platform != "linux":
        return
    wanted = {
        "lv2-dev": shutil.which("lv2_validate") is not None,
        "lilv-utils": shutil.which("lv2info") is not None,
        "sordi": shutil.which("sord_validate") is not None,
        "jalv": shutil.which("jalv") is not None,
        "serdi": shutil.which("serdi") is not None,
        "dpf-source": Path("/usr/share/dpf/distrho/src/clap/entry.h").is_file(),
        "qtractor": shutil.which("qtractor") is not None,
        "ardour": any(shutil.which(name) for name in ("ardour7-lua", "ardour8-lua")),
    }
    absent = absent_from_system(wanted)
    if may_install:
        absent = install_from_system(wanted, "to look into plugins and play them as hosts do")
    if absent:
        print(f"without {', '.join(absent)} some tests of plugins are skipped", flush=True)


def workers() -> int:
    """One more than there are cores: live play and pages are waited for most of the time."""
    return 1 + (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def marked(words: str) -> list[str]:
    """The files of tests with such a mark: no other need be read, which takes longer than some tests."""
    return [str(file) for file in sorted((ROOT / "tests").rglob("test_*.py")) if words in file.read_text("utf-8")]


def checks(args: argparse.Namespace, told: Sequence[str]) -> list[Check]:
    """What to run, each with its name and what is added to its environment."""
    python = [sys.executable, "-m"]
    how = ["--hypothesis-profile=random"] if args.random else []
    # The sound card's thread is watched where there is a C compiler, and names are UTF-8 whatever the locale says.
    around = {"JAWARI_GUARD": "1", "PYTHONUTF8": "1"}
    tests = [*python, "pytest", "-n", str(workers()), "--dist", "loadgroup", "-m", "not alone", *LONGEST, *how, *told]
    alone = [*python, "pytest", "-m", "alone", *marked(ALONE)]
    if args.clock:
        places = [] if told else [str(Path(place)) for place in CLOCKED]
        return [(f"tests, clock {args.clock}", [*shifted_clock.shifted(args.clock), *tests, *places], around)]
    if args.floors or args.newest:
        return [
            ("versions", [*python, "pip", "list"], {}),
            (MEASURED, alone, around),
            ("tests", tests, around),
        ]
    return [
        ("lint", [*python, "ruff", "check", "."], {}),
        ("format", [*python, "ruff", "format", "--check", "."], {}),
        ("types", [*python, "mypy"], {}),
        (
            "kernels as plain Python",
            [*python, "pytest", "-n", "auto", "-m", "interpreted", *marked(MARK)],
            {"NUMBA_DISABLE_JIT": "1"},
        ),
        (MEASURED, alone, around),
        ("tests", tests, around),
    ]


def main() -> None:
    args, told = options()
    enter_environment(args)
    virtual_sound_card(not args.no_system)
    another_processor(not args.no_system)
    browser(not args.no_system)
    validators(not args.no_system)
    if args.clock and (reason := shifted_clock.missing()):
        sys.exit(f"check: --clock {args.clock}: {reason}")
    # Whatever a container says: hundreds of programs would each compile every source that they read.
    os.environ["PYTHONDONTWRITEBYTECODE"] = ""
    failed, meanwhile = [], None
    if not (args.clock or args.floors or args.newest or told):  # all of it; lint and types keep one core busy
        meanwhile = subprocess.Popen([sys.executable, "-c", READY], cwd=ROOT, stdout=subprocess.DEVNULL)
    for name, command, more in checks(args, told):
        if meanwhile and name == MEASURED:
            meanwhile.wait()
        print(f"\n== {name}", flush=True)
        if subprocess.run(command, cwd=ROOT, env={**os.environ, **more}, check=False).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"check: failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
