"""Leaf: all that Python, the audio thread and MIDI's threads call is one module of machine code, optimised as a whole.

numba alone would optimise function by function and pass every array by value. Made once for these sources and this
processor, the module lies in the cache as an object file, or came with a wheel; loading it takes no compiler.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import importlib
import json
import logging
import threading
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core import types
from numba.core.registry import CPUDispatcher
from numba.core.types.containers import BaseTuple

from engine import cache as disk
from engine import parts, processor, sources
from engine.machine_code import INTERPRETED, fingerprint, tell_cold

PACKAGE = Path(__file__).parent
ENTRIES: dict[str, Entry | CEntry | ArrayEntry] = {}  # by the names of their doors
FOLLOWERS: list[Callable[[float], None]] = []  # are told how much of the module is made, 1 when it is
declared = 0  # compiled functions, entries or not
_lock = threading.RLock()
_here: list[Code] = []

Flat = Callable[[list[Any], Any], bool]


class Entry(CPUDispatcher):  # type: ignore[misc]
    """A function of numbers and addresses. Compiled code calls it as any other, Python by the module's door."""

    def __call__(self, *arguments: int) -> Any:
        return self.door(*arguments)

    @cached_property
    def door(self) -> Any:
        """What ctypes calls."""
        return code().function(self.symbol, self.alone, self.py_func.__code__.co_argcount)

    @property
    def address(self) -> int:
        """A C function of int64 numbers: a library may call it from any thread."""
        return code().address(self.symbol)


class CEntry:
    """A C function: a library may call its address from any thread."""

    def __init__(self, function: Any, result: Any, arguments: tuple[Any, ...]) -> None:
        self.function, self.result, self.arguments = function, result, arguments
        self.symbol = parts.name_of(function)
        ENTRIES[self.symbol] = self

    @property
    def address(self) -> int:
        """Where it is; made or loaded now, if it was not yet."""
        return code().address(self.symbol)


class ArrayEntry(CPUDispatcher):  # type: ignore[misc]
    """A function of arrays: Python's calls take the module's door where there is one and their types are its own."""

    def __call__(self, *arguments: Any) -> Any:
        if at_hand():
            words: list[Any] = []
            if self.flat(words, arguments):
                return self.door(*words)
        return super().__call__(*arguments)

    @cached_property
    def flat(self) -> Flat:
        """Appends what the door is given of arguments; false if they are not of its kinds."""
        return _flat_tuple(self.given)

    @cached_property
    def door(self) -> Any:
        """What ctypes calls."""
        return code().array_function(self.symbol, [kind for given in self.given for kind in _kinds(given)])


def _flat_tuple(kinds: Sequence[Any]) -> Flat:
    """Of several values."""
    each = [_flat(kind) for kind in kinds]

    def flat(words: list[Any], values: Any) -> bool:
        return len(values) == len(each) and all(one(words, value) for one, value in zip(each, values))

    return flat


def _flat(kind: Any) -> Flat:
    """Of a value; made once, since it is called for hundreds of thousands of values while strings are designed."""
    if isinstance(kind, BaseTuple):
        return _flat_tuple(list(kind))
    if isinstance(kind, types.Array):
        return partial(_flat_array, np.dtype(kind.dtype.name), kind.ndim)
    return partial(_flat_number, float if kind == types.float64 else int)


def _flat_number(plain: Callable[[Any], Any], words: list[Any], value: Any) -> bool:
    words.append(plain(value))
    return True


def _flat_array(dtype: Any, dimensions: int, words: list[Any], value: Any) -> bool:
    if not (isinstance(value, np.ndarray) and value.dtype == dtype and value.ndim == dimensions):
        return False
    flags = value.flags
    if not (flags.c_contiguous and flags.writeable):
        return False
    words.append(value.__array_interface__["data"][0])  # five times as fast as value.ctypes
    words.extend(value.shape)
    return True


