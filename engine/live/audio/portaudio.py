"""PortAudio at work: loaded when it is needed, kept quiet, ended with care, replaced when it is stuck.

Where a JACK server has died, PortAudio waits ten minutes in Pa_CloseStream, and in Pa_Terminate an assertion ends the
whole program. So it is never asked to end what may be dead: it is left as it is, and where sound is wanted again a
second copy of the library takes over, which knows nothing of the first one's troubles.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

from engine.live.audio.libportaudio import BROUGHT, PortAudio, PortAudioError, places
from engine.live.errors import DeviceError, MissingPart
from engine.live.hush import hushed

T = TypeVar("T")

INSTEAD = "or `jawari render` writes a file without it"
JACK = "JACK"  # how PortAudio's name of that system begins
OUR_NAME = b"jawari"  # as JACK shows us; PortAudio keeps the pointer to it
REMEDIES = {
    "linux": "apt install libportaudio2, or your system's package of that kind",
    "darwin": "brew install portaudio, or pip install --force-reinstall sounddevice",
    "win32": "pip install --force-reinstall sounddevice",
}


class _State:
    """The copy of the library that is in use."""

    copy: PortAudio | None = None
    begun: bool = False
    stuck: bool = False  # it must not be asked for anything any more


_state, _setting_up = _State(), threading.RLock()
_kept: list[Any] = []  # all that stuck copies may still touch, even while the interpreter takes itself apart
ctypes.pythonapi.Py_IncRef(ctypes.py_object(_kept))


def library() -> PortAudio:
    """PortAudio, at work."""
    with quiet():
        if _state.copy is None:
            _state.copy = _found()
            atexit.register(_end)
        elif _state.stuck:
            _state.copy, _state.begun, _state.stuck = _another(_state.copy), False, False
        if not _state.begun:
            _state.copy.name_client(OUR_NAME)  # JACK's clients have their names from the beginning
            try:
                _state.copy.begin()
            except PortAudioError as error:
                raise DeviceError(f"PortAudio does not begin ({error}); restart the sound system, {INSTEAD}") from None
            _state.begun = True
        return _state.copy


def rest() -> None:
    """End PortAudio until it is needed again, which is how new cards are seen. No stream may be open."""
    with quiet():
        if copy := _at_work():
            copy.end()
            _state.begun = False


def leave(jack_lives: bool) -> None:
    """The same, some time after PortAudio began: a JACK server that it met then may have died meanwhile."""
    with quiet():
        copy = None if jack_lives else _at_work()
        if copy and any(api.name.startswith(JACK) for api in copy.host_apis()):
            give_up()
        rest()


def _at_work() -> PortAudio | None:
    """The copy that has begun and may be asked."""
    return _state.copy if _state.begun and not _state.stuck else None


def give_up(*used: Any) -> None:
    """Never touch this copy of the library again. What it may still use is kept alive."""
    _kept.extend(used)
    _state.stuck = True


@contextmanager
def quiet() -> Iterator[None]:
    """Keep what ALSA and JACK print from the terminal. One thread at a time sets up sound."""
    with _setting_up, hushed():
        yield


class Errand(Generic[T]):
    """A call in a thread of its own, since it may never return; the program can end without it."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._answer: T | None = None
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # at the program's very end Python starts no threads any more
            self._run()

    def _run(self) -> None:
        try:
            self._answer = self._call()
        except Exception as error:
            self._error = error

    def done(self, wait: float = 0.0) -> bool:
        """Whether the call has returned, after `wait` seconds at most."""
        if self._thread.ident is not None:
            self._thread.join(wait)
        return not self._thread.is_alive()

    def answer(self) -> T:
        """What it returned, or its error."""
        if self._error is not None:
            raise self._error
        return self._answer  # type: ignore[return-value]


def _found() -> PortAudio:
    for place in places():
        with suppress(OSError, AttributeError):  # not for this machine, or not PortAudio
            return PortAudio(place)
    if sys.platform in BROUGHT and find_spec("sounddevice") is None:
        raise MissingPart(f"live play needs sounddevice; pip install sounddevice, {INSTEAD}")
    remedy = REMEDIES.get(sys.platform, "install PortAudio")
    raise MissingPart(f"live play needs the library PortAudio; {remedy}, {INSTEAD}")


def _end() -> None:
    """At the program's end, when every stream has closed itself; unless a search for cards hangs just then."""
    if _setting_up.acquire(timeout=1.0):
        with suppress(Exception):
            rest()
        _setting_up.release()


def _another(stuck: PortAudio) -> PortAudio:
    """A second copy of the library, beside one that is stuck. Linux only: elsewhere there is hardly a JACK."""
    try:
        with open("/proc/self/maps", encoding="utf-8") as maps:
            original = next(line.split(maxsplit=5)[5].strip() for line in maps if "libportaudio" in line)
        # The file stays open: the loader knows libraries by their names, and this one's has its number in it.
        descriptor = os.memfd_create("portaudio copy")
        with open(descriptor, "wb", closefd=False) as copy:
            copy.write(Path(original).read_bytes())
        fresh = PortAudio(f"/proc/self/fd/{descriptor}")
    except (OSError, AttributeError, StopIteration):
        raise DeviceError("the sound system does not answer any more; end jawari and start it again") from None
    _kept.append(stuck)
    return fresh
