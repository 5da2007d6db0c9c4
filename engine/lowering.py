"""Leaf: numba as a front end alone: it infers types and writes LLVM's language, and optimises nothing by itself.

A target of its own, as numba's one for graphics cards is: typing context, target context, dispatcher. What is made for
it is written into one module (front.py), which LLVM optimises as a whole. numba's own compilation of the same
functions, for research or for a test, goes on beside it and shares nothing with it.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, ClassVar

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import typed_passes, types, typing, untyped_passes
from numba.core.codegen import CodeLibrary, JITCPUCodegen
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.core.cpu import CPUContext
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher, CPUTarget, cpu_target
from numba.core.target_extension import CPU, dispatcher_registry, jit_registry, target_override, target_registry
from numba.core.typed_passes import NativeLowering
from numba.core.types.misc import unliteral
from numba.np import arrayobj

from engine import calling, front, inference
from engine.processor import PROCESSOR, Processor

NAME = "jawari"  # of the target
LEFT_OUT = {
    typed_passes.AnnotateTypes,
    typed_passes.DumpParforDiagnostics,
    typed_passes.IRLegalization,
    typed_passes.NopythonRewrites,  # of arithmetic of whole arrays, which allocates
    typed_passes.NoPythonSupportedFeatureValidation,
    untyped_passes.FindLiterallyCalls,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.WithLifting,
}
OPTIONS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
OPTIMISE = 2  # of 3, which takes a second longer and makes nothing faster (scripts/bench_engine.py)
LOWERED, LINKED, OPTIMISED = 0.55, 0.7, 0.95  # of the time that all takes


class Door:
    """How an entry is called from outside: a function, the types of what it is given, and of its result if C says."""

    def __init__(self, function: Any, arguments: tuple[Any, ...], result: Any = None) -> None:
        self.function, self.arguments, self.result = function, arguments, result


def compiled(
    doors: Mapping[str, Door],
    declared: int,
    tell: Callable[[float], None],
    aim: Processor = PROCESSOR,
    elsewhere: Mapping[Any, tuple[str, tuple[Any, ...]]] | None = None,
) -> tuple[bytes, dict[str, bool]]:
    """An object file with these functions and nothing else that can be called; and which of them return a number."""
    whole, machine, returning = optimised(doors, declared, tell, aim, elsewhere)
    return machine.emit_object(whole), returning


def optimised(
    doors: Mapping[str, Door],
    declared: int,
    tell: Callable[[float], None],
    aim: Processor = PROCESSOR,
    elsewhere: Mapping[Any, tuple[str, tuple[Any, ...]]] | None = None,
) -> tuple[Any, Any, dict[str, bool]]:
    """The same as LLVM's module, and the machine that it is for: the processor `aim`.

    Of `elsewhere`, names and types by functions, nothing is compiled. `tell` is told what share is done, given how many
    functions there are in all.
    """
    found, returning = optimised_for(doors, declared, tell, [aim], elsewhere)
    return *found[0], returning


def optimised_for(
    doors: Mapping[str, Door],
    declared: int,
    tell: Callable[[float], None],
    aims: Sequence[Processor],
    elsewhere: Mapping[Any, tuple[str, tuple[Any, ...]]] | None = None,
) -> tuple[list[tuple[Any, Any]], dict[str, bool]]:
    """Modules and machines for each of some processors of one system. Types are found once, and written again is what
    asks for which processor it is."""
    cpu_target.target_context.refresh()  # numba's runtime belongs to the first context that is made
    with (
        global_compiler_lock,
        _undisturbed(),
        _plain_indices(),
        front.values(),
        inference.in_short(),
        target_override(NAME),
    ):
        target = _Target(aims[0])
        target.typing_context.elsewhere = elsewhere or {}
        target.wrote = lambda count: tell(LOWERED * min(count / declared, 1.0))
        _Function.targetdescr = target
        try:
            returning = {name: _lower(target, name, door) for name, door in doors.items()}
            tell(LOWERED)
            code = target.target_context.codegen()
            found = [(_parsed(code.whole, doors), code.machine)]
            for aim in aims[1:]:
                front.write_again(code.aim_at(aim))
                found.append((_parsed(code.whole, doors), code.machine))
        finally:
            _Function.targetdescr = None
    del target, code
    tell(LINKED)
    for whole, aimed in found:
        _optimise(whole, aimed)
        assert not foreign(str(whole)), "an address of this very process cannot be kept"
    tell(OPTIMISED)
    return found, returning


def foreign(text: str) -> list[str]:
    """What in a module's text is good in this process only."""
    return re.findall(r"inttoptr \(i64 \d{5,}|numba\.dynamic\.globals", text)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """The collector would look at everything a hundred times, a fifth of the time, and find next to nothing; nor need
    it do so at once afterwards, as if all had just been made."""
    busy = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if busy:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()  # to the oldest, which are looked at seldom
            gc.enable()


