"""However a session ends, what was played is under its name, or is finished by the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import mido
import numpy as np
import pytest
import soundfile
from live.driving import Card
from live.jack import wait_for
from synth.playing import on

from engine import cli
from engine.files.errors import FileError
from engine.files.unfinished import Unfinished
from engine.live import recorder
from engine.live.player import Player
from engine.live.recorder import Recorder, check_takes, recover_in
from engine.live.sound_take import SoundTake
from engine.live.thread.tape import Tape
from engine.music.take import Take

RATE = 48_000
HERE = Path(__file__).parent
posix = pytest.mark.skipif(os.name == "nt", reason="signals, links and devices are POSIX")


def keys_of(path: Path) -> list[int]:
    """What was struck, in a MIDI file."""
    return [message.note for message in mido.MidiFile(path) if message.type == "note_on"]


class Session:
    """A player that is recorded, and what was said."""

    def __init__(self, *names: str, force: bool = False, facts: dict[str, object] | None = None) -> None:
        self.said: list[str] = []
        self.player = Player(RATE, 128)
        self.card = Card(self.player)
        self.recorder = Recorder(self.player, [Path(name) for name in names], force, facts or {}, self.said.append)

    def strike(self, *keys: int) -> None:
        for key in keys:
            self.player.send(on(key, 100), int(self.card.time))
            self.card.run(3)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (
            ["take.txt"],
            "name it .wav, .flac, .aiff, .ogg, .opus or .mp3; or .mid for the events",
        ),
        (["take"], "or .mid for the events"),
        (["a.mid", "b.midi"], "b.midi: one file of events and one of sound"),
        (["a.wav", "b.flac"], "b.flac: one file of events and one of sound"),
        (["none/take.mid"], "its folder does not exist"),
        (["there.mid"], "exists already; choose another name, or --force"),
        (["folder.mid"], "is a folder"),
        (["-"], "standard output"),
    ],
)
def test_what_cannot_be_recorded_into_is_refused_before(names: list[str], words: str) -> None:
    Path("there.mid").touch()
    Path("folder.mid").mkdir()
    with pytest.raises(FileError) as error:
        check_takes([Path(name) for name in names], False)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert cli.main(["play", "plain", *(word for name in names for word in ("--record", name))]) == 6
    assert sorted(os.listdir()) == ["folder.mid", "there.mid"]


@posix
@pytest.mark.parametrize("force", [False, True])
def test_only_regular_files_are_replaced(force: bool, folder: Path) -> None:
    os.mkfifo("pipe.mid")
    Path("null.mid").symlink_to("/dev/null")
    for name in ("pipe.mid", "null.mid", "/dev/full"):
        with pytest.raises(FileError):
            check_takes([Path(name)], force)


@posix
def test_links_planted_beside_the_target_are_not_followed(folder: Path) -> None:
    """`.t.mid.part` was written through; names are tried now, and only what is new is written."""
    victim = folder / "victim"
    victim.write_text("precious")
    for name in (".t.mid.part", "t.mid.unfinished", "t.mid.2.unfinished", ".t.mid.journal"):
        Path(name).symlink_to(victim)
    with Session("t.mid").recorder as running:
        Card(running._player).run(3)
        assert Path("t.mid.3.unfinished").exists()
    assert victim.read_text() == "precious"
    assert keys_of(Path("t.mid")) == []


@posix
@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("name", ["take.mid", "take.wav"])
def test_what_took_the_name_meanwhile_is_not_lost_and_the_take_neither(name: str, force: bool, folder: Path) -> None:
    if force:
        Path(name).write_text("old")
    session = Session(name, force=force)
    with session.recorder:
        session.strike(60)
        Path(name).unlink(missing_ok=True)
        if force:
            os.mkfifo(name)
        else:
            Path(name).write_text("precious")
    second = name.replace(".", "-2.")
    assert session.recorder.said[0].startswith(f"wrote {folder / second}")
    assert sorted(os.listdir()) == sorted([name, second])
    if not force:
        assert Path(name).read_text() == "precious"


def test_force_replaces_a_file_and_two_sessions_do_not_meet() -> None:
    Path("take.mid").write_text("old")
    first, second = Session("take.mid", force=True), Session("take.mid", force=True)
    with first.recorder, second.recorder:
        assert Path("take.mid").read_text() == "old", "until the end"
        assert sorted(os.listdir()) == ["take.mid", "take.mid.2.unfinished", "take.mid.unfinished"]
        first.strike(60)
        second.strike(61)
    assert keys_of(Path("take.mid")) == [60], "the first session ended last"
    assert os.listdir() == ["take.mid"]


def test_a_name_as_long_as_names_can_be() -> None:
    for name in ("x" * 251 + ".mid", "ü" * 125 + ".mid"):
        with Session(name).recorder as running:
            Card(running._player).run(1)
        assert os.listdir() == [name]
        Path(name).unlink()


# --- what is recorded -------------------------------------------------------------------------------------------------


def test_events_and_sound_at_once() -> None:
    session = Session("take.mid", "take.wav", facts={"presets": ["plain"]})
    with session.recorder:
        session.strike(60, 61, 62)
    assert session.recorder.said == [
        "wrote take.mid; rendered at 48000 Hz with --limit it gives the same samples",
        "wrote take.wav, 0.0 s",
    ]
    assert keys_of(Path("take.mid")) == [60, 61, 62]
    assert mido.MidiFile("take.mid").tracks[0][0].text == 'jawari {"presets": ["plain"]}'
    assert len(soundfile.read("take.wav")[0]) == 9 * 128
    assert sorted(os.listdir()) == ["take.mid", "take.wav"]


def test_nothing_played_leaves_nothing() -> None:
    with Session("take.mid", "take.wav").recorder:
        pass
    assert os.listdir() == []


def test_an_error_while_playing_loses_nothing() -> None:
    session = Session("take.mid")

    def play() -> None:
        with session.recorder:
            session.strike(60)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        play()
    assert keys_of(Path("take.mid")) == [60]


def test_what_the_tape_lost_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "TURN", 1e6)
    monkeypatch.setattr(recorder.Tape.__init__, "__defaults__", (0.02,))  # s: 1024 frames
    session = Session("take.wav")
    with session.recorder:
        session.card.run(11)
    assert session.recorder.said == ["wrote take.wav, 0.0 s", "take.wav: 384 frames are missing at 0:00.021"]
    assert "some sound is not recorded" in session.said[0]


@pytest.mark.parametrize("name", ["take.mid", "take.wav"])
def test_a_disk_that_is_full_is_said_once_and_what_is_on_it_stays(
    name: str, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setattr(recorder, "TURN", 1e6)  # s: it is done here
    session, write = Session(name), os.write

    def full(number: int, data: bytes) -> int:
        if ".jawari-" in os.readlink(f"/proc/self/fd/{number}"):  # its name before it had one
            raise OSError(28, "No space left on device")
        return write(number, data)

    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc")
    with session.recorder:
        session.strike(60, 61)
        session.recorder._collect()
        with monkeypatch.context() as filling:
            filling.setattr(os, "write", full)
            for key in range(62, 67):
                session.strike(key)
                session.recorder._collect()
            (unfinished,) = folder.glob("*.unfinished")
            copy = folder / f"copy.{name}.unfinished"
            copy.write_bytes(unfinished.read_bytes())
        assert len(session.said) == 1
        for words in (name, "No space left on device", "the sound goes on"):
            assert words in session.said[0]
    (line,) = recover_in([folder])
    assert line.startswith(f"{folder}{os.sep}copy.take-recovered{name[-4:]}: ")
    if name == "take.mid":
        assert keys_of(Path("copy.take-recovered.mid")) == [60, 61]
        assert keys_of(Path("take.mid")) == list(range(60, 67)), "it waited in memory"
    else:
        assert len(soundfile.read("copy.take-recovered.wav")[0]) == 6 * 128
        assert len(soundfile.read("take.wav")[0]) == 21 * 128, "it waited on the tape"


def no_room(_: Take) -> Iterator[np.ndarray]:
    raise OSError(28, "No space left on device")
    yield


def test_a_take_that_cannot_be_finished_says_where_it_is(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    session = Session("take.mid")
    with monkeypatch.context() as broken, session.recorder:
        session.strike(60)
        broken.setattr(recorder.Take, "_tables", no_room)
        session.recorder.__exit__()
    assert session.recorder.error is not None
    text = str(session.recorder.error)
    for words in ("take.mid: cannot be written (No space left on device)", "take.mid.unfinished", "--recover"):
        assert words in text
    assert os.listdir() == ["take.mid.unfinished"]
    monkeypatch.undo()
    session.recorder._takes[0][2].file.close()
    os.chdir(folder)
    assert cli.main(["play", "--recover", str(folder / "take.mid.unfinished")]) == 0
    assert keys_of(folder / "take-recovered.mid") == [60]


# --- what was left behind ---------------------------------------------------------------------------------------------


def left_behind(folder: Path, name: str = "take.mid", key: int = 60) -> Path:
    """A journal whose session is gone."""
    take = Take.begin(folder / name, RATE)
    take.add(np.array([[0, 0x90 | key << 8 | 100 << 16]]))
    take.file.close()
    return take.file.path


def test_the_next_session_finishes_it_once_under_a_name_of_its_own(folder: Path) -> None:
    left_behind(folder, key=60)
    Path("take.mid").write_text("the next one")
    (line,) = recover_in([folder, Path(), folder / "."])
    assert line == f"{folder / 'take-recovered.mid'}: a session broke off; this is what it had of take.mid, 1 event"
    left_behind(folder, key=61)
    list(recover_in([folder]))
    assert sorted(os.listdir()) == ["take-recovered-2.mid", "take-recovered.mid", "take.mid"]
    assert [keys_of(Path(name)) for name in ("take-recovered.mid", "take-recovered-2.mid")] == [[60], [61]]
    assert list(recover_in([folder])) == []


def test_what_was_left_empty_is_cleared_away(folder: Path) -> None:
    Take.begin(folder / "take.mid", RATE).file.close()
    SoundTake.begin(folder / "take.wav", RATE, Tape(RATE, 2)).file.close()
    assert list(recover_in([folder])) == []
    assert os.listdir() == []


def test_what_a_session_still_writes_is_not_touched(folder: Path) -> None:
    session = Session("take.mid")
    with session.recorder:
        session.strike(60)
        assert Unfinished.left(folder / "take.mid.unfinished") is None
        assert list(recover_in([folder])) == []
        session.strike(61)
    assert keys_of(Path("take.mid")) == [60, 61]


@posix
def test_what_is_not_ours_is_not_touched(folder: Path) -> None:
    journal = left_behind(folder)
    Path("link.mid.unfinished").symlink_to(journal.rename(folder / "elsewhere"))
    os.mkfifo("pipe.mid.unfinished")
    Path("folder.mid.unfinished").mkdir()
    Path("text.mid.unfinished").write_text("notes")
    before = sorted(os.listdir())
    if os.geteuid() == 0:
        os.chown(left_behind(folder, "theirs.mid"), 12_345, -1)
        before = sorted([*before, "theirs.mid.unfinished"])
    assert list(recover_in([folder])) == []
    assert sorted(os.listdir()) == before


def test_recover_names_what_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    Path("x.mid.unfinished").touch()
    for name in ("x.mid.unfinished", "none"):
        assert cli.main(["play", "--recover", name]) == 6
        assert capsys.readouterr().err.startswith(f"jawari: {name}: is not what a session left behind")


# --- the program itself -----------------------------------------------------------------------------------------------


def play(folder: Path, *arguments: str, shell: str = "", **more: str) -> subprocess.Popen[bytes]:
    """`jawari play` on the invented card; in a shell, `{}` of `shell` is the command."""
    root = HERE.parents[1]
    paths = os.pathsep.join(str(path) for path in (root, root / "tests"))
    command = [sys.executable, str(HERE / "cardless.py"), *arguments]
    environment = {**os.environ, "PYTHONPATH": paths, **more}
    if shell:
        command = ["sh", "-c", shell.replace("{}", " ".join(command))]
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def played(folder: Path, bytes_: int = 1000) -> Callable[[], bool]:
    """Whether that much has been recorded."""
    return lambda: any(path.stat().st_size > bytes_ for path in folder.glob("*.unfinished"))


def plain(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


BOTH = ("plain", "--record", "take.mid", "--record", "take.wav")


@posix
@pytest.mark.parametrize("name", ["SIGHUP", "SIGTERM", "SIGQUIT"])
def test_every_signal_that_ends_a_session_ends_it_well(name: str, folder: Path) -> None:
    heard = folder / "heard"
    process = play(folder, *BOTH, HEARD=str(heard))
    wait_for(played(folder, 200_000), "nothing was recorded", 120)
    process.send_signal(getattr(signal, name))
    process.send_signal(signal.SIGHUP)  # a terminal that closes sends more than one
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert b"wrote take.mid" in out
    assert plain(folder) == ["heard", "take.mid", "take.wav"]
    assert keys_of(Path("take.mid"))
    found, _ = soundfile.read("take.wav", dtype="float32")
    given = np.fromfile(heard, np.float32).reshape(-1, 2)
    assert np.abs(given).max() > 0.001
    assert (found == given).all()


@posix
@pytest.mark.parametrize(
    ("shell", "code"),
    [
        ("{} | head -n 1", None),
        ("{} >/dev/full", 1),
        ("{} >&- 2>/dev/full", 0),
    ],
)
def test_output_that_nobody_takes_ends_nothing(shell: str, code: int | None, folder: Path) -> None:
    if "full" in shell and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    process = play(folder, *BOTH, "--seconds", "2", shell=shell)
    process.communicate(timeout=300)
    if code is not None:
        assert process.returncode == code
    assert plain(folder) == ["take.mid", "take.wav"]
    assert len(keys_of(Path("take.mid"))) > 3
    assert len(soundfile.read("take.wav")[0]) > RATE, "it played on"


@posix
def test_killed_at_once_and_recovered_by_the_next(folder: Path) -> None:
    heard = folder / "heard"
    process = play(folder, *BOTH, HEARD=str(heard))
    wait_for(played(folder, 400_000), "nothing was recorded", 120)
    time.sleep(0.2)
    process.kill()
    process.communicate()
    assert plain(folder) == ["heard", "take.mid.unfinished", "take.wav.unfinished"]
    heard.rename(folder / "before")
    process = play(folder, *BOTH, "--seconds", "0.3")
    _, errors = process.communicate(timeout=300)
    said = errors.decode().splitlines()
    assert sum("a session broke off" in line for line in said) == 2, said
    assert plain(folder) == ["before", "take-recovered.mid", "take-recovered.wav", "take.mid", "take.wav"]
    given = np.fromfile(folder / "before", np.float32)
    given = given[: len(given) & ~1].reshape(-1, 2)
    found, _ = soundfile.read("take-recovered.wav", dtype="float32")
    assert len(given) - len(found) < 0.5 * RATE, "all but the last moments"
    assert (found == given[: len(found)]).all()
    struck = keys_of(Path("take-recovered.mid"))
    assert len(struck) > 3
