"""Leaf: a function that Python calls and no module has is made as the module is, by the engine's own front end.

numba would optimise every function that it calls, and make machine code of each, though nobody calls it from outside:
six times the work. What numba still makes is a bridge from Python's arguments to the object file.
"""

from __future__ import annotations

import hashlib
import pickle
from functools import cached_property
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.compiler import Flags, compile_extra
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps
from numba.core.types.containers import BaseTuple
from numba.extending import intrinsic

from engine import module
from engine.machine_code import INTERPRETED, MachineCode
from engine.parts import name_of

_here: dict[str, module.Code] = {}  # by the names of what is called in them


def as_modules_are(compiled: Any) -> Any:
    """Have a compiled function made like this if it says that it returns nothing; others are numba's."""
    if INTERPRETED or compiled.__annotations__.get("return") != "None":
        return compiled
    compiled.__class__ = _Bridged
    compiled._compiler.__class__ = _Compiler
    compiled._compiler.whole = compiled
    compiled._cache = _Kept(compiled.py_func)
    return compiled


class _Bridged(CPUDispatcher):  # type: ignore[misc]
    """Python's calls go over the bridge. What numba compiles has the function itself: kept on disk, it would lead to an
    object file that nobody has loaded."""

    @cached_property
    def inner(self) -> Any:
        """As compiled code alone calls it."""
        options = {**self.targetoptions, "no_cpython_wrapper": True}
        made: Any = CPUDispatcher(self.py_func, locals=self.locals, targetoptions=options)
        made._cache = MachineCode(self.py_func)
        return made

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """What a call with these types is."""
        return self.inner.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """What is called then."""
        return self.inner.get_overload(sig)


class _Kept(MachineCode):
    """Its object file lies before numba's bridge to it, under another name than the function itself."""

    def _name(self, sig: Any, codegen: Any) -> str:
        return super()._name(sig, codegen).replace(".nbc", "-bridge.nbc")

    def pack(self, sig: Any, data: Any) -> bytes:
        """Nothing but the bridge if numba made all of it."""
        return dumps((getattr(data.library, "brought", None), super().pack(sig, data)))

    def unpack(self, found: bytes) -> tuple[Any, Any]:
        """The object file must be there before the bridge leads to it."""
        brought, rest = pickle.loads(found)
        if brought:
            _bring(*brought)
        return super().unpack(rest)


class _Compiler(_FunctionCompiler):  # type: ignore[misc]
    whole: Any

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        if not all(map(_in_words, args)):
            return super()._compile_core(args, return_type)
        from engine.lowering import Door, compiled  # takes its time, and a warm start needs none of it

        function = self.py_func
        told = f"{name_of(self.whole)}{args}"
        symbol = f"jawari.{function.__name__}.{hashlib.sha256(told.encode()).hexdigest()[:20]}"
        made, returning = compiled({symbol: Door(self.whole, tuple(args))}, module.declared, lambda share: None)
        brought = symbol, module.sealed([made], returning)
        _bring(*brought)
        bridge = _bridge(function, symbol, ", ".join(self.pysig.parameters))
        flags = Flags()
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        found = compile_extra(
            *(self.targetdescr.typing_context, self.targetdescr.target_context, bridge),
            *(args, return_type, flags, self.locals),
            pipeline_class=self.pipeline_class,
        )
        found.library.brought = brought
        return found


def _bring(symbol: str, content: bytes) -> None:
    """Load an object file, for as long as the process lives."""
    if symbol not in _here:
        _here[symbol] = module.Code(content)
        llvm.add_symbol(symbol, _here[symbol].address(symbol))


def _in_words(kind: Any) -> bool:
    """Whether the module's doors could be given it: numbers, arrays in one piece, and groups of them."""
    if isinstance(kind, BaseTuple):
        return all(map(_in_words, kind))
    if isinstance(kind, types.Array):
        return kind.layout == "C" and kind.mutable and isinstance(kind.dtype, types.Number)
    return isinstance(kind, types.Number | types.Boolean)


def _bridge(function: Any, symbol: str, words: str) -> Any:
    """A function of the same name, whose arguments are these, that calls the symbol with all that it is given."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        parts: list[Any] = []
        for kind, value in zip(signature.args, values):
            _take_apart(context, builder, kind, value, parts)
        called = ir.FunctionType(context.get_argument_type(types.none), [part.type for part in parts])
        builder.call(cgutils.get_or_insert_function(builder.module, called, symbol), parts)
        return context.get_dummy_value()

    names = {"__name__": function.__module__, "intrinsic": intrinsic}
    names["typed"] = lambda *given: (types.none(*given), code)
    # numba knows no intrinsic of any number of arguments.
    exec(f"@intrinsic\ndef door(typing, {words}):\n    return typed({words})\n", names)
    exec(f"def {function.__name__}({words}):\n    door({words})\n", names)
    return names[function.__name__]


def _take_apart(context: Any, builder: Any, kind: Any, value: Any, parts: list[Any]) -> None:
    """As C has it (module.py)."""
    if isinstance(kind, BaseTuple):
        for n, part in enumerate(kind):
            _take_apart(context, builder, part, builder.extract_value(value, n), parts)
    elif isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        parts.append(array.data)
        parts.extend(cgutils.unpack_tuple(builder, array.shape, kind.ndim))
    else:
        parts.append(context.get_value_as_argument(builder, kind, value))
