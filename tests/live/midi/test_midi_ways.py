"""Choosing a way in, and the corners of each that need no server."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from engine.live.errors import MissingPart, PortError
from engine.live.hush import hushed
from engine.live.midi import choice, jack, native, through_rtmidi
from engine.live.midi.poller import Poller
from engine.live.midi.way import backend_asked_for, is_ours

# --- which way --------------------------------------------------------------------------------------------------------


class Way:
    def __init__(self, title: str) -> None:
        self.title = title

    def close(self) -> None: ...


def ways(monkeypatch: pytest.MonkeyPatch, **results: Exception | None) -> None:
    """Have each way be there, or fail so."""
    monkeypatch.delenv("MIDO_BACKEND", raising=False)
    for name in ("native", "polled", "any_backend"):

        def way(name: str = name) -> Way:
            error = results.get(name)
            if error:
                raise error
            return Way(name)

        monkeypatch.setattr(choice, name, way)


def test_the_first_that_works_is_taken_and_it_is_said_why(monkeypatch: pytest.MonkeyPatch) -> None:
    ways(monkeypatch)
    assert choice.describe() == choice.best().title == "native"
    ways(monkeypatch, native=MissingPart("no library"))
    assert choice.describe() == "polled; no library"
    ways(monkeypatch, native=MissingPart("no library"), polled=MissingPart("no wheel"))
    assert choice.describe() == "any_backend; no library; no wheel"


def test_if_there_is_none_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = {name: MissingPart(f"{name} is not installed") for name in ("native", "polled", "any_backend")}
    ways(monkeypatch, **nothing)
    with pytest.raises(MissingPart, match=r"native is not installed; polled .*; any_backend .*; --keys"):
        choice.best()
    ways(monkeypatch, **{**nothing, "native": PortError("no sequencer"), "polled": PortError("nor here")})
    assert choice.describe() == "no MIDI: no sequencer; --keys plays on the computer's keys"
    assert MissingPart.exit_code == 11


def test_a_backend_that_is_asked_for_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    ways(monkeypatch)
    monkeypatch.setenv("MIDO_BACKEND", "mido.backends.pygame")
    assert choice.best().title == "any_backend"
    monkeypatch.setenv("MIDO_BACKEND", "mido.backends.rtmidi/LINUX_ALSA")
    assert choice.best().title == "native"


def test_a_backend_that_does_not_exist_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDO_BACKEND", "no.such_backend")
    with pytest.raises(MissingPart, match=r"no\.such_backend"):
        choice.best()


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("", ("mido.backends.rtmidi", None)),
        ("mido.backends.rtmidi/UNIX_JACK", ("mido.backends.rtmidi", "UNIX_JACK")),
        ("mido.backends.pygame", ("mido.backends.pygame", None)),
    ],
)
def test_the_environment_asks_as_it_asks_mido(
    text: str, asked: tuple[str, str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIDO_BACKEND", text)
    assert backend_asked_for() == asked


@pytest.mark.parametrize("name", ["jawari:jawari", "jawari-in:in 128:0", "jawari-midi-01:jawari"])
def test_our_own_ports_are_known(name: str) -> None:
    assert is_ours(name)
    assert not is_ours(f"other {name}")
    assert not is_ours(name.replace(":", " "))


# --- which of the system's APIs ---------------------------------------------------------------------------------------


class Handle:
    """RtMidi's, with these ports."""

    alive = True

    def __init__(self, ports: list[str]) -> None:
        self.listed, self.closed = ports, False

    def ports(self) -> list[str]:
        return self.listed

    def close(self) -> None:
        self.closed = True


def through(monkeypatch: pytest.MonkeyPatch, **apis: list[str] | None) -> tuple[str, dict[str, Handle]]:
    """What is chosen where APIs have these ports, or fail; and the handles that were made."""
    monkeypatch.setattr(through_rtmidi, "APIS_HERE", tuple(apis))
    handles: dict[str, Handle] = {}

    def make(api: str, client: str) -> Any:
        ports = apis[api]
        if ports is None:
            raise PortError(f"{api} does not work here")
        handles[api] = Handle(ports)
        return handles[api]

    return through_rtmidi.ThroughRtMidi("RtMidi", make, "").title, handles


