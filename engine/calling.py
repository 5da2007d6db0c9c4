"""Leaf: how compiled functions of the engine's module call each other: results are values, and nothing is raised.

numba's functions return a code, by pointers a result and what they raised, and every caller asks for that: three blocks
and twenty instructions a call, which LLVM had to clear up thousands of times. Nobody ever asks what the engine raises,
since none of its functions does; where numba's own would, of arrays of the wrong shape, they return zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import callconv, types
from numba.core.types.misc import Optional as OrNone

_NO = ir.Constant(ir.IntType(1), 0)
_FINE = callconv.Status(callconv.RETCODE_OK, ir.Constant(ir.IntType(1), 1), *[_NO] * 5, None)


class Convention(callconv.BaseCallConv):  # type: ignore[misc]
    """What is given are the arguments, what comes back is the result."""

    def get_function_type(self, restype: Any, argtypes: Any) -> Any:
        """As LLVM sees a function of these types."""
        if isinstance(restype, OrNone):
            raise NotImplementedError("a function that returns a number or None")
        result = ir.VoidType() if restype == types.none else self.get_return_type(restype).pointee
        return ir.FunctionType(result, self._get_arg_packer(argtypes).argument_types)

    def decorate_function(self, fn: Any, args: Any, fe_argtypes: Any, noalias: bool = False) -> None:
        """Arguments keep the names that LLVM gives them."""

    def get_arguments(self, func: Any) -> Any:
        """All that it is given."""
        return func.args

    def return_value(self, builder: Any, retval: Any) -> None:
        """The end of a function."""
        if isinstance(builder.function.ftype.return_type, ir.VoidType):
            builder.ret_void()
        else:
            builder.ret(retval)

    def return_user_exc(self, builder: Any, *_: Any, **__: Any) -> None:
        """Where numba would raise."""
        kind = builder.function.ftype.return_type
        self.return_value(builder, None if isinstance(kind, ir.VoidType) else ir.Constant(kind, None))

    def return_status_propagate(self, builder: Any, status: Any) -> None:
        """Nothing comes back that could be handed on."""

    def call_function(
        self, builder: Any, callee: Any, resty: Any, argtys: Any, args: Any, attrs: Any = None
    ) -> tuple[Any, Any]:
        """A call, and that it went well."""
        given = list(self._get_arg_packer(argtys).as_arguments(builder, args))
        result = builder.call(callee, given)
        if resty == types.none:
            return _FINE, self.context.get_dummy_value()
        return _FINE, self.context.get_returned_value(builder, resty, result)

    def _make_call_helper(self, builder: Any) -> None:
        return None


def call_of(facts: Any) -> Callable[..., Any]:
    """What writes a call of a function, given what numba knows of it."""

    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        function = context.declare_function(builder.module, facts)
        return context.call_conv.call_function(builder, function, facts.restype, facts.argtypes, values)[1]

    write.signature = facts.argtypes  # type: ignore[attr-defined]
    write.libs = ()  # type: ignore[attr-defined]
    return write
