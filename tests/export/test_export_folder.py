"""An export appears whole or not at all, and replaces nothing but an earlier one."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from engine import cli
from engine.errors import EngineError, Exit
from engine.export import code, targets
from engine.export.errors import ExportError
from engine.export.folder import MARK, whole_folder
from engine.files.errors import FileError


def fill(path: Path, text: str, force: bool = False) -> None:
    with whole_folder(path, force, {"format": "x"}) as part:
        (part / "inner").mkdir()
        (part / "inner" / "file").write_text(text)


def test_a_folder_has_all_its_files_and_says_which(tmp_path: Path) -> None:
    fill(tmp_path / "a", "one")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert json.loads((tmp_path / "a" / MARK).read_text()) == {"format": "x", "files": [str(Path("inner/file"))]}


def test_only_an_earlier_export_is_replaced_and_only_by_force(tmp_path: Path) -> None:
    fill(tmp_path / "a", "one")
    with pytest.raises(FileError, match="exists already"):
        fill(tmp_path / "a", "two")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary").write_text("dear")
    with pytest.raises(FileError, match="not made by jawari export"):
        fill(tmp_path / "mine", "two", force=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="is not a folder"):
        fill(tmp_path / "file", "two", force=True)
    assert (tmp_path / "a" / "inner" / "file").read_text() == "one"
    fill(tmp_path / "a", "two", force=True)
    assert (tmp_path / "a" / "inner" / "file").read_text() == "two"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "file", "mine"]


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), ValueError()])
def test_nothing_half_made_is_left(force: bool, error: BaseException, tmp_path: Path) -> None:
    if force:
        fill(tmp_path / "a", "one")

    def begin() -> None:
        with whole_folder(tmp_path / "a", force, {}) as part:
            (part / "file").write_text("half")
            raise error

    with pytest.raises(FileError if isinstance(error, OSError) else type(error)):
        begin()
    assert [path.name for path in tmp_path.iterdir()] == ["a"] * force
    assert not force or (tmp_path / "a" / "inner" / "file").read_text() == "one"


def test_what_took_the_name_meanwhile_stays(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is not a folder"), whole_folder(tmp_path / "a", False, {}):
        (tmp_path / "a").write_text("somebody else's")
    assert (tmp_path / "a").read_text() == "somebody else's"


def test_a_system_that_is_not_known_is_named_with_those_that_are() -> None:
    with pytest.raises(EngineError, match="did you mean linux-x86_64"):
        targets.target_of("linux-x86-64")
    assert targets.target_of("macos-arm64").triple.startswith("arm64-apple")


def test_the_command_says_what_fails_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(code, "INTERPRETED", True)
    assert cli.main(["export", "prepared", "--format", "c", "--target", "linux-x86_64"]) == Exit.EXPORT
    assert ExportError.exit_code == Exit.EXPORT
    assert capsys.readouterr().err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
