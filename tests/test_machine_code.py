"""Machine code on disk: what makes it stale, who shares it, and that damage to it costs a compilation and a line."""

from __future__ import annotations

import importlib.util
import logging
import os
import pickle
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numba
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from engine import cache, compiled, machine_code, sources
from engine.processor import Processor

KERNEL = """
from engine.compiled import called_by_python

@called_by_python
def twice(a):
    for i in range(a.size):
        a[i] += a[i]
"""
PACKAGE = Path(compiled.__file__).parent

pytestmark = pytest.mark.skipif(compiled.INTERPRETED, reason="nothing is compiled then")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[Path]:
    """An empty cache, decided on anew inside the test, and again after it."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "kept" / "here"))
    monkeypatch.setattr(cache, "_said", set())
    cache._place.cache_clear()
    with caplog.at_level(logging.INFO, "jawari"):
        yield tmp_path / "kept" / "here"
    cache._place.cache_clear()


def module_at(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def doubled(folder: Path, text: str = KERNEL) -> tuple[list[float], int]:
    """What the kernel makes of 1 and 2, and how many functions were compiled for it, in a module read afresh."""
    (folder / "kernel_of_a_test.py").write_text(text)
    a, done = np.array([1.0, 2.0]), [0]
    with compiled.compilations(lambda count, *_: done.append(count)):
        module_at(folder / "kernel_of_a_test.py").twice(a)
    return a.tolist(), done[-1]


# --- stale or shared --------------------------------------------------------------------------------------------------


def test_fingerprint_follows_every_source_of_compiled_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fingerprint() -> str:
        sources.digest.cache_clear()
        machine_code.fingerprint.cache_clear()
        return machine_code.fingerprint()

    package = tmp_path / "engine"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    here = fingerprint()
    monkeypatch.setattr(sources, "__file__", str(package / "sources.py"))
    assert fingerprint() == here, "the same sources elsewhere are the same code"
    seen = {here}
    files = sources.kernel_sources(package)
    assert len(files) > 20
    (package / "commands" / "render.py").write_text("# what is never compiled")
    assert fingerprint() == here
    for source in files:
        source.write_bytes(source.read_bytes() + b"# changed\n")
        seen.add(fingerprint())
    assert len(seen) == len(files) + 1
    moved = package / "physics" / "contact.py"
    moved.rename(package / "physics" / "contact2.py")
    assert fingerprint() not in seen
    monkeypatch.undo()
    assert fingerprint() == here


def test_no_compiled_function_escapes_the_fingerprint() -> None:
    """But for what exports alone are made of, which are kept by those files, too."""
    known = set(sources.kernel_sources(PACKAGE))
    seen = 0
    for file in set(PACKAGE.rglob("*.py")) - {PACKAGE / "export" / name for name in ("doors.py", "heirs.py")}:
        module = importlib.import_module(".".join(("engine", *file.relative_to(PACKAGE).with_suffix("").parts)))
        for value in vars(module).values():
            if isinstance(value, Dispatcher):
                seen += 1
                assert Path(value.py_func.__code__.co_filename) in known
    assert seen > 50


def test_of_presets_only_parameters_and_materials_are_compiled_in() -> None:
    """Their numbers are constants to the renderer; whatever else is written in that room, machine code stays good."""
    known = {file for file in sources.kernel_sources(PACKAGE) if file.parent == PACKAGE / "preset"}
    assert known == {PACKAGE / "preset" / "parameters.py", PACKAGE / "preset" / "materials.py"}


def test_fingerprint_follows_numba_and_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    fingerprint = machine_code.fingerprint.__wrapped__
    here = fingerprint()
    with monkeypatch.context() as other:
        other.setattr(machine_code.numba, "__version__", "0.0.1")
        assert fingerprint() != here
    with monkeypatch.context() as other:
        other.setattr(machine_code, "PROCESSOR", Processor("z80"))
        assert fingerprint() != here
    with monkeypatch.context() as other:
        other.setattr(machine_code, "COUNTER_RATE", 3_579_545)  # Windows' counter, on some machines
        assert fingerprint() != here
    assert fingerprint() == here


def test_machine_code_is_kept_where_asked_and_found_again(place: Path, tmp_path: Path) -> None:
    assert doubled(tmp_path) == ([2.0, 4.0], 1)
    (file,) = (place / machine_code.fingerprint()).iterdir()
    assert file.name.startswith("kernel_of_a_test.twice-")
    assert doubled(tmp_path) == ([2.0, 4.0], 0)


def test_neither_place_nor_time_of_a_source_matters_only_its_text(place: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert doubled(tmp_path) == ([2.0, 4.0], 1)
    assert doubled(tmp_path / "other") == ([2.0, 4.0], 0)
    os.utime(tmp_path / "other" / "kernel_of_a_test.py", (time.time() - 1e6,) * 2)
    assert doubled(tmp_path / "other", KERNEL.replace("+= a[i]", "+= 2 * a[i]")) == ([3.0, 6.0], 1)


def test_types_have_machine_code_of_their_own(place: Path, tmp_path: Path) -> None:
    doubled(tmp_path)
    twice = module_at(tmp_path / "kernel_of_a_test.py").twice
    for dtype in (np.float64, np.float32, np.int64):
        a = np.array([3], dtype)
        twice(a)
        assert a[0] == 6
    assert len(list(place.rglob("*.nbc"))) == 3


def test_two_installations_share_it(place: Path, tmp_path: Path) -> None:
    """Copies of the package elsewhere, in processes of their own: what one has compiled the other only loads."""
    program = (
        "import engine.compiled as c; from engine.synth.output import limit; done = [0]\n"
        "with c.compilations(lambda count, *_: done.append(count)): limit(0.5)\n"
        "print(c.__file__, done[-1])"
    )
    told = []
    for name in ("one", "two"):
        copy = tmp_path / name
        shutil.copytree(PACKAGE, copy / "engine", ignore=shutil.ignore_patterns("__pycache__"))
        environment = {**os.environ, "PYTHONPATH": str(copy)}
        run = subprocess.run(
            [sys.executable, "-c", program], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        told.append(run.stdout.split())
        assert run.stderr == ""
    assert [file for file, _ in told] == [str(tmp_path / name / "engine" / "compiled.py") for name in ("one", "two")]
    assert int(told[0][1]) > 0
    assert int(told[1][1]) == 0


def test_what_was_typed_at_a_prompt_is_compiled_and_not_kept(place: Path) -> None:
    names: dict[str, Callable[[np.ndarray], None]] = {}
    exec(compile(KERNEL, "<prompt>", "exec"), names)
    a = np.ones(1)
    names["twice"](a)
    assert a[0] == 2.0
    assert not list(place.rglob("*.nbc"))


def test_other_packages_keep_their_cache(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = str(tmp_path / "theirs")
    monkeypatch.setattr(numba.config, "CACHE_DIR", theirs)
    doubled(tmp_path)
    assert theirs == numba.config.CACHE_DIR
    assert not (tmp_path / "theirs").exists()


# --- damage -----------------------------------------------------------------------------------------------------------


def _other_types(name: str) -> bytes:
    sig, reduced = pickle.loads(cache.read(name) or b"")
    return pickle.dumps((sig * 2, reduced))


SEALED: dict[str, Callable[[str], bytes]] = {
    "no pickle": lambda name: b"\x80\x05garbage",
    "another pickle": lambda name: pickle.dumps({"a": 1}),
    "a pickle of the right length": lambda name: pickle.dumps(((), (1, 2, 3))),
    "of other types": _other_types,
    "a pickle of what is not there": lambda name: b"cno_such_module\nno_such_thing\n.",
}


@pytest.mark.parametrize("name", SEALED)
def test_what_is_whole_but_wrong_is_compiled_anew(
    name: str, place: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As another version would have written it."""
    doubled(tmp_path)
    (file,) = place.rglob("*.nbc")
    kept = file.relative_to(place).as_posix()
    cache.write(kept, SEALED[name](kept))
    assert doubled(tmp_path) == ([2.0, 4.0], 1)
    assert doubled(tmp_path) == ([2.0, 4.0], 0)
    assert len(caplog.messages) == 1
    assert "made anew" in caplog.messages[0]


