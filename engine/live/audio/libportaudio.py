"""PortAudio's library: where it lies, and what of it is called. Every function is declared once, as portaudio.h has it.

Text that comes from here is the sound system's own, and may hold anything.
"""

from __future__ import annotations

import ctypes
import locale
import os
import sys
import sysconfig
from collections.abc import Iterator
from ctypes import POINTER, Structure, c_char_p, c_double, c_int, c_long, c_ulong, c_void_p
from ctypes.util import find_library
from enum import IntEnum
from importlib.util import find_spec
from typing import Any, NamedTuple

BROUGHT = ("darwin", "win32")  # the systems for which sounddevice's wheels bring the library along
FLOAT32 = 1
NO_CLIPPING, NO_DITHER = 1, 2  # the player's own ceiling is below full scale, and floats need no dither


class ErrorCode(IntEnum):
    """Errors, of portaudio.h, that a user can do something about; HOST is anything else that went wrong."""

    HOST, CHANNELS, RATE, DEVICE = -9999, -9998, -9997, -9996
    FORMAT, TOO_BIG, TOO_SMALL, TIMED_OUT, UNAVAILABLE = -9994, -9991, -9990, -9987, -9985


class Parameters(Structure):
    """PaStreamParameters."""

    _fields_ = (
        ("device", c_int),
        ("channelCount", c_int),
        ("sampleFormat", c_ulong),
        ("suggestedLatency", c_double),
        ("hostApiSpecificStreamInfo", c_void_p),
    )


class DeviceInfo(Structure):
    """PaDeviceInfo."""

    _fields_ = (
        ("structVersion", c_int),
        ("name", c_char_p),
        ("hostApi", c_int),
        ("maxInputChannels", c_int),
        ("maxOutputChannels", c_int),
        ("defaultLowInputLatency", c_double),
        ("defaultLowOutputLatency", c_double),
        ("defaultHighInputLatency", c_double),
        ("defaultHighOutputLatency", c_double),
        ("defaultSampleRate", c_double),
    )


class HostApiInfo(Structure):
    """PaHostApiInfo."""

    _fields_ = (
        ("structVersion", c_int),
        ("type", c_int),
        ("name", c_char_p),
        ("deviceCount", c_int),
        ("defaultInputDevice", c_int),
        ("defaultOutputDevice", c_int),
    )


class HostErrorInfo(Structure):
    """PaHostErrorInfo."""

    _fields_ = (("hostApiType", c_int), ("errorCode", c_long), ("errorText", c_char_p))


class StreamInfo(Structure):
    """PaStreamInfo."""

    _fields_ = (
        ("structVersion", c_int),
        ("inputLatency", c_double),
        ("outputLatency", c_double),
        ("sampleRate", c_double),
    )


# What each function returns, and what it takes; pointers to streams and to callbacks are plain addresses.
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "Pa_Initialize": (c_int,),
    "Pa_Terminate": (c_int,),
    "Pa_GetErrorText": (c_char_p, c_int),
    "Pa_GetLastHostErrorInfo": (POINTER(HostErrorInfo),),
    "Pa_GetHostApiCount": (c_int,),
    "Pa_GetHostApiInfo": (POINTER(HostApiInfo), c_int),
    "Pa_GetDeviceCount": (c_int,),
    "Pa_GetDeviceInfo": (POINTER(DeviceInfo), c_int),
    "Pa_GetDefaultOutputDevice": (c_int,),
    "Pa_IsFormatSupported": (c_int, POINTER(Parameters), POINTER(Parameters), c_double),
    "Pa_OpenStream": (
        *(c_int, POINTER(c_void_p), POINTER(Parameters), POINTER(Parameters)),
        *(c_double, c_ulong, c_ulong, c_void_p, c_void_p),
    ),
    "Pa_GetStreamInfo": (POINTER(StreamInfo), c_void_p),
    "Pa_GetStreamCpuLoad": (c_double, c_void_p),
    "Pa_IsStreamActive": (c_int, c_void_p),
    "Pa_StartStream": (c_int, c_void_p),
    "Pa_StopStream": (c_int, c_void_p),
    "Pa_CloseStream": (c_int, c_void_p),
}
# Those of one sound system, which only builds with it have.
SYSTEMS_OWN: dict[str, tuple[Any, ...]] = {
    "PaJack_SetClientName": (c_int, c_char_p),
    "PaAlsa_EnableRealtimeScheduling": (None, c_void_p, c_int),
}


class PortAudioError(Exception):
    """Something that PortAudio refused: its number, and its words or those of the sound system below it."""

    def __init__(self, text: str, code: int = 0) -> None:
        super().__init__(text)
        self.code = code


class HostApi(NamedTuple):
    """A sound system: ALSA, JACK, CoreAudio ..."""

    name: str
    default_output: int  # -1: none


class Device(NamedTuple):
    """What sound goes to or comes from, with the latencies (s) that it calls low and high."""

    number: int
    name: str
    host_api: int
    channels: int
    rate: float
    low: float
    high: float


