"""Leaf: what numba writes of a function for LLVM, with values where numba has memory: a third of the text.

numba keeps every variable in a slot on the stack, and takes apart in memory every array that it reads an entry of: LLVM
clears all that up, but that was most of its work. Here a variable that is set in one place, before all its uses, is a
value; an array is a value of seven fields; a field of what has just been put together is that very field; what nobody
uses is not written down; and of an array that lies in one piece a function is given where and how large it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from llvmlite.ir import IRBuilder, instructions
from numba.core import analysis, cgutils, ir, transforms, types
from numba.core.compiler_machinery import register_pass
from numba.core.datamodel import DataModelManager, default_manager, models
from numba.core.lowering import Lower
from numba.core.postproc import PostProcessor
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import NativeLowering
from numba.np import arrayobj

# What has no effect but its value.
PURE = {"extractvalue", "insertvalue", "getelementptr", "bitcast", "load", "mul", "add", "alloca", "inttoptr"}


class _Builder(IRBuilder):  # type: ignore[misc]
    """Takes nothing out of what was just put together."""

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        path = [idx] if isinstance(idx, int) else list(idx)
        whole = agg
        while isinstance(whole, instructions.InsertValue):
            put = list(whole.indices)
            if put == path[: len(put)]:
                whole, path = whole.value, path[len(put) :]
                if not path:
                    return whole
            elif put[: len(path)] == path:
                break  # in parts
            else:
                whole = whole.aggregate
        return super().extract_value(whole, path, name)


class _Lower(Lower):  # type: ignore[misc]
    """numba's own, but for where variables are, and in which order blocks come."""

    blocks: Any
    _graph: Any
    _blk_local_varmap: dict[str, Any]

    def setup_function(self, fndesc: Any) -> None:
        """Called once for a function."""
        super().setup_function(fndesc)
        self.builder.__class__ = _Builder

    def lower(self) -> None:
        """All of it, without the environment in which Python's objects would be."""
        self.lower_normal_function(self.fndesc)
        self.library.add_ir_module(self.module)

    def lower_normal_function(self, fndesc: Any) -> None:
        """The same."""
        super().lower_normal_function(fndesc)
        _drop_unused(self.function)

    def lower_function_body(self) -> Any:
        """A block after those that must be run before it, since values come from there."""
        order = {label: place for place, label in enumerate(self._graph.topo_order())}
        self.blocks = {label: self.blocks[label] for label in sorted(self.blocks, key=lambda n: order.get(n, n))}
        for offset in self.blocks:
            self.blkmap[offset] = self.function.append_basic_block(f"B{offset}")
        self.pre_lower()
        entry_block_tail = self.builder.basic_block
        for offset, block in self.blocks.items():
            self.builder.position_at_end(self.blkmap[offset])
            self.lower_block(block)
        self.post_lower()
        return entry_block_tail

    def lower_block(self, block: Any) -> None:
        """What of it fails, numba's own compilation says better."""
        for statement in block.body:
            self.loc = statement.loc
            self.lower_inst(statement)

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """Which number is written out matters where numba has noted it: to powers."""
        if not (expr.static_lhs is expr.static_rhs is ir.UNDEFINED):
            return super().lower_binop(resty, expr, op)
        asked, signature = self.context.typing_context, self.fndesc.calltypes[expr]
        values = [
            self.context.cast(self.builder, self.loadvar(given.name), self.typeof(given.name), kind)
            for given, kind in zip((expr.lhs, expr.rhs), signature.args)
        ]
        function = asked.resolve_value_type(op)
        written = self.context.get_function(function, function.get_call_type(asked, signature.args, {}))
        return self.context.cast(self.builder, written(self.builder, values), signature.return_type, resty)

    def _find_singly_assigned_variable(self) -> None:
        self._graph = analysis.compute_cfg_from_blocks(self.blocks)
        self._singly_assigned_vars, self._blk_local_varmap = _values(self.blocks, self._graph.dominators()), {}

    def delvar(self, name: str) -> None:
        """Nothing is counted."""


def _values(blocks: Any, dominators: Any) -> set[str]:
    """Variables that are set once, before whatever uses them."""
    places: dict[str, Any] = {}
    found: set[str] = set()
    uses: list[tuple[str, int, int]] = []
    for label, block in blocks.items():
        for at, statement in enumerate(block.body):
            if isinstance(statement, ir.Assign):
                name, value = statement.target.name, statement.value
                (found.discard if name in places else found.add)(name)
                places[name] = label, at
                read = [value] if isinstance(value, ir.Var) else getattr(value, "list_vars", list)()
            else:
                read = statement.list_vars()
            uses += [(one.name, label, at) for one in read]
    for name, label, at in uses:
        if name in found:
            home, since = places[name]
            if at <= since if label == home else home not in dominators.get(label, ()):
                found.discard(name)
    return found


