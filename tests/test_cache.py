"""What is kept on disk: whole and as it was written, or not at all; and never anybody else's."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine import cache

NAME = "folder/file.bin"
BLOB = bytes(range(256)) * 10

posix = pytest.mark.skipif(os.name == "nt", reason="owners and modes are POSIX")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[Path]:
    """A folder that is decided on anew inside the test, and again after it."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "kept" / "here"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(cache, "_said", set())
    cache._place.cache_clear()
    with caplog.at_level(logging.INFO, "jawari"):
        yield tmp_path / "kept" / "here"
    cache._place.cache_clear()


def test_what_is_kept_is_read_again(place: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert cache.folder() == place
    assert cache.trouble() == ""
    assert cache.read(NAME) is None
    for blob in (BLOB, b"", b"other"):
        cache.write(NAME, blob)
        assert cache.read(NAME) == blob
    assert os.listdir(place / "folder") == ["file.bin"]
    assert caplog.messages == []


@posix
def test_folders_and_files_are_for_this_user_alone(place: Path) -> None:
    before = os.umask(0)
    try:
        cache.write(NAME, BLOB)
    finally:
        os.umask(before)
    for path in (place.parent, place, place / "folder"):
        assert path.stat().st_mode & 0o777 == 0o700
    assert (place / NAME).stat().st_mode & 0o777 == 0o600


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _turn_a_bit(path: Path) -> None:
    whole = bytearray(path.read_bytes())
    whole[-1] ^= 1
    path.write_bytes(whole)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "in it").touch()


def _link(path: Path) -> None:
    path.rename(path.with_name("true"))
    path.symlink_to("true")


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _file_for_folder(path: Path) -> None:
    shutil.rmtree(path.parent)
    path.parent.touch()


DAMAGE: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": _cut,
    "cut within the head": lambda path: path.write_bytes(path.read_bytes()[:20]),
    "a bit": _turn_a_bit,
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "garbage": lambda path: path.write_bytes(b"\xde\xad\xbe\xef" * 700),
    "unreadable": lambda path: path.chmod(0),
    "others may write": lambda path: path.chmod(0o622),
    "folder": _folder,
    "link": _link,
    "pipe": _pipe,
    "file for its folder": _file_for_folder,
}


