"""Being told to stop: by Ctrl-C, by SIGTERM, by a terminal that closes. All end a command alike, and never halfway."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import Any

from engine.ending import end, may_end
from engine.terminal import tell

ENDINGS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
ECHO = 1.0  # s in which a further signal is an echo: wrappers send theirs to the group and to us
_AGAIN = 0.02  # s after which a signal that came to nothing is sent once more


class Stopped(SystemExit):
    """What every ending but Ctrl-C raises, with the exit code by which shells know it."""


class _Ear:
    """Hears the signals: raises at once or, while held, when let go."""

    def __init__(self) -> None:
        self.held, self.waiting, self.last = False, 0, -inf

    def hear(self, number: int, _: object) -> None:
        now = time.monotonic()
        if may_end():
            end(number)
        if self.held:
            self.waiting = self.waiting or number
        elif now - self.last > ECHO:
            self.last = now
            raise KeyboardInterrupt if number == signal.SIGINT else Stopped(128 + number)

    def hear_again(self, number: int) -> None:
        """What was raised has reached nobody."""
        self.last = -inf
        main = threading.main_thread().ident
        if hasattr(signal, "pthread_kill") and main is not None:
            signal.pthread_kill(main, number)  # which wakes it up, too
        else:
            signal.raise_signal(number)

    def hold(self, held: bool) -> None:
        self.held = held
        if self.waiting and not held:
            number, self.waiting = self.waiting, 0
            signal.raise_signal(number)


_ear = _Ear()


def met() -> None:
    """An interrupt is dealt with. One that came through the eval of a text (namedtuple, dataclass) is remembered by
    Python, which would end itself by the signal at last, until a text is run again."""
    exec("")


def _mind() -> None:
    """Where Python cannot raise an interrupt, in a callback from C or a finalizer, it drops it: send it again then."""
    before = sys.unraisablehook
    if getattr(before, "minds", False):
        return

    def hook(unraisable: Any) -> None:
        if issubclass(unraisable.exc_type, (KeyboardInterrupt, Stopped)):
            number = unraisable.exc_value.code - 128 if unraisable.exc_type is Stopped else signal.SIGINT
            threading.Timer(_AGAIN, _ear.hear_again, (number,)).start()
        else:
            before(unraisable)

    hook.minds = True  # type: ignore[attr-defined]
    sys.unraisablehook = hook


def listen(*numbers: int) -> dict[int, object]:
    """Hear these signals from now on, except those that are ignored (nohup, jobs in the background); what was before.

    Python hands signals to the main thread; in any other nothing is changed.
    """
    if threading.current_thread() is not threading.main_thread():
        return {}
    _mind()
    ours = [number for number in numbers if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    return {number: signal.signal(number, _ear.hear) for number in ours}


@contextmanager
def stoppable(*more: int) -> Iterator[None]:
    """Whatever tells the block to stop, and `more` signals, are raised in it, so that it can clean up behind itself."""
    _ear.last = -inf
    before = listen(*ENDINGS, *more)
    try:
        yield
    except (KeyboardInterrupt, Stopped) as stop:
        if _ear.last > -inf:
            before = {}  # the process is ending: echoes must go on being heard as such
        if isinstance(stop, Stopped):
            tell("interrupted")
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]


class held:
    """Signals wait until the `with` block is through, for steps between which something would be left lying about.

    It gives whether they were waiting already, for a block around this one. No generator, as it could be broken off
    on its way out, and finished at any later time.
    """

    def __enter__(self) -> bool:
        self._before = _ear.held
        _ear.hold(True)
        return self._before

    def __exit__(self, *_: object) -> None:
        _ear.hold(self._before)


class let_in:
    """Within `held`, a block that signals may break off, but `not_before` what is around it is through as well."""

    def __init__(self, not_before: bool = False) -> None:
        self._held = not_before

    def __enter__(self) -> None:
        _ear.hold(self._held)

    def __exit__(self, *_: object) -> None:
        _ear.hold(True)