def _drop_unused(function: Any) -> None:
    """Take out what nobody uses the value of."""
    count: dict[int, int] = {}
    for block in function.blocks:
        for one in block.instructions:
            for operand in _operands(one):
                count[id(operand)] = count.get(id(operand), 0) + 1
    gone: set[int] = set()
    waiting = [one for block in function.blocks for one in block.instructions if not count.get(id(one))]
    while waiting:
        one = waiting.pop()
        if one.opname not in PURE:
            continue
        gone.add(id(one))
        for operand in _operands(one):
            count[id(operand)] -= 1
            if not count[id(operand)] and isinstance(operand, instructions.Instruction):
                waiting.append(operand)
    for block in function.blocks:
        if not gone.isdisjoint(map(id, block.instructions)):
            block.instructions = [one for one in block.instructions if id(one) not in gone]


def _operands(one: Any) -> Any:
    return [value for value, _ in one.incomings] if isinstance(one, instructions.PhiInstr) else one.operands


class _Whole:
    """An array as a value, where numba has it in memory; there it comes if its address is asked for."""

    def __init__(self, proxy: Any, context: Any, builder: Any, value: Any) -> None:
        self._proxy, self._context, self._builder, self._value = proxy, context, builder, value
        self._fe_type = proxy._fe_type
        self._datamodel = context.data_model_manager[self._fe_type]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._builder.extract_value(self._value, self._datamodel.get_field_position(name))

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            super().__setattr__(name, value)
        else:
            place = self._datamodel.get_field_position(name)
            self._value = self._builder.insert_value(self._value, value, place)

    def _in_memory(self) -> Any:
        return self._proxy(self._context, self._builder, value=self._value)

    def _getvalue(self) -> Any:
        return self._value

    def _getpointer(self) -> Any:
        return self._in_memory()._getpointer()

    def _get_ptr_by_name(self, name: str) -> Any:
        return self._in_memory()._get_ptr_by_name(name)


@cache
def _array_of(kind: Any) -> Callable[..., Any]:
    usual = _usual(kind)

    def array(context: Any, builder: Any, value: Any = None, ref: Any = None) -> Any:
        if ref is not None or type(kind) is not types.Array:
            return usual(context, builder, value=value, ref=ref)
        if value is None:
            value = context.get_value_type(kind)(None)  # of which every field is set
        return _Whole(usual, context, builder, value)

    return array


_usual = arrayobj.make_array


@contextmanager
def values() -> Iterator[None]:
    """Arrays are values."""
    usual = PostProcessor.run
    arrayobj.make_array, PostProcessor.run = _array_of, _tidy
    try:
        yield
    finally:
        arrayobj.make_array, PostProcessor.run = _usual, usual


def _tidy(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Where variables end matters to those who count."""
    self.func_ir.blocks = transforms.canonicalize_cfg(self.func_ir.blocks)
    self.func_ir.generator_info = None


class _ArrayModel(models.ArrayModel):  # type: ignore[misc]
    """Of an array in one piece, where and how large it is says all."""

    @property
    def _plain(self) -> bool:
        return self._fe_type.layout == "C" and hasattr(self._fe_type.dtype, "bitwidth")

    def get_argument_type(self) -> Any:
        """What a function is given."""
        whole = super().get_argument_type()
        return whole[4:6] if self._plain else whole

    def as_argument(self, builder: Any, value: Any) -> Any:
        """The same, of a value."""
        if not self._plain:
            return super().as_argument(builder, value)
        return tuple(self._models[i].as_argument(builder, self.get(builder, value, i)) for i in (4, 5))

    def from_argument(self, builder: Any, value: Any) -> Any:
        """The value again."""
        if not self._plain:
            return super().from_argument(builder, value)
        kind = self.get_value_type()
        data, shape = (self._models[i].from_argument(builder, given) for i, given in zip((4, 5), value))
        word = kind.elements[2]
        sizes = [builder.extract_value(shape, i) for i in range(self._fe_type.ndim)]
        return _whole_array(builder, kind, data, sizes, word(int(self._fe_type.dtype.bitwidth) // 8))


def _whole_array(builder: Any, kind: Any, data: Any, sizes: Any, item: Any) -> Any:
    """The value of an array in one piece."""
    word = kind.elements[2]
    steps, count = [item], sizes[0]
    for size in reversed(sizes[1:]):
        steps.insert(0, builder.mul(steps[0], size))
        count = builder.mul(count, size)
    made = kind(None)
    for at, value in ((2, count), (3, item), (4, data)):
        made = builder.insert_value(made, value, at)
    for at, those in ((5, sizes), (6, steps)):
        made = builder.insert_value(made, cgutils.pack_array(builder, those, word), at)
    return made


MODELS = DataModelManager({types.Array: _ArrayModel}).chain(default_manager)


@register_pass(mutates_CFG=True, analysis_only=False)
class Writing(NativeLowering):  # type: ignore[misc]
    """The step in which it is written."""

    _name = "jawari_lowering"

    @property
    def lowering_class(self) -> Any:
        """What writes it."""
        return _Lower

    def run_pass(self, state: Any) -> bool:
        """Note down what asked for which processor it is."""
        done: bool = super().run_pass(state)
        code = state.targetctx.codegen()
        if state.cr.fndesc.mangled_name in code.asking:
            code.again.append(state)
        return done


def write_again(functions: Sequence[Any]) -> None:
    """For another processor: their types are known, and so are those of all that they call."""
    for state in functions:
        state.targetctx.codegen().whole.globals[state.cr.fndesc.mangled_name].blocks.clear()
        with ConfigStack().enter(state.flags):
            Writing().run_pass(state)
