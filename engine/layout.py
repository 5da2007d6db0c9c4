"""Leaf: memory that is declared once. A class says what there is; Python and compiled code (opened.py) reach it so.

Two kinds of class are declarations:

- a `record` has scalars, arrays of fixed size inside it, and arrays that lie elsewhere in the same block of memory,
  whose places it holds as offsets from itself. `seen` shows it to Python, `opened.at` to compiled code.
- a NamedTuple of numbers, arrays and NamedTuples, such as kernels take, is a `group`. `store` lays it into an arena as
  a row of words; `rebuilt` makes the tuple again in Python, `opened.opener` in compiled code.

Fields are what their annotations say: int and float (of 64 bits), bool, Vector, Matrix, Integers, IntegerRows, Rows[T].
All places are offsets: a block that is copied or written to a file and read is the same instrument.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Annotated, Any, Generic, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from engine import aligned
from engine.aligned import LINE

OWN_NAMES = {"address", "dtype", "is_record", "plain", "size"}  # no field's: records have them themselves
NUMPYS_NAMES = {*dir(np.recarray), *dir(np.record)}

T = TypeVar("T")


class Entries(NamedTuple):
    """What an annotated array holds, and in how many dimensions."""

    dtype: Any
    dimensions: int


Vector = Annotated[NDArray[Any], Entries(np.float64, 1)]
Matrix = Annotated[NDArray[Any], Entries(np.float64, 2)]
Cube = Annotated[NDArray[Any], Entries(np.float64, 3)]
Integers = Annotated[NDArray[np.int64], Entries(np.int64, 1)]
IntegerRows = Annotated[NDArray[np.int64], Entries(np.int64, 2)]
Singles = Annotated[NDArray[np.float32], Entries(np.float32, 1)]


class Rows(Generic[T]):
    """Records one after the other. For Python they are numpy's: a field of all of them is an array."""

    size: int

    if TYPE_CHECKING:

        def __getitem__(self, index: Any) -> T: ...
        def __iter__(self) -> Iterator[T]: ...
        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...


def inside(*shape: int) -> Any:
    """The value of a field whose entries lie within its record."""
    return _Inside(shape)


@dataclass(frozen=True)
class _Inside:
    shape: tuple[int, ...]


# --- what a declaration says ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Field:
    """A field of a record or a group: a scalar, an array, or another of its kind."""

    name: str
    kind: str  # "scalar" | "array" | "group" | "record" (which lies inside)
    of: Any  # a numpy scalar type, bool, a record or a group
    dimensions: int = 0
    shape: tuple[int, ...] | None = None  # of an array that lies inside
    offset: int = 0  # bytes into a record

    @property
    def words(self) -> int:
        """Of 64 bits, where its place is kept."""
        if self.kind == "group":
            return sum(part.words for part in fields_of(self.of))
        return 1 + self.dimensions if self.kind == "array" else 1


_declared: dict[type, tuple[Field, ...]] = {}


def fields_of(declaration: type) -> tuple[Field, ...]:
    """The fields of a NamedTuple or a record, as its annotations have them."""
    if declaration not in _declared:
        hints = get_type_hints(declaration, include_extras=True)
        _declared[declaration] = tuple(_field(declaration, name, hint) for name, hint in hints.items())
    return _declared[declaration]


def _field(declaration: type, name: str, hint: Any) -> Field:
    shape = getattr(declaration, name, None) if not issubclass(declaration, tuple) else None
    inner = shape.shape if isinstance(shape, _Inside) else None
    if hint in (int, float, bool):
        return Field(name, "scalar", {int: np.int64, float: np.float64, bool: bool}[hint])
    if get_origin(hint) is Annotated:
        entries = get_args(hint)[1]
        return Field(name, "array", entries.dtype, entries.dimensions, inner)
    if get_origin(hint) is Rows:
        return Field(name, "array", get_args(hint)[0], 1, inner)
    if isinstance(hint, type) and issubclass(hint, tuple):
        return Field(name, "group", hint)
    if is_record(hint):
        return Field(name, "record", hint, shape=())
    raise TypeError(f"{declaration.__name__}.{name}: memory has no {hint}")


