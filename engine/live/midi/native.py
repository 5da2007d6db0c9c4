"""RtMidi's C library: messages go from the driver's thread to compiled code, and no interpreter is in the path."""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from collections.abc import Iterator
from typing import Any

from engine.live.errors import MissingPart, PortError
from engine.live.midi.through_rtmidi import ThroughRtMidi
from engine.live.midi.way import API_NUMBERS

# RtMidi 4 to 6 and what may follow.
LIBRARIES = {
    "darwin": ("librtmidi.dylib", "/opt/homebrew/lib/librtmidi.dylib"),
    "win32": ("rtmidi.dll", "librtmidi.dll"),
}.get(sys.platform, ("librtmidi.so.8", "librtmidi.so.7", "librtmidi.so.6", "librtmidi.so.5"))
QUEUE = 128  # messages; nothing is queued, since there is a callback
LONGEST_NAME = 512
UNTOUCHED = 0xFF  # begins no UTF-8 text


def native() -> ThroughRtMidi:
    """This way in; MissingPart or PortError if it is not there."""
    name, library = _library()
    return ThroughRtMidi(f"RtMidi's C library ({name})", lambda api, client: CHandle(library, api, client), name)


def _library() -> tuple[str, ctypes.CDLL]:
    for name in _names():
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        if hasattr(library, "rtmidi_api_name"):  # version 3 does not tell its callback how long a message is
            return name, _declared(library)
    raise MissingPart("RtMidi's C library is not installed (Debian, Ubuntu: librtmidi6 or 7; Homebrew: rtmidi)")


def _names() -> Iterator[str]:
    yield from LIBRARIES
    found = ctypes.util.find_library("rtmidi")
    if found:
        yield found


class Wrapper(ctypes.Structure):
    """What the library calls a device. `ok` stays false after an error until somebody resets it.

    The error's text, which follows, is never read: up to version 6 it lies in memory that is free again by then.
    """

    _fields_ = (("object", ctypes.c_void_p), ("callback", ctypes.c_void_p), ("ok", ctypes.c_bool))


class LaterWrapper(ctypes.Structure):
    """The same since errors have a callback, too."""

    _fields_ = (*Wrapper._fields_[:2], ("error_callback", ctypes.c_void_p), Wrapper._fields_[2])


def _declared(library: ctypes.CDLL) -> ctypes.CDLL:
    device = ctypes.POINTER(LaterWrapper if hasattr(library, "rtmidi_set_error_callback") else Wrapper)
    number, text, address, yes = ctypes.c_uint, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_bool
    for name, result, arguments in (
        ("in_create", device, (ctypes.c_int, text, number)),
        ("in_free", None, (device,)),
        ("in_get_current_api", ctypes.c_int, (device,)),
        ("in_set_callback", None, (device, address, address)),
        ("in_ignore_types", None, (device, yes, yes, yes)),
        ("open_port", None, (device, number, text)),
        ("open_virtual_port", None, (device, text)),
        ("get_port_count", number, (device,)),
        ("get_port_name", address, (device, number, text, ctypes.POINTER(ctypes.c_int))),
    ):
        function = getattr(library, f"rtmidi_{name}")
        function.restype, function.argtypes = result, arguments
    return library


class CHandle:
    """One of the library's devices (through_rtmidi.Handle)."""

    alive = True

    def __init__(self, library: Any, api: str, client: str) -> None:
        self._library = library
        self._device = library.rtmidi_in_create(API_NUMBERS[api], client.encode(), QUEUE)
        ok = self._device.contents.ok
        # A library built without this API takes another one, if it can.
        if not ok or library.rtmidi_in_get_current_api(self._device) != API_NUMBERS[api]:
            if ok:
                self.close()
            raise PortError(f"{api} does not work here")

    def _call(self, what: str, function: Any, *arguments: Any) -> Any:
        self._device.contents.ok = True
        result = function(self._device, *arguments)
        if not self._device.contents.ok:
            raise PortError(f"MIDI: {what} failed; is another program using the port?")
        return result

    def ports(self) -> list[str]:
        count = self._call("listing the inputs", self._library.rtmidi_get_port_count)
        return [self._name(port) for port in range(count)]

    def _name(self, port: int) -> str:
        """Version 5 writes the name where it is told to; version 4 knows nothing of that and returns a copy."""
        text, size = ctypes.create_string_buffer(bytes([UNTOUCHED]), LONGEST_NAME), ctypes.c_int(LONGEST_NAME)
        copy = self._call("listing the inputs", self._library.rtmidi_get_port_name, port, text, ctypes.byref(size))
        if text.raw[0] != UNTOUCHED or not copy:
            return text.value.decode("utf-8", "replace")
        name = ctypes.string_at(copy).decode("utf-8", "replace")
        if sys.platform != "win32":  # where the library may have an allocator of its own
            ctypes.CDLL(None).free(ctypes.c_void_p(copy))
        return name

    def open(self, port: int, inlet: int) -> None:
        self._fill(inlet)
        self._call("opening an input", self._library.rtmidi_open_port, port, b"in")

    def open_virtual(self, name: str, inlet: int) -> None:
        self._fill(inlet)
        self._call("opening a virtual input", self._library.rtmidi_open_virtual_port, name.encode())

    def _fill(self, inlet: int) -> None:
        from engine.live.thread import callback

        midi: Any = callback.midi
        self._call("listening", self._library.rtmidi_in_set_callback, midi.address, inlet)
        self._library.rtmidi_in_ignore_types(self._device, False, False, True)  # active sensing alone

    def close(self) -> None:
        # The library would free what leads from its callback to ours before it stops the thread that goes this way:
        # these few bytes are better lost.
        self._device.contents.callback = None
        self._library.rtmidi_in_free(self._device)