def _kinds(kind: Any) -> list[Any]:
    """The same kinds as C has them."""
    if isinstance(kind, BaseTuple):
        return [one for part in kind for one in _kinds(part)]
    if isinstance(kind, types.Array):
        return [ctypes.c_void_p, *[ctypes.c_int64] * kind.ndim]
    return [ctypes.c_double if kind == types.float64 else ctypes.c_bool if kind == types.boolean else ctypes.c_int64]


def array_entry(function: Any, given: tuple[Any, ...]) -> Any:
    """Put a compiled function of arrays among the entries."""
    function.__class__ = ArrayEntry
    function.symbol, function.given = parts.name_of(function), given
    ENTRIES[function.symbol] = function
    return function


def entry(function: Any, alone: bool) -> Any:
    """Put a compiled function among the entries; `alone`: Python keeps the interpreter's lock while it runs."""
    function.__class__ = Entry
    function.symbol = parts.name_of(function)
    function.alone = alone
    ENTRIES[function.symbol] = function
    return function


def inside(function: Callable[..., Any]) -> bool:
    """Whether it is the engine's own: what others compile does not lie in the module."""
    return PACKAGE in Path(function.__code__.co_filename).parents


class Code:
    """The module, in memory for as long as the process lives."""

    def __init__(self, content: bytes) -> None:
        """ValueError if it is not what should be there."""
        head, _, whole = content.partition(b"\n")
        facts = json.loads(head)
        if facts["digest"] != hashlib.sha256(whole).hexdigest():  # LLVM would not survive what is no object file
            raise ValueError("it was damaged")
        self._returning: dict[str, bool] = facts["entries"]
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        triple = llvm.get_process_triple()
        machine = llvm.Target.from_triple(triple).create_target_machine(jit=True)
        empty = llvm.parse_assembly(f'target triple = "{triple}"\n')
        self._engine = llvm.create_mcjit_compiler(empty, machine, use_lmm=numba.config.USE_LLVMLITE_MEMORY_MANAGER)
        for one in objects(content):
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(one))
        self._engine.finalize_object()
        self._found = {name: self._engine.get_function_address(name) for name in self._returning}
        if not all(self._found.values()):
            raise ValueError("functions are missing")

    def address(self, name: str) -> int:
        """Of an entry."""
        return self._found[name]

    def function(self, name: str, alone: bool, count: int) -> Any:
        """The entry as Python calls it."""
        kind = ctypes.PYFUNCTYPE if alone else ctypes.CFUNCTYPE
        result = ctypes.c_int64 if self._returning[name] else None
        return kind(result, *[ctypes.c_int64] * count)(self.address(name))

    def array_function(self, name: str, kinds: Sequence[Any]) -> Any:
        """The same of an entry that is given arrays."""
        return ctypes.CFUNCTYPE(ctypes.c_int64 if self._returning[name] else None, *kinds)(self.address(name))


def code() -> Code:
    """From a wheel or the cache, or else made, and kept."""
    if not _here:
        processor.require()
        with _lock:
            if not _here:
                _here.append(_brought() or _kept() or _made())
    return _here[0]


def at_hand() -> bool:
    """Whether it is there, or need not be made to be."""
    if not _here and (processor.shipped(processor.PROCESSOR.name).is_file() or (disk.folder() / name()).exists()):
        code()
    return bool(_here)


def ready() -> None:
    """Have it at hand, where code is compiled at all."""
    if not INTERPRETED:
        code()


def _brought() -> Code | None:
    file = processor.shipped(processor.PROCESSOR.name)
    return _loaded(file.read_bytes()) if file.is_file() else None


def _kept() -> Code | None:
    content = disk.read(name())
    found = None if content is None else _loaded(content)
    if content is not None and found is None:
        disk.discard(name())
    return found


def _loaded(content: bytes) -> Code | None:
    try:
        return Code(content)
    except Exception:  # whatever LLVM or json may raise
        logging.getLogger("jawari").debug("the module is not what it should be", exc_info=True)
        return None


def _made() -> Code:
    return Code(_anew())