@posix
@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_discarded_said_once_and_made_anew(name: str, place: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache.write(NAME, BLOB)
    cache.write("folder/other", BLOB)
    DAMAGE[name](place / NAME)
    if name == "unreadable" and os.geteuid() == 0:
        assert cache.read(NAME) == BLOB
        return
    assert cache.read(NAME) is None
    assert cache.read(NAME) is None
    assert caplog.messages == [f"damaged files in {place / 'folder'}: what they held is made anew"]
    cache.write(NAME, BLOB)
    assert cache.read(NAME) == BLOB
    assert len(caplog.messages) == 1


def test_a_file_under_another_name_is_not_that_file(place: Path) -> None:
    cache.write(NAME, BLOB)
    shutil.copy(place / NAME, place / "folder" / "other")
    assert cache.read("folder/other") is None
    assert cache.read(NAME) == BLOB


def test_a_file_too_large_is_not_read(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.write(NAME, BLOB)
    monkeypatch.setattr(cache, "LARGEST", 100)
    assert cache.read(NAME) is None


@posix
@pytest.mark.parametrize("which", ["kept", "kept/here", "kept/here/folder"])
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o1777])
def test_nothing_is_read_where_others_may_write(
    which: str, mode: int, place: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cache.write(NAME, BLOB)
    (tmp_path / which).chmod(mode)
    cache._place.cache_clear()
    if mode == 0o1777 and which == "kept":  # as /tmp is: what is in it is ours all the same
        assert cache.read(NAME) == BLOB
        return
    assert cache.read(NAME) is None
    assert len(caplog.messages) == 1
    assert f"others may write to {tmp_path / which}" in caplog.messages[0]
    if which != "kept/here/folder":
        assert cache.folder() == tmp_path / "home" / "jawari"
        assert caplog.messages[0].endswith(f"; {tmp_path / 'home' / 'jawari'} is used instead")
        cache.write(NAME, BLOB)
        assert cache.read(NAME) == BLOB


@posix
def test_nothing_is_read_that_belongs_to_somebody_else(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever runs this is somebody else, for once; root's folders are everybody's."""
    cache.write(NAME, BLOB)
    stranger = 12_345
    if os.geteuid() == 0:
        os.chown(place, stranger, -1)
    else:
        monkeypatch.setattr(cache.os, "geteuid", lambda: stranger)
    cache._place.cache_clear()
    assert cache.read(NAME) is None
    (said,) = [text for text in caplog.messages if "belongs to somebody else" in text] or [cache.trouble()]
    assert "belongs to somebody else" in said


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give files away")
def test_a_planted_file_is_discarded(place: Path) -> None:
    cache.write(NAME, BLOB)
    os.chown(place / NAME, 12_345, -1)
    assert cache.read(NAME) is None
    assert not (place / NAME).exists()


@posix
def test_links_are_followed_before_anything_is_checked(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "safe").symlink_to(tmp_path / "open")
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "safe" / "mine"))
    cache._place.cache_clear()
    assert cache.folder() == tmp_path / "home" / "jawari"


def _refuse(*_: object, **__: object) -> None:
    raise OSError(30, "Read-only file system")


def test_where_nothing_can_be_written_it_is_for_now_only(
    place: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(cache.Path, "mkdir", _refuse)
    private = cache.folder()
    assert Path(tempfile.gettempdir()).resolve() in private.parents
    assert os.environ[cache.VARIABLE] == str(private), "the processes that this one starts find it"
    for words in (str(place), "Read-only file system", "JAWARI_CACHE_DIR"):
        assert words in cache.trouble()
    cache.write("file", BLOB)
    assert cache.read("file") == BLOB
    assert caplog.messages == [], "whoever compiles tells"


def test_a_full_disk_keeps_nothing_and_says_so_once(
    place: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    cache.write(NAME, BLOB)
    monkeypatch.setattr(cache.os, "replace", lambda *_: _refuse())
    for name in ("folder/new", "folder/newer"):
        cache.write(name, BLOB)
        assert cache.read(name) is None
    assert cache.read(NAME) == BLOB
    assert len(caplog.messages) == 1
    for words in (str(place), "Read-only file system", "each time", "JAWARI_CACHE_DIR"):
        assert words in caplog.messages[0]
    assert os.listdir(place / "folder") == ["file.bin"]
    monkeypatch.setattr(cache.shutil, "disk_usage", lambda _: SimpleNamespace(free=3_000_000))
    cache._said.clear()
    assert "only 3 MB are free" in cache.trouble()
    cache.write("folder/newest", BLOB)
    assert len(caplog.messages) == 1, "whoever asked has told"


def test_what_somebody_filled_need_not_be_writable(
    place: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    cache.write(NAME, BLOB)
    cache._place.cache_clear()
    monkeypatch.setattr(cache.tempfile, "TemporaryFile", _refuse)
    assert cache.folder() == place
    assert cache.read(NAME) == BLOB
    assert caplog.messages == []
    assert "Read-only" in cache.trouble()


def test_the_users_own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.users_cache() == tmp_path / "jawari"
    monkeypatch.setattr(cache.sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert cache.users_cache() == tmp_path / "local" / "jawari" / "cache"
    monkeypatch.setattr(cache.sys, "platform", "darwin")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert cache.users_cache() == tmp_path / "Library" / "Caches" / "jawari"


@pytest.mark.skipif(sys.platform != "linux", reason="each system has its own place")
def test_nobodys_home_is_for_now_only(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv(cache.VARIABLE)
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    assert Path(tempfile.gettempdir()).resolve() in cache.folder().parents
    assert "no home" in cache.trouble()
