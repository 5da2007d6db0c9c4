"""Documents are true: commands are commands, snippets run, what is named is there, tables are fresh."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import mido
import numpy as np
import pytest
import yaml

from engine import cli, load_preset
from engine.preset.schema import GROUPS, KEYS, TABLE, plain, render_markdown

ROOT = Path(__file__).parent.parent


def script(name: str) -> ModuleType:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tables = script("make_tables")


class Fence(NamedTuple):
    """A block of a document: what it is in, its language, its text, the line it begins in."""

    file: Path
    kind: str
    text: str
    line: int

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}"


DOCUMENTS: list[Path] = tables.documents()
GUIDES = [file for file in DOCUMENTS if file.name == "README.md"]
TEXTS = {file: file.read_text(encoding="utf-8") for file in DOCUMENTS}
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FENCES = [
    Fence(file, match[1], match[2], text.count("\n", 0, match.start()) + 1)
    for file, text in TEXTS.items()
    for match in FENCE.finditer(text)
]
PROSE = {file: FENCE.sub("", text) for file, text in TEXTS.items()}


def in_code(file: Path) -> list[str]:
    """What stands in backticks, on one line."""
    return [" ".join(words.split()) for words in re.findall(r"`([^`]+)`", PROSE[file])]


def name(file: object) -> str:
    return str(file.relative_to(ROOT)) if isinstance(file, Path) else str(file)


def of(kind: str) -> list[Fence]:
    return [fence for fence in FENCES if fence.kind == kind]


# --- commands ---------------------------------------------------------------------------------------------------------


class Line(NamedTuple):
    """A line for the shell, as its words; those behind a pipe are somebody else's."""

    file: Path
    words: list[str]

    def __str__(self) -> str:
        return f"{name(self.file)}: {' '.join(self.words)}"


def shell_lines() -> Iterator[Line]:
    for fence in of(""):
        if not re.search(r"[─│→]", fence.text):  # a drawing, or no commands at all
            for row in fence.text.splitlines():
                words = shlex.split(row, comments=True) if plausible(row) else []
                if words:
                    yield Line(fence.file, words[: words.index("|")] if "|" in words else words)
    for file in GUIDES:
        for said in in_code(file):
            if re.match(r"(jawari|python3) [a-z]", said):
                yield Line(file, shlex.split(said))


def plausible(row: str) -> bool:
    """Formulas stand in such blocks as well."""
    return bool(re.match(r"([A-Z_]+=\S+ )*(" + "|".join(PROGRAMS) + r")\b", row))


# Programs that are not ours, and lines of which cannot be run here.
PROGRAMS = ("jawari", "python3", "pip", "pipx", "uv", "sudo", "cp", "set", "jackd", "pw-jack")
LINES = sorted(set(map(str, shell_lines())))
LINE = {str(line): line for line in shell_lines()}


def after(words: list[str], word: str) -> list[str]:
    return words[words.index(word) + 1 :]


JAWARI = {text: after(line.words, "jawari") for text, line in LINE.items() if "jawari" in line.words[:3]}
SCRIPTS = {text: after(line.words, "python3") for text, line in LINE.items() if line.words[0] == "python3"}
THROUGH = {"scripts/play.py": "play", "scripts/render.py": "render", "scripts/profile_load.py": "profile"}


def subcommands() -> dict[str, argparse.ArgumentParser]:
    parser = cli.parser()
    return next(a.choices for a in parser._actions if isinstance(a, argparse._SubParsersAction))


