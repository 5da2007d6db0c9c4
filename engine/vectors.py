"""Leaf: the five loops that cost time, as explicit vector code. Each has a plain twin that says what it does.

The compiler's own vectoriser guesses vector width, checks aliases at every call and walks remainders one by one;
at 30-150 modes that is half the time. Written out, the sums also have one fixed order, whatever the CPU.
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

PADDING = 16  # entries: mode arrays come in whole vectors of either precision
VECTOR_BYTES = 64
INT = ir.IntType(64)
FAST = ("contract", "reassoc", "nsz")


def advance(forward: Any, backward: Any, now: Any, after: Any) -> None:
    """after = forward * now - backward * after."""
    after[:] = forward * now - backward * after


def project(rows: Any, y: Any, out: Any) -> None:
    """out = rows @ y."""
    out[:] = rows @ y


def spread(gain: Any, rows: Any, force: Any, which: Any, count: Any, y: Any) -> None:
    """y += gain * sum of force[k] * rows[k] over the first `count` entries k of `which`."""
    k = which[:count]
    y += gain * (force[k] @ rows[k])


def stiff_step(taps: Any, x: Any, y: Any, w: Any, first: Any, count: Any) -> None:
    """w = a0 x + a1 S x + a2 S2 x + b0 y + b1 S y, S u[i] = u[i-1] + u[i+1], S2 u[i] = u[i-2] + u[i+2].

    On `count` entries from `first`, which continue as their odd image beyond both ends; `taps` is (a0, a1, a2, b0, b1).
    `w` must be another array than `x` and `y`; it is zeroed up to the next whole vector.
    """
    a0, a1, a2, b0, b1 = taps
    u, v = (np.concatenate([[-a[first], 0], a[first : first + count], [0, -a[first + count - 1]]]) for a in (x, y))
    inner = slice(2, 2 + count)
    total = a0 * u[inner] + a1 * (u[1:-3] + u[3:-1]) + a2 * (u[:-4] + u[4:])
    w[first : first + count] = total + b0 * v[inner] + b1 * (v[1:-3] + v[3:-1])
    w[first + count : first + count + -count % (VECTOR_BYTES // w.itemsize)] = 0


def stencil(now: Any, before: Any, x: Any, y: Any, w: Any, first: Any, count: Any) -> None:
    """w[i] = sum_j now[j] (x[i-j] + x[i+j]) + before[j] (y[i-j] + y[i+j]) for `count` nodes i from `first`.

    The length of `now` and `before` is the reach; `w` must be another array than `x` and `y`.
    """
    i = np.arange(first, first + count)
    total = now[0] * x[i] + before[0] * y[i]
    for j in range(1, len(now)):
        total += now[j] * (x[i - j] + x[i + j])
    for j in range(1, len(before)):
        total += before[j] * (y[i - j] + y[i + j])
    w[i] = total


class _Vectors:
    """Code generation shared by the four: loads, stores and sums of whole vectors of one precision."""

    def __init__(self, context: Any, builder: Any, element: Any) -> None:
        self.context, self.builder, self.element = context, builder, element
        self.lanes = VECTOR_BYTES // (4 if isinstance(element, ir.FloatType) else 8)
        self.align = VECTOR_BYTES // self.lanes
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
        return self.builder.shuffle_vector(
            vector, self.zero, ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        )

    def shifted(self, left: Any, right: Any, by: int) -> Any:
        """Lanes of two neighbouring vectors: by > 0 the entries `by` before `right`, by < 0 those after `left`."""
        start = self.lanes - by if by > 0 else -by
        picks = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), list(range(start, start + self.lanes)))
        return self.builder.shuffle_vector(left, right, picks)

    def _against(self, how: str, limit: Any) -> Any:
        i32 = ir.VectorType(ir.IntType(32), self.lanes)
        wide = self.builder.insert_element(
            ir.Constant(i32, [0] * self.lanes),
            self.builder.trunc(limit, ir.IntType(32)),
            ir.Constant(ir.IntType(32), 0),
        )
        wide = self.builder.shuffle_vector(wide, wide, ir.Constant(i32, [0] * self.lanes))
        return self.builder.icmp_signed(how, ir.Constant(i32, list(range(self.lanes))), wide)

    def lanes_below(self, limit: Any) -> Any:
        return self._against("<", limit)

    def lanes_equal(self, limit: Any) -> Any:
        return self._against("==", limit)

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        return self.builder.fadd(self.builder.fmul(a, b, flags=FAST), c, flags=FAST)

    def add(self, a: Any, b: Any) -> Any:
        return self.builder.fadd(a, b, flags=FAST)

    def total(self, vector: Any) -> Any:
        """Sum over lanes, by halves."""
        lanes, i32 = self.lanes, ir.IntType(32)
        while lanes > 1:
            lanes //= 2
            halves = ir.VectorType(i32, lanes)
            low = self.builder.shuffle_vector(vector, vector, ir.Constant(halves, list(range(lanes))))
            high = self.builder.shuffle_vector(vector, vector, ir.Constant(halves, list(range(lanes, 2 * lanes))))
            vector = self.add(low, high)
        return self.builder.extract_element(vector, ir.Constant(i32, 0))

    @contextmanager
    def loop(self, count: Any, step: int) -> Iterator[Any]:
        with cgutils.for_range_slice(self.builder, INT(0), count, INT(step)) as (i, _):
            yield i

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
            old = v.builder.fneg(v.load(after.data, i))
            kept = v.builder.fmul(v.load(backward.data, i), old, flags=FAST)
            v.store(v.fma(v.load(forward.data, i), v.load(now.data, i), kept), after.data, i)

    return types.void(forward, backward, now, after), _vector_code(generate)


@intrinsic
def _project(typing: Any, rows: Any, y: Any, out: Any) -> Any:
    def generate(v: _Vectors, _: Any, rows: Any, y: Any, out: Any) -> None:
        b = v.builder
        count, size = cgutils.unpack_tuple(b, rows.shape)

        def group(rows_here: int, first: Any) -> None:
            # Few rows leave the adders waiting for each other: give each row two sums then.
            sums = 2 if rows_here <= 4 and v.lanes * 2 <= PADDING else 1
            bases = [b.gep(rows.data, [b.mul(b.add(first, INT(j)), size)]) for j in range(rows_here)]
            held = [[cgutils.alloca_once(b, v.type) for _ in range(sums)] for _ in bases]
            for total in (total for row in held for total in row):
                b.store(v.zero, total)
            with v.loop(size, v.lanes * sums) as i:
                for part in range(sums):
                    at = b.add(i, INT(part * v.lanes))
                    value = v.load(y.data, at)
                    for base, row in zip(bases, held, strict=True):
                        b.store(v.fma(v.load(base, at), value, b.load(row[part])), row[part])
            for j, row in enumerate(held):
                total = b.load(row[0]) if sums == 1 else v.add(b.load(row[0]), b.load(row[1]))
                b.store(v.total(total), b.gep(out.data, [b.add(first, INT(j))]))

        v.in_groups(count, 8, group)

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
                total = b.fmul(forces[0], v.load(bases[0], i), flags=FAST)
                for base, f in zip(bases[1:], forces[1:], strict=True):
                    total = v.fma(f, v.load(base, i), total)
                v.store(v.fma(total, v.load(gain.data, i), v.load(y.data, i)), y.data, i)

        v.in_groups(count, 8, group)

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
            return now, v.fma(a1, now, b.fmul(b1, v.load(y.data, at), flags=FAST))

        def step(at: Any, left: Any, here: Any, right: Any, limit: Any = None) -> None:
            total = v.fma(a0, here[0], b.fmul(b0, v.load(y.data, at), flags=FAST))
            total = v.add(total, v.add(v.shifted(left[1], here[1], 1), v.shifted(here[1], right[1], -1)))
            total = v.fma(a2, v.add(v.shifted(left[0], here[0], 2), v.shifted(here[0], right[0], -2)), total)
            if limit is not None:
                # Beyond the last entry stands its odd image, of which S2 alone sees more than zero.
                image = b.select(v.lanes_equal(b.sub(limit, INT(1))), b.fmul(a2, here[0], flags=FAST), v.zero)
                total = b.select(v.lanes_below(limit), b.fsub(total, image, flags=FAST), v.zero)
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
        with cgutils.for_range_slice(b, first, before_last, INT(v.lanes)) as (at, _):
            inner(at, lambda pair: pair)
        with b.if_then(b.icmp_signed(">", last, first)):
            inner(before_last, ending)
        here = ending((b.load(held[2]), b.load(held[3])))
        step(last, (b.load(held[0]), b.load(held[1])), here, (v.zero, v.zero), limit)

    return types.void(taps, x, y, w, types.int64, types.int64), _vector_code(generate)


@intrinsic
def _stencil(typing: Any, now: Any, before: Any, x: Any, y: Any, w: Any, first: Any, count: Any) -> Any:
    reach = now.count, before.count

    def generate(v: _Vectors, args: Any, now: Any, before: Any, x: Any, y: Any, w: Any, first: Any, count: Any) -> None:
        b = v.builder
        terms = []
        for source, taps, length in ((x, now, reach[0]), (y, before, reach[1])):
            terms += [(source.data, j, v.splat(t)) for j, t in enumerate(cgutils.unpack_tuple(b, taps, length))]

        def vector(i: Any) -> None:
            total = v.zero
            for base, j, tap in terms:
                value = v.load(base, b.sub(i, INT(j)))
                if j:
                    value = v.add(value, v.load(base, b.add(i, INT(j))))
                total = v.fma(tap, value, total)
            v.store(total, w.data, i)

        last = b.sub(b.add(first, count), INT(v.lanes))
        with cgutils.for_range_slice(b, first, b.add(last, INT(1)), INT(v.lanes)) as (i, _):
            vector(i)
        # The rest by one more vector that overlaps the one before it: w is not read, so twice is no harm.
        vector(last)

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


@overload(stencil, **INTO_CALLER)
def _compiled_stencil(now: Any, before: Any, x: Any, y: Any, w: Any, first: Any, count: Any) -> Any:
    lanes = VECTOR_BYTES // (w.dtype.bitwidth // 8)

    def code(now: Any, before: Any, x: Any, y: Any, w: Any, first: Any, count: Any) -> None:
        if count >= lanes:
            _stencil(now, before, x, y, w, first, count)
            return
        for i in range(first, first + count):
            total = now[0] * x[i] + before[0] * y[i]
            for j in range(1, len(now)):
                total += now[j] * (x[i - j] + x[i + j])
            for j in range(1, len(before)):
                total += before[j] * (y[i - j] + y[i + j])
            w[i] = total

    return code
