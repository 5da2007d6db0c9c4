"""PortAudio's library: loaded when it is needed, kept quiet, ended with care, replaced when it is stuck.

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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

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


@dataclass
class _Copy:
    """The copy of the library that is in use."""

    file: str = "libportaudio.so.2"  # until sounddevice says which one it has found
    ready: bool = False  # to be left at exit as we want it
    stuck: bool = False  # it must not be asked for anything any more


_copy, _setting_up = _Copy(), threading.RLock()
_kept: list[Any] = []  # all that stuck copies may still touch, even while the interpreter takes itself apart
ctypes.pythonapi.Py_IncRef(ctypes.py_object(_kept))


def library() -> Any:
    """sounddevice, with PortAudio at work."""
    with quiet():
        sounddevice = _load()
        if _copy.stuck:
            _replace(sounddevice)
        if not sounddevice._initialized:
            try:
                sounddevice._check(sounddevice._lib.Pa_Initialize())
            except sounddevice.PortAudioError as error:
                raise _no_beginning(error) from None
            sounddevice._initialized = 1
    return sounddevice


def rest() -> None:
    """End PortAudio until it is needed again, which is how new cards are seen. No stream may be open."""
    with quiet():
        sounddevice = _load()
        while sounddevice._initialized and not _copy.stuck:
            sounddevice._terminate()


def leave(jack_lives: bool) -> None:
    """The same, some time after PortAudio began: a JACK server that it met then may have died meanwhile."""
    with quiet():
        sounddevice = _load()
        if sounddevice._initialized and not _copy.stuck and not jack_lives and _met_jack(sounddevice):
            give_up()
        rest()


def _met_jack(sounddevice: Any) -> bool:
    return any(api["name"].startswith(JACK) for api in sounddevice.query_hostapis())


def give_up(*used: Any) -> None:
    """Never touch this copy of the library again. What it may still use is kept alive."""
    _kept.extend(used)
    _copy.stuck = True


def function(name: str) -> Any:
    """A function of the library that sounddevice does not know, or None if this build has none."""
    with suppress(OSError):
        return getattr(ctypes.CDLL(_copy.file), name, None)
    return None


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


def _load() -> Any:
    if not _copy.ready:
        _introduce()
    try:
        import sounddevice  # type: ignore[import-untyped,unused-ignore]
    except ModuleNotFoundError:
        raise MissingPart(f"live play needs sounddevice; pip install sounddevice, {INSTEAD}") from None
    except OSError:
        remedy = REMEDIES.get(sys.platform, "install PortAudio")
        raise MissingPart(f"live play needs the library PortAudio; {remedy}, {INSTEAD}") from None
    except Exception as error:  # sounddevice's own, which has no name until it is loaded
        raise _no_beginning(error) from None
    if not _copy.ready:
        _copy.ready, _copy.file = True, sounddevice._libname
        atexit.unregister(sounddevice._exit_handler)  # it could hang or abort the program
        atexit.register(_end)
        if "JAWARI_DEBUG" in os.environ:
            rest()  # sounddevice has begun, in silence; we shall do so aloud
    return sounddevice


def _end() -> None:
    """At the program's end, when every stream has closed itself; unless a search for cards hangs just then."""
    if _setting_up.acquire(timeout=1.0):
        with suppress(Exception):
            rest()
        _setting_up.release()


def _no_beginning(error: Exception) -> DeviceError:
    return DeviceError(f"PortAudio does not begin ({error}); restart the sound system, {INSTEAD}")


def _introduce() -> None:
    """Tell JACK our name, which has to be done before PortAudio begins."""
    name_us = function("PaJack_SetClientName") if sys.platform == "linux" else None
    if name_us is not None:
        name_us(ctypes.c_char_p(OUR_NAME))


def _replace(sounddevice: Any) -> None:
    """Have sounddevice work with another copy of the library. Linux only: elsewhere there is hardly a JACK."""
    try:
        with open("/proc/self/maps", encoding="utf-8") as maps:
            original = next(line.split(maxsplit=5)[5].strip() for line in maps if "libportaudio" in line)
        # The file stays open: the loader knows libraries by their names, and this one's has its number in it.
        descriptor = os.memfd_create("portaudio copy")
        with open(descriptor, "wb", closefd=False) as copy:
            copy.write(Path(original).read_bytes())
        file = f"/proc/self/fd/{descriptor}"
        fresh = sounddevice._ffi.dlopen(file)
    except (OSError, AttributeError, StopIteration):
        raise DeviceError("the sound system does not answer any more; end jawari and start it again") from None
    _kept.append(sounddevice._lib)
    sounddevice._lib, sounddevice._initialized = fresh, 0
    _copy.file, _copy.stuck = file, False
    _introduce()
