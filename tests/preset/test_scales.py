"""Scales by name against ratios and cents worked out by hand; strings that are tuned to them."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.errors import PresetError
from engine.preset.loader import load_preset
from engine.preset.scales import MAQAMS, RAGAS, ROOTED, SCALES, SHRUTIS, SVARAS, TEMPERAMENTS, notes_of
from engine.preset.tuning import load_strings, load_tuning
from engine.units import key_to_hz

SA = key_to_hz(61)  # C#4
WIRE = {"length": "65 cm", "diameter": "0.3 mm", "material": "steel", "tuned": "C#4", "keys": "length"}


def cents(upper: float, lower: float) -> float:
    return float(1200.0 * np.log2(upper / lower))


def test_yaman_is_its_ratios_and_the_other_keys_are_just() -> None:
    tuning = load_tuning("yaman on C#")
    ratios = "1/1 16/15 9/8 6/5 5/4 4/3 45/32 3/2 8/5 27/16 9/5 15/8 2/1"
    for step, ratio in enumerate(ratios.split()):
        for octave in (-1, 0, 1):
            assert tuning[61 + step + 12 * octave] == pytest.approx(
                SA * float(Fraction(ratio)) * 2.0**octave, rel=1e-13
            )
    assert load_tuning("Yaman on C#") == tuning
    assert load_tuning("yaman on C#, C#4=300")[61] == 300.0
    assert load_tuning("yaman on C#, A4=432")[69] == 432.0


def test_a_drone_s_note_stays_where_equal_temperament_has_it() -> None:
    for name in SCALES:
        tonic = load_tuning(f"{name} on D")[62]
        assert (tonic == pytest.approx(key_to_hz(62), rel=1e-14)) == (name in ROOTED or name == "equal"), name


def test_the_ten_thaats_are_the_keys_that_bhatkhande_gave_them() -> None:
    keys = {
        "bilawal": "SRGMPDN", "khamaj": "SRGMPDn", "kafi": "SRgMPDn", "asavari": "SRgMPdn", "bhairavi": "SrgMPdn",
        "bhairav": "SrGMPdN", "yaman": "SRGmPDN", "marwa": "SrGmDN", "purvi": "SrGmPdN", "todi": "SrgmPdN",
    }  # fmt: skip
    assert {name: RAGAS[name].replace(" ", "").replace("-", "").replace("+", "") for name in keys} == keys
    assert len(RAGAS) >= 20


@pytest.mark.parametrize("name", RAGAS)
def test_a_raga_ascends_with_one_shruti_a_svara(name: str) -> None:
    notes = notes_of(name)
    assert notes[0] == 0.0
    assert all(high - low > 60 / 1200 for low, high in pairwise((*notes, 1.0)))
    svaras = [svara[0] for svara in RAGAS[name].split()]
    assert svaras == sorted(set(svaras), key=SVARAS.index)
    assert all(abs(1200 * note - 100 * SVARAS.index(svara)) < 24 for note, svara in zip(notes, svaras))
    assert set(notes) <= {0.0, *SCALES[name]}
    assert len(SCALES[name]) == 12


def test_the_shrutis_are_twenty_two_a_comma_or_a_limma_apart() -> None:
    found = [Fraction(*ratio) for ratio in SHRUTIS.values()]
    assert len(found) == 22
    steps = {high / low for low, high in pairwise([*found, Fraction(2)])}
    # pramana (comma), nyuna and purna shruti
    assert steps == {Fraction(81, 80), Fraction(25, 24), Fraction(256, 243)}
    tuning = load_tuning("shruti on C#")
    assert [tuning[61 + key] for key in range(23)] == pytest.approx([SA * float(r) for r in (*found, 2)], rel=1e-13)


def test_old_temperaments_are_as_their_circles_of_fifths_add_up() -> None:
    """The fifths from C on, in cents narrower than pure; together they are the Pythagorean comma."""
    comma, syntonic = 1200 * (12 * np.log2(1.5) - 7), 1200 * np.log2(81 / 80)
    quarter, fourth, sixth = comma / 4, syntonic / 4, comma / 6
    circles = {
        "werckmeister": [quarter] * 3 + [0, 0, quarter] + [0] * 6,
        "kirnberger": [fourth] * 4 + [0, 0, comma - syntonic] + [0] * 5,
        "vallotti": [sixth] * 5 + [0] * 6 + [sixth],
    }
    for name, narrow in circles.items():
        assert sum(narrow) == pytest.approx(comma)
        tuning = load_tuning(f"{name}, A4=440")
        key = 60
        for part in narrow:
            low, high = tuning[key], tuning[key + 7]
            assert low is not None
            assert high is not None
            assert cents(high, low) == pytest.approx(1200 * np.log2(1.5) - part, abs=1e-9), (name, key)
            key = key + 7 if key < 65 else key - 5
    assert set(circles) <= set(TEMPERAMENTS)


def test_a_maqam_has_its_quarter_tones_on_the_keys_above_them() -> None:
    rast = load_tuning("rast on C")
    scale = [pitch for pitch in rast.frequencies[60:72] if pitch is not None]
    assert [cents(scale[key], scale[0]) for key in (2, 4, 11)] == pytest.approx([200.0, 350.0, 1050.0])
    assert all(len(SCALES[name]) == 12 for name in MAQAMS)


def test_strings_take_a_scale_s_notes_in_their_order() -> None:
    yaman = [Fraction(r) for r in ["1", "9/8", "5/4", "45/32", "3/2", "27/16", "15/8"]]
    octave = [SA * float(ratio) for ratio in yaman]
    assert load_strings("yaman on C#") == pytest.approx([*octave, 2 * SA], rel=1e-13)
    thirteen = [octave[-1] / 2, *octave, *(2 * pitch for pitch in octave[:5])]
    assert load_strings("13 of yaman on C# from C4") == pytest.approx(thirteen, rel=1e-13)
    assert load_strings("yaman on C# from C4 to F5") == pytest.approx(thirteen[:11], rel=1e-13)
    assert load_strings("yaman on C#3 from C4 to F5") == pytest.approx(thirteen[:11], rel=1e-13)
    assert load_strings("yaman on C#, C#4=300")[0] == 300.0
    assert load_strings("2 of equal from A4") == pytest.approx((440.0, key_to_hz(70)))


@given(st.sampled_from(sorted(SCALES)), st.integers(24, 96), st.integers(1, 16), st.integers(24, 84))
def test_strings_sound_what_the_keyboard_sounds(name: str, tonic: int, count: int, low: int) -> None:
    """They are in tune with the keys of the same tuning: that is what makes them answer."""
    note = engine.units.key_to_note
    found = load_strings(f"{count} of {name} on {note(tonic)} from {note(low)}")
    sounded = [pitch for pitch in load_tuning(f"{name} on {note(tonic)}").frequencies if pitch is not None]
    assert len(found) == count
    assert list(found) == sorted(found)
    for pitch in found:
        assert min(abs(cents(pitch, other)) for other in sounded) < 1e-6


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("yaamn on C#", "yaamn must be the name of a scale; did you mean yaman?"),
        ("13 of yaman on C# from C4 to C5", "tells both how many and up to where; leave one of them out"),
        ("yaman on C#, just", "yaman on C#4 and just are two scales; keep one of them"),
        ("yaman on C99", "C99 is key 1200, outside 0 to 127; choose another octave"),
        ("17 of yaman on C#", "must be 1 to 16 strings, not 17; say how many, like 16 of yaman on C# from C4"),
        ("yaman on C# from C5 to C4", "must be 1 to 16 strings, not 0; "),
        ("x" * 2000, "must be a scale's name; "),
        ("", "must be a scale's name; "),
    ],
)
def test_a_wrong_name_is_one_line_with_a_remedy(text: str, told: str) -> None:
    preset = {"string": WIRE, "strings": [{"played": "C3-C5"}, {"sympathetic": text}]}
    with pytest.raises(PresetError) as error:
        load_preset(preset)
    (line,) = str(error.value).splitlines()
    assert told in line
    assert "strings.1.sympathetic" in line
    assert len(line) < 300


def test_strings_by_name_are_those_of_the_list() -> None:
    strings = [{"played": "C3-C5"}, {"sympathetic": "5 of bhairav on D"}]
    named = load_preset({"string": WIRE, "strings": strings, "body": {"name": "sitar"}})
    strings[1] = {"sympathetic": [f"{pitch!r} Hz" for pitch in load_strings("5 of bhairav on D")]}  # type: ignore[dict-item]
    listed = load_preset({"string": WIRE, "strings": strings, "body": {"name": "sitar"}})
    assert named.assembly == listed.assembly
    other = load_preset({"string": WIRE, "strings": strings}, ["strings.1.sympathetic=3 of marwa on D"])
    assert other.assembly is not None
    assert len(other.assembly.sympathetic) == 3


def test_a_note_sounds_as_its_raga_has_it() -> None:
    """F4, the fifth part of C#4's string: 386.3 cents above, not 400."""
    bare = {"string": WIRE | {"keys": "tension"}, "pickups": [{"at": 0.1, "kind": "displacement"}], "release": 5.0}
    bare["string"] = bare["string"] | {"stiffness": 0.0, "diameter": None, "material": None, "density": 0.5e-3}  # type: ignore[operator]
    found = {}
    for key in (61, 65):
        sound = engine.render(bare, [engine.Note(key, 80, 0.0, 1.5)], tuning="yaman on C#", tail=0.0)[:, 0]
        part = sound[4800:].astype(float) * np.hanning(len(sound) - 4800)
        spectrum = np.abs(np.fft.rfft(part, 1 << 19))
        near = slice(int(200 / 48_000 * (1 << 19)), int(400 / 48_000 * (1 << 19)))
        found[key] = (near.start + int(np.argmax(spectrum[near]))) * 48_000 / (1 << 19)
    assert found[61] == pytest.approx(SA, abs=0.1)
    assert cents(found[65], found[61]) == pytest.approx(1200 * np.log2(5 / 4), abs=0.7)
