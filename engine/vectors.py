"""Leaf: the loops that cost time, as explicit vector code. Each has a plain twin that gives the same bits.

The compiler's own vectoriser guesses vector width, checks aliases at every call and walks remainders one by one;
at 30-150 modes that is half the time. Written out, vectors are as wide as the CPU's registers, and every sum has one
order all the same: the loops that write arrays sum entry by entry, and `project`, which sums over entries, adds up side
by side as many sums as the widest register holds, on every CPU, in one register or in four.

Products and sums round one by one. Fused, they would be faster on CPUs that can (by a tenth with AVX2, by 1 to 8 % with
AVX-512, where products and sums have units of their own: scripts/bench_strict.py), but not every CPU can, nor
WebAssembly, and in software one fused product takes as long as dozens of others. One order of sums costs nothing.
Interpreted, the twins run; compiled, numba swaps the vector code in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from engine.compiled import INTO_CALLER
from engine.processor import Processor, aimed_at

PADDING = 16  # entries: mode arrays come in whole vectors of either precision
TOGETHER = 8  # rows that are added up before what they add to is touched
WIDEST = 64  # bytes of a vector
SHORT, UNROLLED = 64, 4  # instructions of a round; rounds of a loop that are written down as one where they are short
ROUND = 4  # vectors that `wide_step` takes at once
INT = ir.IntType(64)


def advance(forward: Any, backward: Any, now: Any, after: Any) -> None:
    """after = forward * now - backward * after."""
    after[:] = forward * now - backward * after


def project(rows: Any, y: Any, out: Any) -> None:
    """out = rows @ y."""
    side_by_side = WIDEST // out.itemsize
    sums = np.zeros((len(rows), side_by_side), out.dtype)
    for at in range(0, y.size, side_by_side):
        sums += rows[:, at : at + side_by_side] * y[at : at + side_by_side]
    while sums.shape[1] > 1:
        half = sums.shape[1] // 2
        sums = sums[:, :half] + sums[:, half:]
    out[:] = sums[:, 0]


def spread(gain: Any, rows: Any, force: Any, which: Any, count: Any, y: Any) -> None:
    """y += gain * sum of force[k] * rows[k] over the first `count` entries k of `which`."""
    for first in range(0, count, TOGETHER):
        k, *others = which[first : min(first + TOGETHER, count)]
        total = force[k] * rows[k]
        for k in others:
            total = force[k] * rows[k] + total
        y += total * gain


def stiff_step(taps: Any, x: Any, y: Any, w: Any, first: Any, count: Any) -> None:
    """w = a0 x + a1 S x + a2 S2 x + b0 y + b1 S y, S u[i] = u[i-1] + u[i+1], S2 u[i] = u[i-2] + u[i+2].

    On `count` entries from `first`, which continue as their odd image beyond both ends; `taps` is (a0, a1, a2, b0, b1).
    `w` must be another array than `x` and `y`; it may be zeroed up to the next whole vector.
    """
    a0, a1, a2, b0, b1 = taps
    here = slice(first, first + count)
    sides = np.pad(a1 * x[here] + b1 * y[here], 1)
    far = np.concatenate([[-x[first], 0], x[here], [0, 0]]).astype(x.dtype)
    total = (a0 * x[here] + b0 * y[here]) + (sides[:-2] + sides[2:])
    total = a2 * (far[:-4] + far[4:]) + total
    total[-1] -= a2 * x[first + count - 1]
    w[here] = total


def wide_step(now: Any, before: Any, x: Any, y: Any, w: Any, first: Any, count: Any) -> None:
    """w[i] = sum_j now[j] (x[i-j] + x[i+j]) + before[j] (y[i-j] + y[i+j]) for `count` entries i from `first`.

    Before the first entry x and y continue as their odd image; beyond the last they hold it, as far as taps reach.
    `w` must be another array than `x` and `y`; it may be zeroed up to the next whole vector.
    """
    here, reach = slice(first, first + count), len(now) - 1
    total = now[0] * x[here] + before[0] * y[here]
    for j in range(1, reach + 1):
        both = now[j] * x[first : first + count + reach] + before[j] * y[first : first + count + reach]
        both = np.concatenate([-both[: reach - 1][::-1], [0], both]).astype(x.dtype)
        total = total + (both[reach - j : reach - j + count] + both[reach + j : reach + j + count])
    w[here] = total


def register(processor: Processor) -> tuple[int, int]:
    """Bytes and number of a processor's vector registers."""
    if processor.can("avx512f"):
        return WIDEST, 32
    return (32, 16) if processor.can("avx") else (16, 32 if processor.family == "arm" else 16)


