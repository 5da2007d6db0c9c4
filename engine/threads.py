"""Leaf: what threads without the interpreter need of each other and of the system, beyond loads and stores."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

from engine.compiled import INTO_CALLER


def add_at_once(array: Any, index: Any, value: Any) -> Any:
    """array[index] += value of int64, and what it was before; no other thread comes in between."""
    before = array[index]
    array[index] = before + value
    return before


def call_c(function: Any, one: Any, other: Any) -> Any:
    """What a C function at an address returns that is given two numbers or pointers at most; 0 where there is none."""
    return 0


@intrinsic
def _add_at_once(typing: Any, array: Any, index: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, values[0]).data
        return builder.atomic_rmw("add", builder.gep(data, [values[1]]), values[2], "acq_rel")

    return types.int64(array, types.int64, types.int64), code


@intrinsic
def _call_c(typing: Any, function: Any, one: Any, other: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        word = ir.IntType(64)
        kind = ir.FunctionType(word, [word, word]).as_pointer()
        return builder.call(builder.inttoptr(values[0], kind), values[1:])

    return types.int64(types.int64, types.int64, types.int64), code


@overload(add_at_once, **INTO_CALLER)
def _compiled_add(array: Any, index: Any, value: Any) -> Any:
    return lambda array, index, value: _add_at_once(array, index, value)


@overload(call_c, **INTO_CALLER)
def _compiled_call(function: Any, one: Any, other: Any) -> Any:
    def called(function: Any, one: Any, other: Any) -> Any:
        return _call_c(function, one, other) if function else 0

    return called