@pytest.mark.parametrize("text", sorted(JAWARI))
def test_every_command_is_one(text: str) -> None:
    words = JAWARI[text]
    if len(words) > 1 or words[0] in ("presets", "devices"):
        cli.parser().parse_args(words)
    else:  # named in passing, or with what has a default
        assert words[0] in subcommands()


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the commands of documents are about."""
    shutil.copy(ROOT / "presets" / "sitar-string.yaml", tmp_path / "mine.yaml")
    (tmp_path / "duo.yaml").write_text(
        "rack: Duo\nparts: [{preset: plain}, {preset: mine.yaml, program: 2}]\n", encoding="utf-8"
    )
    facts = {"sample_rate": 48_000, "bank": ["plain", "sitar-string"]}
    for file in ("song.mid", "take.mid"):
        song = mido.MidiFile(ticks_per_beat=480)
        on, off = (mido.Message(kind, note=57, time=time) for kind, time in (("note_on", 0), ("note_off", 200)))
        track = mido.MidiTrack([on, off])
        if file == "take.mid":
            track.insert(0, mido.MetaMessage("text", text=f"jawari {json.dumps(facts)}"))
        song.tracks.append(track)
        song.save(tmp_path / file)
    monkeypatch.chdir(tmp_path)
    return tmp_path


RUN = [
    text
    for text, words in sorted(JAWARI.items())
    if words[0] in ("simulate", "presets", "render") and words[1:] and words[:2] != ["presets", "play"]
]


@pytest.mark.parametrize("text", RUN)
def test_commands_that_need_no_sound_card_run(text: str, elsewhere: Path) -> None:
    words = JAWARI[text]
    limit = ["--end", "1 s", "--tail", "0.1 s"] if words[0] == "render" else []
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert cli.main([*words, *limit]) == 0
    for word in words:
        if word.endswith((".npz", ".png", ".wav", ".flac")):
            assert (elsewhere / word).stat().st_size > 1000


@pytest.mark.parametrize("text", sorted(SCRIPTS))
def test_every_script_is_there_and_knows_its_options(text: str) -> None:
    file, *words = SCRIPTS[text]
    assert (ROOT / file).is_file()
    if file in THROUGH:
        cli.parser().parse_args([THROUGH[file], *words])
        return
    source = (ROOT / file).read_text(encoding="utf-8")
    for word in words:
        assert not word.startswith("--") or f'"{word}"' in source


@pytest.mark.parametrize("line", [text for text in LINES if "pip install" in text or "tool install" in text])
def test_extras_of_installs_exist(line: str) -> None:
    assert set(re.findall(r"\[(\w+)\]", line)) <= set(project()["optional-dependencies"])


def project() -> dict:  # type: ignore[type-arg]
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_messages_name_extras_that_exist() -> None:
    """`pip install 'jawari[...]'`, wherever it is said."""
    said = {
        extra
        for room in ("engine", "scripts", "tests")
        for file in (ROOT / room).rglob("*.py")
        if file != Path(__file__)
        for extra in re.findall(r"(?:jawari|\.)\[(\w+)\]'", file.read_text(encoding="utf-8"))
    }
    assert "plot" in said
    assert said <= set(project()["optional-dependencies"])


def test_the_pythons_that_are_promised_are_the_same_everywhere() -> None:
    """In the metadata, the classifiers, the scripts and the README."""
    about, readme = project(), TEXTS[ROOT / "README.md"]
    prefix = "Programming Language :: Python :: 3."
    minors = [int(line.removeprefix(prefix)) for line in about["classifiers"] if line.startswith(prefix)]
    assert minors == list(range(min(minors), max(minors) + 1))
    assert about["requires-python"] == f">=3.{min(minors)}"
    assert f"OLDEST = (3, {min(minors)})" in (ROOT / "scripts" / "bootstrap.py").read_text(encoding="utf-8")
    assert f"Python 3.{min(minors)} or later" in readme
    *tried, last = (f"3.{minor}" for minor in minors[:-1])
    words = " ".join(readme.split())
    assert f"with Python {', '.join(tried)} and {last}." in words
    assert f"and Python 3.{max(minors)} are meant to" in words


def test_the_documents_have_something_to_try() -> None:
    assert {"play", "render", "profile", "simulate", "presets", "devices"} <= {words[0] for words in JAWARI.values()}
    assert {"scripts/play.py", "scripts/check.py"} <= {words[0] for words in SCRIPTS.values()}
    assert {fence.file.parent.name for fence in of("python")} >= {"engine"}


# --- names ------------------------------------------------------------------------------------------------------------


def known_options() -> set[str]:
    ours = {option for parser in subcommands().values() for a in parser._actions for option in a.option_strings}
    for file in (ROOT / "scripts").glob("*.py"):
        ours |= set(re.findall(r'add_argument\(\s*"(--[\w-]+)"', file.read_text(encoding="utf-8")))
    return ours


@pytest.mark.parametrize("file", GUIDES, ids=name)
def test_every_option_that_is_named_exists(file: Path) -> None:
    options = {word for said in in_code(file) for word in re.findall(r"(?<![\w-])--[a-z][\w-]*", said)}
    assert options <= known_options()


@pytest.mark.parametrize("file", GUIDES, ids=name)
def test_every_key_that_is_named_exists(file: Path) -> None:
    groups = "|".join(group for group in GROUPS if "." not in group)
    said = {
        word
        for text in in_code(file)
        for word in re.findall(rf"(?<![\w./])(?:{groups})(?:\.\d+)?(?:\.[a-z]\w*)+", text)
    }
    files = {word for word in said if word.endswith((".py", ".js"))}
    assert {plain(word) for word in said - files} <= {*KEYS, *GROUPS}


@pytest.mark.parametrize("file", GUIDES, ids=name)
def test_every_file_that_is_named_is_there(file: Path) -> None:
    paths = set(re.findall(r"(?<![\w/])((?:scripts|engine|presets|tests)/[\w/.-]*\w/?)", TEXTS[file]))
    assert not {path for path in paths if not (ROOT / path).exists()}
    beside = {said for said in in_code(file) if re.fullmatch(r"[\w/]+\.(?:py|md|yaml)|[\w/]+/", said)}
    made = {"mine.yaml", "reproduced/"}  # by the reader
    assert not {said for said in beside - made if not any((room / said).exists() for room in (ROOT, file.parent))}


@pytest.mark.parametrize("file", DOCUMENTS, ids=name)
def test_every_link_leads_somewhere(file: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", PROSE[file]):
        if not target.startswith("https://"):
            path, _, anchor = target.partition("#")
            goal = (file.parent / path).resolve() if path else file
            assert goal.exists(), target
            assert goal.is_relative_to(ROOT.resolve())
            assert not anchor or anchor in anchors(goal), target


def anchors(file: Path) -> set[str]:
    """Headings as GitHub names them."""
    heads = re.findall(r"^#+ (.*)$", FENCE.sub("", file.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


# --- snippets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", sorted({fence.file for fence in of("python")}), ids=name)
def test_the_python_of_a_document_runs_from_top_to_bottom(file: Path, elsewhere: Path) -> None:
    program = elsewhere / "document.py"
    program.write_text("\n".join(fence.text for fence in of("python") if fence.file == file), encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()) as said:
        runpy.run_path(str(program))
    assert said.getvalue()


@pytest.mark.parametrize("fence", of("yaml"), ids=str)
def test_every_preset_in_a_document_is_one(fence: Fence) -> None:
    assert load_preset(yaml.safe_load(fence.text)).name != "Unnamed"


def test_no_other_kind_of_snippet_goes_untested() -> None:
    assert {fence.kind for fence in FENCES} <= {"", "python", "yaml", "diff", "text"}


# --- recipes ----------------------------------------------------------------------------------------------------------

LONGEST = 20  # lines that an extension may add, empty ones aside


def recipe(word: str) -> list[Fence]:
    """The blocks of changes around one word."""
    return [fence for fence in of("diff") if re.search(rf"^\+.*\b{word}\b", fence.text, re.M | re.I)]


def apply(changes: str, tree: Path) -> int:
    """Do what a block says; each change must find its place exactly once. Returns how many lines it adds."""
    added = 0
    for file, change in re.findall(r"^--- (\S+)\n(.*?)(?=^--- |\Z)", changes, re.MULTILINE | re.DOTALL):
        lines = change.splitlines()
        before = "".join(f"{row[1:]}\n" for row in lines if not row.startswith("+"))
        after = "".join(f"{row[1:]}\n" for row in lines if not row.startswith("-"))
        text = (tree / file).read_text(encoding="utf-8")
        assert text.count(before) == 1, f"{file} has no such place any more:\n{before}"
        (tree / file).write_text(text.replace(before, after), encoding="utf-8")
        added += sum(row.startswith("+") and row != "+" for row in lines)
    return added


def extended(word: str, tmp_path: Path) -> Path:
    """A copy of the house with one more word."""
    for room in ("engine", "presets"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    assert 0 < sum(apply(fence.text, tmp_path) for fence in recipe(word)) <= LONGEST
    return tmp_path


def python(tree: Path, program: str, **environment: str) -> str:
    """What a program says in the copy."""
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", program],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree), "JAWARI_CACHE_DIR": str(tree / "cache"), **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# Kernels are interpreted here: to compile them all for each recipe would take a minute. So one key is rehearsed, and
# only this one is tuned by ear (523.3 Hz), in a short note.
PLAYED = """
import numpy as np, engine
from engine.synth import following, intonation, rehearsal
rehearsal.HOP, rehearsal.REHEARSED = 5e-4, range(72, 73)
intonation.LOWEST, intonation.HIGHEST, intonation.UNTIL = 520.0, 526.0, 0.05
following.FROM, following.LOOK, following.APART = 0.01, 0.02, 0.01
preset = engine.load_preset({preset})
sim = engine.simulate(preset, seconds=3e-3, sample_rate=16_000, oversample=1)
assert sim.energy_drift < 1e-12 and sim.contact_force.min(initial=0.0) >= 0.0 and np.abs(sim.pickups).max() > 0.0
instrument = engine.Instrument(preset, sample_rate=16_000, oversample=1, polyphony=1)
instrument.schedule(0, (0x90, 72, 100))
out = np.zeros((48, 2), np.float32)
instrument.run(out)
assert 0.0 < np.abs(out).max() < 1.0
"""
STRING = {"length": 0.3, "density": 1e-3, "tuned": "C5"}


def test_a_barrier_profile_is_added_as_described(tmp_path: Path) -> None:
    tree = extended("comb", tmp_path)
    barrier = {"profile": "comb", "depth": "2 mm", "pitch": "8 mm", "height": "0.1 mm", "from": "4 mm", "to": "40 mm"}
    preset = {"string": STRING, "barrier": barrier | {"points": 3}, "contact": {"stiffness": 1e6}}
    program = PLAYED.format(preset=preset) + (
        "surface = preset.problem.barrier.surface\n"
        "x = np.linspace(0.0, 0.04, 101)\n"
        "wanted = 1e-4 - 2e-3 * np.sin(np.pi * (x - 4e-3) / 8e-3) ** 2\n"
        "assert np.abs(surface(x) - wanted).max() < 1e-15\n"
        "from engine.cli import main\n"
        "main(['presets', 'keys'])\n"
        "try:\n"
        "    engine.load_preset({'string': dict(preset_string), 'barrier': {'profile': 'comb', 'depth': '2 N'}})\n"
        "except engine.PresetError as error:\n"
        "    print(error)\n"
    ).replace("preset_string", repr(STRING))
    said = python(tree, program, NUMBA_DISABLE_JIT="1")
    assert "height - depth·sin²(π·(x - from)/pitch)" in " ".join(said.split())
    assert re.search(r"^barrier\.depth  \(m; 0 to 1; required for comb\)$", said, re.MULTILINE)
    assert "barrier.depth = 2 N: must be a length in m" in said
    assert "barrier.pitch = (not given): is required" in said


def test_an_exciter_is_added_as_described(tmp_path: Path) -> None:
    tree = extended("triangle", tmp_path)
    preset = {"string": STRING, "excitation": {"shape": "triangle", "duration": "1 ms"}}
    python(tree, PLAYED.format(preset=preset), NUMBA_DISABLE_JIT="1")
    compiled = (
        "import numpy as np\n"
        "from engine.physics.excitation import Excitation, pulse\n"
        "t = np.arange(60) / 48_000\n"
        "wanted = 3.0 * np.clip(1.0 - np.abs(t / 5e-4 - 1.0), 0.0, None)\n"
        "assert np.abs(pulse(Excitation(0.5, 3.0, 1e-3, shape='triangle'), 48_000.0, 60) - wanted).max() < 1e-14\n"
    )
    python(tree, compiled)


def test_every_recipe_is_tested() -> None:
    assert {str(fence) for word in ("comb", "triangle") for fence in recipe(word)} == set(map(str, of("diff")))


# --- made parts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", [file for file in DOCUMENTS if "<!-- made:" in TEXTS[file]], ids=name)
def test_tables_are_fresh(file: Path) -> None:
    assert tables.made(TEXTS[file]) == TEXTS[file], "run: python3 scripts/make_tables.py"


def test_every_table_is_somewhere_and_stale_ones_are_noticed() -> None:
    found = [part for text in TEXTS.values() for _, part, _ in tables.PART.findall(text)]
    assert sorted(found) == sorted(tables.PARTS)
    text = TEXTS[ROOT / "README.md"].replace("sitar-string", "guitar")
    assert tables.made(text) != text


def test_the_reference_of_presets_is_the_schema() -> None:
    reference = TEXTS[ROOT / "presets" / "README.md"]
    assert render_markdown() in reference
    rows = re.findall(r"^\| `([a-z0-9.]+)` \|", reference, re.MULTILINE)
    assert [key.name for key in TABLE] == [row for row in rows if row in KEYS]


def test_the_readme_lists_what_is_shipped() -> None:
    (table,) = re.findall(r"<!-- made: presets -->(.*?)<!-- end -->", TEXTS[ROOT / "README.md"], re.DOTALL)
    rows = re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)
    assert sorted(rows) == sorted({*rows})
    assert set(rows) == {file.stem for file in (ROOT / "presets").glob("*.yaml")}


def test_the_gallery_shows_every_preset_and_no_other() -> None:
    names = {file.stem for file in (ROOT / "presets").glob("*.yaml")}
    text = TEXTS[ROOT / "presets" / "GALLERY.md"]
    assert set(re.findall(r"^### \[([^\]]+)\]\(\1\.yaml\)$", text, re.MULTILINE)) == names
    assert set(re.findall(r"\(\.\./scripts/pictures/sheets/(.+)\.png\)", text)) == names
    sheets = {file.stem: file.stat().st_size for file in (ROOT / "scripts" / "pictures" / "sheets").glob("*.png")}
    assert set(sheets) == names, "python3 scripts/make_sheets.py"
    assert all(4_000 < size <= 60_000 for size in sheets.values())


def test_a_contact_sheet_comes_out_again(tmp_path: Path) -> None:
    import matplotlib.image

    command = [sys.executable, ROOT / "scripts" / "make_sheets.py", "plain", "--out", tmp_path]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    shown = ROOT / "scripts" / "pictures" / "sheets" / "plain.png"
    old, new = (matplotlib.image.imread(file)[..., :3] for file in (shown, tmp_path / "plain.png"))
    assert old.shape == new.shape
    assert np.abs(old - new).mean() < 0.03  # fonts differ from one matplotlib to the next


@pytest.mark.parametrize("picture", ["string", "spectrogram"])
def test_pictures_are_small_and_come_out_again(picture: str, tmp_path: Path, pictures: Path) -> None:
    import matplotlib.image

    shown = ROOT / "scripts" / "pictures" / f"{picture}.png"
    assert 10_000 < shown.stat().st_size < 250_000
    old, new = (matplotlib.image.imread(file)[..., :3] for file in (shown, pictures / f"{picture}.png"))
    assert old.shape == new.shape
    assert np.abs(old - new).mean() < 0.02  # fonts differ from one matplotlib to the next


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    command = [sys.executable, ROOT / "scripts" / "make_pictures.py", "--out", folder]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return folder
