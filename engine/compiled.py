"""Leaf: how the engine's Python becomes machine code. Flags and low-level instructions are named here only.

Compiled functions know no reference counts (`_nrt=False`): they can neither allocate nor pay for an atomic
increment when an array changes hands, which alone makes the modal kernel 3-5 times faster, and the audio
thread can call them without the interpreter. Arithmetic is strict: were products fused and sums reordered as the
optimiser likes, a function's last bit would depend on what it is compiled together with, and chaos in the contact
would make of it another sound in another process. The loops that need more speed are vector code (vectors.py).
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.ccallback import CFunc
from numba.core.event import Listener, install_listener
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic, overload, register_jitable
from numba.np.arrayobj import populate_array

from engine import by_itself, elementary, module, parts
from engine.machine_code import INTERPRETED, MachineCode
from engine.messages import COMPILED_TOO
from engine.processor import COUNTER_RATE, WINDOWS, aimed_at

FLAGS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "boundscheck": False,
    "fastmath": False,
    "_nrt": False,
    "no_cfunc_wrapper": True,  # of use to first-class functions only
}

F = TypeVar("F", bound=Callable[..., Any])


def native(function: F) -> F:
    """Compile for flat arrays: no interpreter, no allocation, cached on disk. Only compiled code may call it.

    A wrapper by which Python calls it would be most of a small function's code, and a fifth of a cold start.
    """
    return _forbid_python(_keep(_compile(function, no_cpython_wrapper=True)))


def called_by_python(function: F) -> F:
    """The same for what Python calls too."""
    return by_itself.as_modules_are(_keep(_compile(function)))  # type: ignore[no-any-return]


def entry(function: F) -> F:
    """For what Python or a library calls in the engine's module: it is given numbers and addresses, and no arrays."""
    return _enter(function, alone=False)


def guarded(function: F) -> F:
    """The same for what Python calls while it keeps the interpreter's lock: one caller at a time."""
    return _enter(function, alone=True)


def called_with(*arguments: Any) -> Callable[[F], F]:
    """For what Python calls with arrays of these types: in the engine's module. Others have it compiled by itself."""

    def decorate(function: F) -> F:
        if INTERPRETED or not module.inside(function):
            return called_by_python(function)
        return module.array_entry(_keep(_compile(function)), arguments)  # type: ignore[no-any-return]

    return decorate


def inlined(function: F) -> F:
    """The same for a small function that must dissolve into its caller."""
    return _compile(function, forceinline=True)


def pasted(function: F) -> F:
    """For a function that makes arrays from addresses: its text goes into its caller, since none may return arrays."""
    return _compile(function, inline="always")


# Types of C, for functions that libraries call.
WORD, INT, LONG, SIZE, DOUBLE, POINTER = (
    types.int64,
    types.int32,
    getattr(types, f"uint{8 * ctypes.sizeof(ctypes.c_ulong)}"),
    types.uintp,
    types.float64,
    types.voidptr,
)
# And of numpy: arrays in one piece.
VECTOR, MATRIX, CUBE = (types.Array(DOUBLE, dimensions, "C") for dimensions in (1, 2, 3))
INTEGERS, SINGLE_ROWS = types.Array(WORD, 1, "C"), types.Array(types.float32, 2, "C")


def called_by_c(result: Any, *arguments: Any) -> Callable[[F], F]:
    """Compile as a C function: a library may call its `.address` from any thread. It must not raise."""

    def decorate(function: F) -> F:
        if INTERPRETED:
            return function  # nobody can call it from C then
        if module.inside(function):
            return module.CEntry(native(function), result, arguments)  # type: ignore[return-value]
        flags = {name: value for name, value in FLAGS.items() if name not in ("nogil", "no_cfunc_wrapper")}
        made: Any = CFunc(function, (arguments, result or types.void), locals={}, options=flags)
        made._cache = MachineCode(function)
        made.compile()
        return made

    return decorate


def compiled_apart(function: Any, *arguments: Any) -> None:
    """Have the module's other part bring a compiled function of these types, which returns nothing (parts.py)."""
    if not INTERPRETED:
        parts.apart(function, *arguments)


def plain(function: F) -> F:
    """A compiled function as Python has it, for where it is called so seldom that compiling takes longer."""
    return getattr(function, "py_func", function)