@contextmanager
def _plain_indices() -> Iterator[None]:
    """numba would let an index below zero count from the end, and ask at every access: a tenth of all time, since
    loops that ask are no vectors. The engine's code has no such index (tests/test_bounds.py)."""
    usual = arrayobj.fix_integer_index
    arrayobj.fix_integer_index = plain_index
    try:
        yield
    finally:
        arrayobj.fix_integer_index = usual


def plain_index(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    """An index of an array as compiled code has it."""
    return context.cast(builder, index, kind, types.intp)


# --- what numba is given ----------------------------------------------------------------------------------------------


class _Library(CodeLibrary):
    """The one module that all is written into."""

    _finalized = True

    def _raise_if_finalized(self) -> None:
        pass

    def add_ir_module(self, ir_module: Any) -> None:
        self.codegen.count += 1

    def add_linking_library(self, library: Any) -> None:
        pass

    def finalize(self) -> None:
        pass

    def get_function(self, name: str) -> Any:
        raise NotImplementedError

    get_llvm_str = get_asm_str = get_function  # type: ignore[assignment]


class _Codegen(JITCPUCodegen):
    """One module for all libraries, and the machine that it is for."""

    _library_class = _Library

    def __init__(self, aim: Processor) -> None:
        self.count, self.whole = 0, ir.Module()
        self.asking, self.again = set[str](), list[Any]()  # names of functions that depend on the aim; what wrote them
        self.aim_at(aim)
        self._data_layout = str(self.machine.target_data)
        self.whole.triple, self.whole.data_layout = self.machine.triple, self._data_layout

    def aim_at(self, aim: Processor) -> list[Any]:
        """From now on write for this processor; what must be written again."""
        before, self.again = self.again, []
        assert {state.cr.fndesc.mangled_name for state in before} == self.asking, "numba's own depends on a processor"
        self.aim, self.machine = aim, machine(aim)
        self._target_data, self._tm_features = self.machine.target_data, aim.features
        return before

    def set_env(self, env_name: str, env: Any) -> None:
        pass

    def _create_empty_module(self, name: str) -> Any:
        return self.whole


def machine(aim: Processor = PROCESSOR) -> Any:
    """What LLVM makes object files for."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(aim.triple or llvm.get_process_triple())
    reloc = "static" if aim.family == "wasm32" else "pic"  # WebAssembly's code has its memory for itself
    return target.create_target_machine(
        cpu=aim.name, features=aim.features, opt=OPTIMISE, reloc=reloc, codemodel="default"
    )


class _Context(CPUContext):
    """numba makes copies of it for each function."""

    def __init__(self, typing_context: Any, aim: Processor) -> None:
        self._internal_codegen = _Codegen(aim)
        super().__init__(typing_context, NAME)

    def init(self) -> None:
        self.is32bit = False
        self.data_model_manager = front.MODELS
        self._fresh = False

    @property
    def processor(self) -> Processor:
        """What is being written for, for a function that depends on it."""
        self.codegen().asking.add(self.fndesc.mangled_name)
        return self.codegen().aim

    def load_additional_registries(self) -> None:
        """Once; from then on only what is new in the same ones: asking packages for theirs takes time."""
        if self._fresh:
            for registry in list(self._registries):
                self.install_registry(registry)
        else:
            super().load_additional_registries()
            self._fresh = True

    @property
    def call_conv(self) -> Any:
        """How functions call each other."""
        return calling.Convention(self)

    def call_internal(self, builder: Any, fndesc: Any, sig: Any, args: Any) -> Any:
        return calling.call_of(fndesc)(self, builder, sig, args)

    def insert_user_function(self, func: Any, fndesc: Any, libs: Any = ()) -> None:
        self._defns[func].append(calling.call_of(fndesc), fndesc.argtypes)

    def mangler(self, name: str, types: Any, *, abi_tags: Any = (), uid: Any = None) -> str:
        """Short: numba would write all types into it."""
        if uid is None:
            return super().mangler(name, types, abi_tags=abi_tags, uid=uid)  # type: ignore[no-any-return]
        return re.sub(r"[^\w.]", "", f"{name}.{uid}")

    def get_executable(self, library: Any, fndesc: Any, env: Any) -> Any:
        return type("Code", (), {})()  # by which the callers know it; nobody runs it here

    def declare_function(self, module: Any, fndesc: Any) -> Any:
        known = module.globals.get(fndesc.mangled_name)
        return super().declare_function(module, fndesc) if known is None else known

    def post_lowering(self, mod: Any, library: Any) -> None:
        pass


class _Typing(typing.Context):
    _fresh = False
    elsewhere: Mapping[Any, tuple[str, tuple[Any, ...]]]

    def load_additional_registries(self) -> None:
        if not self._fresh:
            super().load_additional_registries()
            self._fresh = True

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """What a call with these types is, looked for once: numba tries a dozen ways of adding numbers."""
        if kws or not all(isinstance(kind, types.Type) for kind in args):
            return super().resolve_function_type(func, args, kws)
        asked = inference.asked(func, args)
        if asked not in self._calls:
            found = super().resolve_function_type(*asked, kws)
            if found is None:
                return None
            self._calls[asked] = found
        return self._calls[asked]

    @cached_property
    def _calls(self) -> dict[Any, Any]:
        return {}

    def resolve_value_type(self, val: Any) -> Any:
        """A function of numba's own target is compiled for this one instead."""
        if not isinstance(val, CPUDispatcher):
            return super().resolve_value_type(val)
        if val in self.elsewhere:
            symbol, given = self.elsewhere[val]
            return types.ExternalFunction(symbol, types.none(*given))
        return super().resolve_value_type(self.ours(val))

    def ours(self, function: Any) -> Any:
        """The twin of a compiled function."""
        twins = self.__dict__.setdefault("twins", {})
        if function not in twins:
            twins[function] = _Function(
                function.py_func, locals=function.locals, targetoptions={**function.targetoptions, **OPTIONS}
            )
        return twins[function]


class _Target(CPUTarget):
    def __init__(self, aim: Processor) -> None:
        super().__init__(NAME)
        self.wrote: Callable[[int], None] = lambda count: None
        self._typing = _Typing()
        self._context = _Context(self._typing, aim)

    @property
    def target_context(self) -> Any:
        return self._context

    @property
    def typing_context(self) -> Any:
        return self._typing


class _Flags(Flags):
    """numba asks a hundred thousand times whether two are the same, and takes a fifth of its time for that."""

    __slots__ = ()

    def values(self) -> dict[str, Any]:
        return {**DEFAULTS, **self._values}

    def __hash__(self) -> int:
        return 0


DEFAULTS = {name: option.default for name, option in Flags.options.items()}


class _Pipeline(CompilerBase):
    """numba's own steps, but for those that look for what the engine's code has nowhere."""

    def define_pipelines(self) -> list[Any]:
        if not _Steps.kept:
            usual = DefaultPassBuilder.define_nopython_pipeline(self.state).passes
            usual = [(step, words) for step, words in usual if step not in LEFT_OUT]
            _Steps.kept = [(front.Writing if step is NativeLowering else step, words) for step, words in usual]
        return [_Steps(NAME)]


class _Steps(PassManager):
    """They are run and that is all: numba takes the time of each, tells who listens, and looks whether all is well."""

    kept: ClassVar[list[Any]] = []

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.passes = self.kept
        self.finalize()

    def _runPass(self, index: int, pss: Any, internal_state: Any) -> None:
        pss.analysis = self._analysis
        pss.run_pass(internal_state)


class _Function(Dispatcher):
    targetdescr: Any = None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **{**options, "pipeline_class": _Pipeline})
        compiler: Any = self.__dict__["_compiler"]
        compiler._customize_flags = _Flags

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """One function for all numbers that callers write out: LLVM makes a special one where that is worth it."""
        return super().get_call_template([unliteral(kind) for kind in args], kws)

    def add_overload(self, cres: Any) -> None:
        self.overloads[tuple(cres.signature.args)] = cres
        self.targetdescr.wrote(self.targetdescr.target_context.codegen().count)


