"""Stopped at any moment: the name holds a whole file, the old one or nothing, and beside it nothing is left."""

from __future__ import annotations

import ctypes
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
import soundfile

from engine import interrupts
from engine.cores import cores
from engine.files.audio_file import Format, audio_file
from engine.files.errors import FileError
from engine.files.target import whole_file
from engine.interrupts import Stopped, held, let_in, stoppable

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
FORM = Format(8_000, 1)
AUDIO = np.full((64, 1), 0.5, np.float32)
COMMAND = [sys.executable, "-m", "engine.cli", "render"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
LONG = " ".join(f"{key}:{beat}:1" for beat in range(900) for key in ("C3", "E3", "G3"))


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    """What a command that was stopped leaves behind, as its process is ending."""
    before = {number: signal.getsignal(number) for number in interrupts.ENDINGS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
    assert not interrupts._ear.held


# --- in one process, at every step ------------------------------------------------------------------------------------

STEPS = ("contextlib.py", "target.py", "interrupts.py", "audio_file.py", Path(__file__).name)


def render(path: Path, force: bool, fails: bool) -> None:
    with stoppable(), audio_file(path, FORM, 64, force=force) as file:
        file.write(AUDIO)
        if fails:
            raise OSError("the disk is on fire")


def stop_at(step: int, unit: str, *arguments: Any) -> tuple[str, bool]:
    """How a render ends that is told to stop at this step of all, and whether it came so far."""
    left = step

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.endswith(STEPS):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = unit == "opcode", unit == "line"
        left -= event == unit
        if event == unit and left == 0:
            signal.raise_signal(signal.SIGTERM)
        return trace

    before = sys.gettrace()
    sys._getframe().f_trace_opcodes = unit == "opcode"  # Python 3.12 must know of it when tracing begins
    sys.settrace(trace)
    try:
        render(*arguments)
    except (Stopped, FileError) as error:
        ending = type(error).__name__
    else:
        ending = "done"
    finally:
        sys.settrace(before)
    return ending, left <= 0


@pytest.mark.parametrize(
    ("unit", "least", "force", "fails"),
    [("line", 100, False, False), ("line", 100, False, True), ("opcode", 1000, True, False)],
)
def test_no_step_is_a_wrong_one(unit: str, least: int, force: bool, fails: bool, tmp_path: Path) -> None:
    """SIGTERM on every line, and again before every bytecode, of all that handles files and signals."""
    path, endings, step, came = tmp_path / "a.wav", dict.fromkeys(("Stopped", "FileError", "done"), 0), 0, True
    while came:
        step += 1
        signal.signal(signal.SIGTERM, lambda *_: None)  # before and after the command
        path.unlink(missing_ok=True)
        if force:
            path.write_bytes(b"old")
        ending, came = stop_at(step, unit, path, force, fails)
        endings[ending] += 1
        if path.exists() and path.read_bytes() != b"old":
            assert not fails
            np.testing.assert_array_equal(soundfile.read(path, dtype="float32", always_2d=True)[0], AUDIO)
        else:
            assert ending != "done"
            assert path.exists() == force
        assert list(tmp_path.iterdir()) == [path] * path.exists()
    assert step > least
    assert endings["Stopped"] > 0.8 * step, "it would not be stopped"
    assert endings["FileError" if fails else "done"]


def test_held_within_held_is_held_to_the_end(tmp_path: Path) -> None:
    """A whole file within steps that must all be done: the signal waits for the last of them."""
    reached = []

    @stoppable()
    def run() -> None:
        with held():
            with whole_file(tmp_path / "a.mid", False) as part:
                signal.raise_signal(signal.SIGHUP)
                part.write_bytes(b"whole")
            reached.append("written")
        reached.append("too far")

    with pytest.raises(Stopped):
        run()
    assert reached == ["written"]
    assert (tmp_path / "a.mid").read_bytes() == b"whole"


def test_more_signals_can_be_an_ending() -> None:
    before = signal.getsignal(signal.SIGQUIT)
    with pytest.raises(Stopped) as stop, stoppable(signal.SIGQUIT):
        signal.raise_signal(signal.SIGQUIT)
    assert stop.value.code == 128 + signal.SIGQUIT
    signal.signal(signal.SIGQUIT, before)


@pytest.mark.parametrize("number", interrupts.ENDINGS)
def test_what_nobody_could_catch_is_raised_again(number: int, capfd: pytest.CaptureFixture[str]) -> None:
    """As in llvmlite's callbacks while machine code is loaded: C has no exceptions, so Python drops them there."""
    dropped = []

    @ctypes.CFUNCTYPE(None)
    def called_by_c() -> None:
        dropped.append(number)
        signal.raise_signal(number)
        time.sleep(0.01)

    @stoppable()
    def run() -> None:
        called_by_c()
        time.sleep(20.0)

    with pytest.raises((KeyboardInterrupt, Stopped)) as stop:
        run()
    assert dropped == [number]
    assert stop.type is KeyboardInterrupt if number == signal.SIGINT else stop.value.code == 128 + number
    assert "Traceback" not in capfd.readouterr().err


def test_what_is_held_comes_later_and_echoes_are_not_heard() -> None:
    reached = []

    @stoppable()
    def run() -> None:
        with held():
            signal.raise_signal(signal.SIGHUP)
            signal.raise_signal(signal.SIGTERM)
            reached.append("held")
            with let_in():
                reached.append("let in")
        reached.append("after")

    with pytest.raises(Stopped) as stopped:
        run()
    assert stopped.value.code == 128 + signal.SIGHUP
    assert reached == ["held"]
    signal.raise_signal(signal.SIGTERM)  # an echo: the process would be ending


def test_ctrl_c_stays_what_it_is_and_handlers_come_back() -> None:
    before = [signal.getsignal(number) for number in interrupts.ENDINGS]
    with stoppable():
        assert all(signal.getsignal(number) == interrupts._ear.hear for number in interrupts.ENDINGS)
    assert [signal.getsignal(number) for number in interrupts.ENDINGS] == before
    with pytest.raises(KeyboardInterrupt), stoppable():
        signal.raise_signal(signal.SIGINT)


def test_what_was_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    with stoppable():
        signal.raise_signal(signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN


def test_other_threads_are_left_alone(tmp_path: Path) -> None:
    worker = threading.Thread(target=render, args=(tmp_path / "a.wav", False, False))
    worker.start()
    worker.join()
    assert soundfile.info(tmp_path / "a.wav").frames == 64


# --- real processes ---------------------------------------------------------------------------------------------------


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *words], cwd=folder, env=ENVIRONMENT, start_new_session=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def parts(folder: Path) -> list[Path]:
    return list(folder.glob(".jawari-*.part"))


def wait_for(what: Any, seconds: float = 60.0) -> bool:
    deadline = time.monotonic() + seconds
    while not what() and time.monotonic() < deadline:
        time.sleep(0.005)
    return bool(what())


@pytest.mark.parametrize("seed", range(6))
def test_a_render_that_is_stopped_at_random_leaves_old_or_new(seed: int, tmp_path: Path) -> None:
    """By Ctrl-C, by SIGTERM or for good, between the first byte and some time after the last."""
    number, expected = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)][seed % 3]
    path = tmp_path / "a.wav"
    path.write_bytes(b"old")
    running = start(tmp_path, "plain", "--notes", "C3:0:20 G3:0:20", "--tail", "0", "-o", "a.wav", "--force")
    assert wait_for(lambda: parts(tmp_path) or running.poll() is not None)
    time.sleep(random.Random(seed).uniform(0.0, 0.4))
    if running.poll() is None:
        os.killpg(running.pid, number)
    out, error = running.communicate(timeout=300)
    said = [line for line in error.splitlines() if "compiling for this machine" not in line]
    if running.returncode == 0:
        assert (out.startswith("wrote a.wav: 20.00 s"), said) == (True, [])
    elif running.returncode == expected:
        assert said == ([] if number == signal.SIGKILL else ["jawari: interrupted"])
    else:  # all was done: Python itself was ending
        assert (running.returncode, out.startswith("wrote a.wav: 20.00 s")) == (-number, True)
        assert path.read_bytes() != b"old"
    if path.read_bytes() != b"old" or running.returncode == 0:
        assert soundfile.read(path)[0].shape == (20 * 48_000, 2)
    if number != signal.SIGKILL:
        assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(cores() < 2, reason="one core renders in one process")
