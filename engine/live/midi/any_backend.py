"""Any other backend of mido's, polled: for a Python that RtMidi has no wheel for."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from engine.compiled import now
from engine.live.errors import MissingPart, PortError
from engine.live.hush import hushed
from engine.live.midi.poller import Poller, hand_on, warm
from engine.live.midi.way import RTMIDI, backend_asked_for

INTERVAL = 0.0005  # seconds, by which stamps may be late: the moment of asking is all that is known
# Both are PortMidi; those through RtMidi call Python from the driver's thread.
BACKENDS = ("mido.backends.pygame", "mido.backends.portmidi")


def any_backend() -> AnyBackend:
    """This way in; MissingPart if no backend is there."""
    try:
        import mido
    except ImportError as error:
        raise MissingPart("mido is not installed (pip install mido)") from error
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    asked, api = backend_asked_for()
    reasons = []
    for module in BACKENDS if asked == RTMIDI else [asked]:
        try:
            with hushed():
                backend = mido.Backend(module, api=None if asked == RTMIDI else api, load=True)
                backend.get_input_names()
        except Exception as error:  # a module of anybody's
            reasons.append(f"{module}: {error}")
            continue
        return AnyBackend(module, backend)
    raise MissingPart(f"mido has no backend that works here ({'; '.join(reasons)})")


class AnyBackend:
    """A way in (way.py)."""

    alive = True

    def __init__(self, module: str, backend: Any) -> None:
        self.title = f"mido with {module}, asked every half millisecond"
        self._backend, self._poller = backend, Poller(INTERVAL)

    def names(self) -> list[str]:
        """Each name once: mido opens by name."""
        try:
            with hushed():
                return list(dict.fromkeys(self._backend.get_input_names()))
        except Exception as error:
            raise PortError(f"MIDI: listing the inputs failed: {error}") from error

    def open(self, name: str, inlet: int, number: int = 0) -> _Port:
        return self._open(name, inlet, virtual=False)

    def open_virtual(self, name: str, inlet: int) -> _Port:
        return self._open(name, inlet, virtual=True)

    def _open(self, name: str, inlet: int, virtual: bool) -> _Port:
        try:
            with hushed():
                port = self._backend.open_input(name, virtual=virtual)
        except Exception as error:
            raise PortError(f"MIDI {'virtual ' if virtual else ''}input {name}: {error}") from error
        return _Port(name, inlet, port, self._poller)

    def close(self) -> None: ...


class _Port:
    """An open input (way.Port, poller.Source)."""

    def __init__(self, name: str, inlet: int, port: Any, poller: Poller) -> None:
        self.name, self.alive = name, True
        self._inlet, self._port, self._poller = inlet, port, poller
        warm(inlet)
        poller.add(self)

    def drain(self) -> None:
        messages: Iterable[Any] = self._port.iter_pending()
        for message in messages:
            hand_on(self._inlet, now(), message.bytes())

    def close(self) -> None:
        self._poller.remove(self)
        try:
            with hushed():
                self._port.close()
        except Exception:  # unplugged: it is as closed as it can be
            pass