class _Kind(CPU):
    """So numba knows that what is written for processors is good here."""


def _decorate(**options: Any) -> Callable[[Any], Any]:
    """For what numba itself brings in Python: min, max and so on."""
    return lambda function: _Function(function, targetoptions={"nopython": True, **options, **OPTIONS})


target_registry[NAME] = _Kind
dispatcher_registry[_Kind] = _Function
jit_registry[_Kind] = _decorate


# --- from functions to one module -------------------------------------------------------------------------------------


def _lower(target: _Target, name: str, door: Door) -> bool:
    """Write a function, all that it calls and its door, a C function of this name. Whether it returns a number."""
    context = target.target_context
    made = target.typing_context.ours(door.function)
    made.compile(door.arguments)
    facts = made.overloads[door.arguments].fndesc
    module = context.codegen().whole
    inner = context.declare_function(module, facts)
    given = context.get_arg_packer(facts.argtypes)
    returning = facts.restype != types.none
    number = context.get_value_type(door.result) if door.result else ir.IntType(64)
    nothing = context.get_argument_type(types.none)
    outer = ir.Function(module, ir.FunctionType(number if returning else nothing, given.argument_types), name)
    builder = ir.IRBuilder(outer.append_basic_block())
    # Nothing here raises: what it says of that is never asked.
    values = given.from_arguments(builder, outer.args)
    _, result = context.call_conv.call_function(builder, inner, facts.restype, facts.argtypes, values)
    if returning:
        builder.ret(context.cast(builder, result, facts.restype, door.result or types.int64))
    else:
        builder.ret(nothing(None))  # as numba, that calls some of these, has it
    return returning


def _parsed(written: Any, kept: Collection[str]) -> Any:
    """What numba wrote, as LLVM has it. Nothing but the entries can be seen from outside."""
    for value in written.global_values:
        defined = value.blocks if isinstance(value, ir.Function) else value.initializer
        if defined and value.name not in kept:
            value.linkage = "internal"
    whole = llvm.parse_assembly(str(written))
    whole.verify()
    return whole


def _optimise(whole: Any, machine: Any) -> None:
    options = llvm.create_pipeline_tuning_options(speed_level=OPTIMISE)
    options.loop_vectorization = options.slp_vectorization = True
    options.loop_unrolling = False  # but where vectors.py asks for it: LLVM overdoes it, by 8 for the latest processors
    builder = llvm.PassBuilder(machine, options)
    builder.getModulePassManager().run(whole, builder)
