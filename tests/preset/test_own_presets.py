"""The user's own presets: where they lie, what they may be called, and who finds them by name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engine import cli
from engine.errors import PresetError
from engine.preset.files import OWN_FOLDER, is_name, known, own, own_file, own_folder, shipped
from engine.preset.loader import load_preset
from engine.preset.rack import load_rack

TEXT = "name: Mine\nabout: A wire.\nstring: {length: 1 m, density: 1 g/m, tuned: A3}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(OWN_FOLDER, str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("system", "variables", "where"),
    [
        ("linux", {}, "{home}/.local/share/jawari/presets"),
        ("linux", {"XDG_DATA_HOME": "/data"}, "/data/jawari/presets"),
        ("linux", {"XDG_DATA_HOME": "not/absolute"}, "{home}/.local/share/jawari/presets"),
        ("darwin", {}, "{home}/Library/Application Support/jawari/presets"),
        ("win32", {"APPDATA": "/roaming"}, "/roaming/jawari/presets"),
        ("win32", {}, "{home}/AppData/Roaming/jawari/presets"),
    ],
)
def test_each_system_has_its_place(
    system: str, variables: dict[str, str], where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (OWN_FOLDER, "XDG_DATA_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert own_folder() == Path(where.format(home=tmp_path))


def test_an_own_preset_is_found_by_its_name_everywhere(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "my wire.yaml").write_text(TEXT, encoding="utf-8")
    (folder / "duo.yaml").write_text("rack: Duo\nparts: [{preset: my wire}, {preset: plain}]\n", encoding="utf-8")
    assert load_preset("my wire").name == "Mine"
    assert [part.preset.name for part in load_rack(folder / "duo.yaml").parts] == ["Mine", "Plain string"]
    assert cli.main(["presets"]) == 0
    listed = capsys.readouterr().out
    assert "my wire" in listed
    assert str(folder) in listed
    assert cli.main(["presets", "check", "my wire"]) == 0
    with pytest.raises(PresetError, match=r"did you mean my wire\?"):
        load_preset("my wirr")


def test_a_file_that_cannot_be_read_spoils_no_list(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "broken.yaml").write_text("string: [\n", encoding="utf-8")
    assert cli.main(["presets"]) == 0
    found = capsys.readouterr().out.splitlines()
    assert "is not valid YAML" in found[-1]
    assert found[-1].startswith("  broken")


def test_a_shipped_name_stays_the_shipped_presets(folder: Path) -> None:
    (folder / "sitar-string.yaml").write_text(TEXT, encoding="utf-8")
    assert "sitar-string" not in own()
    assert known()["sitar-string"] == shipped()["sitar-string"]
    with pytest.raises(PresetError, match="shipped"):
        own_file("sitar-string")


@pytest.mark.parametrize("name", ["a", "My sitar 2", "ünter-x", "a.b", "x" * 64])
def test_names_that_every_system_takes(name: str, folder: Path) -> None:
    assert is_name(name)
    assert own_file(name).parent == folder


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "a\\b",
        ".hidden",
        "a.",
        "a ",
        " a",
        "con",
        "NUL",
        "com1.x",
        "a\0b",
        "a\nb",
        "x" * 65,
        "C:x",
    ],
)
def test_names_that_lead_elsewhere_are_refused(name: str, folder: Path) -> None:
    assert not is_name(name)
    with pytest.raises(PresetError, match="no name"):
        own_file(name)


def test_without_a_folder_there_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OWN_FOLDER, str(tmp_path / "nowhere"))
    assert own() == {}