def _compile(function: F, **options: Any) -> F:
    module.declared += 1
    return numba.njit(**{**FLAGS, **options})(function)  # type: ignore[no-any-return]


def _keep(compiled: F) -> F:
    if not INTERPRETED:
        compiled._cache = MachineCode(compiled.py_func)  # type: ignore[attr-defined]
    return compiled


def _enter(function: F, alone: bool) -> F:
    if INTERPRETED or not module.inside(function):  # others' functions are compiled when they are called
        return _keep(_compile(function, nogil=not alone))
    return module.entry(_keep(_compile(function, no_cpython_wrapper=True)), alone)  # type: ignore[no-any-return]


class _CompiledCodeOnly(CPUDispatcher):  # type: ignore[misc]
    """numba would jump to the wrapper that is not there: an exception instead of a crash."""

    def __call__(self, *_: Any) -> None:
        raise TypeError(f"{self.py_func.__name__} is @native, for compiled code only: make it @called_by_python")


def _forbid_python(function: F) -> F:
    if not INTERPRETED:
        function.__class__ = _CompiledCodeOnly  # type: ignore[assignment]
    return function


@contextmanager
def compilations(tell: Callable[[int, bool, float], None]) -> Iterator[None]:
    """Within it, after every function: how many have been compiled, whether one that needs them still is; or what share
    of the engine's module, which is the most of it by far, is done (1: it is not being made)."""
    listener = _Compilations(tell)
    module.FOLLOWERS.append(listener.follow)
    try:
        with install_listener("numba:compile", listener):
            yield
    finally:
        module.FOLLOWERS.remove(listener.follow)


class _Compilations(Listener):  # type: ignore[misc]
    def __init__(self, tell: Callable[[int, bool, float], None]) -> None:
        self._tell, self._done, self._begun, self._share = tell, 0, 0, 1.0

    def follow(self, share: float) -> None:
        """The module's functions are not counted one by one."""
        self._share = share
        self._tell(self._done, share < 1.0, share)

    def on_start(self, event: Any) -> None:
        self._begun += self._share == 1.0

    def on_end(self, event: Any) -> None:
        if self._share == 1.0:
            self._done += 1
            self._tell(self._done, self._done < self._begun, 1.0)


@inlined
def copy(source: Any, target: Any) -> None:
    """target = source, entry by entry: a slice assignment would allocate in case they overlap."""
    for i in range(source.size):
        target[i] = source[i]


def load_acquire(array: Any, index: Any) -> Any:
    """array[index] of int64, and nothing after it is read before it."""
    return array[index]


def store_release(array: Any, index: Any, value: Any) -> None:
    """array[index] = value, and everything before it is written before it."""
    array[index] = value


def fence() -> None:
    """What is read or written before this is so before whatever comes after it."""


def flush_to_zero() -> int:
    """Treat denormal numbers as zero on this thread: decaying strings must not slow down (x86 and ARM).

    Returns what `restore_arithmetic` needs: who borrows a thread gives it back as it was.
    """
    return 0


def restore_arithmetic(before: Any) -> None:
    """End what flush_to_zero began."""


def touch_stack() -> None:
    """Write to as much of this thread's stack as it may need: the system gives memory when it is first touched."""


def now() -> int:
    """Nanoseconds of a clock that only goes forward; compiled code and Python read the same one."""
    return time.perf_counter_ns()


def _array_at(ctype: Any, dtype: Any) -> Any:
    """array(address, size): the array that lies there, without owner or reference count."""
    if INTERPRETED:
        return lambda address, size: np.ctypeslib.as_array((ctype * int(size)).from_address(int(address)))

    @intrinsic
    def array(typing: Any, address: Any, size: Any) -> Any:
        kind = types.Array(dtype, 1, "C")
        return kind(types.int64, types.intp), _array_code(kind, dtype)

    return array


def _matrix_at(ctype: Any, dtype: Any) -> Any:
    """matrix(address, rows, columns): the same in two dimensions."""
    if INTERPRETED:
        one = _array_at(ctype, dtype)
        return lambda address, rows, columns: one(address, rows * columns).reshape(rows, columns)

    @intrinsic
    def matrix(typing: Any, address: Any, rows: Any, columns: Any) -> Any:
        kind = types.Array(dtype, 2, "C")
        return kind(types.int64, types.intp, types.intp), _array_code(kind, dtype)

    return matrix


