"""Leaf: numba infers types as it always does, without asking at every step whether somebody wants to know more.

It is made for programs that may be wrong: around each statement it listens to warnings and keeps words for an error, it
looks for `with` in all of them, tries a dozen ways of adding two numbers for each number that is written out, and a
tuple of forty arrays is hashed anew whenever it is looked up. All that was a fifth of a cold start.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

from numba.core import base, interpreter, typeinfer, types
from numba.core.errors import ForceLiteralArg, TypingError
from numba.core.types.abstract import Type
from numba.core.types.misc import unliteral

_NOTHING = nullcontext()
_OPERATORS = {found for found in vars(operator).values() if callable(found)}


@contextmanager
def in_short() -> Iterator[None]:
    """For as long as the engine's module is written."""
    changed: tuple[tuple[Any, str, Any], ...] = (
        (typeinfer.ConstraintNetwork, "propagate", _propagate),
        (typeinfer, "new_error_context", lambda *_, **__: _NOTHING),
        (interpreter, "peep_hole_delete_with_exit", lambda func_ir: func_ir),
        (base, "_wrap_missing_loc", cache(base._wrap_missing_loc)),
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
    """Each statement says what follows from it; what it misses yet it may find the next time."""
    errors: list[Exception] = []
    for constraint in network.constraints:
        try:
            constraint(typeinfer)
        except (ForceLiteralArg, TypingError) as error:
            errors.append(error)
    return errors


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
