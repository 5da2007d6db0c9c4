"""A sound card for machines that have none: a JACK server of the test's own, and a recorder of what it plays."""

from __future__ import annotations

import ctypes.util
import importlib.util
import itertools
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

WITHIN = 10.0  # s, for whatever ought to happen at once
_numbers = itertools.count()


def _missing() -> str:
    """Why sound cannot be tested here, or nothing."""
    programs = [name for name in ("jackd", "jack_lsp", "jack_rec") if shutil.which(name) is None]
    if programs:
        return f"needs {', '.join(programs)}: apt install jackd2"
    if ctypes.util.find_library("portaudio") is None:
        return "needs PortAudio: apt install libportaudio2"
    if importlib.util.find_spec("sounddevice") is None:
        return "needs sounddevice: pip install sounddevice"
    return ""


MISSING = _missing()
needs_jack = pytest.mark.skipif(bool(MISSING), reason=MISSING)


def wait_for(what: Callable[[], object], why: str, within: float = WITHIN) -> None:
    """Wait until something is true, but not for ever."""
    end = time.monotonic() + within
    while not what():
        assert time.monotonic() < end, f"{why}: not within {within:g} s"
        time.sleep(0.02)


class Server:
    """jackd with its dummy driver. `environment` makes a program, this one or another, see it and no other server.

    It waits for its clients unless `real_time`: then nothing is lost however slow the machine, but nothing can be said
    about dropouts either. "system:monitor_N" carries what the card's channel N plays.
    """

    def __init__(
        self,
        folder: Path,
        rate: int = 48000,
        period: int = 128,
        channels: int = 2,
        real_time: bool = False,
        name: str = "",
    ) -> None:
        self.name = name or f"jawari-{os.getpid()}-{next(_numbers)}"
        self.environment = {**os.environ, "JACK_DEFAULT_SERVER": self.name, "JACK_NO_AUDIO_RESERVATION": "1"}
        self._log = folder / f"{self.name}.log"
        how = ("-R", "-P", "20") if real_time else ("-r", "-S")
        driver = ("-d", "dummy", "-r", str(rate), "-p", str(period), "-P", str(channels), "-C", "0", "-m")
        self._command = ("jackd", "-n", self.name, *how, *driver)
        self._process: subprocess.Popen[bytes] | None = None
        self._killed = False

    def start(self) -> None:
        """Begin, or begin again; it is up when this returns."""
        if not self._is_up() and "Too many servers" in self._log.read_text():
            _forget_the_dead(self._log.parent)
            self._is_up()
        assert self._process is not None, self._log.read_text()

    def _is_up(self) -> bool:
        with self._log.open("wb") as log:
            process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_for(lambda: process.poll() is not None or "system:monitor_1" in self.ports(), "jackd")
        self._process = process if process.poll() is None else None
        return self._process is not None

    def freeze(self) -> None:
        """From now on it does not answer."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """It goes on, as if nothing had been."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End, in an orderly way or not; it is gone when this returns."""
        if self._process is not None:
            self._process.send_signal(how)
            try:
                self._process.wait(2.0)  # where a client has vanished, it may take longer
            except subprocess.TimeoutExpired:
                self._process.kill()
            self._killed = self._process.wait() == -signal.SIGKILL
            self._process = None

    def clear_away(self) -> None:
        """Stop, and leave nothing in the system's memory."""
        self.stop()
        if self._killed:  # JACK has room for eight servers, and keeps a killed one's place for another of its name
            self.start()
            self.stop()
        for left in Path("/dev/shm").glob(f"jack*_{self.name}_*"):
            left.unlink(missing_ok=True)

    def ports(self) -> list[str]:
        """Everything that can be connected."""
        listed = subprocess.run(("jack_lsp",), env=self.environment, capture_output=True, text=True, timeout=WITHIN)
        return listed.stdout.split()

    @contextmanager
    def recorded(self, path: Path, channels: int = 2, longest: float = 120.0) -> Iterator[None]:
        """Record what the card plays; `read_recording` reads the file when this has ended."""
        ports = [f"system:monitor_{n + 1}" for n in range(channels)]
        command = ("jack_rec", "-f", str(path), "-d", f"{longest:g}", "-b", "24", "-B", "131072", *ports)
        quiet = subprocess.DEVNULL
        with subprocess.Popen(command, env=self.environment, stdin=quiet, stdout=quiet, stderr=quiet) as recorder:
            try:
                wait_for(lambda: any("jackrec" in port or "jack_rec" in port for port in self.ports()), "recorder")
                yield
            finally:
                recorder.send_signal(signal.SIGTERM)
                try:
                    recorder.wait(1.0)  # a server that waits for a vanished client keeps it longer
                except subprocess.TimeoutExpired:
                    recorder.kill()


@contextmanager
def jack_server(
    folder: Path, rate: int = 48000, period: int = 128, channels: int = 2, real_time: bool = False
) -> Iterator[Server]:
    """A server that is up, and gone afterwards."""
    server = Server(folder, rate, period, channels, real_time)
    server.start()
    try:
        yield server
    finally:
        server.clear_away()


def _forget_the_dead(folder: Path) -> None:
    """Free the places of servers whose tests were killed themselves."""
    registry = Path("/dev/shm/jack-shm-registry").read_text("latin-1")
    for name, process in re.findall(r":(jawari-(\d+)-\d+):", registry):
        if not Path("/proc", process).exists():
            server = Server(folder, name=name)
            server.start()
            server.clear_away()


def read_recording(path: Path, channels: int = 2) -> NDArray[np.int32]:
    """Whole numbers of 24 bits, [frames, channels]. When jack_rec is told to end, it leaves the file's header blank."""
    file = path.read_bytes()
    octets = np.frombuffer(file, np.uint8, offset=file.index(b"data") + 8)
    octets = octets[: octets.size - octets.size % (3 * channels)].reshape(-1, channels, 3)
    padded = np.concatenate([np.zeros_like(octets[..., :1]), octets], axis=-1)
    return np.ascontiguousarray(padded).view("<i4")[..., 0] >> 8
