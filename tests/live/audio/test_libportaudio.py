"""PortAudio's binding: compared with sounddevice's declarations, and with what the library says."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from ctypes import POINTER, Structure, c_char_p, c_double, c_int, c_long, c_ulong
from importlib.machinery import ModuleSpec
from typing import Any

import pytest

from engine.live.audio import libportaudio as module
from engine.live.audio.cards import Card
from engine.live.audio.libportaudio import FUNCTIONS, ErrorCode, PortAudio, PortAudioError, places
from engine.live.audio.portaudio import library
from engine.live.audio.stream import Stream
from engine.live.errors import DeviceError, MissingPart

STRUCTURES = {
    "PaStreamParameters": module.Parameters,
    "PaDeviceInfo": module.DeviceInfo,
    "PaHostApiInfo": module.HostApiInfo,
    "PaHostErrorInfo": module.HostErrorInfo,
    "PaStreamInfo": module.StreamInfo,
}
SPELT = {None: "void", c_int: "int", c_long: "long", c_ulong: "unsigned long", c_double: "double", c_char_p: "char *"}


@pytest.fixture
def theirs() -> Any:
    """Another declaration of portaudio.h: sounddevice's, for cffi."""
    return pytest.importorskip("_sounddevice").ffi


@pytest.mark.parametrize("name", STRUCTURES)
def test_structures_lie_in_memory_as_sounddevice_has_them(name: str, theirs: Any) -> None:
    ours: type[Structure] = STRUCTURES[name]
    fields = theirs.typeof(name).fields
    assert ctypes.sizeof(ours) == theirs.sizeof(name)
    assert [field for field, *_ in ours._fields_] == [field for field, _ in fields]
    for field, kind in fields:
        place = getattr(ours, field)
        assert (place.offset, place.size) == (kind.offset, theirs.sizeof(kind.type))


def spelt(kind: Any) -> str:
    """A type of ours, as C has it, with every pointer to what is only handed on as void *."""
    for name, ours in STRUCTURES.items():
        if kind is POINTER(ours):
            return f"struct {name} *"
    return SPELT.get(kind, "void *")


@pytest.fixture
def portaudio() -> PortAudio:
    try:
        return library()
    except (DeviceError, MissingPart) as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_take_and_return_what_sounddevice_says(name: str, theirs: Any, portaudio: PortAudio) -> None:
    said = theirs.typeof(getattr(theirs.dlopen(portaudio.file), name))
    result, *arguments = FUNCTIONS[name]
    assert spelt(result) == said.result.cname
    for ours, other in zip(arguments, said.args, strict=True):
        handed_on = other.kind == "function" or other.cname in ("void *", "void * *")
        assert spelt(ours) == ("void *" if handed_on else other.cname)


def test_the_numbers_are_portaudios(portaudio: PortAudio) -> None:
    words = {
        ErrorCode.CHANNELS: "Invalid number of channels",
        ErrorCode.RATE: "Invalid sample rate",
        ErrorCode.DEVICE: "Invalid device",
        ErrorCode.FORMAT: "Sample format not supported",
        ErrorCode.TOO_BIG: "Buffer too big",
        ErrorCode.TOO_SMALL: "Buffer too small",
        ErrorCode.TIMED_OUT: "Wait timed out",
        ErrorCode.UNAVAILABLE: "Device unavailable",
    }
    assert {*words, ErrorCode.HOST} == set(ErrorCode)
    for code, text in words.items():
        with pytest.raises(PortAudioError) as refusal:
            portaudio._checked(code)
        assert (str(refusal.value), refusal.value.code) == (text, code)
    with pytest.raises(PortAudioError):  # the system's own words, whichever they are
        portaudio._checked(ErrorCode.HOST)
    assert portaudio._checked(3) == 3


def test_a_device_that_is_not_there_is_refused(portaudio: PortAudio) -> None:
    for number in (-1, 10_000):
        with pytest.raises(PortAudioError) as refusal:
            portaudio.check_output(number, 2, 48000.0, 0.1)
        assert refusal.value.code == ErrorCode.DEVICE
        with pytest.raises(PortAudioError):
            portaudio.open_output(number, 2, 48000.0, 128, 0.1, 0, 0)


class Calls:
    """A build of PortAudio that has only what it is made with, and keeps what it was asked."""

    def __init__(self, **results: int | None) -> None:
        self.asked: list[str] = []
        for name, result in results.items():
            setattr(
                self, name, lambda *given, name=name, result=result: self.asked.append(f"{name}{given[1:]}") or result
            )


