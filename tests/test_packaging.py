"""The wheel: what it carries, and that it works where there is no clone."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import engine
from engine import cache, compiled, module, processor

ROOT = Path(__file__).parent.parent
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
OUT_OF_REACH = (
    "No matching distribution found for hatchling",
    "Could not find a version that satisfies the requirement",
)


# One processor is enough to see that it is done; interpreted there is none.
BROUGHT = [] if compiled.INTERPRETED else processor.known()[-1:]


KEEP = "import sys; from engine import cache, module; cache.write(module.name(), sys.stdin.buffer.read())"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that has the wheel's module, which then takes no minute to compile: this machine's, under its name."""
    folder = tmp_path_factory.mktemp("kept")
    if "JAWARI_EVERY_CPU" not in os.environ:
        module.ready()
        for level in BROUGHT:
            around = {**os.environ, cache.VARIABLE: str(folder), processor.VARIABLE: level}
            subprocess.run(
                [sys.executable, "-c", KEEP], input=cache.read(module.name()), cwd=ROOT, env=around, check=True
            )
    return folder


@pytest.fixture(scope="module")
def wheel(kept: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this very tree."""
    if importlib.util.find_spec("pip") is None:
        pytest.skip("this environment has no pip to build a wheel with")
    folder = tmp_path_factory.mktemp("wheel")
    how = ["--no-build-isolation"] if importlib.util.find_spec("hatchling") else ["--retries", "0"]
    done = subprocess.run(
        [*PIP, "wheel", "--no-deps", *how, "--wheel-dir", str(folder), str(ROOT)],
        capture_output=True,
        text=True,
        env={**os.environ, "JAWARI_WHEEL": " ".join(BROUGHT), cache.VARIABLE: str(kept)},
        timeout=300,
        check=False,
    )
    if done.returncode and any(words in done.stderr for words in OUT_OF_REACH):
        pytest.skip("hatchling is not installed, and no package index within reach has it")
    assert done.returncode == 0, done.stderr
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("installed")
    subprocess.run([*PIP, "install", "--no-deps", "--no-index", "--target", str(target), str(wheel)], check=True)
    return target


def python(installed: Path, *arguments: str) -> str:
    """What Python says with the installed engine first on its path, from a folder that holds nothing."""
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=installed.parent,
        env={**os.environ, "PYTHONPATH": str(installed)},
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_wheel_is_pure_python_and_named(wheel: Path) -> None:
    assert wheel.name == f"jawari-{engine.__version__}-py3-none-any.whl"


def test_the_wheel_carries_the_engine_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    sources = {str(f.relative_to(ROOT)) for f in (ROOT / "engine").rglob("*.py")}
    presets = {f"engine/presets/{f.name}" for f in (ROOT / "presets").iterdir() if f.is_file()}
    assert any(name.endswith("sitar-string.yaml") for name in presets)
    named = {"jawari/__init__.py", "jawari/py.typed"}
    brought = {name for name in names if name.startswith("engine/shipped/")}
    page = {str(f.relative_to(ROOT)) for f in (ROOT / "engine").rglob("page/*")}
    glue = {str(f.relative_to(ROOT)) for f in (ROOT / "engine" / "export").rglob("*.[ch]")} | {"engine/export/LICENSE"}
    package = (sources - {"engine/jawari/__init__.py"}) | {"engine/py.typed"}
    assert names - brought == package | presets | page | glue | named


def test_the_wheel_brings_machine_code_where_it_can_be_made(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        brought = [name for name in archive.namelist() if name.startswith("engine/shipped/")]
    if not importlib.util.find_spec("hatchling"):
        assert not brought, "numba is not where pip builds by itself"
    else:
        assert brought == [f"engine/shipped/{processor.shipped(level).name}" for level in BROUGHT]


PLAYED = """
import hashlib, sys, numpy, engine
inst = engine.Instrument("plain", polyphony=2)
out = numpy.zeros((4800, 2), numpy.float32)
inst.process([(b"\\x90\\x3c\\x64", 0.0)], out)
assert out.any()
print("engine.lowering" in sys.modules, hashlib.sha256(out.tobytes()).hexdigest())
"""


@pytest.mark.skipif(not BROUGHT, reason="interpreted, nothing is compiled")
def test_what_the_wheel_brought_is_played_and_else_what_is_in_the_cache(
    kept: Path, installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    (brought,) = kept.glob("*/module")
    monkeypatch.setenv("JAWARI_CACHE_DIR", str(tmp_path))
    told = python(installed, "-c", PLAYED)
    assert told.startswith("False")
    assert list(tmp_path.rglob("module")) == []
    (tmp_path / brought.parent.name).mkdir(mode=0o700, exist_ok=True)
    shutil.copy(brought, tmp_path / brought.parent.name)
    (file,) = (installed / "engine" / "shipped").iterdir()
    whole = file.read_bytes()
    monkeypatch.setenv("JAWARI_CPU", BROUGHT[-1])
    try:
        file.write_bytes(whole[:-1])
        assert python(installed, "-c", PLAYED) == told
        file.unlink()
        assert python(installed, "-c", PLAYED) == told
    finally:
        file.write_bytes(whole)
    assert len(list(tmp_path.rglob("module"))) == 1


def test_the_wheels_presets_are_the_repositorys(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for file in (ROOT / "presets").iterdir():
            if file.is_file():
                assert archive.read(f"engine/presets/{file.name}") == file.read_bytes()


def test_the_wheel_tells_licence_python_and_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        about = f"jawari-{engine.__version__}.dist-info"
        metadata = message_from_string(archive.read(f"{about}/METADATA").decode())
        licence = archive.read(f"{about}/licenses/LICENSE").decode()
        commands = archive.read(f"{about}/entry_points.txt").decode()
    assert licence == (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert licence.startswith("MIT License")
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Name"] == "jawari"
    needed = {Requirement(line).name for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line}
    assert {"numpy", "numba", "pyyaml"} <= needed
    assert not needed & {"scipy", "matplotlib", "pytest"}
    assert "jawari = engine.start:main" in commands


def test_an_installed_engine_finds_its_presets_and_plays(installed: Path) -> None:
    program = (
        "import engine; preset = engine.load_preset('sitar-string');"
        "sound = engine.render(preset, [engine.Note(60, 100, 0.0, 0.1)], tail=0.1);"
        "print(engine.__file__, preset.source, abs(sound).max() > 0.01, sep='\\n')"
    )
    file, source, sound = python(installed, "-c", program).splitlines()
    assert Path(file).parent == installed / "engine"
    assert Path(source) == installed / "engine" / "presets" / "sitar-string.yaml"
    assert sound == "True"


BOTH_NAMES = """
import sys
import jawari
assert not [name for name in sys.modules if name.startswith("engine.jawari")]
import engine
assert jawari is engine
assert jawari.render is engine.render
import jawari.synth.instrument
assert jawari.synth.instrument is engine.synth.instrument
assert jawari.Instrument is engine.synth.instrument.Instrument
from jawari.synth import memory
import jawari.offline.render, jawari.study.simulate, jawari.recording
from jawari.offline.render import render
from jawari.physics.reference import cholesky
import jawari.study.plot, engine.study.plot
assert jawari.study.plot is engine.study.plot
assert callable(engine.render) and engine.render is render and callable(jawari.simulate)
assert (cholesky.__name__, cholesky.__spec__.name) == ("engine.physics.reference.cholesky",) * 2
for missing in ("jawari.nothing", "jawari.synth.nothing", "jawari.nothing.at_all"):
    try:
        __import__(missing)
    except ModuleNotFoundError as error:
        assert missing.startswith(error.name) and error.name.startswith("jawari"), error
    else:
        raise AssertionError(missing)
import importlib, pickle
assert importlib.import_module("jawari.units") is importlib.import_module("engine.units")
note = jawari.Note(60)
assert pickle.loads(pickle.dumps(note)) == note
print(jawari.__version__, engine.__file__)
"""


def test_jawari_is_the_engine(installed: Path) -> None:
    version, file = python(installed, "-c", BOTH_NAMES).split()
    assert version == engine.__version__
    assert Path(file).parent == installed / "engine"
    assert (installed / "jawari" / "py.typed").is_file()


def test_either_name_may_come_first(installed: Path) -> None:
    assert python(installed, "-c", "import engine, jawari.units, engine.units as u; print(jawari.units is u)") == "True"
    assert python(installed, "-c", "from jawari.units import parse_pitch as p; print(round(p('A3')))") == "220"


BUILD = "import sys, hatchling.build as b; print(getattr(b, f'build_{sys.argv[1]}')(sys.argv[2]))"


def built(kind: str, folder: Path, tree: Path = ROOT) -> Path:
    """What hatchling makes of a tree."""
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    command = [sys.executable, "-c", BUILD, kind, str(folder)]
    around = {**os.environ, "JAWARI_WHEEL": ""}
    done = subprocess.run(command, cwd=tree, env=around, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.strip()


def test_an_editable_install_has_both_names(tmp_path: Path) -> None:
    with zipfile.ZipFile(built("editable", tmp_path)) as archive:
        archive.extractall(tmp_path / "site")
    program = f"import site; site.addsitedir({str(tmp_path / 'site')!r})\n{BOTH_NAMES}"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert engine.__version__ in done.stdout


def test_a_wheel_of_the_source_distribution_is_the_same(wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(built("sdist", tmp_path)) as archive:
        archive.extractall(tmp_path, filter="data")
    (tree,) = (path for path in tmp_path.iterdir() if path.is_dir())
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(built("wheel", tmp_path, tree)) as other:
        names = sorted(name for name in one.namelist() if not name.startswith("engine/shipped/"))
        assert names == sorted(other.namelist())


def test_where_nothing_can_be_compiled_the_wheel_is_whole_and_says_so(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    program = BUILD.replace("import sys,", "import os, sys; os.environ['JAWARI_WHEEL'] = 'z80'; import")
    command = [sys.executable, "-c", program, "wheel", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "brings no machine code along" in done.stdout + done.stderr
    assert "JAWARI_CPU = z80" in done.stdout + done.stderr
    (built_there,) = tmp_path.iterdir()
    with zipfile.ZipFile(built_there) as archive:
        assert not [name for name in archive.namelist() if "shipped" in name]
        assert "engine/module.py" in archive.namelist()


def test_the_installed_command_runs(installed: Path) -> None:
    script = installed / "bin" / "jawari"
    if not script.exists():
        pytest.skip("commands are no scripts on this system")
    assert "simulate" in python(installed, str(script), "--help")
