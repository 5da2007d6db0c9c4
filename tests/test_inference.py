"""numba in short: what is left out while the engine's module is written, and that all of it is put back."""

from __future__ import annotations

import ctypes
import gc
import operator
from typing import Any

import llvmlite.binding as llvm
import pytest
from llvmlite import ir
from numba.core import base, interpreter, typeinfer, types, untyped_passes
from numba.core.registry import cpu_target
from numba.core.types.abstract import Type
from numba.core.types.functions import BaseFunction

from engine import calling, compiled, inference, lowering
from engine.compiled import native

pytestmark = pytest.mark.skipif(compiled.INTERPRETED, reason="nothing is compiled then")

PLACES: tuple[tuple[Any, str], ...] = (
    (typeinfer.ConstraintNetwork, "propagate"),
    (typeinfer, "new_error_context"),
    (interpreter, "peep_hole_delete_with_exit"),
    (untyped_passes, "fixup_var_define_in_scope"),
    (base, "_wrap_missing_loc"),
    (BaseFunction, "get_call_type"),
    (Type, "__hash__"),
)


def test_numba_is_left_as_it_was() -> None:
    before = [getattr(*place) for place in PLACES]
    with inference.in_short():
        assert not any(getattr(*place) is usual for place, usual in zip(PLACES, before))
    assert [getattr(*place) for place in PLACES] == before


def test_types_are_found_where_they_were_put() -> None:
    kinds = [types.int64, types.Array(types.float64, 2, "C"), types.UniTuple(types.float64, 3), types.none]
    places = {kind: n for n, kind in enumerate(kinds)}
    with inference.in_short():
        assert [places[kind] for kind in (*kinds, types.Array(types.float64, 2, "C"))] == [0, 1, 2, 3, 1]
        places[types.float32] = 4
    assert places[types.float32] == 4


def test_a_number_that_is_written_out_makes_no_other_sum() -> None:
    one, two = types.literal(1), types.literal(2)
    context = cpu_target.typing_context
    context.refresh()
    plus, counted = (context.resolve_value_type(what) for what in (operator.add, range))
    assert inference.asked(plus, (types.float64, one)) == inference.asked(plus, (types.float64, two))
    pair = types.UniTuple(types.float64, 2)
    assert inference.asked(plus, (pair, one)) == (plus, (pair, one))
    assert inference.asked(counted, (one,)) == (counted, (one,))


@native
def quotient(a: Any, b: Any) -> Any:
    return a // b + 1


@native
def called(a: Any, b: Any) -> Any:
    return 2 * quotient(a, b)


def test_results_are_values_and_nobody_asks_whether_all_went_well() -> None:
    doors = {"called": lowering.Door(called, (types.int64, types.int64))}
    whole, _, _ = lowering.optimised(doors, 2, lambda share: None)
    assert "excinfo" not in str(whole)
    assert calling._FINE.is_error == ir.Constant(ir.IntType(1), 0)


def test_what_may_be_none_is_refused() -> None:
    with pytest.raises(NotImplementedError):
        calling.Convention(None).get_function_type(types.Optional(types.float64), ())


@native
def turned(n: Any) -> Any:
    """What is a whole number before the loop is none after it, and so is what was made of it on the way."""
    x, y, z = 1, 0, 2
    for _ in range(n):
        y = x**2 + z
        x, z = x * 0.5, y
    return 1000 * y + x**3


def test_what_a_loop_brings_back_is_asked_again() -> None:
    whole, machine, _ = lowering.optimised(
        {"turned": lowering.Door(turned, (types.int64,), types.float64)}, 1, lambda share: None
    )
    made = llvm.create_mcjit_compiler(whole, machine)
    made.finalize_object()
    function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(made.get_function_address("turned"))
    assert [function(n) for n in range(5)] == [float(turned.py_func(n)) for n in range(5)]
    assert function(4) % 1.0 != 0.0


def test_what_was_made_meanwhile_is_not_collected_at_once() -> None:
    gc.enable()
    with lowering._undisturbed():
        kept = [[n] for n in range(50_000)]
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_count()[0] < len(kept) // 10
    assert gc.get_freeze_count() == 0
