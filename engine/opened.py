"""Leaf: declared memory (layout.py) in compiled code: a record is one pointer with named fields, a group its tuple.

An access by name becomes a load at a constant offset. Where code is not compiled, the same functions serve Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    lower_setattr_generic,
    overload,
    register_model,
)
from numba.np.arrayobj import populate_array

from engine.layout import Field, count_of, fields_of, is_record, item_size, memory, rebuilt, seen
from engine.machine_code import INTERPRETED

WORD = ir.IntType(64)
BYTE = ir.IntType(8)

T = TypeVar("T")

# --- records ----------------------------------------------------------------------------------------------------------


def at(declaration: type[T]) -> Callable[[Any], T]:
    """at(Voice)(address): the record that lies there, in compiled code and in Python."""
    if not INTERPRETED:
        made: Any = declaration
        kind = record_type(made)

        @intrinsic
        def record_at(typing: Any, address: Any) -> Any:
            def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
                return builder.inttoptr(values[0], context.get_value_type(kind))

            return kind(types.int64), code

        return record_at  # type: ignore[no-any-return]
    return lambda address: seen(declaration, address)


class RecordType(types.Type):  # type: ignore[misc]
    """A record as compiled code sees it: a pointer with named fields."""

    def __init__(self, declaration: type) -> None:
        self.declaration: Any = declaration
        # Types of one name are one type for numba.
        super().__init__(name=f"record.{declaration.__module__}.{declaration.__qualname__}")

    @property
    def bitwidth(self) -> int:
        return 8 * int(self.declaration.size)

    def part(self, name: str) -> Field | None:
        return next((part for part in fields_of(self.declaration) if part.name == name), None)


@cache
def record_type(declaration: type) -> RecordType:
    """A record's type in compiled code."""
    return RecordType(declaration)


def _type(part: Field) -> Any:
    """A field's type in compiled code."""
    if part.kind == "group":
        return group_type(part.of)
    if part.kind == "record":
        return record_type(part.of)
    if part.kind == "scalar":
        return {np.int64: types.int64, np.float64: types.float64, bool: types.boolean}[part.of]
    return types.Array(_element(part.of), part.dimensions, "C")


def _element(of: Any) -> Any:
    if is_record(of):
        return record_type(of)
    return {np.int64: types.int64, np.float64: types.float64, np.float32: types.float32, np.uint8: types.uint8}[of]


@register_model(RecordType)
class _RecordModel(models.RecordModel):  # type: ignore[misc]
    """numba's own for its records: a pointer as a value, bytes in an array."""

    def __init__(self, dmm: Any, fe_type: Any) -> None:
        models.CompositeModel.__init__(self, dmm, fe_type)
        self._models: list[Any] = []
        self._be_type = ir.ArrayType(BYTE, int(fe_type.declaration.size))
        self._be_ptr_type = self._be_type.as_pointer()


@infer_getattr
class _RecordAttributes(AttributeTemplate):  # type: ignore[misc]
    key = RecordType

    def generic_resolve(self, kind: Any, name: str) -> Any:
        part = kind.part(name)
        return None if part is None else _type(part)


def _pointer(builder: Any, base: Any, offset: Any, target: Any) -> Any:
    raw = builder.bitcast(base, BYTE.as_pointer())
    return builder.bitcast(builder.gep(raw, [offset if isinstance(offset, ir.Value) else WORD(offset)]), target)


@lower_getattr_generic(RecordType)
def _get(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    part = kind.part(name)
    if part.kind == "scalar":
        return _scalar(builder, part, _pointer(builder, value, part.offset, WORD.as_pointer()))
    if part.kind == "record":
        return _pointer(builder, value, part.offset, context.get_value_type(_type(part)))
    if part.shape is not None:
        return _array(context, builder, part, _pointer(builder, value, part.offset, BYTE.as_pointer()), part.shape)
    words = _pointer(builder, value, part.offset, WORD.as_pointer())
    return _open(context, builder, part, builder.bitcast(value, BYTE.as_pointer()), words, iter(range(part.words)))


@lower_setattr_generic(RecordType)
def _set(context: Any, builder: Any, signature: Any, values: Any, name: str) -> None:
    kind, given = signature.args
    part = kind.part(name)
    value = context.cast(builder, values[1], given, types.float64 if part.of is np.float64 else types.int64)
    slot = ir.DoubleType() if part.of is np.float64 else WORD
    builder.store(value, _pointer(builder, values[0], part.offset, slot.as_pointer()))


def _scalar(builder: Any, part: Field, word: Any) -> Any:
    """A number from its word."""
    if part.of is np.float64:
        return builder.load(builder.bitcast(word, ir.DoubleType().as_pointer()))
    number = builder.load(word)
    return builder.icmp_signed("!=", number, WORD(0)) if part.of is bool else number


def _array(context: Any, builder: Any, part: Field, data: Any, shape: Any) -> Any:
    """An array from where it begins."""
    kind, size = _type(part), item_size(part.of)
    sizes = [WORD(n) if isinstance(n, int) else n for n in shape]
    strides = [WORD(size)]
    for n in reversed(sizes[1:]):
        strides.insert(0, builder.mul(strides[0], n))
    made = context.make_array(kind)(context, builder)
    data = builder.bitcast(data, context.get_data_type(kind.dtype).as_pointer())
    populate_array(made, data, sizes, strides, WORD(size), None)
    return made._getvalue()


# --- groups -----------------------------------------------------------------------------------------------------------


def group_type(group: type) -> Any:
    """A NamedTuple as compiled code has it."""
    return types.containers.BaseTuple.from_types([_type(part) for part in fields_of(group)], group)


def _open(context: Any, builder: Any, part: Field, base: Any, words: Any, turn: Iterator[int]) -> Any:
    """A field of a group from its words."""
    if part.kind == "group":
        inner = [_open(context, builder, own, base, words, turn) for own in fields_of(part.of)]
        return context.make_tuple(builder, group_type(part.of), inner)

    def word() -> Any:
        return builder.gep(words, [WORD(next(turn))])

    if part.kind == "scalar":
        return _scalar(builder, part, word())
    data = builder.gep(base, [builder.load(word())])
    return _array(context, builder, part, data, [builder.load(word()) for _ in range(part.dimensions)])


def opener(group: type[T]) -> Callable[[Any, Any], T]:
    """open(base, row): the group whose words begin at the address `row`, its arrays counted from the address `base`."""
    if INTERPRETED:
        count = count_of(group)
        return lambda base, row: rebuilt(group, int(base), memory(row, np.int64, (count,)))
    whole = Field("", "group", group)

    @intrinsic
    def open_group(typing: Any, base: Any, row: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            start = builder.inttoptr(values[0], BYTE.as_pointer())
            words = builder.inttoptr(values[1], WORD.as_pointer())
            return _open(context, builder, whole, start, words, iter(range(whole.words)))

        return group_type(group)(types.int64, types.int64), code

    return open_group  # type: ignore[no-any-return]


# --- addresses --------------------------------------------------------------------------------------------------------


def address(thing: Any) -> int:
    """Where an array or a record begins."""
    return int(thing.address) if hasattr(thing, "address") else int(np.asarray(thing).ctypes.data)


@overload(address, strict=False, jit_options={"forceinline": True, "_nrt": False})
def _compiled_address(thing: Any) -> Any:
    return lambda thing: _address(thing)


@intrinsic
def _address(typing: Any, thing: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        if isinstance(signature.args[0], RecordType):
            return builder.ptrtoint(values[0], WORD)
        return builder.ptrtoint(context.make_array(signature.args[0])(context, builder, values[0]).data, WORD)

    return types.int64(thing), code