@pytest.mark.parametrize("killed", [False, True])
def test_workers_end_with_their_parent(killed: bool, tmp_path: Path) -> None:
    """Told twice, as everybody and alone, it ends them; killed, it cannot, and they see to it themselves."""
    running = start(tmp_path, "plain", "--stems", "key", "--notes", LONG)
    try:
        assert wait_for(lambda: len(parts(tmp_path)) >= 2)
        if not killed:
            os.killpg(running.pid, signal.SIGTERM)
        os.kill(running.pid, signal.SIGKILL if killed else signal.SIGTERM)
        assert running.wait(20) == (-signal.SIGKILL if killed else 143)
        assert wait_for(lambda: not parts(tmp_path), 10.0)
        assert wait_for(lambda: not alive(running.pid), 10.0)
    finally:
        if alive(running.pid):
            os.killpg(running.pid, signal.SIGKILL)
        _, error = running.communicate()
    assert list(tmp_path.iterdir()) == []
    assert "Traceback" not in error


def alive(group: int) -> bool:
    """Whether a process of this group still runs."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


# --- two at once ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("force", [False, True])
def test_two_renders_of_one_name_do_not_mix(force: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.wav"

    def write_both() -> None:
        with audio_file(path, FORM, 640, force=force) as one:
            with audio_file(path, FORM, 640, force=force) as other:
                for _ in range(10):
                    one.write(AUDIO)
                    other.write(-AUDIO)
            assert (soundfile.read(path)[0] == -0.5).all()

    if force:
        write_both()
        assert (soundfile.read(path)[0] == 0.5).all()
    else:
        with pytest.raises(FileError, match="exists by now"):
            write_both()
        assert (soundfile.read(path)[0] == -0.5).all()
    assert soundfile.info(path).frames == 640
    assert list(tmp_path.iterdir()) == [path]


def test_two_processes_of_one_name_do_not_mix(tmp_path: Path) -> None:
    both = [
        start(tmp_path, "plain", "--notes", f"C3:0:{length}", "--tail", "0", "-o", "a.wav", "--force")
        for length in (5, 6)
    ]  # fmt: skip
    for one in both:
        one.communicate(timeout=300)
        assert one.returncode == 0
    audio, _ = soundfile.read(tmp_path / "a.wav")
    assert len(audio) in (5 * 48_000, 6 * 48_000)
    assert list(tmp_path.iterdir()) == [tmp_path / "a.wav"]
