"""Designs behind the player's back: what a turned knob makes of the instrument, as fast as it can be heard.

Of several wishes the newest counts. Keys that sound are designed first and taken over at once; then all the others.
Nobody listens to them yet: each keeps the gain that it had, and is off its pitch by itself by as much as it was. Once
the knob has rested, keys that sound are tuned by ear again; then every key is, and rehearsed, so that it is as loud as
those of any preset. States that have been heard before are kept, and come back without a design.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.compiled import now
from engine.errors import EngineError
from engine.layout import seen
from engine.live.player import Player
from engine.preset.loader import Preset
from engine.printable import printable
from engine.synth.bank import Designed, Setup, design
from engine.synth.image import designed_or_kept
from engine.synth.instrument import Instrument
from engine.synth.keys import Retuned
from engine.synth.memory import FREE, KEYS, Joint
from engine.synth.shaping import Making
from engine.synth.strings import SHAPE_OF
from engine.units import db_to_gain

REST = 0.3  # s that nothing is wished for before anybody listens to keys
KEPT = 8  # states whose designs are kept
PATIENCE = 0.25  # s in which the audio thread takes over what it was given
MIDDLE = 54  # a key near which one is heard where none sounds

Gains = NDArray[np.float64]
Kind = tuple[int, float, int, int]


class Stale(Exception):
    """A newer wish has come: what is being designed is given up."""


@dataclass(frozen=True)
class Wish:
    """What should sound, since when it is wished for, whether its pickups are new, so that no old gain fits, and
    whether all of it is, so that nobody knows how it is tuned."""

    text: str
    preset: Preset
    since: int  # ns
    other_ears: bool = False
    another: bool = False


class Workshop:
    """A thread that designs, for one player. `tell` hears what has happened: it must not wait."""

    def __init__(self, player: Player, make: Callable[[Preset], Setup], tell: Callable[[dict[str, Any]], None]) -> None:
        self._player, self._make, self._tell = player, make, tell
        self._newest: Wish | None = None
        self._wished, self._ended = threading.Condition(), False
        self._kept: OrderedDict[str, Designed] = OrderedDict()  # whole and rehearsed, by text
        self._gains: Gains = np.ones(KEYS)  # of what is played now, without the preset's own
        self._like = Making("")  # what they come from
        self._retuned: Retuned | None = None  # how its strings are tuned by themselves
        self._tuned: Making | None = None  # where that comes from
        self._thread = threading.Thread(target=self._run, name="workshop", daemon=True)
        self._rehearsal: threading.Thread | None = None
        self.instrument: Instrument | None = None
        self.making = self._like  # of that
        self._said: Kind | None = None  # of which kind what rings out was said to be replaced by
        self.settled = threading.Event()  # nothing is left to be done

    def begin(self, text: str, preset: Preset) -> Instrument:
        """The first instrument, whole; the thread starts."""
        setup = self._make(preset)
        designed = designed_or_kept(setup)
        self.instrument = self._laid_out(setup, designed)
        self._remember(text, designed, preset)
        self.making = Making(text)
        self._player.follow(self.instrument, self.making)
        self.settled.set()
        self._thread.start()
        return self.instrument

    def wish(self, wish: Wish) -> None:
        """Have this heard, instead of whatever was wished for before."""
        with self._wished:
            before = self._newest
            if before is not None:  # what nobody has looked at yet is not forgotten
                ears, another = before.other_ears or wish.other_ears, before.another or wish.another
                wish = replace(wish, other_ears=ears, another=another)
            self._newest = wish
            self.settled.clear()
            self._wished.notify()

    def close(self) -> None:
        """End the thread."""
        with self._wished:
            self._ended = True
            self._wished.notify()
        self.settled.set()  # nobody needs to wait any more
        if self._thread.is_alive():
            self._thread.join(5.0)

    def _run(self) -> None:
        self._try(self._warm_up)
        while True:
            with self._wished:
                self._wished.wait_for(lambda: self._newest is not None or self._ended)
                wish, self._newest = self._newest, None
            if self._ended or wish is None:
                return
            self._try(self._grant, wish)
            with self._wished:
                if self._newest is None:
                    self.settled.set()

    def _try(self, work: Callable[..., None], *given: Any) -> None:
        """Do something, and say in a line why not: who waits is told, and the thread lives on for the next wish."""
        try:
            work(*given)
        except Stale:
            pass
        except EngineError as error:
            self._refuse(str(error))
        except MemoryError:
            self._refuse("there is not enough memory for this design")
        except Exception as error:  # a fault of ours: what plays goes on
            words = " ".join(f"{type(error).__name__} {error}".split())
            self._refuse(f"the design failed, which is a fault in the program ({printable(words)[:200]})")

    def _refuse(self, why: str) -> None:
        self._tell({"event": "refused", "error": why})

    def _stale(self) -> bool:
        return self._newest is not None or self._ended

    def _grant(self, wish: Wish) -> None:
        setup, preset = self._make(wish.preset), wish.preset
        if wish.text in self._kept:
            self._kept.move_to_end(wish.text)
            self._hand_over(setup, self._kept[wish.text], wish, "kept", Making(wish.text))
            self._remember(wish.text, self._kept[wish.text], preset)
            return
        sounding = self._sounding()
        if wish.another:
            self._retuned = self._tuned = None
        if wish.other_ears:  # a few keys are heard at once: an old gain could be a thousand times wrong
            like = Making(wish.text, tuple(sounding[:2] or [_middle(preset)]), tuned=self._tuned)
            found = design(setup, set(like.keys), None, self._retuned)
            self._gains, self._like = found.keys.gain[:KEYS] / db_to_gain(preset.gain), like
        loud = self._gains * db_to_gain(preset.gain)
        making = Making(wish.text, tuple(sounding), self._like, self._tuned)
        if sounding:
            self._hand_over(setup, design(setup, set(sounding), loud, self._retuned), wish, "sounding", making)
        designed = design(setup, None, loud, self._retuned, self._look_up)
        self._hand_over(setup, designed, wish, "whole", replace(making, keys=()))
        if self._tuned is None:
            self._retuned, self._tuned = designed.retuned, Making(wish.text)
        with self._wished:
            if self._wished.wait_for(self._stale, max(REST - (now() - wish.since) * 1e-9, 0.0)):
                return
        self._tune(setup, loud, wish)
        self._hand_over(setup, self._rehearsed(wish.text, setup), wish, "rehearsed", Making(wish.text))

    def _look_up(self) -> None:
        """Between two keys: others want the interpreter, too, and perhaps something else is wished for."""
        time.sleep(0)
        if self._stale():
            raise Stale

    def _tune(self, setup: Setup, loud: Gains, wish: Wish) -> None:
        """Have keys that sound tuned by ear again, if that makes them others."""
        sounding, kept = self._sounding(), self._retuned or {}
        if not sounding:
            return
        designed = design(setup, set(sounding), loud, None, self._look_up)
        if designed.retuned != {name: times for name, times in kept.items() if name[0] in sounding}:
            self._hand_over(setup, designed, wish, "tuned", Making(wish.text, tuple(sounding), self._like))

    def _rehearsed(self, text: str, setup: Setup) -> Designed:
        """All keys tuned and rehearsed, in a thread of their own: for a wish that comes meanwhile nobody waits."""
        found: list[Designed] = []

        def rehearse() -> None:
            with suppress(EngineError, MemoryError):  # it plays already: only its loudness stays as it was
                found.append(design(setup, between=self._look_up))

        while self._rehearsal is not None and self._rehearsal.is_alive():  # one that nobody waits for any more
            self._wait()
        self._rehearsal = threading.Thread(target=self._try, args=(rehearse,), name="rehearsal", daemon=True)
        self._rehearsal.start()
        while self._rehearsal.is_alive():
            self._wait()
        if not found:
            raise Stale
        self._remember(text, found[0], setup.preset)
        return found[0]

    def _wait(self) -> None:
        """A little, unless something else is wished for."""
        with self._wished:
            if self._wished.wait_for(self._stale, 0.01):
                raise Stale

    def _warm_up(self) -> None:
        """Design a key and forget it: the first time takes a second, which nobody should hear."""
        if self.instrument is None:
            return
        setup, only = self._make(self.instrument.preset), {_middle(self.instrument.preset)}
        with suppress(EngineError, MemoryError):
            self._laid_out(setup, design(setup, only, self._gains))

    def _hand_over(self, setup: Setup, designed: Designed, wish: Wish, what: str, making: Making) -> None:
        """Have the audio thread take it over; return when it has."""
        instrument, partial = self._laid_out(setup, designed), bool(making.keys)
        self._tell_what_rings_out(instrument)
        number = self._player.follow(instrument, making, partial)
        end = time.monotonic() + PATIENCE
        while number < 0 and time.monotonic() < end:
            time.sleep(0.005)
            number = self._player.follow(instrument, making, partial)
        if number < 0:
            self._refuse("too many designs are still ringing; let them fade")
            return
        whole = self.instrument
        while not self._player.taken(number) and time.monotonic() < end:
            time.sleep(0.0005)
        self._player.let_go_before(number, whole if partial else None)
        if not partial:
            self.instrument, self.making = instrument, making
        self._tell({"event": "heard", "what": what, "ms": round((now() - wish.since) * 1e-6, 2)})

    def _tell_what_rings_out(self, instrument: Instrument) -> None:
        """Another model's strings, or those of another rate, cannot go on: they ring out, and that is said, once."""
        if self.instrument is not None and not goes_on(self.instrument, instrument) and self._sounding():
            if self._said != kind_of(instrument):
                words = "another model, or another oversampling, begins with the next note: what sounds now rings out"
                self._tell({"event": "said", "text": words})
            self._said = kind_of(instrument)

    def _laid_out(self, setup: Setup, designed: Designed) -> Instrument:
        return Instrument.of(setup, designed, self._player.block_size)

    def _remember(self, text: str, designed: Designed, preset: Preset) -> None:
        self._kept[text] = designed
        self._gains, self._like = designed.keys.gain[:KEYS] / db_to_gain(preset.gain), Making(text)
        self._retuned, self._tuned = designed.retuned, self._like
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def _sounding(self) -> list[int]:
        """Keys whose strings sound, wherever."""
        keys: set[int] = set()
        for instrument in self._player.instruments():
            voices = instrument.machine.voices
            keys |= {int(key) for key in voices.key[voices.state != FREE]}
            keys |= fingers(instrument)
        return sorted(keys)


def _middle(preset: Preset) -> int:
    """A key that has a string, near the middle."""
    a = preset.assembly
    there = [key for key in range(KEYS) if a is None or a.places(key)]
    return min(there or [MIDDLE], key=lambda key: abs(key - MIDDLE))


def kind_of(instrument: Instrument) -> Kind:
    """What two designs must have in common so that strings go on (takeover.py)."""
    m, assembly = instrument.machine, instrument.preset.assembly
    directions = 0 if assembly is None else len(assembly.body.directions)
    return int(SHAPE_OF[int(m.model)]), float(m.rate), int(m.oversample), directions


def goes_on(old: Instrument, new: Instrument) -> bool:
    """Whether strings of one go on in the other."""
    return kind_of(old) == kind_of(new)


def fingers(instrument: Instrument) -> set[int]:
    """Keys that are held on strings of many frets: who lets go of one goes on at the one before."""
    where = int(instrument.machine.joint)
    lines = seen(Joint, instrument.address + where).lines if where else ()
    return {int(key) for line in lines for key in line.keys[: int(line.fingers)]}
