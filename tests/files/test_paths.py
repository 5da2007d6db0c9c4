"""Everywhere output can go: standard output, pipes, devices, odd names, links, full disks."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import soundfile
from files.other_programs import PROGRAMS, complaints
from offline.fake_instrument import FakeInstrument, use_fakes

from engine import cli
from engine.files.audio_file import Format, audio_file
from engine.files.errors import FileError
from engine.files.target import check_target, named

ROOT = Path(__file__).parents[2]
NOTES = ("sitar-string", "--notes", "C4:0:1", "--tail", "1")  # 576 kB at 24 bits
POSIX = pytest.mark.skipif(os.name == "nt", reason="only POSIX has such names, pipes, devices and limits")


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder to work in, beside one for what is temporary."""
    use_fakes(monkeypatch)
    for name in ("here", "passing"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "passing"))
    return tmp_path / "here"


def jawari(*arguments: object) -> int:
    return cli.main(["render", *map(str, arguments)])


def contents(*folders: Path) -> list[str]:
    return sorted(path.name for folder in folders for path in folder.iterdir())


class Said(NamedTuple):
    """What a command wrote to the real standard output and standard error."""

    code: int
    out: bytes
    lines: list[str]


Run = Callable[..., Said]


@pytest.fixture
def said(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    def run(*arguments: object) -> Said:
        code = jawari(*arguments)
        out, error = capfdbinary.readouterr()
        return Said(code, out, error.decode().splitlines())

    return run


# --- standard output --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", ["", "--bit-depth 16", "--bit-depth 32f", "--mono", "--mono --bit-depth 16"])
def test_standard_output_gets_the_samples_of_the_file(options: str, said: Run, here: Path, tmp_path: Path) -> None:
    file = said(*NOTES, *options.split(), "-o", "a.wav")
    assert (file.code, file.lines) == (0, [])
    for name in ("-", *(["/dev/stdout"] if os.path.exists("/dev/stdout") else [])):
        piped = said(*NOTES, *options.split(), "-o", name)
        assert piped.code == 0
        (line,) = piped.lines
        assert line.startswith("wrote standard output: 2.00 s, peak -")
        audio, rate = soundfile.read(io.BytesIO(piped.out), always_2d=True)
        info = soundfile.info(io.BytesIO(piped.out))
        expected, _ = soundfile.read("a.wav", always_2d=True)
        np.testing.assert_array_equal(audio, expected)
        assert (rate, info.subtype) == (48_000, soundfile.info("a.wav").subtype)
    assert contents(here, tmp_path / "passing") == ["a.wav"]


@pytest.mark.parametrize("kind", ["wav 16", "wav 24", "wav 32f", "flac 24", "aiff 32f", "ogg 24", "opus 24", "mp3 24"])
@pytest.mark.parametrize("tail", [("--tail", "0.5"), ()])
def test_a_stream_is_byte_for_byte_the_file(
    kind: str, tail: tuple[str, ...], said: Run, here: Path, tmp_path: Path
) -> None:
    """Its sizes are the true ones, whether they were known beforehand or not."""
    form, depth = kind.split()
    words = (*NOTES[:3], *tail, "--bit-depth", depth, "--format", form)
    assert said(*words, "-o", f"a.{form}").code == 0
    assert said(*words, "-o", "-").out == Path(f"a.{form}").read_bytes()
    assert contents(here, tmp_path / "passing") == [f"a.{form}"]


@pytest.mark.parametrize("depth", ["16", "24", "32f"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_other_programs_read_the_stream_without_a_word(program: str, depth: str, said: Run) -> None:
    sound = said(*NOTES, "--bit-depth", depth, "-o", "-").out
    assert complaints(program, "-", sound) == []


@POSIX
def test_libsndfile_reads_it_from_a_pipe(said: Run) -> None:
    sound = said(*NOTES, "-o", "-").out
    reading, writing = os.pipe()
    feeder = threading.Thread(target=lambda: (os.write(writing, sound[:60_000]), os.close(writing)))
    feeder.start()
    with soundfile.SoundFile(reading, closefd=False) as file:
        audio = file.read(9_000)
    feeder.join()
    os.close(reading)
    expected, _ = soundfile.read(io.BytesIO(sound), 9_000)
    np.testing.assert_array_equal(audio, expected)


def test_flac_goes_out_whole(said: Run, here: Path, tmp_path: Path) -> None:
    assert said(*NOTES, "-o", "a.flac").code == 0
    piped = said(*NOTES, "-o", "-", "--format", "flac")
    assert piped.out == Path("a.flac").read_bytes()
    assert len(piped.lines) == 1
    refused = said(*NOTES, "-o", "-", "--format", "flac", "--bit-depth", "32f")
    assert (refused.code, refused.out) == (6, b"")
    assert "standard output: FLAC holds whole numbers only" in refused.lines[0]
    assert contents(here, tmp_path / "passing") == ["a.flac"]


def test_a_peak_can_be_asked_for(said: Run, here: Path, tmp_path: Path) -> None:
    piped = said(*NOTES, "-o", "-", "--normalize", "-6", "--bit-depth", "32f")
    audio, _ = soundfile.read(io.BytesIO(piped.out))
    assert np.abs(audio).max() == pytest.approx(10.0 ** (-6.0 / 20.0), rel=1e-6)
    assert contents(here, tmp_path / "passing") == []


def test_a_report_on_standard_output_is_nothing_but_json(said: Run) -> None:
    done = said(*NOTES, "-o", "a.wav", "--report", "-")
    assert json.loads(done.out)["renders"][0]["frames"] == 96_000
    assert [line.split(":")[0] for line in done.lines] == ["wrote a.wav"]


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        ("sitar-string -o - --report -", 6, "standard output: would be written 2 times"),
        ("sitar-string -o - --report /dev/stdout", 6, "standard output: would be written 2 times"),
        ("sitar-string -o - --stems key", 2, "--stems makes several files, and standard output takes one"),
        ("sitar-string tanpura-string -o -", 6, "standard output: is not a folder"),
    ],
)
def test_standard_output_takes_one_thing(options: str, code: int, told: str, said: Run) -> None:
    done = said(*options.split())
    assert (done.code, done.out, len(done.lines)) == (code, b"", 1)
    assert told in done.lines[0]


@POSIX
def test_a_terminal_is_spared(said: Run) -> None:
    ours, terminal = os.openpty()
    try:
        done = said(*NOTES, "-o", os.ttyname(terminal))
        assert (done.code, len(done.lines)) == (6, 1)
        assert "is a terminal, which shows no sound" in done.lines[0]
        command = [sys.executable, "-m", "engine.cli", "render", *NOTES, "-o", "-"]
        real = subprocess.run(command, stdout=terminal, stderr=subprocess.PIPE, cwd=ROOT, text=True, check=False)
        assert real.returncode == 6
        assert real.stderr.startswith("jawari: standard output: is a terminal")
        os.set_blocking(ours, False)
        with pytest.raises(BlockingIOError):
            os.read(ours, 1)
    finally:
        os.close(ours)
        os.close(terminal)


def test_a_closed_standard_output_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with monkeypatch.context() as closed:
        closed.setattr(sys, "stdout", None)
        assert jawari(*NOTES, "-o", "-") == 6
    assert capsys.readouterr().err.startswith("jawari: standard output: is closed")


def test_what_is_said_to_nobody_is_not_said(monkeypatch: pytest.MonkeyPatch, said: Run) -> None:
    """Nor to somebody else: where standard error is closed, standard output is the sound's all the same."""
    with monkeypatch.context() as closed:
        closed.setattr(sys, "stdout", None)
        assert said(*NOTES, "-o", "a.wav") == (0, b"", [])
    with monkeypatch.context() as closed:
        closed.setattr(sys, "stderr", None)
        assert said(*NOTES, "-o", "-") == (0, Path("a.wav").read_bytes(), [])


@POSIX
def test_a_reader_that_leaves_is_told_in_a_line() -> None:
    command = [sys.executable, "-m", "engine.cli", "render", "plain", "--notes", "C3:0:5", "--tail", "0", "-o", "-"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)
    assert running.stdout is not None
    assert running.stderr is not None
    assert running.stdout.read(4) == b"RIFF"
    running.stdout.close()
    lines = [line for line in running.stderr.read().decode().splitlines() if "compiling" not in line]
    running.stderr.close()
    assert running.wait(60) == 6
    assert lines == ["jawari: standard output: whoever read it has gone; what was still to come is lost"]


# --- pipes and devices ------------------------------------------------------------------------------------------------


@POSIX
@pytest.mark.parametrize("name", ["pipe.wav", "pipe", "pipe.flac"])
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_pipe_is_written_and_stays(name: str, force: tuple[str, ...], said: Run) -> None:
    expected = said(*NOTES, "-o", "-", "--format", "flac" if name.endswith("flac") else "wav").out
    os.mkfifo(name)
    heard: list[bytes] = []
    reader = threading.Thread(target=lambda: heard.append(Path(name).read_bytes()), daemon=True)
    reader.start()
    done = said(*NOTES, "-o", name, *force)
    reader.join(30)
    assert (done.code, done.out.split(b":")[0], heard) == (0, f"wrote {name}".encode(), [expected])
    assert Path(name).is_fifo()
    assert contents(Path()) == [name]


@POSIX
@pytest.mark.parametrize("options", [(), ("--normalize",), ("--format", "flac")])
def test_a_pipe_whose_reader_leaves_is_told_in_a_line(
    options: tuple[str, ...], said: Run, here: Path, tmp_path: Path
) -> None:
    os.mkfifo("pipe")

    def read_a_little() -> None:
        with Path("pipe").open("rb") as file:
            file.read(4)

    reader = threading.Thread(target=read_a_little, daemon=True)
    reader.start()
    done = said(*NOTES, "-o", "pipe", *options)
    reader.join(30)
    assert done == (6, b"", ["jawari: pipe: whoever read it has gone; what was still to come is lost"])
    assert contents(here, tmp_path / "passing") == ["pipe"]


@POSIX
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
@pytest.mark.parametrize("options", [(), ("--format", "flac")])
def test_devices_take_what_they_take(options: tuple[str, ...], said: Run) -> None:
    nowhere = said(*NOTES, *options, "-o", os.devnull)
    assert (nowhere.code, nowhere.lines) == (0, [])
    assert nowhere.out.startswith(b"wrote /dev/null: 2.00 s")
    for what in (("-o", "/dev/full"), ("-o", "a.wav", "--force", "--report", "/dev/full")):
        full = said(*NOTES, *options, *what)
        assert full.code == 6
        (line,) = full.lines
        assert line.startswith("jawari: /dev/full: cannot be written (No space left on device)")
    assert Path(os.devnull).is_char_device()


# --- names ------------------------------------------------------------------------------------------------------------


@POSIX
def test_names_are_shown_on_one_line_and_tame(said: Run) -> None:
    names = {
        "ragā – रागः.wav": "ragā – रागः.wav",
        "a\nb\r\t\x1b[31m\x7f.wav": r"a\nb\r\t\x1b[31m\x7f.wav",
        "over\u202eride.wav": r"over\u202eride.wav",
        " -o.wav": " -o.wav",
    }
    if sys.platform == "linux":  # elsewhere a name has to be text
        names[os.fsdecode(b"\xff.wav")] = r"\udcff.wav"
    for name, shown in names.items():
        assert named(Path(name)) == shown
        done = said(*NOTES, "-o", name)
        assert (done.code, done.lines) == (0, [])
        assert done.out.decode().startswith(f"wrote {shown}: 2.00 s")
        assert done.out.count(b"\n") == 1
        again = said(*NOTES, "-o", name)
        assert (again.code, again.lines) == (
            6,
            [f"jawari: {shown}: exists already; choose another name, or --force to replace it"],
        )
    assert contents(Path()) == sorted(names)


def test_a_listener_with_few_letters_is_told_too(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", narrow)
    assert jawari(*NOTES, "-o", "रागः.wav") == 0
    assert narrow.buffer.getvalue().startswith(rb"wrote \u0930\u093e\u0917\u0903.wav: 2.00 s")


@POSIX
@pytest.mark.parametrize("letter", ["x", "é", "र"])
def test_any_name_that_the_file_system_takes(letter: str, said: Run) -> None:
    length = len(letter.encode())
    longest = letter * (251 // length) + "y" * (251 % length) + ".wav"
    assert len(longest.encode()) == 255
    for force in ((), ("--force",)):
        assert said(*NOTES, "-o", longest, *force).code == 0
        assert said(*NOTES, "-o", "a.flac", "--report", longest[:-4] + ".jsn", *force).code == 0
    assert soundfile.info(longest).frames == 96_000
    before = contents(Path())
    refused = said(*NOTES, "-o", "z" + longest)
    assert (refused.code, refused.out, len(refused.lines)) == (6, b"", 1)
    assert "cannot be written (File name too long); choose another name" in refused.lines[0]
    assert contents(Path()) == before


@POSIX
def test_a_link_leads_to_what_is_written(said: Run) -> None:
    os.mkdir("elsewhere")
    Path("elsewhere/real.wav").write_text("old")
    Path("link.wav").symlink_to("elsewhere/real.wav")
    Path("new.wav").symlink_to("elsewhere/new.wav")
    Path("blind.wav").symlink_to("nowhere/a.wav")
    assert said(*NOTES, "-o", "link.wav").code == 6
    assert said(*NOTES, "-o", "link.wav", "--force").code == 0
    assert said(*NOTES, "-o", "new.wav").code == 0
    assert "its folder does not exist" in said(*NOTES, "-o", "blind.wav").lines[0]
    assert all(Path(name).is_symlink() for name in ("link.wav", "new.wav"))
    for name in ("real.wav", "new.wav"):
        assert soundfile.info(f"elsewhere/{name}").frames == 96_000
    assert contents(Path(), Path("elsewhere")) == sorted(
        ["blind.wav", "elsewhere", "link.wav", "new.wav", "new.wav", "real.wav"]
    )


def test_a_simulation_follows_links_and_spares_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["simulate", "plain", "--seconds", "1 ms", "-o"]
    assert cli.main([*words, "-"]) == 6
    assert capsys.readouterr() == ("", "jawari: standard output: takes sound only; name a file\n")
    if os.name != "nt":
        Path("link.npz").symlink_to("real\n.npz")
        assert cli.main([*words, "link.npz"]) == 0
        assert Path("link.npz").is_symlink()
        assert cli.main([*words, "real\n.npz"]) == 0
        assert capsys.readouterr().out.splitlines()[-1] == r"wrote real\n.npz"
        assert contents(Path()) == ["link.npz", "real\n.npz"]


# --- disks ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with room for 64 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(place)]
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only Linux's superuser can mount a small disk")
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no disk can be mounted here: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("name", ["a.wav", "a.flac"])
@pytest.mark.parametrize("options", [(), ("--normalize",), ("--bit-depth", "16")])
@pytest.mark.parametrize("old", [None, b"what was there before"])
def test_a_full_disk_loses_nothing(
    name: str, options: tuple[str, ...], old: bytes | None, disk: Path, said: Run
) -> None:
    if old is not None:
        (disk / name).write_bytes(old)
    done = said(*NOTES, *options, "-o", disk / name, "--force")
    assert (done.code, done.out, len(done.lines)) == (6, b"", 1)
    assert f"{name}: cannot be written (" in done.lines[0]
    assert contents(disk) == ([name] if old else [])
    assert old is None or (disk / name).read_bytes() == old
    assert said("sitar-string", "--notes", "C4:0:.1", "--tail", "0", "-o", disk / name, "--force").code == 0
    assert soundfile.info(disk / name).frames == 4800


def test_a_disk_that_cannot_be_written_is_refused_before_any_work(disk: Path, said: Run) -> None:
    (disk / "old.wav").write_bytes(b"old")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    for name, force in (("a.wav", ()), ("old.wav", ("--force",))):
        done = said(*NOTES, "-o", disk / name, *force)
        assert (done.code, done.out, len(done.lines)) == (6, b"", 1)
        assert "no permission to write into its folder" in done.lines[0]
    assert not FakeInstrument.made
    assert (disk / "old.wav").read_bytes() == b"old"


LIMITED = """
import resource, sys
from engine.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
sys.exit(main(["render", "plain", "--notes", "C3:0:1", "--tail", "0", "-o", sys.argv[1], "--force"]))
"""


@POSIX
def test_a_file_that_may_not_grow_loses_nothing(here: Path) -> None:
    (here / "a.wav").write_bytes(b"old")
    command = [sys.executable, "-c", LIMITED, str(here / "a.wav")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = [line for line in done.stderr.splitlines() if "compiling" not in line]
    assert (done.returncode, done.stdout, len(lines)) == (6, "", 1)
    assert "a.wav: cannot be written" in lines[0]
    assert contents(here) == ["a.wav"]
    assert (here / "a.wav").read_bytes() == b"old"


def test_a_folder_that_goes_away_meanwhile_is_told(here: Path) -> None:
    (here / "folder").mkdir()

    def lose() -> None:
        with audio_file(here / "folder" / "a.wav", Format(8_000, 1), 100) as file:
            file.write(np.zeros((100, 1), np.float32))
            (here / "folder").rename(here / "moved")

    with pytest.raises(FileError, match=r"a\.wav: cannot be written"):
        lose()


def test_a_file_is_not_standard_output(here: Path) -> None:
    assert check_target(Path("./-x.wav"), False) == here.resolve() / "-x.wav"
    with pytest.raises(FileError, match="standard output"):
        check_target(Path("-"), False)
