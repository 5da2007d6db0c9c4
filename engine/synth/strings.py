"""What every string can do, whatever it is modelled as. The renderer asks nowhere else which model a string has.

Another model is a file like modal_string.py and an entry in FILES.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.aligned import LINE
from engine.compiled import DOUBLE, WORD, compiled_apart, native
from engine.layout import Arena, arrays_of, count_of, own_arrays, rebuilt, store, words_of
from engine.opened import record_type
from engine.physics.problem import Pickup
from engine.synth import best_string, grid_string, modal_string, network_string
from engine.synth.budget import MOST_BYTES
from engine.synth.memory import KEYS, Machine

FILES = (modal_string, grid_string, best_string, network_string)
MODELS: dict[str, int] = {file.NAME: number for number, file in enumerate(FILES)}  # by what presets call them
GROUPS: tuple[type, ...] = tuple(file.PARTS for file in FILES)
SHAPES = tuple(dict.fromkeys(file.SHAPE for file in FILES))
SHAPE_OF = np.array([SHAPES.index(file.SHAPE) for file in FILES])  # what strings pass on


class KeyStrings(NamedTuple):
    """What the keys' strings are made of: a row of words for each key, and the block in which its arrays lie."""

    words: NDArray[np.int64]
    block: NDArray[np.uint8]


NETWORK = MODELS[network_string.NAME]


def model_of(model: str, quality: str, together: bool = False) -> int:
    """What the strings of a preset are that says so; `together`: on a bridge that they share."""
    if together:
        return NETWORK
    return MODELS[best_string.NAME if quality == "best" else model]


def kept(model: int, designs: dict[int, Any], places: int = KEYS) -> KeyStrings:
    """The strings of all keys that have one, and of their further places."""
    file, arena = FILES[model], Arena()
    words = np.zeros((places, count_of(GROUPS[model])), np.int64)
    for number, design in designs.items():
        words[number] = store(arena, file.laid_out(design), file.BLANK)
    return KeyStrings(words, arena.sealed())


def file_of(design: Any) -> Any:
    """The file of a string's model."""
    return next(file for file in FILES if isinstance(design, file.DESIGN))


def columns(model: int, pickups: Sequence[Pickup]) -> int:
    """How many numbers a kernel gives for each step: of modes also what is carried for those that hear a body."""
    return FILES[model].columns(pickups)


def check(model: int, own: KeyStrings, number: int, pickups: int, columns: int) -> None:
    """A ValueError if the string of a key is not what the kernels may be given: it may come from anybody's file."""
    group, words = GROUPS[model], own.words[number]
    blank = dict(own_arrays(group, FILES[model].BLANK))
    for word, dimensions in arrays_of(group):
        shape = [int(n) for n in words[word + 1 : word + 1 + dimensions]]
        size = 8 * prod(shape)
        if min(shape) < 0 or size > MOST_BYTES:
            raise ValueError(f"an array of {shape}")
        if word not in blank and (words[word] % LINE or not 0 <= words[word] <= own.block.size - size):
            raise ValueError(f"an array at {words[word]}")
    scalars: Any = rebuilt(group, own.block.ctypes.data, words)
    if not FILES[model].consistent(scalars, pickups, columns):
        raise ValueError("arrays that do not fit each other")


def lay_out(arena: Arena, model: int, words: NDArray[np.int64], slots: int) -> dict[str, NDArray[Any]]:
    """A machine's rows for all voices, and for each voice room for what is its own, as large as any key needs it."""
    mine = own_arrays(GROUPS[model], FILES[model].OWN)
    own_words = np.zeros((slots, words.shape[1]), np.int64)
    for word, dimensions in mine:
        entries = int(words[:, word + 1 : word + 1 + dimensions].prod(axis=1).max())
        for v in range(slots):
            own_words[v, word] = arena.room(8 * max(entries, 1))
    return {
        "own_words": own_words,
        "voice_words": np.zeros_like(own_words),
        "own": np.array([word for word, _ in mine]),
    }