def on(calls: Calls) -> PortAudio:
    made = object.__new__(PortAudio)
    made._library = calls  # type: ignore[assignment]
    return made


def test_a_build_without_jack_or_alsa_is_not_asked_for_them() -> None:
    plain = Calls()
    on(plain).name_client(b"jawari")
    assert not module.OutputStream(on(plain), plain, ctypes.c_void_p(1)).come_first(True)  # type: ignore[arg-type]
    assert plain.asked == []
    full = Calls(PaJack_SetClientName=0, PaAlsa_EnableRealtimeScheduling=None)
    on(full).name_client(b"jawari")
    assert module.OutputStream(on(full), full, ctypes.c_void_p(1)).come_first(True)  # type: ignore[arg-type]
    assert full.asked == ["PaJack_SetClientName()", "PaAlsa_EnableRealtimeScheduling(True,)"]


@pytest.mark.parametrize("system", ["ALSA", "JACK Audio Connection Kit"])
def test_where_no_thread_may_come_first_it_starts_like_any_other(system: str) -> None:
    """Some PortAudio refuse to start a stream for which that was asked without permission."""
    calls = Calls(PaAlsa_EnableRealtimeScheduling=None, Pa_StartStream=-9999)
    stream = object.__new__(Stream)
    stream.card = Card(0, "usb", system, 2, 48000.0, True, 0.01, 0.04)
    stream._output = module.OutputStream(on(calls), calls, ctypes.c_void_p(1))  # type: ignore[arg-type]
    stream._output._checked = refused_once()  # type: ignore[method-assign]
    if system == "ALSA":
        stream._start()
        hurry = "PaAlsa_EnableRealtimeScheduling"
        assert calls.asked == [f"{hurry}(True,)", "Pa_StartStream()", f"{hurry}(False,)", "Pa_StartStream()"]
    else:
        with pytest.raises(PortAudioError):
            stream._start()
        assert calls.asked == ["Pa_StartStream()"]


def refused_once() -> Callable[[int], int]:
    errors = [PortAudioError("not permitted", -9999)]

    def checked(result: int) -> int:
        if errors:
            raise errors.pop()
        return 0

    return checked


def test_a_closed_stream_is_not_asked_again() -> None:
    calls = Calls(Pa_CloseStream=0, Pa_IsStreamActive=1)
    output = module.OutputStream(on(calls), calls, ctypes.c_void_p(1))  # type: ignore[arg-type]
    assert output.active
    output.close()
    assert not output.active
    assert calls.asked == ["Pa_IsStreamActive()", "Pa_CloseStream()"]


@pytest.mark.parametrize(
    ("system", "machine", "asio", "name"),
    [
        ("darwin", "macosx-14.0-arm64", False, "libportaudio.dylib"),
        ("win32", "win-amd64", False, "libportaudio64bit.dll"),
        ("win32", "win-amd64", True, "libportaudio64bit-asio.dll"),
        ("win32", "win-arm64", False, "libportaudioarm64.dll"),
        ("linux", "linux-x86_64", True, ""),
    ],
)
def test_what_sounddevice_brings_along_is_found_after_what_the_system_has(
    system: str, machine: str, asio: bool, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = ModuleSpec("_sounddevice_data", None, is_package=True)
    assert data.submodule_search_locations is not None
    data.submodule_search_locations.append("data")
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(module.sysconfig, "get_platform", lambda: machine)
    monkeypatch.setattr(module, "find_spec", {"_sounddevice_data": data}.get)
    monkeypatch.setattr(module, "find_library", {"portaudio": "the system's"}.get)
    monkeypatch.delenv("SD_ENABLE_ASIO", raising=False)
    if asio:
        monkeypatch.setenv("SD_ENABLE_ASIO", "1")
    brought = [os.path.join("data", "portaudio-binaries", name)] if name else []
    assert list(places()) == ["the system's", *brought]
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert list(places()) == ["the system's"]


def test_words_of_another_time_are_read_as_well_as_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.locale, "getencoding", lambda: "cp1252")
    said = {"T\u00fcr".encode(): "T\u00fcr", b"T\xfcr": "T\u00fcr", None: ""}
    assert [module._text(words) for words in said] == list(said.values())
