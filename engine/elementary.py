"""Leaf: exp, log, pow, sin and their kin, the same bits on every machine.

Libraries differ in the last digit, from system to system and, where they choose code by CPU, from machine to machine;
contact is chaotic, and makes of that digit another sound. Here is nothing but sums, products and quotients of doubles
in the order written, which IEEE 754 leaves no choice about: no fused product, no library. Python runs these functions
as they stand; compiled code knows them too (compiled.py), and elementwise.py applies them to whole arrays.

All are within 0.8 of a unit in the last place (tests/test_elementary.py, against mpmath). Methods: exp
and log by small tables and short polynomials (Tang 1989, 1990), logarithms as a sum of two doubles so that powers keep
their last digit, angles less quarter turns in parts (Cody and Waite 1980) or, far out, by the digits of 2/pi that
matter (Payne and Hanek 1983), exact sums and products by Dekker (1971).
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from math import factorial
from typing import Any

import numpy as np

INF, NAN = float("inf"), float("nan")
STEPS = 128  # entries of both tables
SMALLEST = 2.0**-1022  # normal number
ROUNDING = 1.5 * 2.0**52  # added and taken off again, it leaves the nearest whole number
SPLITTER = 2.0**27 + 1.0
WORD = 24  # bits of each of the digits of 2/pi, so that sums of three products fit 52 bits
DIGITS = 36  # decimal, of everything that tables are made from: a double and what it lacks have 32


def _whole_pi(bits: int) -> int:
    """pi 2^bits (Machin: 16 arctan(1/5) - 4 arctan(1/239))."""

    def arctan_of_one_over(n: int) -> int:
        term = total = (1 << bits + 64) // n
        for k in range(3, bits + 64, 2):
            term //= -n * n
            total += term // k
        return total

    return (16 * arctan_of_one_over(5) - 4 * arctan_of_one_over(239)) >> 64


def _parts(value: int, scale: int, bits: int, count: int) -> list[float]:
    """value / 2^scale as `count` doubles, all but the last with so many bits that products with whole numbers fit."""
    found, top = [], value.bit_length()
    for i in range(1, count + 1):
        unit = top - bits * i
        part = value >> unit << unit if i < count else value
        found.append(part / (1 << scale))  # Python divides whole numbers with one rounding
        value -= part
    return found


def _in_two(value: Decimal, grid: int) -> tuple[float, float]:
    """A multiple of 2^-grid and the rest."""
    high = float((value * 2**grid).to_integral_value()) / 2.0**grid
    return high, float(value - Decimal(high))


def _tables() -> tuple[Any, Any, Any]:
    """2^(i/STEPS) and its rest over itself; 1/c, log c and its rest for the c that stand for a part of [0.6875, 1.375).

    1/c has eleven bits, so its product with half a double is exact; log c is a multiple of 2^-42, so its sum with
    exponents times log 2 is.
    """
    powers, inverse, logs = np.zeros((STEPS, 2)), np.zeros(STEPS), np.zeros((STEPS, 2))
    for i in range(STEPS):
        exact = (Decimal(i) / STEPS * LN2).exp()
        powers[i, 0] = float(exact)
        powers[i, 1] = float(exact / Decimal(powers[i, 0]) - 1)
        start, width = (LEAST + i / 256.0, 1 / 256.0) if i < ONE else (1.0 + (i - ONE) / 128.0, 1 / 128.0)
        inverse[i] = 1.0 if i in (ONE - 1, ONE) else round(1024.0 / (start + 0.5 * width)) / 1024.0
        logs[i] = _in_two(-Decimal(float(inverse[i])).ln(), 42)
    return powers, inverse, logs


LEAST, ONE = 0.6875, 80  # where mantissas start, and the part that starts with 1
FIRST = 0x3FE6000000000000  # LEAST as bits
with localcontext() as context:
    context.prec = DIGITS
    LN2 = Decimal(2).ln()
    LN2_HIGH, LN2_LOW = _in_two(LN2, 42)
    STEP_HIGH, STEP_LOW = _in_two(LN2 / STEPS, 42)
    POWERS, INVERSE, LOGS = _tables()
    PER_OCTAVE = float(STEPS / LN2)
    OCTAVES = float(1 / LN2), float(1 / LN2 - Decimal(float(1 / LN2)))
    DECADES = float(1 / Decimal(10).ln()), float(1 / Decimal(10).ln() - Decimal(float(1 / Decimal(10).ln())))
NATURAL = float(LN2)
_PI = _whole_pi(1400)
QUARTER = _parts(_PI, 1401, 30, 4)  # pi/2
QUARTER_A, QUARTER_B, QUARTER_C, QUARTER_D = QUARTER
QUARTER_HIGH, QUARTER_LOW = _parts(_PI, 1401, 53, 2)
EIGHTH, PER_QUARTER = 0.5 * QUARTER_HIGH, (1 << 1401) / _PI
NEAR = 2.0**23  # angles up to here are reduced in parts: numbers of quarter turns have 23 bits then
# Taylor series without their first terms, the smallest coefficient first.
SINE = tuple((-1) ** (n // 2) / factorial(n) for n in range(17, 2, -2))
COSINE = tuple((-1) ** (n // 2) / factorial(n) for n in range(18, 3, -2))
SINH = tuple(1 / factorial(n) for n in range(17, 2, -2))
LOGARITHM = tuple(1 / n for n in range(10, 2, -1))
# Of `power_of_normal`: in octaves, the series of artanh; exp's; and what turns exponents into numbers.
ARTANH = tuple(2.0 / (2 * n + 1) / NATURAL for n in range(11))
TAYLOR = tuple(1.0 / factorial(n) for n in range(14))
MANTISSA, FIFTY_TWO, OFFSET = (1 << 52) - 1, (1023 + 52) << 52, 2.0**52 + 1023.0
TO_ROOT = 0x95F619980C433  # from sqrt(2) to 2, in units of the last place
DIGITS_OF_TURNS = np.array([((1 << 2601) // _PI >> 1200 - WORD * (i + 1)) % (1 << WORD) for i in range(50)])


def bits_of(x: Any) -> Any:
    """The 64 bits of a double as a whole number."""
    return int(np.float64(x).view(np.int64))


def from_bits(bits: Any) -> Any:
    """The double of these 64 bits."""
    return float(np.int64(bits).view(np.float64))


def product(a: Any, b: Any) -> Any:
    """a b exactly, as a double and what it lacks (Dekker)."""
    high, above, over = a * b, SPLITTER * a, SPLITTER * b
    a_high, b_high = above - (above - a), over - (over - b)
    a_low, b_low = a - a_high, b - b_high
    return high, ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low


def total(a: Any, b: Any) -> Any:
    """a + b exactly, as a double and what it lacks, for |a| >= |b| or a = 0."""
    high = a + b
    return high, (a - high) + b


def scaled(x: Any, exponent: Any) -> Any:
    """x 2^exponent, rounded once, for x around 1 and |exponent| < 1100."""
    half = exponent >> 1
    return x * from_bits(half + 1023 << 52) * from_bits(exponent - half + 1023 << 52)


def _exp_parts(x: Any, rest: Any) -> Any:
    """exp(x + rest), |x| < 750, as (a + b) 2^exponent."""
    steps = (x * PER_OCTAVE + ROUNDING) - ROUNDING
    n = int(steps)
    r = ((x - steps * STEP_HIGH) - steps * STEP_LOW) + rest
    table, i = POWERS, n & STEPS - 1
    power = float(table[i, 0])
    return (*_grown(power, r + float(table[i, 1]), r), n >> 7)


def _grown(power: Any, share: Any, r: Any) -> Any:
    """power exp(r), |r| < 0.003, as two doubles; `share` is r and what the power lacks."""
    share += r * r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0))))
    return total(power, power * share)


def exp(x: Any) -> Any:
    """e^x."""
    x = float(x)
    if x > 710.0:
        return INF
    if x < -746.0:
        return 0.0
    if x != x:
        return x
    high, _, exponent = _exp_parts(x, 0.0)
    return scaled(high, exponent)


def exp2(x: Any) -> Any:
    """2^x."""
    x = float(x)
    if x >= 1024.0:
        return INF
    if x < -1076.0:
        return 0.0
    if x != x:
        return x
    steps = (x * STEPS + ROUNDING) - ROUNDING
    n = int(steps)
    r = (x - steps / STEPS) * NATURAL
    table, i = POWERS, n & STEPS - 1
    high, _ = _grown(float(table[i, 0]), r + float(table[i, 1]), r)
    return scaled(high, n >> 7)


def sinh(x: Any) -> Any:
    """(e^x - e^-x) / 2."""
    x = float(x)
    size = abs(x)
    if size < 1.0:
        z, series = x * x, 0.0
        for c in SINH:
            series = series * z + c
        return x + x * z * series
    if size > 711.0:
        return x * INF
    if size != size:
        return x
    high, low, exponent = _exp_parts(size, 0.0)
    if size < 40.0:
        against, rest, down = _exp_parts(-size, 0.0)
        against, rest = scaled(against, down - exponent), scaled(rest, down - exponent)
        high, more = total(high, -against)
        high += more + (low - rest)
    return scaled(high if x > 0.0 else -high, exponent - 1)


def _log_parts(x: Any) -> Any:
    """log(x) to 2^-67 of itself, as two doubles, for finite x > 0."""
    lift = 0
    if x < SMALLEST:
        x, lift = x * 2.0**54, -54
    bits = bits_of(x)
    place = bits - FIRST
    exponent, i = place >> 52, place >> 45 & STEPS - 1
    z, inverse = from_bits(bits - (exponent << 52)), float(INVERSE[i])
    exponents = float(exponent + lift)
    # z / c - 1: both halves' products are exact.
    above = SPLITTER * z
    z_high = above - (above - z)
    first, second = z_high * inverse - 1.0, (z - z_high) * inverse
    r = first + second
    back = r - first
    r_rest = (first - (r - back)) + (second - back)
    square, square_rest = product(r, r)
    square_rest += 2.0 * r * r_rest
    high, one = total(exponents * LN2_HIGH + float(LOGS[i, 0]), r)
    high, two = total(high, -0.5 * square)
    series = 0.0
    for c in LOGARITHM:
        series = c - r * series
    low = r_rest - 0.5 * square_rest + r * square * series
    return total(high, (low + two) + (one + (exponents * LN2_LOW + float(LOGS[i, 1]))))


def _log(x: Any, base: Any, rest: Any) -> Any:
    """log(x) times a number given as two doubles."""
    x = float(x)
    if x == 0.0:
        return -INF
    if not 0.0 < x < INF:
        return x if x > 0.0 else NAN
    high, low = _log_parts(x)
    if base == 1.0:
        return high
    more, less = product(high, base)
    return more + (less + (high * rest + low * base))


def log(x: Any) -> Any:
    """The natural logarithm."""
    return _log(x, 1.0, 0.0)


def log2(x: Any) -> Any:
    """The logarithm to the base 2."""
    return _log(x, OCTAVES[0], OCTAVES[1])


def log10(x: Any) -> Any:
    """The logarithm to the base 10."""
    return _log(x, DECADES[0], DECADES[1])


def power(x: Any, y: Any) -> Any:
    """x^y, with the special cases of C."""
    x, y = float(x), float(y)
    if y == 0.0 or x == 1.0:
        return 1.0
    if x != x or y != y:
        return NAN
    size, odd = abs(x), False
    if x < 0.0 or x == 0.0:
        whole = abs(y) >= 2.0**52 or (y + ROUNDING) - ROUNDING == y
        odd = whole and abs(y) < 2.0**53 and int(y) & 1 == 1
        if not whole and x < 0.0 and size < INF:
            return NAN
    if size == 0.0 or size == INF:
        found = 0.0 if (size == 0.0) == (y > 0.0) else INF
        return -found if odd and bits_of(x) < 0 else found
    if abs(y) == INF:
        return 1.0 if size == 1.0 else INF if (size > 1.0) == (y > 0.0) else 0.0
    high, low = _log_parts(size)
    # Beyond these, far out of range: what follows must not overflow on the way.
    y = min(max(y, -1e20), 1e20)
    found, rest = product(y, high)
    if found > 710.0:
        return -INF if odd else INF
    if found < -746.0:
        return -0.0 if odd else 0.0
    grown, _, exponent = _exp_parts(found, rest + y * low)
    return scaled(-grown if odd else grown, exponent)


def power_of_normal(x: Any, y: Any) -> Any:
    """x^y to some 1e-15 of itself, for normal x > 0 and results that are normal: no table, no branch.

    A compiler may take several at once, and each is the same bits as alone. Logarithm by the series of artanh,
    exponential by Taylor's, both in pairs of pairs (Estrin 1960), which do not wait for each other.
    """
    raised = bits_of(x) + TO_ROOT  # from sqrt(2) on it has the next exponent
    exponent = from_bits((raised >> 52) | FIFTY_TWO) - OFFSET
    m = from_bits((raised & MANTISSA) + (1023 << 52) - TO_ROOT)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    w = z * z
    v = w * w
    low = (ARTANH[0] + ARTANH[1] * z) + w * (ARTANH[2] + ARTANH[3] * z)
    middle = (ARTANH[4] + ARTANH[5] * z) + w * (ARTANH[6] + ARTANH[7] * z)
    high = (ARTANH[8] + ARTANH[9] * z) + w * ARTANH[10]
    octaves = y * (exponent + s * (low + v * (middle + v * high)))
    whole = octaves + ROUNDING
    r = (octaves - (whole - ROUNDING)) * NATURAL
    w = r * r
    v = w * w
    low = (TAYLOR[2] + TAYLOR[3] * r) + w * (TAYLOR[4] + TAYLOR[5] * r)
    middle = (TAYLOR[6] + TAYLOR[7] * r) + w * (TAYLOR[8] + TAYLOR[9] * r)
    high = (TAYLOR[10] + TAYLOR[11] * r) + w * (TAYLOR[12] + TAYLOR[13] * r)
    power_of_two = (bits_of(whole) & 0xFFF ^ 0x800) - 0x800
    return from_bits(bits_of(1.0 + (r + w * (low + v * (middle + v * high)))) + (power_of_two << 52))


def _quarter_turns(x: Any) -> Any:
    """x less the nearest number of quarter turns: that number modulo 4, and the rest as two doubles."""
    if abs(x) <= EIGHTH:
        return 0, x, 0.0
    if abs(x) > NEAR:
        return _far_turns(x)
    turns = (x * PER_QUARTER + ROUNDING) - ROUNDING
    r = x - turns * QUARTER_A
    second, third, fourth = turns * QUARTER_B, turns * QUARTER_C, turns * QUARTER_D
    # All three products may be as large as what is left: sums of two doubles throughout.
    high = r - second
    back = high - r
    low = (r - (high - back)) - (second + back)
    more = high - third
    back = more - high
    low += (high - (more - back)) - (third + back)
    high, low = total(more, low - fourth)
    return int(turns) & 3, high, low


def _far_turns(x: Any) -> Any:
    """The same by the digits of 2/pi that make neither whole turns nor less than the last digit (Payne and Hanek)."""
    bits = bits_of(abs(x))
    whole, exponent = (bits & (1 << 52) - 1) | 1 << 52, (bits >> 52) - 1075
    first, shift, mask = exponent // WORD, exponent % WORD, (1 << WORD) - 1
    w0, w1 = (whole & mask >> shift) << shift, whole >> WORD - shift & mask
    w2, w3 = whole >> 2 * WORD - shift & mask, whole >> min(3 * WORD - shift, 63)
    carry, a, b, c, turns = 0, 0, 0, 0, 0
    for place in range(7, -1, -1):  # of 2^(-24 place)
        digit, j = carry, first - 1 + place
        digit += w0 * _digit(j) + w1 * _digit(j + 1) + w2 * _digit(j + 2) + w3 * _digit(j + 3)
        carry, digit = digit >> WORD, digit & mask
        if place == 0:
            turns = digit
        elif place <= 2:
            a += digit << WORD * (2 - place)
        elif place <= 4:
            b += digit << WORD * (4 - place)
        elif place <= 6:
            c += digit << WORD * (6 - place)
    if a >= 1 << 2 * WORD - 1:
        a -= 1 << 2 * WORD
        turns += 1
    high, low = total(a * 2.0**-48, b * 2.0**-96)
    high, low = total(high, low + c * 2.0**-144)
    r, rest = product(high, QUARTER_HIGH)
    r, rest = total(r, rest + (high * QUARTER_LOW + low * QUARTER_HIGH))
    return (turns & 3, r, rest) if x > 0.0 else (-turns & 3, -r, -rest)


def _digit(j: Any) -> Any:
    return int(DIGITS_OF_TURNS[j]) if j >= 0 else 0


def _sine(r: Any, rest: Any) -> Any:
    """sin(r + rest), |r| <= pi/4, as two doubles."""
    z, series = r * r, 0.0
    for c in SINE:
        series = series * z + c
    return total(r, r * z * series + rest * (1.0 - 0.5 * z))


def _cosine(r: Any, rest: Any) -> Any:
    """cos(r + rest), |r| <= pi/4, as two doubles."""
    (z, lacks), series = product(r, r), 0.0
    for c in COSINE:
        series = series * z + c
    high, low = total(1.0, -0.5 * z)
    return total(high, low + (z * z * series - (0.5 * lacks + r * rest)))


def sin(x: Any) -> Any:
    """The sine of an angle."""
    x = float(x)
    if abs(x) < 2.0**-27:
        return x
    if not abs(x) < INF:
        return NAN
    turns, r, rest = _quarter_turns(x)
    found, _ = _cosine(r, rest) if turns & 1 else _sine(r, rest)
    return -found if turns & 2 else found


def cos(x: Any) -> Any:
    """The cosine of an angle."""
    x = float(x)
    if not abs(x) < INF:
        return NAN
    turns, r, rest = _quarter_turns(x)
    found, _ = _sine(r, rest) if turns & 1 else _cosine(r, rest)
    return -found if turns + 1 & 2 else found


def tan(x: Any) -> Any:
    """The tangent of an angle."""
    x = float(x)
    if abs(x) < 2.0**-27:
        return x
    if not abs(x) < INF:
        return NAN
    turns, r, rest = _quarter_turns(x)
    over, over_rest = _sine(r, rest)
    under, under_rest = _cosine(r, rest)
    if turns & 1:
        over, over_rest, under, under_rest = -under, -under_rest, over, over_rest
    found = over / under
    near, lacks = product(found, under)
    return found + (((over - near) - lacks) + over_rest - found * under_rest) / under


COMPILED = (
    *(bits_of, from_bits, product, total, scaled, _exp_parts, _grown, exp, exp2, sinh, _log_parts, _log, log, log2),
    *(log10, power, power_of_normal, _quarter_turns, _far_turns, _digit, _sine, _cosine, sin, cos, tan),
)