def fingerprint(*declarations: type) -> str:
    """Changes whenever what these say of memory does."""

    def said(declaration: type) -> list[Any]:
        found: list[Any] = [declaration.__name__]
        for part in fields_of(declaration):
            nested = part.kind in ("group", "record") or is_record(part.of)
            inner = said(part.of) if nested else part.of.__name__
            found.append((part.name, part.kind, inner, part.dimensions, part.shape, part.offset))
        return found

    return hashlib.sha256(repr([said(declaration) for declaration in declarations]).encode()).hexdigest()


# --- records ----------------------------------------------------------------------------------------------------------


def record(declaration: type[T]) -> type[T]:
    """Make a class of annotated fields a record: it gets `dtype`, `size` (bytes) and `at(address)`."""
    placed, end = [], 0
    for part in fields_of(declaration):
        placed.append(Field(part.name, part.kind, part.of, part.dimensions, part.shape, end))
        end += 8 * part.words if part.shape is None else -(-item_size(part.of) * prod(part.shape) // 8) * 8
    _declared[declaration] = tuple(placed)
    made: Any = declaration
    made.size = end
    made.plain = all(part.kind == "scalar" or part.shape is not None for part in placed)
    for name in {part.name for part in placed} & (OWN_NAMES | NUMPYS_NAMES if made.plain else OWN_NAMES):
        raise TypeError(f"{declaration.__name__}.{name}: a record's class, or numpy's, has this name for itself")
    made.dtype = np.dtype((np.record, _dtype(placed, end))) if made.plain else None
    made.is_record = True
    for part in placed:
        setattr(declaration, part.name, _Reach(part))
    return declaration


def seen_rows(declaration: type[T], block: NDArray[np.uint8]) -> Rows[T]:
    """Records that lie in a block, one after the other."""
    found: Any = block.view(declaration.dtype)  # type: ignore[attr-defined]
    return found.view(np.recarray)  # type: ignore[no-any-return]


def is_record(of: Any) -> bool:
    """Whether a field, or an array's entry, is declared by `record`."""
    return hasattr(of, "is_record")


def size_of(declaration: type) -> int:
    """Bytes of a record."""
    return int(declaration.size)  # type: ignore[attr-defined]


def rows_of(declaration: type[T], count: int) -> Rows[T]:
    """So many records of nothing but scalars and arrays inside, as Python has them."""
    found: Any = np.zeros(count, declaration.dtype)  # type: ignore[attr-defined]
    return found.view(np.recarray)  # type: ignore[no-any-return]


def item_size(of: Any) -> int:
    """Bytes of an entry."""
    return int(of.size) if is_record(of) else np.dtype(of).itemsize


def _entry(of: Any) -> Any:
    """An entry as numpy has it."""
    return of.dtype if is_record(of) else np.dtype(of)


def _slot(part: Field) -> Any:
    """What a scalar is in memory: a bool is a whole word."""
    return np.int64 if part.of is bool else part.of


def _dtype(placed: list[Field], size: int) -> Any:
    formats = [(np.dtype(np.int64) if p.of is bool else _entry(p.of), p.shape or ()) for p in placed]
    names, offsets = [p.name for p in placed], [p.offset for p in placed]
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})


def memory(address: int, dtype: Any, shape: tuple[int, ...], owner: Any = None) -> Any:
    """The array that lies at an address; it keeps its owner alive."""
    entry = np.dtype(dtype)
    raw: Any = (ctypes.c_uint8 * max(int(prod(shape)) * entry.itemsize, 1)).from_address(int(address))
    raw.owner = owner
    found: Any = np.ndarray(shape, entry, raw)
    return found.view(np.recarray) if entry.names else found


