"""Quantities as people write them, and the conversions of sound."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import PresetError
from engine.units import (
    PREFIXES,
    QUANTITIES,
    counted,
    db_to_gain,
    decay_to_t60,
    gain_to_db,
    hz_to_key,
    key_to_hz,
    key_to_note,
    note_to_key,
    parse_pitch,
    parse_quantity,
    t60_to_decay,
)

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("880 mm", "m", 0.88),
        ("880mm", "m", 0.88),
        ("60 cm", "m", 0.6),
        ("50 µm", "m", 5e-5),
        ("50 um", "m", 5e-5),
        (".010 in", "m", 2.54e-4),
        ("0.555 g/m", "kg/m", 5.55e-4),
        ("58.8 N", "N", 58.8),
        ("0.1 kN", "N", 100.0),
        ("10 kgf", "N", 98.0665),
        ("2 ms", "s", 0.002),
        ("200 GPa", "Pa", 2e11),
        ("1.9e11 Pa", "Pa", 1.9e11),
        ("1 N/mm²", "Pa", 1e6),
        ("7.95e-5 N·m²", "N·m²", 7.95e-5),
        ("7.95e-5 N m2", "N·m²", 7.95e-5),
        ("7.95e-5 N*m^2", "N·m²", 7.95e-5),
        ("7.95e-5 N*m**2", "N·m²", 7.95e-5),
        ("79.5 Nmm²", "N·m²", 7.95e-5),
        ("0.6 1/s", "1/s", 0.6),
        ("0.6 /s", "1/s", 0.6),
        ("0.6 s^-1", "1/s", 0.6),
        ("0.6 s⁻¹", "1/s", 0.6),
        ("0.6 Hz", "1/s", 0.6),
        ("7850 kg/m^3", "kg/m³", 7850.0),
        ("1 N/mm^2.3", "N/m^2.3", 7943282.347242815),
        ("85 %", "", 0.85),
        ("-0.1 mm", "m", -1e-4),
        ("−0.1 mm", "m", -1e-4),
        ("1e-5", "m", 1e-5),
        ("1e5", "N", 1e5),
        ("1.0e+8", "Pa", 1e8),
        ("5E-6", "m", 5e-6),
        (".5", "", 0.5),
        ("5.", "", 5.0),
        ("+3", "", 3.0),
        ("010", "", 10.0),
        (3, "", 3.0),
        (0.88, "m", 0.88),
    ],
)
def test_a_quantity_is_read_as_it_is_meant(text: object, unit: str, value: float) -> None:
    assert parse_quantity(text, unit) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("58.8 N", "m"),
        ("5 m", "N·m²"),
        ("5 N·m", "N·m²"),
        ("1 g", "kg/m"),
        ("3 min", "s"),
        ("440 Hz", "s"),
        ("5 m", ""),
        ("5 %", "m"),
    ],
)
def test_a_wrong_dimension_is_refused_by_the_name_of_the_right_one(text: str, unit: str) -> None:
    name, example = QUANTITIES[unit]
    with pytest.raises(PresetError) as error:
        parse_quantity(text, unit)
    assert name in str(error.value)
    assert example in str(error.value)
    assert text.split(" ")[1] in str(error.value)


@pytest.mark.parametrize(
    "value",
    [
        *("off", "yes", "1:30", "0x10", "1_000", "1,5 m", "1 2", "1.2.3", "--1", "", " ", "m", "nan", ".inf", "1e999"),
        *("9" * 100, "1 mn", "1 m/", "1 /", "1 m^", "1 m^999", "٣ m"),
        *(True, False, None, [1.0], {"m": 1}, math.nan, math.inf, -math.inf, 10**400, 1 + 2j),
    ],
)
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(PresetError, match="a length in m"):
        parse_quantity(value, "m")


@given(FLOATS, st.sampled_from(sorted(QUANTITIES)))
def test_what_is_written_with_its_unit_is_read_back_unchanged(value: float, unit: str) -> None:
    assert parse_quantity(f"{value!r} {unit}".strip(), unit) == value


@given(FLOATS, st.sampled_from(sorted(PREFIXES)))
def test_prefixes_are_exact_powers_of_ten(value: float, prefix: str) -> None:
    exact = float(Decimal(repr(value)).scaleb(PREFIXES[prefix]))
    if math.isfinite(exact):
        assert parse_quantity(f"{value!r} {prefix}N", "N") == exact
    else:
        with pytest.raises(PresetError, match="finite"):
            parse_quantity(f"{value!r} {prefix}N", "N")


@given(st.text(max_size=80), st.sampled_from(["", "m", "N·m²", "N/m^2.3"]))
def test_any_text_is_a_finite_number_or_one_line_of_refusal(text: str, unit: str) -> None:
    try:
        outcome: float | str = parse_quantity(text, unit)
    except PresetError as error:
        outcome = str(error)
    if isinstance(outcome, float):
        assert math.isfinite(outcome)
    else:
        assert "must be" in outcome
        assert "\n" not in outcome


@pytest.mark.parametrize(
    ("name", "hz"),
    [("A4", 440.0), ("a4", 440.0), ("A3", 220.0), ("C4", 261.6255653), ("F#3", 184.9972114), ("Gb3", 184.9972114),
     ("F♯3", 184.9972114), ("B#3", 261.6255653), ("Cb4", 246.9416506), ("C-1", 8.1757989156), ("440 Hz", 440.0),
     ("0.44 kHz", 440.0), ("440", 440.0), (440, 440.0)],
)  # fmt: skip
def test_pitches(name: object, hz: float) -> None:
    assert parse_pitch(name) == pytest.approx(hz, rel=1e-9)


@pytest.mark.parametrize("value", ["H4", "F#", "F##3", "440 m", "", None, True, "F#300"])
def test_what_is_no_pitch_is_refused(value: object) -> None:
    with pytest.raises(PresetError, match=r"a note or a frequency in Hz; write it like F#3"):
        parse_pitch(value)


@pytest.mark.parametrize("key", range(128))
def test_keys_have_names_and_frequencies(key: int) -> None:
    assert note_to_key(key_to_note(key)) == key
    assert hz_to_key(key_to_hz(key)) == pytest.approx(key, abs=1e-12)
    assert key_to_hz(key + 12) == pytest.approx(2 * key_to_hz(key), rel=1e-15)


def test_no_note_is_refused_by_name() -> None:
    with pytest.raises(PresetError, match=r"'X9' is not a note"):
        note_to_key("X9")


@given(st.floats(-200, 200))
def test_levels(db: float) -> None:
    assert gain_to_db(db_to_gain(db)) == pytest.approx(db, abs=1e-10)


@given(st.floats(1e-3, 1e3))
def test_a_decay_falls_by_sixty_decibels_in_its_t60(seconds: float) -> None:
    rate = t60_to_decay(seconds)
    assert math.exp(-rate * seconds) == pytest.approx(1e-3, rel=1e-12)
    assert decay_to_t60(rate) == pytest.approx(seconds, rel=1e-12)


def test_counts_read_well() -> None:
    assert [counted(n, "block") for n in (0, 1, 2)] == ["no blocks", "1 block", "2 blocks"]
