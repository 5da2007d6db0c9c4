"""A sound card for machines that have none: a JACK server with its dummy driver, and a recorder of what it plays.

Only the standard library: the tests of live play use it as scripts/soak.py does.
"""

from __future__ import annotations

import ctypes.util
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl

WITHIN = 60.0  # s, for whatever ought to happen at once, on a machine that does much else
HANGS = 10.0  # s after which a server that does not answer is given up
PATIENCE = 90.0  # s in which one of JACK's eight places becomes free
FULL = "Too many servers"
REGISTRY = Path("/dev/shm/jack-shm-registry")  # which servers have a place
_numbers = itertools.count()


def missing() -> str:
    """Why there cannot be such a card here, or nothing."""
    programs = [name for name in ("jackd", "jack_lsp", "jack_rec") if shutil.which(name) is None]
    if programs:
        return f"needs {', '.join(programs)}: apt install jackd2"
    if ctypes.util.find_library("portaudio") is None:
        return "needs PortAudio: apt install libportaudio2"
    return ""


def wait_for(what: Callable[[], object], why: str, within: float = WITHIN) -> None:
    """Wait until something is true, but not for ever."""
    end = time.monotonic() + within
    while not what():
        if time.monotonic() > end:
            raise AssertionError(f"{why}: not within {within:g} s")
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

    @property
    def said(self) -> str:
        """What jackd has printed."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    @property
    def missed(self) -> int:
        """Periods that some client has missed so far, by what jackd says: what its ports held then is gone for good.

        Only where it does not wait for its clients.
        """
        return self.said.count("JackEngine::XRun: client")

    def start(self) -> None:
        """Begin, or begin again; it is up when this returns. Where too many others are, wait until one has ended."""
        end = time.monotonic() + PATIENCE
        while not self._is_up() and FULL in self.said and time.monotonic() < end:
            _forget_the_dead(self._log.parent)
            time.sleep(0.2)
        assert self._process is not None, self.said

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
        listed = subprocess.run(("jack_lsp",), env=self.environment, capture_output=True, text=True, timeout=HANGS)
        return listed.stdout.split()

    @contextmanager
    def recorded(self, path: Path, channels: int = 2, longest: float = 120.0) -> Iterator[None]:
        """Record what the card plays; the file, 24 bits, is whole when this has ended, but for the header's lengths."""
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
    """Free the places of servers whose programs were killed themselves, each by a new server of that name."""
    with (Path(tempfile.gettempdir()) / "jawari-jack.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one at a time: two servers of one name would be in each other's way
        for name, process in set(re.findall(r":(jawari-(\d+)-\d+):", REGISTRY.read_text("latin-1"))):
            if not Path("/proc", process).exists():
                server = Server(folder, name=name)
                if server._is_up():
                    server.clear_away()