def test_the_first_api_with_ports_is_taken_or_else_the_first_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MIDO_BACKEND", raising=False)
    title, handles = through(monkeypatch, A=[], B=["keys"], C=["pads"])
    assert title == "RtMidi, B"
    assert {name: handle.closed for name, handle in handles.items()} == {"A": True, "B": False}
    assert through(monkeypatch, A=None, B=[])[0] == "RtMidi, B"
    title, handles = through(monkeypatch, A=[], B=None, C=[])
    assert title == "RtMidi, A"
    assert {name: handle.closed for name, handle in handles.items()} == {"A": False, "C": True}
    with pytest.raises(PortError, match="A does not work here and B does not work here"):
        through(monkeypatch, A=None, B=None)


def test_an_api_that_is_asked_for_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDO_BACKEND", "mido.backends.rtmidi/B")
    assert through(monkeypatch, A=["keys"], B=[])[0] == "RtMidi, B"
    with pytest.raises(PortError, match="asks for B: on this system it may be A or C"):
        through(monkeypatch, A=["keys"], C=[])


# --- RtMidi's C library -----------------------------------------------------------------------------------------------


def test_a_missing_library_names_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "LIBRARIES", ("libno-such-thing.so",))
    monkeypatch.setattr(native.ctypes.util, "find_library", lambda name: None)
    with pytest.raises(MissingPart, match="librtmidi6"):
        native.native()


def test_version_3_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its callback has no size: the library there is one without what came with version 4."""
    monkeypatch.setattr(native, "_names", lambda: iter(["old"]))
    monkeypatch.setattr(native.ctypes, "CDLL", lambda name: SimpleNamespace())
    with pytest.raises(MissingPart):
        native.native()


def test_the_result_of_a_call_is_where_each_version_has_it() -> None:
    pointer = ctypes.sizeof(ctypes.c_void_p)
    assert native.Wrapper.ok.offset == 2 * pointer
    assert native.LaterWrapper.ok.offset == 3 * pointer
    assert native.LaterWrapper.callback.offset == native.Wrapper.callback.offset == pointer


class OldLibrary:
    """Version 4: it returns names, in memory that is the caller's to free. And version 5: it writes them."""

    def __init__(self, returns: bool) -> None:
        self.ok, self._returns = True, returns

    def rtmidi_in_create(self, *arguments: Any) -> Any:
        return ctypes.pointer(native.Wrapper(1, None, self.ok))

    def rtmidi_in_get_current_api(self, device: Any) -> int:
        return 3

    def rtmidi_get_port_count(self, device: Any) -> int:
        return 2

    def rtmidi_get_port_name(self, device: Any, port: int, text: Any, size: Any) -> int:
        name = ["Klavier ü".encode(), b""][port]
        if self._returns:
            libc = ctypes.CDLL(None)
            libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
            copy = libc.malloc(len(name) + 1)
            ctypes.memmove(copy, name + b"\0", len(name) + 1)
            return int(copy)
        ctypes.memmove(text, name + b"\0", len(name) + 1)
        return len(name)


@pytest.mark.skipif(sys.platform == "win32", reason="takes memory from the C library by its POSIX name")
@pytest.mark.parametrize("returns", [True, False], ids=["version 4", "version 5"])
def test_names_are_read_from_every_version(returns: bool) -> None:
    handle = native.CHandle(OldLibrary(returns), "UNIX_JACK", "jawari-in")
    assert handle.ports() == ["Klavier ü", ""]