def _anew() -> bytes:
    content = make()
    disk.write(name(), content)
    return content


def name() -> str:
    """Under which it is kept."""
    return f"{fingerprint()}/module"


def make(aim: processor.Processor = processor.PROCESSOR) -> bytes:
    """Compile it, for this processor or another."""
    tell(0.0)
    try:
        with parts.helper("1", fingerprint(), *aim) as finished:
            for place in sources.entrances(PACKAGE):
                importlib.import_module(place)
            first = part(0, aim)
            second = finished() or part(1, aim)
    finally:
        tell(1.0)
    return joined(first, second)


def part(number: int, aim: processor.Processor) -> bytes:
    """One of both parts."""
    from engine.lowering import Door, compiled

    elsewhere = {found.function: (symbol, found.arguments) for symbol, found in parts.APART.items()}
    doors = {symbol: _door(found) for symbol, found in sorted(ENTRIES.items()) if number == _part_of(found)}
    if number:
        doors |= {symbol: Door(found.function, found.arguments) for symbol, found in parts.APART.items()}
        elsewhere = {}
    made, returning = compiled(doors, declared, tell if number == 0 else lambda share: None, aim, elsewhere)
    return sealed([made], {symbol: facts for symbol, facts in returning.items() if symbol in ENTRIES})


def _part_of(found: Entry | CEntry | ArrayEntry) -> int:
    """Design is in the second part, which has less to do."""
    if isinstance(found, ArrayEntry):
        return 1
    return int(parts.in_second(found.function if isinstance(found, CEntry) else found))


def help_out(number: str, sources_here: str, *aim: str) -> None:
    """In a process that was started for it: make a part, if the sources are those that were asked for."""

    gc.disable()  # this process ends before there is much to collect

    def make() -> bytes:
        for place in sources.entrances(PACKAGE):
            importlib.import_module(place)
        if fingerprint() != sources_here:
            raise SystemExit(1)
        return part(int(number), processor.Processor(*aim))

    parts.hand_over(make)


def ship(folder: str) -> None:
    """For a wheel, under the name that it is looked for there; made if it is not in the cache."""
    processor.require()
    content = (disk.read(name()) if _kept() else None) or _anew()
    Path(folder, processor.shipped(processor.PROCESSOR.name).name).write_bytes(content)


def sealed(objects: Sequence[bytes], returning: dict[str, bool]) -> bytes:
    """As it is kept: a line that says which entries there are and which return a number, then the object files."""
    whole = b"".join(objects)
    head = {"digest": hashlib.sha256(whole).hexdigest(), "entries": returning, "sizes": [len(one) for one in objects]}
    return json.dumps(head).encode() + b"\n" + whole


def objects(content: bytes) -> list[bytes]:
    """The object files in what is kept."""
    head, _, whole = content.partition(b"\n")
    ends = [0, *accumulate(json.loads(head)["sizes"])]
    return [whole[start:end] for start, end in pairwise(ends)]


def joined(*pieces: bytes) -> bytes:
    """What was sealed in parts, as one."""
    heads = [json.loads(one.partition(b"\n")[0]) for one in pieces]
    entries = {symbol: facts for head in heads for symbol, facts in head["entries"].items()}
    return sealed([one.partition(b"\n")[2] for one in pieces], entries)


def _door(found: Entry | CEntry) -> Any:
    from engine.lowering import Door

    if isinstance(found, CEntry):
        return Door(found.function, found.arguments, found.result)
    if isinstance(found, ArrayEntry):
        return Door(found, found.given)
    return Door(found, (types.int64,) * found.py_func.__code__.co_argcount)


def tell(share: float) -> None:
    """To whoever follows."""
    for follower in FOLLOWERS:
        follower(share)


def tell_if_cold() -> None:
    """Log why the first run of these sources on this machine takes its time."""
    processor.require()
    brought = processor.shipped(processor.PROCESSOR.name)
    if not (INTERPRETED or _here or brought.is_file() or (disk.folder() / name()).exists()):
        tell_cold()