class _Vectors:
    """Code generation shared by all: loads, stores and sums of whole vectors of one precision."""

    def __init__(self, context: Any, builder: Any, element: Any) -> None:
        self.context, self.builder, self.element = context, builder, element
        width, self.registers = register(aimed_at(context))
        self.align = 4 if isinstance(element, ir.FloatType) else 8
        self.lanes = width // self.align
        self.type = ir.VectorType(element, self.lanes)
        self.zero = ir.Constant(self.type, [0.0] * self.lanes)

    def pointer(self, base: Any, offset: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(base, [offset]), self.type.as_pointer())

    def load(self, base: Any, offset: Any) -> Any:
        value = self.builder.load(self.pointer(base, offset))
        value.align = self.align
        return value

    def store(self, value: Any, base: Any, offset: Any) -> None:
        self.builder.store(value, self.pointer(base, offset)).align = self.align

    def splat(self, value: Any) -> Any:
        vector = self.builder.insert_element(self.zero, value, ir.Constant(ir.IntType(32), 0))
        return self.builder.shuffle_vector(vector, self.zero, self.constant([0] * self.lanes))

    def shifted(self, left: Any, right: Any, by: int) -> Any:
        """Lanes of two neighbouring vectors: by > 0 the entries `by` before `right`, by < 0 those after `left`."""
        start = self.lanes - by if by > 0 else -by
        return self.builder.shuffle_vector(left, right, self.constant(list(range(start, start + self.lanes))))

    def constant(self, picks: list[int]) -> Any:
        """Lanes to be picked."""
        return ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), picks)

    def _against(self, how: str, limit: Any) -> Any:
        none, here = self.constant([0] * self.lanes), self.builder.trunc(limit, ir.IntType(32))
        wide = self.builder.insert_element(none, here, ir.Constant(ir.IntType(32), 0))
        wide = self.builder.shuffle_vector(wide, wide, none)
        return self.builder.icmp_signed(how, self.constant(list(range(self.lanes))), wide)

    def lanes_below(self, limit: Any) -> Any:
        return self._against("<", limit)

    def lanes_equal(self, limit: Any) -> Any:
        return self._against("==", limit)

    def plus(self, total: Any, a: Any, b: Any) -> Any:
        """total + a b, rounded twice."""
        return self.builder.fadd(self.builder.fmul(a, b), total)

    def totals(self, rows: list[Any]) -> list[Any]:
        """Of each row of vectors the sum over its lanes, as if they were one long vector: by halves, always.

        Rows are halved together: of two vectors the lower halves go into one, the upper into another, which are added.
        """
        found = self.folded(rows)
        return [self.builder.extract_element(x, ir.Constant(ir.IntType(32), lane)) for x, lane in found]

    def folded(self, rows: list[Any]) -> list[tuple[Any, int]]:
        """Each row's sum over its lanes: a vector and a lane of it."""
        b, length = self.builder, self.lanes
        while half := len(rows[0]) // 2:
            rows = [[b.fadd(x, y) for x, y in zip(row[:half], row[half:], strict=True)] for row in rows]
        held = [(row[0], [j] * self.lanes) for j, row in enumerate(rows)]  # and which row every lane is of
        while length > 1:
            few = len(rows) <= 2  # where each by itself takes no longer, and the last is known sooner
            others = [(None, [])] * len(held) if few else [*held[1::2], held[-1] if held[1:] else (None, [])]
            pairs = list(zip(held if few else held[::2], others))
            held, length = [self._halved(x, y, length) for x, y in pairs], length // 2
        found = {j: (vector, lane) for vector, owners in held for lane, j in enumerate(owners)}
        return [found[j] for j in range(len(rows))]

    def _halved(self, one: Any, other: Any, length: int) -> Any:
        """Two vectors of pieces of a length, or one, as one vector of pieces half as long."""
        owners, size = [*one[1], *other[1]], len(one[1])
        # Pieces go from block to block where that is one instruction: within 16 bytes, or in steps of 16.
        block = max(length, 16 // self.align) if other[1] else size
        block = size if length * self.align > 16 else block
        low = [
            start + at + i
            for block_at in range(0, size, block)
            for start in (range(0, len(owners), size))
            for at in range(block_at, block_at + block, length)
            for i in range(length // 2)
        ]
        picks = [ir.Constant(ir.VectorType(ir.IntType(32), len(low)), [k + up for k in low]) for up in (0, length // 2)]
        second = other[0] if other[1] else one[0]
        halves = [self.builder.shuffle_vector(one[0], second, pick) for pick in picks]
        return self.builder.fadd(*halves), [owners[k] for k in low]

    @contextmanager
    def loop(self, count: Any, step: int) -> Iterator[Any]:
        with cgutils.for_range_slice(self.builder, INT(0), count, INT(step)) as (i, _):
            yield i
            last = self.builder.block
        if len(last.instructions) <= SHORT:
            _unroll(self.builder.module, last.terminator)

    def in_groups(self, count: Any, largest: int, group: Callable[[int, Any], None]) -> None:
        """group(size, first) for blocks of `largest` rows, then once for the rest."""
        b = self.builder
        done = cgutils.alloca_once_value(b, INT(0))
        whole, rest, end = (b.append_basic_block(n) for n in ("whole", "rest", "end"))
        b.branch(rest)
        b.position_at_end(whole)
        group(largest, b.load(done))
        b.store(b.add(b.load(done), INT(largest)), done)
        b.branch(rest)
        b.position_at_end(rest)
        first = b.load(done)
        switch = b.switch(b.sub(count, first), whole)
        for size in range(largest):
            switch.add_case(INT(size), block := b.append_basic_block(f"last{size}"))
            b.position_at_end(block)
            if size:
                group(size, first)
            b.branch(end)
        b.position_at_end(end)


def _unroll(module: Any, back: Any) -> None:
    """Have LLVM write down a loop's body several times, given the branch back to its start (LLVM's language reference,
    llvm.loop.unroll.count)."""
    hint = module.add_metadata([ir.MetaDataString(module, "llvm.loop.unroll.count"), ir.IntType(32)(UNROLLED)])
    loop = ir.values.MDValue(module, (), str(len(module.metadata)))
    loop.operands = loop, hint  # itself, so that every loop has one of its own
    back.set_metadata("llvm.loop", loop)


def _arrays(context: Any, builder: Any, signature: Any, values: Any) -> list[Any]:
    """Array structs for array arguments, plain values for the others."""
    return [
        context.make_array(t)(context, builder, v) if isinstance(t, types.Array) else v
        for t, v in zip(signature.args, values, strict=True)
    ]


def _vector_code(generate: Callable[..., None]) -> Any:
    """An intrinsic returning nothing from generate(vectors, arguments); the last array gives the precision."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        arguments = _arrays(context, builder, signature, values)
        element = [a for a, t in zip(arguments, signature.args, strict=True) if isinstance(t, types.Array)][-1]
        generate(_Vectors(context, builder, element.data.type.pointee), signature.args, *arguments)
        return context.get_dummy_value()

    return code


@intrinsic
def _advance(typing: Any, forward: Any, backward: Any, now: Any, after: Any) -> Any:
    def generate(v: _Vectors, _: Any, forward: Any, backward: Any, now: Any, after: Any) -> None:
        (size,) = cgutils.unpack_tuple(v.builder, after.shape)
        with v.loop(size, v.lanes) as i:
            moved = v.builder.fmul(v.load(forward.data, i), v.load(now.data, i))
            kept = v.builder.fmul(v.load(backward.data, i), v.load(after.data, i))
            v.store(v.builder.fsub(moved, kept), after.data, i)

    return types.void(forward, backward, now, after), _vector_code(generate)


@intrinsic
def _project(typing: Any, rows: Any, y: Any, out: Any) -> Any:
    def generate(v: _Vectors, _: Any, rows: Any, y: Any, out: Any) -> None:
        b = v.builder
        count, size = cgutils.unpack_tuple(b, rows.shape)

        parts = WIDEST // v.align // v.lanes  # registers that a row's sums take

        def group(rows_here: int, first: Any) -> None:
            bases = [b.gep(rows.data, [b.mul(b.add(first, INT(j)), size)]) for j in range(rows_here)]
            held = [[cgutils.alloca_once_value(b, v.zero) for _ in range(parts)] for _ in bases]
            for sums in held:
                for part in sums:
                    b.store(v.zero, part)
            with v.loop(size, parts * v.lanes) as i:
                for part in range(parts):
                    at = b.add(i, INT(part * v.lanes))
                    value = v.load(y.data, at)
                    for base, sums in zip(bases, held, strict=True):
                        b.store(v.plus(b.load(sums[part]), v.load(base, at), value), sums[part])
            for j, total in enumerate(v.totals([[b.load(part) for part in sums] for sums in held])):
                b.store(total, b.gep(out.data, [b.add(first, INT(j))]))

        # As many rows at once as leave some registers for what is read: a row's own sum knows nothing of the others.
        v.in_groups(count, min(TOGETHER, max(1, (v.registers - 4) // parts)), group)

    return types.void(rows, y, out), _vector_code(generate)


@intrinsic
def _spread(typing: Any, gain: Any, rows: Any, force: Any, which: Any, count: Any, y: Any) -> Any:
    def generate(v: _Vectors, _: Any, gain: Any, rows: Any, force: Any, which: Any, count: Any, y: Any) -> None:
        b = v.builder
        _, size = cgutils.unpack_tuple(b, rows.shape)

        def group(rows_here: int, first: Any) -> None:
            chosen = [b.load(b.gep(which.data, [b.add(first, INT(j))])) for j in range(rows_here)]
            bases = [b.gep(rows.data, [b.mul(k, size)]) for k in chosen]
            forces = [v.splat(b.load(b.gep(force.data, [k]))) for k in chosen]
            with v.loop(size, v.lanes) as i:
                total = b.fmul(forces[0], v.load(bases[0], i))
                for base, f in zip(bases[1:], forces[1:], strict=True):
                    total = v.plus(total, f, v.load(base, i))
                v.store(v.plus(v.load(y.data, i), total, v.load(gain.data, i)), y.data, i)

        v.in_groups(count, TOGETHER, group)

    return types.void(gain, rows, force, which, types.int64, y), _vector_code(generate)


@intrinsic
def _stiff_step(typing: Any, taps: Any, x: Any, y: Any, w: Any, first: Any, count: Any) -> Any:
    # Every vector is loaded where the step before stored it, and neighbours come from shuffles: a load that straddles
    # two fresh stores would wait for both to reach the cache, which doubles the time of a short string.

    def generate(v: _Vectors, _: Any, taps: Any, x: Any, y: Any, w: Any, first: Any, count: Any) -> None:
        b = v.builder
        a0, a1, a2, b0, b1 = (v.splat(t) for t in cgutils.unpack_tuple(b, taps, 5))

        def both(at: Any) -> tuple[Any, Any]:
            """u and the sum a1 u + b1 u- that its neighbours need."""
            now = v.load(x.data, at)
            return now, v.plus(b.fmul(b1, v.load(y.data, at)), a1, now)

        def step(at: Any, left: Any, here: Any, right: Any, limit: Any = None) -> None:
            total = v.plus(b.fmul(b0, v.load(y.data, at)), a0, here[0])
            total = b.fadd(total, b.fadd(v.shifted(left[1], here[1], 1), v.shifted(here[1], right[1], -1)))
            total = v.plus(total, a2, b.fadd(v.shifted(left[0], here[0], 2), v.shifted(here[0], right[0], -2)))
            if limit is not None:
                # Beyond the last entry stands its odd image, of which S2 alone sees more than zero.
                image = b.select(v.lanes_equal(b.sub(limit, INT(1))), b.fmul(a2, here[0]), v.zero)
                total = b.select(v.lanes_below(limit), b.fsub(total, image), v.zero)
            v.store(total, w.data, at)

        held = [cgutils.alloca_once(b, v.type) for _ in range(4)]
        image = b.fneg(b.load(b.gep(x.data, [first])))
        start = both(first)
        before = b.insert_element(v.zero, image, ir.Constant(ir.IntType(32), v.lanes - 2))
        for slot, value in zip(held, (before, v.zero, *start), strict=True):
            b.store(value, slot)
        spare = b.srem(b.sub(count, INT(1)), INT(v.lanes))
        last = b.sub(b.add(first, b.sub(count, INT(1))), spare)  # where the last vector starts
        limit = b.add(spare, INT(1))

        def ending(pair: tuple[Any, Any]) -> tuple[Any, Any]:
            """The last vector's entries beyond the end are not ours to read."""
            inside = v.lanes_below(limit)
            return b.select(inside, pair[0], v.zero), b.select(inside, pair[1], v.zero)

        def inner(at: Any, trim: Callable[[tuple[Any, Any]], tuple[Any, Any]]) -> None:
            left, here = (b.load(held[0]), b.load(held[1])), (b.load(held[2]), b.load(held[3]))
            right = trim(both(b.add(at, INT(v.lanes))))
            step(at, left, here, right)
            for slot, value in zip(held, (*here, *right), strict=True):
                b.store(value, slot)

        before_last = b.sub(last, INT(v.lanes))
        # Two vectors a round, so that no time is spent on handing over what is held.
        odd = b.and_(b.sub(before_last, first), INT(v.lanes))
        paired = b.sub(before_last, odd)
        with cgutils.for_range_slice(b, first, paired, INT(2 * v.lanes)) as (at, _):
            inner(at, lambda pair: pair)
            inner(b.add(at, INT(v.lanes)), lambda pair: pair)
        with b.if_then(b.and_(b.icmp_signed(">", before_last, paired), b.icmp_signed(">", before_last, first))):
            inner(paired, lambda pair: pair)
        with b.if_then(b.icmp_signed(">", last, first)):
            inner(before_last, ending)
        here = ending((b.load(held[2]), b.load(held[3])))
        step(last, (b.load(held[0]), b.load(held[1])), here, (v.zero, v.zero), limit)

    return types.void(taps, x, y, w, types.int64, types.int64), _vector_code(generate)


class _Wide:
    """Code of a step with wide taps. What an entry gives to its j-th neighbours is made once for both sides."""

    def __init__(self, v: _Vectors, now: Any, before: Any, taps: int, x: Any, y: Any, w: Any) -> None:
        self.v, self.b, self.x, self.y, self.w = v, v.builder, x.data, y.data, w.data
        self.reach, self.beside = taps - 1, -(-(taps - 1) // v.lanes)  # vectors on each side that neighbours lie in
        self.now, self.before = ([v.splat(t) for t in cgutils.unpack_tuple(self.b, n, taps)] for n in (now, before))
        self.held = [[cgutils.alloca_once(self.b, v.type) for _ in range(taps)] for _ in range(2 * self.beside)]

    def given(self, at: Any) -> list[Any]:
        """What a vector of entries gives to itself and to its neighbours at 1, 2, ..."""
        return self.parts(self.v.load(self.x, at), self.v.load(self.y, at))

    def parts(self, here: Any, earlier: Any) -> list[Any]:
        products = [self.b.fmul(q, earlier) for q in self.before]
        return [self.v.plus(product, p, here) for p, product in zip(self.now, products, strict=True)]

    def image(self, source: Any, first: Any, block: int) -> Any:
        """The block-th vector before the first entry: next to it stands the support, zero, then odd images."""
        v, lanes = self.v, self.v.lanes
        near = [v.load(source, self.b.add(first, INT(i * lanes))) for i in range(block)]
        mirrored = [block * lanes - lane - 2 for lane in range(lanes)]  # the entry that each lane is the image of
        low = max(min(mirrored), 0) // lanes
        pair = near[low], near[low + 1] if low + 1 < block else v.zero
        picks = [2 * lanes - 1 if i < 0 else i - low * lanes for i in mirrored]
        return self.b.fsub(v.zero, self.b.shuffle_vector(*pair, v.constant(picks)))

    def step(self, at: Any, blocks: list[list[Any]], limit: Any = None) -> None:
        v, b = self.v, self.b
        total = blocks[self.beside][0]
        for j in range(1, self.reach + 1):
            sides = []
            for start in (self.beside * v.lanes - j, self.beside * v.lanes + j):
                block, by = divmod(start, v.lanes)
                sides.append(v.shifted(blocks[block][j], blocks[block + 1][j], -by) if by else blocks[block][j])
            total = b.fadd(total, b.fadd(*sides))
        v.store(total if limit is None else b.select(v.lanes_below(limit), total, v.zero), self.w, at)

    def keep(self, blocks: list[list[Any]]) -> None:
        for slots, values in zip(self.held, blocks, strict=True):
            for slot, value in zip(slots, values, strict=True):
                self.b.store(value, slot)

    def kept(self) -> list[list[Any]]:
        return [[self.b.load(slot) for slot in slots] for slots in self.held]

    def inner(self, at: Any, vectors: int) -> None:
        """Vectors whose neighbours lie in the string."""
        blocks = self.kept()
        for i in range(vectors):
            here = self.b.add(at, INT(i * self.v.lanes))
            blocks.append(self.given(self.b.add(here, INT(self.beside * self.v.lanes))))
            self.step(here, blocks)
            blocks = blocks[1:]
        self.keep(blocks)

    def outer(self, at: Any, last: Any, limit: Any, after: int) -> None:
        """A vector some of whose neighbours lie beyond the last: as far as images reach, for there memory may end."""
        b, v = self.b, self.v
        slots = [cgutils.alloca_once(b, v.type) for _ in range(self.reach + 1)]
        for slot in slots:
            b.store(v.zero, slot)
        with b.if_then(b.icmp_signed(">", b.add(limit, INT(self.reach)), INT(after * v.lanes))):
            for slot, value in zip(slots, self.given(b.add(last, INT(after * v.lanes))), strict=True):
                b.store(value, slot)
        blocks = [*self.kept(), [b.load(slot) for slot in slots]]
        self.step(at, blocks, limit if after == self.beside else None)
        self.keep(blocks[1:])


@intrinsic
def _wide_step(typing: Any, now: Any, before: Any, x: Any, y: Any, w: Any, first: Any, count: Any) -> Any:
    # Shuffles as in _stiff_step.
    taps = now.count

    def generate(v: _Vectors, _: Any, now: Any, before: Any, x: Any, y: Any, w: Any, first: Any, count: Any) -> None:
        b, wide = v.builder, _Wide(v, now, before, taps, x, y, w)
        beside = wide.beside
        images = [
            wide.parts(wide.image(x.data, first, block), wide.image(y.data, first, block))
            for block in range(beside, 0, -1)
        ]
        wide.keep([*images, *(wide.given(b.add(first, INT(i * v.lanes))) for i in range(beside))])
        spare = b.srem(b.sub(count, INT(1)), INT(v.lanes))
        last, limit = b.sub(b.add(first, b.sub(count, INT(1))), spare), b.add(spare, INT(1))
        whole = b.sub(last, INT((beside - 1) * v.lanes))  # from here on neighbours lie beyond the last vector
        # Several vectors a round, so that little time is spent on handing over what is held.
        many = b.mul(b.sdiv(b.sub(whole, first), INT(ROUND * v.lanes)), INT(ROUND * v.lanes))
        many = b.select(b.icmp_signed(">", many, INT(0)), b.add(first, many), first)
        with cgutils.for_range_slice(b, first, many, INT(ROUND * v.lanes)) as (at, _):
            wide.inner(at, ROUND)
        with cgutils.for_range_slice(b, many, whole, INT(v.lanes)) as (at, _):
            wide.inner(at, 1)
        for after in range(1, beside + 1):
            at = b.sub(last, INT((beside - after) * v.lanes))
            with b.if_then(b.icmp_signed(">=", at, first)):
                wide.outer(at, last, limit, after)

    return types.void(now, before, x, y, w, types.int64, types.int64), _vector_code(generate)


@overload(advance, **INTO_CALLER)
def _compiled_advance(forward: Any, backward: Any, now: Any, after: Any) -> Any:
    return lambda forward, backward, now, after: _advance(forward, backward, now, after)


@overload(project, **INTO_CALLER)
def _compiled_project(rows: Any, y: Any, out: Any) -> Any:
    return lambda rows, y, out: _project(rows, y, out)


@overload(spread, **INTO_CALLER)
def _compiled_spread(gain: Any, rows: Any, force: Any, which: Any, count: Any, y: Any) -> Any:
    return lambda gain, rows, force, which, count, y: _spread(gain, rows, force, which, count, y)


@overload(stiff_step, **INTO_CALLER)
def _compiled_stiff_step(taps: Any, x: Any, y: Any, w: Any, first: Any, count: Any) -> Any:
    return lambda taps, x, y, w, first, count: _stiff_step(taps, x, y, w, first, count)


@overload(wide_step, **INTO_CALLER)
def _compiled_wide_step(now: Any, before: Any, x: Any, y: Any, w: Any, first: Any, count: Any) -> Any:
    return lambda now, before, x, y, w, first, count: _wide_step(now, before, x, y, w, first, count)