def _array_code(kind: Any, dtype: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        made = context.make_array(kind)(context, builder)
        strides = [context.get_constant(types.intp, dtype.bitwidth // 8)]
        for size in reversed(values[2:]):
            strides.insert(0, builder.mul(strides[0], size))
        data = builder.inttoptr(values[0], context.get_data_type(dtype).as_pointer())
        populate_array(made, data, values[1:], strides, strides[-1], None)
        return made._getvalue()

    return code


# For compiled code: arrays of float64, int64, float32 and bytes from an address and their shape.
floats = _array_at(ctypes.c_double, types.float64)
integers = _array_at(ctypes.c_int64, types.int64)
singles = _array_at(ctypes.c_float, types.float32)
octets = _array_at(ctypes.c_uint8, types.uint8)
float_rows = _matrix_at(ctypes.c_double, types.float64)
integer_rows = _matrix_at(ctypes.c_int64, types.int64)
single_rows = _matrix_at(ctypes.c_float, types.float32)


@intrinsic
def address_of(typing: Any, pointer: Any) -> Any:
    """A pointer that C gave, as the number that the arrays above are made from."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.ptrtoint(values[0], ir.IntType(64))

    return types.int64(types.voidptr), code


@intrinsic
def _load_acquire(typing: Any, array: Any, index: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, values[0]).data
        return builder.load_atomic(builder.gep(data, [values[1]]), "acquire", 8)

    return types.int64(array, types.int64), code


@intrinsic
def _store_release(typing: Any, array: Any, index: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, values[0]).data
        builder.store_atomic(values[2], builder.gep(data, [values[1]]), "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), code


@intrinsic
def _fence(typing: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), code


# Flush results to zero, take inputs as zero: two bits of SSE's control word, one of ARM's.
FLUSHING = {"x86": 0x8040, "arm": 1 << 24}


@intrinsic
def _begin_flushing(typing: Any) -> Any:
    """Set the bits of this thread's control word that flush; returns what it was."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        family = aimed_at(context).family
        if family not in FLUSHING:
            return ir.IntType(64)(0)
        before = read_control_word(builder, family)
        write_control_word(builder, family, builder.or_(before, ir.IntType(64)(FLUSHING[family])))
        return before

    return types.int64(), code


@intrinsic
def _set_control_word(typing: Any, word: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        family = aimed_at(context).family
        if family in FLUSHING:
            write_control_word(builder, family, values[0])
        return context.get_dummy_value()

    return types.void(types.int64), code


def read_control_word(builder: Any, family: str) -> Any:
    """How this thread calculates, as 64 bits."""
    whole = ir.IntType(64)
    if family == "arm":
        return builder.call(_intrinsic(builder, "llvm.aarch64.get.fpcr", whole), [])
    slot, raw = _control_word(builder)
    builder.call(_intrinsic(builder, "llvm.x86.sse.stmxcsr", ir.VoidType(), raw.type), [raw])
    return builder.zext(builder.load(slot), whole)


def write_control_word(builder: Any, family: str, word: Any) -> None:
    """The same, changed."""
    if family == "arm":
        builder.call(_intrinsic(builder, "llvm.aarch64.set.fpcr", ir.VoidType(), word.type), [word])
        return
    slot, raw = _control_word(builder)
    builder.store(builder.trunc(word, ir.IntType(32)), slot)
    builder.call(_intrinsic(builder, "llvm.x86.sse.ldmxcsr", ir.VoidType(), raw.type), [raw])


def _control_word(builder: Any) -> tuple[Any, Any]:
    """Room for SSE's, which goes by way of memory, and a plain pointer to it."""
    slot = cgutils.alloca_once(builder, ir.IntType(32))
    return slot, builder.bitcast(slot, ir.IntType(8).as_pointer())


def _intrinsic(builder: Any, name: str, result: Any, *given: Any) -> Any:
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, given), name)


STACK = 1 << 17  # bytes; the smallest that an audio thread gets is four times as large


@intrinsic
def _touch_stack(typing: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        if not WINDOWS:  # there a thread may not reach past the next page of its stack
            _stack_toucher(builder.module)(builder)
        return context.get_dummy_value()

    return types.void(), code


def _stack_toucher(module: Any) -> Callable[[Any], Any]:
    """A function with a frame of its own: what it calls lies where its caller's next callee will."""
    byte, size = ir.IntType(8), ir.IntType(64)
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), []), module.get_unique_name("touch_stack"))
    function.linkage = "internal"
    function.attributes.add("noinline")
    builder = ir.IRBuilder(function.append_basic_block())
    frame = builder.bitcast(builder.alloca(ir.ArrayType(byte, STACK)), byte.as_pointer())
    kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), byte, size, ir.IntType(1)])
    fill = cgutils.get_or_insert_function(module, kind, "llvm.memset.p0i8.i64")
    builder.call(fill, [frame, byte(0), size(STACK), ir.IntType(1)(1)])  # volatile, or it would be left out
    builder.ret_void()
    return lambda caller: caller.call(function, [])


