"""scripts/check.py: which versions it installs, and what it says that it takes from the system."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import bootstrap
import pytest
from packaging.requirements import Requirement

PINS = bootstrap.ROOT / "scripts" / "constraints.txt"


def declared() -> list[Requirement]:
    """Every package of pyproject.toml that checks use: not the project's own extras, nor other systems' compiler."""
    project = tomllib.loads((bootstrap.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = [line for name, lines in project["optional-dependencies"].items() if name != "export" for line in lines]
    return [one for one in map(Requirement, [*project["dependencies"], *extra]) if one.name != "jawari"]


def test_every_package_has_a_floor_and_a_version_that_is_known_to_work() -> None:
    lines = [line for line in PINS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    pinned = {name.lower().replace("_", "-"): version for name, _, version in (line.partition("==") for line in lines)}
    lowest = [Requirement(line) for line in bootstrap.floors("dev")]
    assert {one.name for one in lowest} == {one.name for one in declared()}
    assert len({(one.name, str(one.specifier)) for one in lowest}) == len({one.name for one in lowest}) >= 15
    for one, wanted in zip(sorted(lowest, key=str), sorted(declared(), key=str), strict=True):
        (exactly,) = one.specifier
        assert exactly.operator == "=="
        assert (one.name, one.marker) == (wanted.name, wanted.marker)
        assert exactly.version in wanted.specifier
        assert pinned[one.name.lower()] in wanted.specifier


def test_it_says_what_it_takes_from_the_system() -> None:
    script = bootstrap.ROOT / "scripts" / "check.py"
    done = subprocess.run([sys.executable, script, "--help"], capture_output=True, text=True, check=True)
    packages = ("jackd2", "libportaudio2", "librtmidi6", "qemu-user", "chromium")
    for word in (*packages, "--no-system", "--floors", "--newest", "--clock", "--random"):
        assert word in done.stdout


def test_what_is_there_is_not_installed_and_what_is_not_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: None)
    assert bootstrap.install_from_system({"there": True, "absent": False}, "a test") == ["absent"]


def test_one_worker_runs_all_that_needs_jack_and_what_begins_first_is_there(pytestconfig: pytest.Config) -> None:
    tests = bootstrap.ROOT / "tests"
    found = vars(pytestconfig.pluginmanager.get_plugin(str(tests / "conftest.py")))
    files = {file.relative_to(bootstrap.ROOT).as_posix(): file.read_text("utf-8") for file in tests.rglob("test_*.py")}
    alone = "tests/test_check.py", *(name for name, text in files.items() if "mark.alone" in text)
    on_jack = {name for name, text in files.items() if "needs_jack" in text or "program: Editing" in text}
    assert {found["group"](name) for name in on_jack - {*alone}} == {"jack"}
    assert {*found["FIRST"]} <= {found["group"](f"{name}::test") for name in files}