class PortAudio:
    """A copy of the library. What fails is a PortAudioError."""

    def __init__(self, file: str) -> None:
        """OSError, or AttributeError, if this is no PortAudio."""
        self.file, self._library = file, ctypes.CDLL(file)
        for name, (result, *arguments) in (FUNCTIONS | SYSTEMS_OWN).items():
            if name in FUNCTIONS or hasattr(self._library, name):
                function = getattr(self._library, name)
                function.restype, function.argtypes = result, arguments

    def begin(self) -> None:
        """Look for cards; before anything else."""
        self._checked(self._library.Pa_Initialize())

    def end(self) -> None:
        """Let go of all that `begin` took."""
        self._checked(self._library.Pa_Terminate())

    def host_apis(self) -> list[HostApi]:
        """Every sound system, by its number."""
        count = self._checked(self._library.Pa_GetHostApiCount())
        found = (self._library.Pa_GetHostApiInfo(index).contents for index in range(count))
        return [HostApi(_text(info.name), info.defaultOutputDevice) for info in found]

    def devices(self) -> list[Device]:
        """Every device, by its number."""
        count = self._checked(self._library.Pa_GetDeviceCount())
        found = (self._library.Pa_GetDeviceInfo(index).contents for index in range(count))
        return [
            Device(
                index,
                _text(info.name),
                info.hostApi,
                info.maxOutputChannels,
                info.defaultSampleRate,
                info.defaultLowOutputLatency,
                info.defaultHighOutputLatency,
            )
            for index, info in enumerate(found)
        ]

    def default_output(self) -> int:
        """The number of the device that sound goes to if nobody says another; -1: none."""
        return int(self._library.Pa_GetDefaultOutputDevice())

    def check_output(self, device: int, channels: int, rate: float, latency: float) -> None:
        """An error if this device cannot play so, in float32."""
        wanted = Parameters(device, channels, FLOAT32, latency, None)
        self._checked(self._library.Pa_IsFormatSupported(None, ctypes.byref(wanted), rate))

    def open_output(
        self, device: int, channels: int, rate: float, frames: int, latency: float, callback: int, told: int
    ) -> OutputStream:
        """A stream of float32, for which the compiled function at `callback` is called, and given `told`."""
        wanted, pointer = Parameters(device, channels, FLOAT32, latency, None), c_void_p()
        flags = NO_CLIPPING | NO_DITHER
        self._checked(
            self._library.Pa_OpenStream(
                ctypes.byref(pointer), None, ctypes.byref(wanted), rate, frames, flags, callback, told
            )
        )
        return OutputStream(self, self._library, pointer)

    def name_client(self, name: bytes) -> None:
        """How JACK shows us. To be said before `begin`; PortAudio keeps the pointer."""
        if hasattr(self._library, "PaJack_SetClientName"):
            self._library.PaJack_SetClientName(name)

    def _checked(self, result: int) -> int:
        """What a function returned, unless that is an error."""
        if result >= 0:
            return result
        words = _text(self._library.Pa_GetErrorText(result))
        if result == ErrorCode.HOST:
            words = _text(self._library.Pa_GetLastHostErrorInfo().contents.errorText) or words
        raise PortAudioError(words, result)


class OutputStream:
    """An open stream."""

    def __init__(self, portaudio: PortAudio, library: ctypes.CDLL, pointer: c_void_p) -> None:
        self._checked, self._library, self._pointer = portaudio._checked, library, pointer

    @property
    def latency(self) -> float:
        """Seconds from a block's computation to its sound."""
        return float(self._library.Pa_GetStreamInfo(self._pointer).contents.outputLatency)

    @property
    def active(self) -> bool:
        """Whether the callback is being called."""
        return bool(self._pointer) and self._checked(self._library.Pa_IsStreamActive(self._pointer)) == 1

    @property
    def cpu_load(self) -> float:
        """The share of its time that the callback takes."""
        return float(self._library.Pa_GetStreamCpuLoad(self._pointer))

    def come_first(self, wish: bool) -> bool:
        """Ask ALSA that the stream's thread comes before all others, or not; whether it can be asked."""
        if not hasattr(self._library, "PaAlsa_EnableRealtimeScheduling"):
            return False
        self._library.PaAlsa_EnableRealtimeScheduling(self._pointer, wish)
        return True

    def start(self) -> None:
        """Have the callback called from now on."""
        self._checked(self._library.Pa_StartStream(self._pointer))

    def stop(self) -> None:
        """Play what is computed, and no more."""
        self._library.Pa_StopStream(self._pointer)

    def close(self) -> None:
        """Drop what is not played yet; nothing can be asked afterwards."""
        pointer, self._pointer = self._pointer, c_void_p()
        self._library.Pa_CloseStream(pointer)


def places() -> Iterator[str]:
    """Where the library may lie, best first: the system's own, conda's, and what sounddevice's wheels bring along."""
    for name in ("portaudio", "bin\\libportaudio-2.dll", "lib/libportaudio.dylib"):
        if found := find_library(name):
            yield found
    data = find_spec("_sounddevice_data") if sys.platform in BROUGHT else None
    for folder in (data and data.submodule_search_locations) or ():
        yield os.path.join(folder, "portaudio-binaries", _brought())


def _brought() -> str:
    """The name of the library in sounddevice's wheel for this system."""
    if sys.platform == "darwin":
        return "libportaudio.dylib"
    machine = "arm64" if "arm64" in sysconfig.get_platform() else f"{8 * ctypes.sizeof(c_void_p)}bit"
    return f"libportaudio{machine}{'-asio' if 'SD_ENABLE_ASIO' in os.environ else ''}.dll"


def _text(words: bytes | None) -> str:
    """UTF-8; some of Windows' sound systems speak the language of the place instead."""
    words = words or b""
    try:
        return words.decode()
    except UnicodeDecodeError:
        return words.decode(locale.getencoding(), "replace")