def test_an_error_is_known_by_the_flag_alone() -> None:
    library = OldLibrary(returns=False)
    handle = native.CHandle(library, "UNIX_JACK", "jawari-in")

    def fail(device: Any) -> int:
        device.contents.ok = False
        return 0

    library.rtmidi_get_port_count = fail  # type: ignore[method-assign]
    with pytest.raises(PortError, match="listing the inputs failed"):
        handle.ports()
    library.rtmidi_get_port_count = lambda device: 0  # type: ignore[method-assign]
    assert handle.ports() == []  # the flag is ours to reset
    library.ok = False
    with pytest.raises(PortError, match="UNIX_JACK does not work here"):
        native.CHandle(library, "UNIX_JACK", "jawari-in")


# --- the thread that asks ---------------------------------------------------------------------------------------------


INTERVAL = 0.001


class Source:
    def __init__(self, work: Callable[[], None] = lambda: None) -> None:
        self.alive, self.times, self._work = True, 0, work

    def drain(self) -> None:
        self.times += 1
        self._work()


def threads() -> int:
    return sum(thread.name == "midi" for thread in threading.enumerate())


def test_a_source_that_fails_does_not_stop_the_others() -> None:
    def fail() -> None:
        raise OSError("unplugged")

    poller, bad, good = Poller(INTERVAL), Source(fail), Source()
    poller.add(bad)
    poller.add(good)
    time.sleep(50 * INTERVAL)
    assert (bad.alive, bad.times, good.alive) == (False, 1, True)
    assert good.times > 10
    poller.remove(bad)
    poller.remove(good)


def test_after_its_removal_a_source_is_not_asked_any_more() -> None:
    poller = Poller(INTERVAL)
    slow = Source(lambda: time.sleep(0.02))
    poller.add(slow)
    time.sleep(0.005)  # it is being asked now
    poller.remove(slow)
    times = slow.times
    time.sleep(0.05)
    assert slow.times == times
    poller.remove(slow)  # for the second time


def test_there_is_one_thread_and_only_as_long_as_it_is_needed() -> None:
    poller, before = Poller(INTERVAL), threads()
    for _ in range(3):
        sources = [Source() for _ in range(4)]
        for source in sources:
            poller.add(source)
        assert threads() == before + 1
        for source in sources:
            poller.remove(source)
    time.sleep(50 * INTERVAL)
    assert threads() == before


# --- silence ----------------------------------------------------------------------------------------------------------


def test_what_c_code_says_is_not_seen_and_what_comes_after_is(capfd: pytest.CaptureFixture[str]) -> None:
    with hushed():
        os.write(2, b"ALSA lib says\n")
    os.write(2, b"and we say\n")
    assert capfd.readouterr().err == "and we say\n"
    with pytest.raises(PortError), hushed():
        raise PortError("busy")
    os.write(2, b"still\n")
    assert capfd.readouterr().err == "still\n"


def test_the_last_who_wanted_silence_ends_it(capfd: pytest.CaptureFixture[str]) -> None:
    first, second = hushed(), hushed()  # of two threads, say: neither lies within the other
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    os.write(2, b"still silent\n")
    second.__exit__(None, None, None)
    os.write(2, b"heard\n")
    assert capfd.readouterr().err == "heard\n"


def test_silence_needs_no_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(number: int) -> int:
        raise OSError("bad file descriptor")

    monkeypatch.setattr(os, "dup", closed)
    with hushed():
        pass


# --- JACK's library ---------------------------------------------------------------------------------------------------


def test_a_library_that_hangs_does_not_hang_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jack, "PATIENCE", 0.05)
    monkeypatch.setattr(jack.JackWatch, "stuck", False)
    watch = jack.JackWatch(SimpleNamespace(), "test")  # type: ignore[arg-type]
    watch._died.value = 1
    gate = threading.Event()
    watch.see_off(lambda: None)
    assert not jack.JackWatch.stuck
    begun = time.monotonic()
    watch.see_off(lambda: gate.wait(10) and None)
    assert time.monotonic() - begun < 5.0
    gate.set()
    with pytest.raises(PortError, match="start jawari again"):
        jack.JackWatch(SimpleNamespace(), "test")  # type: ignore[arg-type]
