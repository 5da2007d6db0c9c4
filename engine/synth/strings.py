"""What every string can do, whatever it is modelled as. Which model a string has is asked nowhere else.

Another model is a file like modal_string.py and an entry in MODELS and in each function here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.compiled import native
from engine.layout import Arena, count_of, fields_of, own_arrays, store
from engine.physics import finite_difference, modal
from engine.synth import grid_string, modal_string
from engine.synth.memory import KEYS, Machine

Design = modal.Design | finite_difference.Design
MODAL, GRID = range(2)
MODELS = {"modal": MODAL, "fd": GRID}
FILES = (modal_string, grid_string)
GROUPS = (modal_string.ModalString, grid_string.GridString)


class Kept(NamedTuple):
    """What the keys' strings are made of and no voice changes."""

    arena: Arena
    places: list[int]  # words of a key's row that are offsets in it


def size(design: Design) -> int:
    """Modes, or nodes with all that is kept around them."""
    return int(design.coefficients.rest.size)


def lay_out(arena: Arena, model: int, designs: dict[int, Any], slots: int) -> tuple[dict[str, NDArray[np.int64]], Kept]:
    """A machine's rows for all keys and voices, and for each voice room for what is its own, as large as any key's."""
    file, group, kept = FILES[model], GROUPS[model], Arena()
    mine = own_arrays(group, file.OWN)
    key_words = np.zeros((KEYS, count_of(group)), np.int64)
    for number, design in designs.items():
        key_words[number] = store(kept, file.laid_out(design), file.BLANK)
    own_words = np.zeros((slots, key_words.shape[1]), np.int64)
    for word, dimensions in mine:
        entries = key_words[:, word + 1 : word + 1 + dimensions].prod(axis=1).max()
        for v in range(slots):
            own_words[v, word] = arena.room(8 * max(int(entries), 1))
    places = [word for word, _ in own_arrays(group, [part.name for part in fields_of(group)])]
    rows = {"key_words": key_words, "own_words": own_words, "voice_words": np.zeros_like(own_words)}
    return {**rows, "own": np.array([word for word, _ in mine])}, Kept(kept, places)


def keep(arena: Arena, key_words: NDArray[np.int64], kept: Kept) -> None:
    """Behind everything else in the arena: what is only read."""
    key_words[:, kept.places] += arena.append(kept.arena)


@native
def take_over(m: Machine, v: Any) -> None:
    """Have a voice be a string of its key: with its own arrays, and the key's where they never change."""
    row, designed, own = m.voice_words[v], m.key_words[m.voices[v].key], m.own_words[v]
    for w in range(row.size):
        row[w] = designed[w]
    for i in range(m.own.size):
        row[m.own[i]] = own[m.own[i]]


@native
def refit(m: Machine, v: Any) -> None:
    """Coefficients for the voice's tension and damping."""
    voice = m.voices[v]
    as_designed = voice.tension == m.keys[voice.key].tension and voice.damping == 0.0
    if m.model == MODAL:
        if as_designed:
            modal_string.restore(m, v)
        else:
            modal_string.retune(m, v)
    elif as_designed:
        grid_string.restore(m, v)
    else:
        grid_string.retune(m, v)


@native
def rest(m: Machine, v: Any) -> None:
    """The string at rest, the barrier where the preset has it."""
    if m.model == MODAL:
        modal_string.rest(m, v)
    else:
        grid_string.rest(m, v)


@native
def lift(m: Machine, v: Any, by: Any) -> None:
    """Raise the barrier under the string; the work is done by whoever moves it."""
    if m.model == MODAL:
        modal_string.lift(m, v, by)
    else:
        grid_string.lift(m, v, by)


@native
def strike_at(m: Machine, v: Any, position: Any) -> None:
    """Where the next pluck meets the string, as a fraction of its length."""
    if m.model == MODAL:
        modal_string.strike_at(m, v, position)
    else:
        grid_string.strike_at(m, v, position)


@native
def run(m: Machine, v: Any, steps: Any) -> None:
    """The string's own motion, from m.force to m.out."""
    if m.model == MODAL:
        modal_string.run(m, v, steps)
    else:
        grid_string.run(m, v, steps)


@native
def run_lifted(m: Machine, v: Any, steps: Any, left: Any) -> None:
    """The same while the barrier moves: at an even pace to where it is to be, which is `left` steps away."""
    if m.model == MODAL:
        modal_string.run_lifted(m, v, steps, left)
    else:
        grid_string.run_lifted(m, v, steps, left)


@native
def energy(m: Machine, v: Any) -> Any:
    """Kinetic, potential and contact energy, J."""
    if m.model == MODAL:
        return modal_string.energy(m, v)
    return grid_string.energy(m, v)
