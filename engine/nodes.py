"""Leaf: the vector code of contact at a grid's nodes: as many at once as a register holds, each by itself.

One by one a contact is a power, a root and two divisions in a row, behind branches that nobody foresees. As in
vectors.py the plain twin gives the same bits: twin and vector code are the same formulas, on arrays and on `Lanes`.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from engine import elementary
from engine.compiled import INTO_CALLER
from engine.elementary import ARTANH, NATURAL, TAYLOR, power_of_normal
from engine.vectors import INT, _arrays, _vector_code, _Vectors

# How eta^power is taken: pow() costs more than the rest of a contact, so common exponents go without.
FORMS = LINEAR, QUARTER, HALF, GENERAL = range(4)
SHALLOWEST = 1e-30  # m: of a power; what is less deep is not in contact
SINGLE = 4  # bytes
# Of `power_of_single`: from sqrt(2) to 2 in units of the last place; one; what turns an exponent into a number; what
# added and taken off again leaves a whole number.
FROM_ROOT, ONE, MANTISSA = 0x4AFB0D, 127 << 23, (1 << 23) - 1
WHOLE, WHOLE_IS, ROUNDING = (127 + 23) << 23, 2.0**23, 1.5 * 2.0**23


def reached(height: Any, now: Any, after: Any, psi: Any, force: Any) -> bool:
    """Whether any node may push: inside, about to be, or still holding energy. Leaves no force behind."""
    force[:] = 0.0
    return bool(near(height, now[: height.size], after[: height.size], psi).any())


def near(height: Any, now: Any, after: Any, psi: Any) -> Any:
    """Which nodes may push."""
    return (height > now) | (height > after) | (psi > 0.0)


def press(
    height: Any,
    now: Any,
    before: Any,
    after: Any,
    psi: Any,
    slope: Any,
    force: Any,
    powers: Any,
    grain: Any,
    response: Any,
) -> None:
    """Force and psi+ of every node, and what both make of `after`; `powers` are the law's form, power and secant.

    Of the rule SHIPPED, without damping. Arrays are whole vectors, as many as `height` has, which is endlessly deep
    behind the last node.
    """
    size, (form, power, secant) = height.size, powers
    levels, held = (height, now[:size], before[:size], after[:size]), psi.copy()
    pressed = near(height, levels[1], levels[3], held)
    with np.errstate(all="ignore"):
        base = depth(height, levels[1], levels[3], np.where)
        if form == LINEAR:
            raised = np.ones_like(base)
        elif form == QUARTER:
            raised = np.sqrt(np.sqrt(base))
        elif form == HALF:
            raised = np.sqrt(base)
        elif base.itemsize == SINGLE:
            raised = power_of_single(base, power, lambda x: x.view(np.int32), lambda bits: bits.view(np.float32))
        else:
            raised = np.array([power_of_normal(float(x), float(power)) for x in base])
        found = pushes(levels, held, slope * raised, (secant, grain, response), np.where, np.sqrt)
    for array, value, old in zip((force, psi, after[:size]), found, (0.0, held, levels[3].copy()), strict=True):
        array[:] = np.where(pressed, value, old)


def depth(height: Any, now: Any, after: Any, choose: Any) -> Any:
    """What a power is taken of: how deep a node is, or of one that is not, how deep it would be halfway."""
    eta, middle = height - now, height - 0.5 * (now + after)
    base = choose(eta > 0.0, eta, middle)
    return choose(base > SHALLOWEST, base, SHALLOWEST)


def power_of_single(x: Any, y: Any, bits_of: Any, from_bits: Any) -> Any:
    """x^y to some 1e-6 of itself, in single precision throughout, for normal x > 0: elementary.power_of_normal."""
    raised = bits_of(x) + FROM_ROOT
    exponent = from_bits((raised >> 23) | WHOLE) - (WHOLE_IS + 127.0)
    m = from_bits((raised & MANTISSA) + ONE - FROM_ROOT)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    series = (ARTANH[0] + ARTANH[1] * z) + (z * z) * (ARTANH[2] + ARTANH[3] * z)
    octaves = y * (exponent + s * series)
    whole = octaves + ROUNDING
    r = (octaves - (whole - ROUNDING)) * NATURAL
    w = r * r
    high = (TAYLOR[2] + TAYLOR[3] * r) + w * (TAYLOR[4] + TAYLOR[5] * r)
    high = high + (w * w) * (TAYLOR[6] + TAYLOR[7] * r)
    octave = (bits_of(whole) & 0xFFF ^ 0x800) - 0x800
    return from_bits(bits_of(1.0 + (r + w * high)) + (octave << 23))


def pushes(levels: Any, psi: Any, steep: Any, law: Any, choose: Any, root: Any) -> Any:
    """Force, psi+ and where the node comes to; contact.half_gradient and contact.given, `steep` being the slope times
    the power. Both quotients that a gradient may be are one, of which numerator and denominator are chosen.
    """
    (height, now, before, after), (secant, grain, response) = levels, law
    eta, middle, push = height - now, height - 0.5 * (now + after), before - after
    holding, inside, coming, twice = psi > 0.0, eta > 0.0, push >= 0.0, psi + psi
    reach = root(push * push + response * twice * twice)
    over = choose(holding, choose(coming, reach + push, twice), secant * steep * middle)
    under = choose(holding, choose(coming, response * twice, reach - push), choose(middle > push, middle, push))
    quotient = over / under
    entering = (middle > 0.0) & (height - before <= 0.0)
    fresh = choose(push > 0.0, choose(inside, steep, choose(entering, quotient, 0.0)), 0.0)
    held = choose(inside, choose(quotient < steep, quotient, steep), choose(coming, 0.0, quotient))
    a = choose(holding, held, fresh)
    r = a * a
    force = (a * twice + r * push) / (1.0 + r * response)
    left = psi + a * (push - response * force)
    force = choose((a > 0.0) & (force > 0.0), force, 0.0)
    gone = (left <= grain * psi) | ((eta <= 0.0) & (push < 0.0))
    return force, choose(a > 0.0, choose(gone, 0.0, left), psi), after + response * force


class Lanes:
    """A vector's values in code that is being made, as formulas have them."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def like(self, other: Any) -> Any:
        """A number as a vector of these, or the vector that it is."""
        return (
            other.value if isinstance(other, Lanes) else ir.Constant(self.value.type, [other] * self.value.type.count)
        )

    def _made(self, floats: str, whole: str, other: Any, turned: bool = False) -> Lanes:
        both = [self.value, self.like(other)]
        name = whole if isinstance(self.value.type.element, ir.IntType) else floats
        return Lanes(self.builder, getattr(self.builder, name)(*(both[::-1] if turned else both)))

    def __add__(self, other: Any) -> Lanes:
        return self._made("fadd", "add", other)

    def __sub__(self, other: Any) -> Lanes:
        return self._made("fsub", "sub", other)

    def __mul__(self, other: Any) -> Lanes:
        return self._made("fmul", "mul", other)

    def __truediv__(self, other: Any) -> Lanes:
        return self._made("fdiv", "", other)

    def __and__(self, other: Any) -> Lanes:
        return self._made("", "and_", other)

    def __or__(self, other: Any) -> Lanes:
        return self._made("", "or_", other)

    def __xor__(self, other: Any) -> Lanes:
        return self._made("", "xor", other)

    def __lshift__(self, other: Any) -> Lanes:
        return self._made("", "shl", other)

    def __rshift__(self, other: Any) -> Lanes:
        return self._made("", "ashr", other)

    def __radd__(self, other: Any) -> Lanes:
        return self._made("fadd", "add", other, turned=True)

    def __rmul__(self, other: Any) -> Lanes:
        return self._made("fmul", "mul", other, turned=True)

    def _compared(self, how: str, other: Any) -> Lanes:
        return Lanes(self.builder, self.builder.fcmp_ordered(how, self.value, self.like(other)))

    def __gt__(self, other: Any) -> Any:
        return self._compared(">", other)

    def __ge__(self, other: Any) -> Any:
        return self._compared(">=", other)

    def __lt__(self, other: Any) -> Any:
        return self._compared("<", other)

    def __le__(self, other: Any) -> Any:
        return self._compared("<=", other)

    def seen_as(self, element: Any) -> Lanes:
        """The same bits as other numbers."""
        return Lanes(self.builder, self.builder.bitcast(self.value, ir.VectorType(element, self.value.type.count)))

    def root(self) -> Lanes:
        kind = self.value.type
        name = f"llvm.sqrt.v{kind.count}f{32 if isinstance(kind.element, ir.FloatType) else 64}"
        function = cgutils.get_or_insert_function(self.builder.module, ir.FunctionType(kind, [kind]), name)
        return Lanes(self.builder, self.builder.call(function, [self.value]))