def words_at(address: int, count: int) -> list[int]:
    """So many words that lie at an address: an array's offset and shape."""
    return (ctypes.c_int64 * count).from_address(address)[:]


class _Reach:
    """A field of a record, as Python sees it: numpy's own records do not know that an array in them holds records."""

    def __init__(self, part: Field) -> None:
        self.part = part

    def __get__(self, holder: Any, _: Any = None) -> Any:
        part = self.part
        if holder is None:
            return part
        here, owner = holder.address + part.offset, holder.owner
        if part.kind == "scalar":
            return memory(here, _slot(part), (1,))[0]
        if part.kind == "group":
            return rebuilt(part.of, holder.address, memory(here, np.int64, (part.words,)), owner)
        if part.kind == "record":
            return seen(part.of, here, owner)
        if part.shape is not None:
            return memory(here, _entry(part.of), part.shape, owner)
        offset, *shape = words_at(here, part.words)
        return memory(holder.address + offset, _entry(part.of), tuple(shape), owner)

    def __set__(self, holder: Any, value: Any) -> None:
        if self.part.kind != "scalar":
            raise TypeError(f"{self.part.name} is not replaced, its entries are")
        memory(holder.address + self.part.offset, _slot(self.part), (1,))[0] = value


def seen(declaration: type[T], address: int, owner: Any = None) -> T:
    """The record that lies at an address, for Python: it, and all that is got from it, keep the owner alive."""
    holder: Any = declaration.__new__(declaration)
    holder.address, holder.owner = int(address), owner
    return holder  # type: ignore[no-any-return]


# --- groups -----------------------------------------------------------------------------------------------------------


def rebuilt(group: type[T], base: int, words: NDArray[np.int64], owner: Any = None) -> T:
    """The same in Python."""
    turn = iter(range(len(words)))

    def value(part: Field) -> Any:
        if part.kind == "group":
            return part.of(*(value(own) for own in fields_of(part.of)))
        if part.kind == "array":
            offset, shape = int(words[next(turn)]), [int(words[next(turn)]) for _ in range(part.dimensions)]
            return memory(base + offset, _entry(part.of), tuple(shape), owner)
        word = words[next(turn) :][:1]
        return word.view(np.float64)[0] if part.of is np.float64 else bool(word[0]) if part.of is bool else word[0]

    return value(Field("", "group", group))  # type: ignore[no-any-return]


def count_of(group: type) -> int:
    """How many words a row of this group has."""
    return Field("", "group", group).words


def words_of(group: type) -> dict[str, int]:
    """Where the word of each field begins in a row, by its path: "law.slope"."""
    found: dict[str, int] = {}

    def walk(parts: tuple[Field, ...], path: str, at: int) -> int:
        for part in parts:
            found[path + part.name] = at
            at = walk(fields_of(part.of), f"{path}{part.name}.", at) if part.kind == "group" else at + part.words
        return at

    walk(fields_of(group), "", 0)
    return found


# --- arena ------------------------------------------------------------------------------------------------------------


