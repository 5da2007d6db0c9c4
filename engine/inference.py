"""Leaf: numba infers types as it always does, without asking at every step whether somebody wants to know more.

It is made for programs that may be wrong: around each statement it listens to warnings and keeps words for an error, it
looks for `with` in all of them, tries a dozen ways of adding two numbers for each number that is written out, and again
when it writes the sum down, asks each statement twice, and a tuple of forty arrays is hashed anew whenever it is looked
up. All that was a quarter of a cold start.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

from numba.core import base, interpreter, typeinfer, types, untyped_passes
from numba.core.errors import ForceLiteralArg, TypingError
from numba.core.types.abstract import Type
from numba.core.types.functions import BaseFunction
from numba.core.types.misc import unliteral

_NOTHING = nullcontext()
_OPERATORS = {found for found in vars(operator).values() if callable(found)}


@contextmanager
def in_short() -> Iterator[None]:
    """For as long as the engine's module is written."""
    usual_place = base._wrap_missing_loc
    changed: tuple[tuple[Any, str, Any], ...] = (
        (typeinfer.ConstraintNetwork, "propagate", _propagate),
        (typeinfer, "new_error_context", lambda *_, **__: _NOTHING),
        (interpreter, "peep_hole_delete_with_exit", lambda func_ir: func_ir),
        (untyped_passes, "fixup_var_define_in_scope", _known_in_scope),
        (base, "_wrap_missing_loc", cache(lambda written: cache(usual_place(written)))),
        (BaseFunction, "get_call_type", _remembered(BaseFunction.get_call_type)),
        (Type, "__hash__", _hashes()),
    )
    usual = [getattr(owner, name) for owner, name, _ in changed]
    for owner, name, ours in changed:
        setattr(owner, name, ours)
    try:
        yield
    finally:
        for (owner, name, _), theirs in zip(changed, usual):
            setattr(owner, name, theirs)


def _propagate(network: Any, typeinfer: Any) -> list[Exception]:
    """Each statement says what follows from it, once, where all that comes of it is known then and loops bring nothing
    new round; what one misses yet it may find the next time.
    """
    if getattr(network, "whole", False) and not _moved(network, typeinfer):
        return []
    errors: list[Exception] = []
    for constraint in network.constraints:
        try:
            constraint(typeinfer)
        except (ForceLiteralArg, TypingError) as error:
            errors.append(error)
    network.whole = (
        not errors
        and all(kind.type is not None for kind in typeinfer.typevars.values())
        and all(getattr(constraint, "signature", constraint) is not None for constraint in network.constraints)
    )
    return errors


def _moved(network: Any, inferer: Any) -> bool:
    """Whether a variable that is another one's value, as loops have them, learns anything from it."""
    before = inferer.get_state_token()
    for constraint in network.constraints:
        if isinstance(constraint, typeinfer.Propagate):
            constraint(inferer)
    return bool(inferer.get_state_token() != before)


def _known_in_scope(blocks: Any) -> None:
    """Every variable is known in each scope; numba asks that of all of them in each block, which share one scope."""
    used = {var for block in blocks.values() for statement in block.body for var in statement.list_vars()}
    for scope in {id(block.scope): block.scope for block in blocks.values()}.values():
        for var in used:
            if var.name not in scope.localvars:
                scope.localvars.define(var.name, var)


def _remembered(usual: Callable[..., Any]) -> Callable[..., Any]:
    """What a call of these types is, looked for once."""
    found: dict[Any, Any] = {}

    def call_type(function: Any, context: Any, given: Any, named: Any) -> Any:
        if named or not all(isinstance(kind, types.Type) for kind in given):
            return usual(function, context, given, named)
        asked = function, context, tuple(given)
        if asked not in found:
            found[asked] = usual(function, context, given, named)
        return found[asked]

    return call_type


def _hashes() -> Any:
    """Once for each type, which lives as long as what is kept of it."""
    known: dict[int, tuple[Any, int]] = {}

    def hash_of(kind: Any) -> int:
        if (found := known.get(id(kind))) is None:
            found = known[id(kind)] = kind, hash(kind.key)
        return found[1]

    return hash_of


def asked(function: Any, given: Any) -> tuple[Any, Any]:
    """What a call's type depends on: of operators of numbers, not on which number is written out."""
    if isinstance(function, types.Function) and function.typing_key in _OPERATORS:
        plain = tuple(map(unliteral, given))
        if all(isinstance(kind, types.Number | types.Boolean) for kind in plain):
            return function, plain
    return function, given