def choose(condition: Lanes, yes: Any, no: Any) -> Lanes:
    """np.where of lanes, one of which may be a number."""
    kind = yes if isinstance(yes, Lanes) else no
    return Lanes(kind.builder, kind.builder.select(condition.value, kind.like(yes), kind.like(no)))


# The text of the power, where bits are those of lanes.
_power_of_normal = FunctionType(
    power_of_normal.__code__,
    vars(elementary) | {"bits_of": lambda x: x.seen_as(INT), "from_bits": lambda bits: bits.seen_as(ir.DoubleType())},
)


def _power(v: _Vectors, base: Lanes, power: Any) -> Lanes:
    exponent = Lanes(v.builder, v.splat(power))
    if v.align != SINGLE:
        return _power_of_normal(base, exponent)  # type: ignore[no-any-return]
    whole, number = ir.IntType(32), ir.FloatType()
    found = power_of_single(base, exponent, lambda x: x.seen_as(whole), lambda bits: bits.seen_as(number))
    return found  # type: ignore[no-any-return] # noqa: RET504


@intrinsic
def _reached(typing: Any, height: Any, now: Any, after: Any, psi: Any, force: Any) -> Any:
    def code(context: Any, b: Any, signature: Any, values: Any) -> Any:
        height, now, after, psi, force = _arrays(context, b, signature, values)
        v = _Vectors(context, b, force.data.type.pointee)
        (size,) = cgutils.unpack_tuple(b, height.shape)
        mask = ir.IntType(v.lanes)
        found = cgutils.alloca_once_value(b, mask(0))
        with v.loop(size, v.lanes) as i:
            h, x, w, held = (Lanes(b, v.load(array.data, i)) for array in (height, now, after, psi))
            v.store(v.zero, force.data, i)
            b.store(b.or_(b.load(found), b.bitcast(near(h, x, w, held).value, mask)), found)
        return b.icmp_unsigned("!=", b.load(found), mask(0))

    return types.boolean(height, now, after, psi, force), code