@dataclass
class Arena:
    """One block of memory in the making: what is placed in it has an offset at once, and is there once it is sealed."""

    size: int = 0
    _places: dict[int, tuple[int, NDArray[Any]]] = field(default_factory=dict)  # by the identity of the array

    def room(self, count: int) -> int:
        """The offset of so many bytes of zeros, on a border of its own."""
        start = self.size
        self.size += -(-count // LINE) * LINE
        return start

    def place(self, array: NDArray[Any]) -> int:
        """The offset of a copy of an array, which is made when the arena is sealed; of the same array, the same."""
        if id(array) not in self._places:
            self._places[id(array)] = self.room(array.nbytes), array
        return self._places[id(array)][0]

    def append(self, other: Arena) -> int:
        """Let all of another arena lie behind this one; where it begins."""
        start = self.room(other.size)
        self._places |= {name: (start + at, array) for name, (at, array) in other._places.items()}
        return start

    def sealed(self) -> NDArray[np.uint8]:
        """The block, on the border of a cache line."""
        block = aligned.zeros(self.size, np.uint8)
        for start, array in self._places.values():
            block[start : start + array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        return block


def store(arena: Arena, group: Any, blank: Collection[str] = (), path: str = "") -> NDArray[np.int64]:
    """Lay a group's arrays into the arena; its row of words, arrays as offsets from the arena's start.

    Of what `blank` names by its path, only the shape is kept.
    """
    words: list[int] = []
    for part in fields_of(type(group)):
        words += _stored(arena, part, getattr(group, part.name), blank, path + part.name)
    return np.array(words, np.int64)


def _stored(arena: Arena, part: Field, value: Any, blank: Collection[str], path: str) -> list[int]:
    if part.kind == "group":
        inner = [f"{path}.{own}" for own in words_of(part.of)] if path in blank else blank
        return [int(word) for word in store(arena, value, inner, f"{path}.")]
    if part.kind == "scalar":
        return [int(np.array([value], _slot(part)).view(np.int64)[0])]
    array = np.asarray(value)
    if array.dtype != _entry(part.of) or array.ndim != part.dimensions:
        raise TypeError(f"{path}: {array.dtype} in {array.ndim} dimensions is not what is declared")
    return [0 if path in blank else arena.place(array), *array.shape]


def lay(arena: Arena, declaration: type, start: int, **values: Any) -> Callable[[NDArray[np.uint8]], None]:
    """Fill a record that begins at `start`: far arrays are placed now, the rest is written into the sealed block.

    What is not given is zero, an array that is not given has no entries; one of zeros may be given as its shape.
    """
    written: list[tuple[Field, Any]] = []
    for part in fields_of(declaration):
        value = values.pop(part.name, None)
        if value is None:
            continue
        if part.kind == "group":
            words = store(arena, value)
            offsets = list(_offsets(part.of, 0))
            words[offsets] -= start
            written.append((part, words))
        elif part.kind == "array" and part.shape is None:
            shape = value if isinstance(value, tuple) else np.shape(value)
            count = int(prod(shape)) * item_size(part.of)
            place = arena.room(count) if isinstance(value, tuple) else arena.place(np.asarray(value, _entry(part.of)))
            written.append((part, np.array([place - start, *shape], np.int64)))
        else:
            written.append((part, value))
    if values:
        raise TypeError(f"{declaration.__name__} has no {', '.join(values)}")

    def write(block: NDArray[np.uint8]) -> None:
        for part, value in written:
            here = block[start + part.offset :]
            if part.kind == "scalar":
                here[:8].view(_slot(part))[0] = value
            elif part.shape is not None:
                count = item_size(part.of) * prod(part.shape)
                here[:count].view(_entry(part.of)).reshape(part.shape)[...] = value
            else:
                here[: 8 * part.words].view(np.int64)[:] = value

    return write


def arrays_of(group: type) -> list[tuple[int, int]]:
    """Of all arrays: the word of each, and its dimensions."""
    return own_arrays(group, [part.name for part in fields_of(group)])


def own_arrays(group: type, names: Collection[str]) -> list[tuple[int, int]]:
    """Of arrays that these paths name, themselves or groups that they lie in: the word of each, and its dimensions."""
    found: list[tuple[int, int]] = []

    def walk(parts: tuple[Field, ...], path: str, at: int, taken: bool) -> None:
        for part in parts:
            mine = taken or path + part.name in names
            if part.kind == "group":
                walk(fields_of(part.of), f"{path}{part.name}.", at, mine)
            elif part.kind == "array" and mine:
                found.append((at, part.dimensions))
            at += part.words

    walk(fields_of(group), "", 0, False)
    return found


def _offsets(group: type, at: int) -> Iterator[int]:
    """The words of a row that are places of arrays."""
    for part in fields_of(group):
        if part.kind == "group":
            yield from _offsets(part.of, at)
        elif part.kind == "array":
            yield at
        at += part.words
