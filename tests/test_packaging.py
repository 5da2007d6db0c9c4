"""The wheel: what it carries, and that it works where there is no clone."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

import engine

ROOT = Path(__file__).parent.parent
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
OUT_OF_REACH = (
    "No matching distribution found for hatchling",
    "Could not find a version that satisfies the requirement",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this very tree."""
    if importlib.util.find_spec("pip") is None:
        pytest.skip("this environment has no pip to build a wheel with")
    folder = tmp_path_factory.mktemp("wheel")
    how = ["--no-build-isolation"] if importlib.util.find_spec("hatchling") else ["--retries", "0"]
    done = subprocess.run(
        [*PIP, "wheel", "--no-deps", *how, "--wheel-dir", str(folder), str(ROOT)],
        capture_output=True,
        text=True,
        timeout=120,
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
        timeout=60,
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
    assert any(name.endswith("sitar.yaml") for name in presets)
    assert names == sources | presets | {"engine/py.typed"}


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
    needed = {line.split(">")[0] for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line}
    assert {"numpy", "numba", "pyyaml"} <= needed
    assert not needed & {"scipy", "matplotlib", "pytest"}
    assert "jawari = engine.start:main" in commands


def test_an_installed_engine_finds_its_presets_and_plays(installed: Path) -> None:
    program = (
        "import engine; preset = engine.load_preset('sitar');"
        "sim = engine.simulate(preset, 1e-3); sound = sim.energy_drift < 1e-10;"
        "print(engine.__file__, preset.source, sound, sep='\\n')"
    )
    file, source, sound = python(installed, "-c", program).splitlines()
    assert Path(file).parent == installed / "engine"
    assert Path(source) == installed / "engine" / "presets" / "sitar.yaml"
    assert sound == "True"


def test_the_installed_command_runs(installed: Path) -> None:
    script = installed / "bin" / "jawari"
    if not script.exists():
        pytest.skip("commands are no scripts on this system")
    assert "simulate" in python(installed, str(script), "--help")