@intrinsic
def _press(
    typing: Any,
    height: Any,
    now: Any,
    before: Any,
    after: Any,
    psi: Any,
    slope: Any,
    force: Any,
    powers: Any,
    grain: Any,
    response: Any,
) -> Any:
    def generate(v: _Vectors, _: Any, height: Any, now: Any, before: Any, after: Any, *more: Any) -> None:
        b, (psi, slope, force, powers, grain, response) = v.builder, more
        form, power, secant = cgutils.unpack_tuple(b, powers, 3)
        law = [Lanes(b, v.splat(number)) for number in (secant, grain, response)]
        (size,) = cgutils.unpack_tuple(b, height.shape)
        raised = cgutils.alloca_once(b, v.type)

        def raise_it(base: Lanes) -> Lanes:
            """By the law's form."""
            ways = {
                LINEAR: lambda: Lanes(b, base.like(1.0)),
                QUARTER: lambda: base.root().root(),
                HALF: base.root,
                GENERAL: lambda: _power(v, base, power),
            }
            blocks = [b.append_basic_block(f"form{form_here}") for form_here in ways]
            end, switch = b.append_basic_block("raised"), b.switch(form, blocks[-1])
            for form_here, block in zip(ways, blocks, strict=True):
                if block is not blocks[-1]:
                    switch.add_case(INT(form_here), block)
                b.position_at_end(block)
                made: Lanes = ways[form_here]()  # type: ignore[no-untyped-call]
                b.store(made.value, raised)
                b.branch(end)
            b.position_at_end(end)
            return Lanes(b, b.load(raised))

        with cgutils.for_range_slice(b, INT(0), size, INT(v.lanes)) as (i, _):
            h, x, w, held = (Lanes(b, v.load(array.data, i)) for array in (height, now, after, psi))
            pressed = near(h, x, w, held)
            v.store(v.zero, force.data, i)
            mask = ir.IntType(v.lanes)
            with b.if_then(b.icmp_unsigned("!=", b.bitcast(pressed.value, mask), mask(0))):
                steep = Lanes(b, v.load(slope.data, i)) * raise_it(depth(h, x, w, choose))
                y = Lanes(b, v.load(before.data, i))
                found = pushes((h, x, y, w), held, steep, law, choose, Lanes.root)
                for array, value, old in zip((force, psi, after), found, (0.0, held, w), strict=True):
                    v.store(choose(pressed, value, old).value, array.data, i)

    arguments = height, now, before, after, psi, slope, force, powers, grain, response
    return types.void(*arguments), _vector_code(generate)


@overload(reached, **INTO_CALLER)
def _compiled_reached(height: Any, now: Any, after: Any, psi: Any, force: Any) -> Any:
    return lambda height, now, after, psi, force: _reached(height, now, after, psi, force)


@overload(press, **INTO_CALLER)
def _compiled_press(
    height: Any,
    now: Any,
    before: Any,
    after: Any,
    psi: Any,
    slope: Any,
    force: Any,
    powers: Any,
    grain: Any,
    response: Any,
) -> Any:
    return lambda height, now, before, after, psi, slope, force, powers, grain, response: _press(
        height, now, before, after, psi, slope, force, powers, grain, response
    )