# The clocks behind Python's own perf_counter.
MONOTONIC = 0 if WINDOWS else getattr(time, "CLOCK_UPTIME_RAW", time.CLOCK_MONOTONIC)


@intrinsic
def _now(typing: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        word, whole = ir.IntType(64), ir.IntType(32)
        slot = cgutils.alloca_once(builder, ir.ArrayType(word, 2))
        raw = builder.bitcast(slot, word.as_pointer())
        if WINDOWS:
            kind = ir.FunctionType(whole, [word.as_pointer()])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "QueryPerformanceCounter"), [raw])
            ticks, rate = builder.load(raw), word(COUNTER_RATE)
            seconds, rest = builder.sdiv(ticks, rate), builder.srem(ticks, rate)
            rest = builder.sdiv(builder.mul(rest, word(10**9)), rate)
        else:
            kind = ir.FunctionType(whole, [whole, word.as_pointer()])
            function = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
            builder.call(function, [whole(MONOTONIC), raw])
            seconds, rest = builder.load(raw), builder.load(builder.gep(raw, [word(1)]))
        return builder.add(builder.mul(seconds, word(10**9)), rest)

    return types.int64(), code


# strict=False: numba would compare the implementations' annotations, which they do without.
INTO_CALLER: dict[str, Any] = {"strict": False, "jit_options": {**FLAGS, "forceinline": True}}


@overload(load_acquire, **INTO_CALLER)
def _compiled_load(array: Any, index: Any) -> Any:
    return lambda array, index: _load_acquire(array, index)


@overload(store_release, **INTO_CALLER)
def _compiled_store(array: Any, index: Any, value: Any) -> Any:
    return lambda array, index, value: _store_release(array, index, value)


@overload(fence, **INTO_CALLER)
def _compiled_fence() -> Any:
    return lambda: _fence()


@overload(flush_to_zero, **INTO_CALLER)
def _compiled_flush() -> Any:
    return lambda: _begin_flushing()


@overload(restore_arithmetic, **INTO_CALLER)
def _compiled_restore(before: Any) -> Any:
    return lambda before: _set_control_word(before)


@overload(touch_stack, **INTO_CALLER)
def _compiled_touch() -> Any:
    return lambda: _touch_stack()


@overload(now, **INTO_CALLER)
def _compiled_now() -> Any:
    return lambda: _now()


# Of messages.py, which Python imports without numba: plain functions that dissolve into compiled callers.
for function in COMPILED_TOO:
    register_jitable(**INTO_CALLER["jit_options"])(function)


@guarded
def read_shared(address: Any) -> Any:
    """From Python: an int64 that another thread counts up; what is read before this is read, what after it is not."""
    cell = integers(address, 1)
    fence()
    return load_acquire(cell, 0)


@guarded
def write_shared(address: Any, value: Any) -> None:
    """From Python: set an int64 that another thread reads; what was done before this is seen by whoever sees it."""
    store_release(integers(address, 1), 0, value)


def _know(function: Callable[..., Any]) -> None:
    """Have compiled code that calls a plain function call its compiled form."""
    overload(function, strict=False, jit_options=FLAGS)(lambda *_: function)


for _function in elementary.COMPILED:
    _know(_function)