def words_in(model: int) -> int:
    """A key's row."""
    return count_of(GROUPS[model])


def longest(model: int, words: NDArray[np.int64]) -> int:
    """The most modes of any key, or nodes with all that is kept around them."""
    if model == NETWORK:
        return 1
    return max(int(words[:, words_of(GROUPS[model])["c.rest"] + 1].max()), 1)


def placed(arena: Arena, model: int, own: KeyStrings) -> NDArray[np.int64]:
    """The keys' rows, once their arrays lie behind everything else in the arena: they are only read."""
    words = own.words.copy()
    words[:, [word for word, _ in arrays_of(GROUPS[model])]] += arena.place(own.block)
    return words


@native
def take_over(m: Machine, v: int) -> None:
    """Have a voice be a string of its key: with its own arrays, and the key's where they never change."""
    row, designed, own = m.voice_words[v], m.key_words[m.voices[v].place], m.own_words[v]
    for w in range(row.size):
        row[w] = designed[w]
    for i in range(m.own.size):
        row[m.own[i]] = own[m.own[i]]
    if m.model == NETWORK:
        network_string.take(m, v)


def of_its_model(name: str, *more: Any, apart: bool = True) -> Any:
    """A function that files of FILES have by this name: the one of the model that a machine has.

    It is given a machine, a voice and `more`. Where it returns nothing, all files but the first are compiled `apart`.
    """
    having = [(number, getattr(file, name)) for number, file in enumerate(FILES) if hasattr(file, name)]
    for _, function in having[1:] if apart else ():
        compiled_apart(function, record_type(Machine), WORD, *more)
    found = having[-1][1]
    for number, function in reversed(having[:-1]):
        found = _either(number, function, found)
    return found


def _either(number: int, one: Any, other: Any) -> Any:
    @native
    def either(m: Machine, v: int, *more: Any) -> Any:
        if m.model == number:
            return one(m, v, *more)
        return other(m, v, *more)

    return either


rest = of_its_model("rest")  # (m, v): the string at rest, the barrier where the preset has it
# (m, v, by): raise the barrier under the string; the work is done by whoever moves it
lift = of_its_model("lift", DOUBLE)
# (m, v, position): where the next pluck meets it, as a fraction of its length
strike_at = of_its_model("strike_at", DOUBLE)
# (m, v, row, first, steps): the string's own motion, from a row of m.force into that of m.out, from `first` on
run = of_its_model("run", WORD, WORD, WORD)
# (m, v, row, first, steps, left): while the barrier moves, at an even pace to where it is to be, `left` steps away
run_lifted = of_its_model("run_lifted", WORD, WORD, WORD, WORD)
energy = of_its_model("energy", apart=False)  # (m, v): kinetic, potential and contact energy, J
restore = of_its_model("restore")  # (m, v): the design's own coefficients
retune = of_its_model("retune")  # (m, v): coefficients for the voice's tension and damping
# A picture (capture.py), as SHAPES says: the shape, and what contact points push with, into `out`; how many numbers.
picture = of_its_model("picture", apart=False)  # (m, v, out)
pushes = of_its_model("pushes", apart=False)  # (m, v, out)
# A string goes on in another design of itself (takeover.py): its shapes of the newest step and of the one before are
# entered there, and it moves on from them.
shape = of_its_model("shape", apart=False)  # (m, v, ago, out): all of it, into `out`; how many numbers
depth = of_its_model("depth", apart=False)  # (m, v): how far it is in its barrier at most, m
enter = of_its_model("enter", apart=False)  # (m, v, ago, shape, count): be where another string was so many steps ago
# (m, v, lifted, deep): from there, where the barrier was lifted and the string in it so far; how far it is lifted then
go_on = of_its_model("go_on", apart=False)


@native
def refit(m: Machine, v: int) -> None:
    """Coefficients for the voice's tension and damping: the design's own where these are the design's."""
    voice = m.voices[v]
    if voice.tension == m.keys[voice.place].tension and voice.damping == 0.0:
        restore(m, v)
    else:
        retune(m, v)
