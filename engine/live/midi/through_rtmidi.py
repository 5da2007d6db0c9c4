"""RtMidi, whoever speaks to it: which of the system's APIs it uses, what it lists, how a port is opened and closed.

Two things it does on JACK cannot be helped from here: messages are stamped when JACK's period begins, wherever in the
period they lie; and after a SysEx message that does not end it is deaf until an event ends as one should.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import NamedTuple, Protocol

from engine.live.errors import PortError
from engine.live.hush import hushed
from engine.live.midi.jack import JackWatch
from engine.live.midi.way import APIS_HERE, CLIENT, JACK, WINDOWS, backend_asked_for


class Handle(Protocol):
    """One object of RtMidi's: it lists ports, and it can open one. What fails is a PortError."""

    @property
    def alive(self) -> bool: ...

    def ports(self) -> list[str]: ...

    def open(self, port: int, inlet: int) -> None: ...

    def open_virtual(self, name: str, inlet: int) -> None: ...

    def close(self) -> None:
        """After this nothing comes into the inlet any more."""


class _Api(NamedTuple):
    """One of the system's APIs, at work."""

    name: str
    watch: JackWatch | None  # JACK's server may go away
    listing: Handle

    def see_off(self, handle: Handle) -> None:
        with hushed():
            if self.watch:
                self.watch.see_off(handle.close)
            else:
                handle.close()

    def end(self) -> None:
        self.see_off(self.listing)
        if self.watch:
            self.watch.close()


class ThroughRtMidi:
    """A way in (way.py). `make` makes a handle for an API, under a name that others see; `library` is RtMidi's file."""

    def __init__(self, title: str, make: Callable[[str, str], Handle], library: str) -> None:
        self._make, self._library = make, library
        self._api = self._choose()
        self.title = f"{title}, {self._api.name}"

    def _choose(self) -> _Api:
        """As RtMidi does, the first API that has ports; but where one fails the others are still tried."""
        asked = backend_asked_for()[1]
        if asked and asked not in APIS_HERE:
            raise PortError(f"MIDO_BACKEND asks for {asked}: on this system it may be {' or '.join(APIS_HERE)}")
        found: list[_Api] = []
        reasons = []
        for name in [asked] if asked else APIS_HERE:
            try:
                found.append(self._begin(name))
            except PortError as error:
                reasons.append(str(error))
                continue
            if found[-1].listing.ports():
                found.reverse()
                break
        if not found:
            raise PortError(" and ".join(reasons))
        for api in found[1:]:
            api.end()
        return found[0]

    def _begin(self, name: str) -> _Api:
        watch = JackWatch(ctypes.CDLL(self._library), f"{CLIENT}-watch") if name == JACK else None
        try:
            with hushed():
                return _Api(name, watch, self._make(name, f"{CLIENT}-list"))
        except PortError:
            if watch:
                watch.close()
            raise

    @property
    def alive(self) -> bool:
        return self._api.watch is None or self._api.watch.alive

    def names(self) -> list[str]:
        with hushed():
            return self._api.listing.ports()

    def open(self, name: str, inlet: int, number: int = 0) -> _Port:
        handle = self._handle(f"{CLIENT}-in")
        try:
            with hushed():
                listed = handle.ports()
                places = [place for place, other in enumerate(listed) if other == name]
                if number >= len(places):
                    raise PortError(f"MIDI input {name} is not there any more")
                handle.open(places[number], inlet)
                if handle.ports() != listed:  # RtMidi knows ports by their place in the list
                    raise PortError(f"MIDI input {name}: inputs come and go just now; try again")
        except PortError:
            self._api.see_off(handle)
            raise
        return _Port(name, handle, self._api.see_off)

    def open_virtual(self, name: str, inlet: int) -> _Port:
        if self._api.name == WINDOWS:
            raise PortError("Windows has no virtual MIDI ports: install a loopback driver and pass its name to --midi")
        handle = self._handle(f"{CLIENT}-midi")
        try:
            with hushed():
                handle.open_virtual(name, inlet)
        except PortError:
            self._api.see_off(handle)
            raise
        return _Port(name, handle, self._api.see_off)

    def _handle(self, client: str) -> Handle:
        if not self.alive:  # a new client would be the end of all others
            raise PortError("JACK's server is gone")
        with hushed():
            return self._make(self._api.name, client)

    def close(self) -> None:
        self._api.end()


class _Port:
    """An open input: a handle of its own, which no other port shares."""

    def __init__(self, name: str, handle: Handle, see_off: Callable[[Handle], None]) -> None:
        self.name, self._handle, self._see_off = name, handle, see_off
        self._open = True

    @property
    def alive(self) -> bool:
        return self._handle.alive

    def close(self) -> None:
        if self._open:
            self._open = False
            self._see_off(self._handle)