class Trap:
    """Unpickled, it writes a file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Callable[[Path], None], tuple[Path]]:
        return Path.touch, (self.file,)


@pytest.mark.parametrize("how", ["no checksum", "a folder that others may write to", "a file of somebody else"])
def test_a_planted_pickle_does_not_run(
    how: str, place: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    doubled(tmp_path)
    (file,) = place.rglob("*.nbc")
    trap = pickle.dumps(Trap(tmp_path / "sprung"))
    if how == "no checksum":
        file.write_bytes(trap)
    else:
        cache.write(file.relative_to(place).as_posix(), trap)
        assert doubled(tmp_path / ".")[1] == 1, "as it should, this one runs"
        assert (tmp_path / "sprung").exists()
        (tmp_path / "sprung").unlink()
        cache._said.clear()
        caplog.clear()
        cache.write(file.relative_to(place).as_posix(), trap)
        if how.startswith("a folder"):
            place.chmod(0o777)
        elif os.name == "nt" or os.geteuid() != 0:
            pytest.skip("only root can give files away")
        else:
            os.chown(file, 12_345, -1)
    cache._place.cache_clear()
    assert doubled(tmp_path) == ([2.0, 4.0], 1)
    assert not (tmp_path / "sprung").exists()
    assert len(caplog.messages) == 1


def test_an_empty_file_costs_a_program_a_line(place: Path, tmp_path: Path) -> None:
    """The whole way, as after a power cut: every file is empty."""
    program = "from engine import cache; from engine.synth.output import limit; limit(0.5)"
    for expected in ("", f"damaged files in {place / machine_code.fingerprint()}: what they held is made anew\n", ""):
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert run.stderr == expected
        if not expected:
            for file in place.rglob("*.nbc"):
                file.write_bytes(b"")


# --- what is said -----------------------------------------------------------------------------------------------------


def test_the_first_run_is_told_and_no_other(place: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    machine_code.tell_if_cold("kernel_of_a_test.twice")
    assert caplog.messages == ["compiling for this machine, once; up to 30 seconds"]
    doubled(tmp_path)
    machine_code.tell_if_cold("kernel_of_a_test.twice")
    assert len(caplog.messages) == 1


def test_where_nothing_can_be_kept_once_is_not_said(
    place: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kept").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "kept"))
    machine_code.tell_if_cold("kernel_of_a_test.twice")
    (said,) = caplog.messages
    assert "once" not in said
    for words in ("each time", str(place), "is not a folder", "JAWARI_CACHE_DIR"):
        assert words in said
    assert doubled(tmp_path) == ([2.0, 4.0], 1)
    machine_code.tell_cold()  # again by whatever else is looked for and was not kept
    assert len(caplog.messages) == 1
