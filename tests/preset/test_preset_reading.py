"""Files as people write them, as they break them, and as someone would write them to do harm."""

from __future__ import annotations

import os
import re
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import PhysicsError, PhysicsWarning, PresetError
from engine.preset.complaints import MAX_COMPLAINTS, Complaints
from engine.preset.document import MAX_NODES, read_yaml
from engine.preset.files import MAX_BYTES
from engine.preset.loader import load_preset, shipped

STRING = "string: {length: 1, density: 1 g/m, tension: 100}\n"
GOOD: dict[Any, Any] = {"string": {"length": 1, "density": 1e-3, "tension": 100}}
CONTRACT = """\
name: Sitar
about: Main string over a parabolic jawari bridge.
model: modal                  # modal | fd
string:
  length: 0.88 m              # every quantity: a number in SI units, or "number unit"
  density: 0.555 g/m          # linear density; or diameter + material
  tension: 58.8 N             # or tuned: pitch: F#3
  stiffness: 7.95e-5          # bending stiffness E·I, N·m²; or from diameter + material
  loss: {s0: 0.6, s1: 6.5e-3, s2: 0, s3: 5.0e-6}   # decay rate of wavenumber b
  keys: tension               # how other keys are reached: tension | length
barrier:
  profile: parabola           # parabola | polynomial | flat | points | table
  from: 0 mm
  to: 30 mm
  curvature: 0.75
  height: 0 mm
  points: 12
contact: {stiffness: 1.0e+8, exponent: 1.0, damping: 0}
excitation: {position: 0.85, force: 1 N, duration: 2 ms}
pickups: [{at: 0.1, kind: displacement}]
oversample: 1
polyphony: 16
"""


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def writer(text: str | bytes, name: str = "test.yaml") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return writer


def lines_of(source: Any, overrides: Any = None) -> list[str]:
    """The complaints about a source, each without the folder of its file."""
    with pytest.raises(PresetError) as error:
        load_preset(source, overrides)
    return [line.replace(f"{source.parent}{os.sep}", "") if isinstance(source, Path) else line
            for line in str(error.value).split("\n")]  # fmt: skip


def test_the_example_of_the_contract(write: Any) -> None:
    preset = load_preset(write(CONTRACT))
    problem, string = preset.problem, preset.problem.string
    assert (preset.name, preset.model, preset.keys, preset.oversample, preset.polyphony) == (
        "Sitar", "modal", "tension", 1, 16,
    )  # fmt: skip
    assert (string.length, string.density, string.tension, string.stiffness) == (0.88, 5.55e-4, 58.8, 7.95e-5)
    assert (string.loss.s0, string.loss.s1, string.loss.s2, string.loss.s3) == (0.6, 6.5e-3, 0.0, 5e-6)
    assert problem.modal_points().height[0] == pytest.approx(-0.75 * 1.25e-3**2)
    assert problem.modal_points().position.size == 12
    assert (problem.contact.stiffness, problem.contact.exponent, problem.contact.damping) == (1e8, 1.0, 0.0)
    assert (problem.excitation.position, problem.excitation.force, problem.excitation.duration) == (0.85, 1.0, 2e-3)
    assert [(p.at, p.kind) for p in problem.pickups] == [(0.1, "displacement")]


@pytest.mark.parametrize("text", ["1e-5", "1E-5", "1.0e-5", '"1e-5"', "'1e-5'", "0.00001", "10 um", ".01 mm", "1e-5 m"])
def test_a_number_is_one_however_it_is_written(text: str, write: Any) -> None:
    assert load_preset(write(f"{STRING}barrier: {{profile: flat, to: 1 cm, height: {text}}}")) == load_preset(
        write(f"{STRING}barrier: {{profile: flat, to: 0.01, height: 0.00001}}")
    )


@pytest.mark.parametrize("text", ["1e5", "1e+5", "1.0e5", "100000", "1e2 kN"])
def test_large_numbers_need_no_point(text: str, write: Any) -> None:
    assert load_preset(write(STRING.replace("tension: 100", f"tension: {text}"))).problem.string.tension == 1e5


@pytest.mark.parametrize(
    "text",
    ["off", "on", "yes", "no", "true", "False", "1:30", "1:30:00", "0x10", "1_000", ".inf", ".nan", "2026-01-01"],
)
def test_yaml_makes_no_numbers_of_words(text: str, write: Any) -> None:
    (line,) = lines_of(write(STRING.replace("tension: 100", f"tension: {text}")))
    assert line.startswith(f"test.yaml:1: string.tension = {text}: must be a force in N")
    assert line.endswith("; write it like 58.8 N")


def test_octal_and_words_stay_what_they_look_like(write: Any) -> None:
    preset = load_preset(write("name: off\nabout: 1:30\npolyphony: 010\n" + STRING))
    assert (preset.name, preset.about, preset.polyphony) == ("off", "1:30", 10)


@pytest.mark.parametrize("null", ["null", "~", "Null", "NULL"])
def test_null_is_not_given(null: str, write: Any) -> None:
    assert load_preset(write(f"{STRING}barrier: {null}\npolyphony: {null}\n")) == load_preset(write(STRING))


def test_all_errors_of_a_file_at_once_in_its_order(write: Any) -> None:
    text = """\
nam: Sitar
model: modl
string:
  lenght: 0.88 m
  density: 0.555 g
  density: 5
  tension: -58.8 N
  loss: 4
barrier: {profile: flat, to: 30 N, curvature: 1}
contact: {stiffness: 1e8 N/m, damping: yes}
excitation: {duration: &a 2 ms, position: *a}
pickups: [{at: 0.1, kind: bridge_force}, 5, {kind: !!str x}]
oversample: 3
polyphony: 1e5
"""
    expected = [
        (1, "nam = Sitar", "did you mean name?"),
        (2, "model = modl", "did you mean modal?"),
        (3, "string.length = (not given)", "is required"),
        (4, "string.lenght = 0.88 m", "did you mean string.length?"),
        (5, "string.density = 0.555 g", "a linear density in kg/m, not in g"),
        (6, "string.density = 5", "given before, at"),
        (7, "string.tension = -58.8 N", "must be at least 0.001 N; raise it"),
        (8, "string.loss = 4", "must be a group"),
        (9, "barrier.to = 30 N", "a length in m, not in N"),
        (9, "barrier.curvature = 1", "belongs to profile: parabola, not to flat"),
        (10, "contact.stiffness = 1e8 N/m", "N/m^2, not in N/m"),
        (10, "contact.damping = yes", "write it like 0.1 s/m"),
        (11, "excitation.duration = &a", "anchors are not accepted"),
        (11, "excitation.position = *a", "aliases are not accepted"),
        (12, "pickups.0.at = 0.1", "give 0 or 1"),
        (12, "pickups.1 = 5", "must be a group"),
        (12, "pickups.2.kind = tag:yaml.org,2002:str", "tags are not accepted"),
        (12, "pickups.2.kind = x", "must be one of displacement, velocity, bridge_force"),
        (13, "oversample = 3", "must be one of 1, 2, 4, 8"),
        (14, "polyphony = 1e5", "must be at most 256"),
    ]
    lines = lines_of(write(text))
    assert len(lines) == len(expected), "\n".join(lines)
    assert [int(line.split(":")[1]) for line in lines] == [number for number, _, _ in expected]
    for number, head, tail in expected:
        assert any(line.startswith(f"test.yaml:{number}: {head}: ") and tail in line for line in lines), (head, lines)


def test_one_wrong_value_brings_no_others(write: Any) -> None:
    """What depends on a refused value is left out in silence."""
    for line in ("length: 1 N", "length: -1", "length: [1]", "length: {a: 1}", "length: ''"):
        text = STRING.replace("length: 1", line) + "barrier: {profile: points, at: [[5, 0]]}\n"
        assert len(lines_of(write(text))) == 1
    assert len(lines_of(write("string: 5\nbarrier: {profile: flat}\n"))) == 1
    assert len(lines_of(write(STRING + "barrier: {profile: flt, curvature: 1, at: [[5, 0]]}\n"))) == 1
    assert len(lines_of(write(STRING + "contact: {exponent: 0.5, stiffness: 1e8 N/m}\n"))) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "test.yaml:1: is empty; "),
        ("# only words\n", "test.yaml:1: is empty; "),
        ("just words", "test.yaml:1: must be keys with values, not just words; "),
        ("[1, 2]", "test.yaml:1: must be keys with values, not [...]; "),
        ("name: a\nname: [", "test.yaml:2: is not valid YAML: "),
        ("name: a\nb: c: d\n", "test.yaml:2: is not valid YAML: mapping values are not allowed"),
        ("name: a\n\tb: c\n", "test.yaml:2: is indented with a tab, which YAML does not take; put blanks there"),
        ("string:\n\tlength: 1\n", "test.yaml:2: is indented with a tab, "),
        ("string:\n  length: 1\n  \tdensity: 1\n", "test.yaml:3: is indented with a tab, "),
        ("\tname: a\n", "test.yaml:1: is indented with a tab, "),
        ("pickups:\n-\tat: 1\n\tkind: velocity\n", "test.yaml:2: is indented with a tab, "),
        ("about: |\n  a\n\tb\n", "test.yaml:3: is indented with a tab, "),
        ("name: a\n\x07\n", "test.yaml:2: is not valid YAML: "),
        (STRING + "---\nname: b\n", "test.yaml:2: holds several documents; "),
        (STRING + "? [a, b]\n: c\n", "test.yaml:2: ? = c: a key must be a word; "),
        (STRING + "<<: {name: b}\n", "test.yaml:2: << = {...}: there is no such key; "),
        (STRING + "name: &a b\n", "test.yaml:2: name = &a: anchors are not accepted; "),
        (STRING + "name: !!python/object:x b\n", "test.yaml:2: name = tag:yaml.org,2002:python/object:x: "),
        (STRING + "name: ! b\n", "test.yaml:2: name = !: tags are not accepted; "),
        (STRING + "string.length: 2\n", "test.yaml:2: string.length = 2: keys stand in groups; "),
        (STRING + "barrier: {pro.file: flat}\n", "test.yaml:2: barrier.pro.file = flat: keys stand in groups; "),
        (STRING + '"": 2\n', "test.yaml:2: '' = 2: there is no such key; "),
        (STRING + "pickups: []\n", "test.yaml:2: pickups = []: must be a list of 1 to 16 pickups; "),
        (STRING + "pickups: {at: 1}\n", "test.yaml:2: pickups = {...}: must be a list of 1 to 16 pickups; "),
        ("string:\n  length:\n", "test.yaml:2: string.length = '': must be a length in m; "),
        (STRING + "name:\n", "test.yaml:2: name = '': must be 1 to 80 printable characters; "),
        (STRING + 'name: "\\e[31m"\n', "test.yaml:2: name = \\x1b[31m: must be 1 to 80 printable characters; "),
        (STRING + "oversample: 2.5\n", "test.yaml:2: oversample = 2.5: must be a whole number; "),
        ("string: {length: 1, tuned: {pich: A3}}", "test.yaml:1: string.tuned.pich = A3: there is no such key; "),
    ],
)  # fmt: skip
def test_broken_files_say_what_is_wrong_and_where(text: str, message: str, write: Any) -> None:
    assert any(line.startswith(message) for line in lines_of(write(text)))


def test_a_tab_elsewhere_is_only_a_blank(write: Any) -> None:
    text = "name:\ta\nstring:\n  length:\t1\t# metre\n  density: 1 g/m\n  tension: 100\n"
    assert load_preset(write(text)) == load_preset(write("name: a\n" + STRING))


@pytest.mark.parametrize(
    ("line", "doubt"),
    [
        ("string: {length: 65, density: 1 g/m, tension: 100}", "string.length = 65: is 65 m, .*; did you mean 65 cm"),
        ("string: {length: 20, density: 1 g/m, tension: 100}", "did you mean 20 cm"),
        ("string: {length: 1, diameter: 0.046, material: steel, tension: 100}", "did you mean 0.046 in"),
        (STRING + "barrier: {profile: flat, to: 1 cm, height: -0.2}", "barrier.height = -0.2: .* did you mean -0.2 mm"),
    ],
)
def test_a_number_that_lacks_a_unit_is_asked_about(line: str, doubt: str, write: Any) -> None:
    path = write(line)
    with pytest.warns(PhysicsWarning, match=rf"test\.yaml:[12]: .*{doubt}\?$") as said:
        load_preset(path)
    assert len(said) == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "string: {length: 880, density: 1 g/m, tension: 100}",
            "string.length = 880: must be at most 100 m; lower it; did you mean 880 mm?",
        ),
        (
            "string: {length: 1, diameter: 0.3, material: steel, tension: 100}",
            "must be at most 0.1 m; lower it; did you mean 0.3 mm?",
        ),
        ("string: {length: 1, diameter: 10, material: steel, tension: 100}", "must be at most 0.1 m; lower it"),
        ("string: {length: 880 m, density: 1 g/m, tension: 100}", "must be at most 100 m; lower it"),
    ],
)
def test_one_that_is_refused_as_well(line: str, message: str, write: Any) -> None:
    assert any(message in told for told in lines_of(write(line)))


@pytest.mark.parametrize(
    "line",
    [
        "string: {length: 65 m, density: 1 g/m, tension: 100}",
        "string: {length: 2.7, density: 1 g/m, tension: 100}",
        "string: {length: 1, diameter: 10 mm, material: gut, tension: 100}",
        "string: {length: 1, diameter: 0.006, material: steel, tension: 100}",
        STRING + "barrier: {profile: flat, to: 1 cm, height: -20 cm}",
        STRING + "barrier: {profile: flat, from: 0, to: 0.9, height: 0}",
    ],
)
def test_one_that_may_be_meant_is_not(line: str, write: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_preset(write(line))
        for name in shipped():
            load_preset(name)


def test_the_largest_file_is_read(write: Any) -> None:
    assert load_preset(write(STRING + "#" * (MAX_BYTES - len(STRING)))) == load_preset(write(STRING))


def test_a_file_that_is_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"name: a\nabout: J\xe4wari\n")
    (tmp_path / "large.yaml").write_bytes(b"#" * (MAX_BYTES + 1))
    for name, what in {
        "absent.yaml": "there is no such file",
        "": "is a folder",
        "pipe.yaml": "is not a regular file",
        "latin.yaml": "is not UTF-8 in line 2",
        "large.yaml": "is larger than 1 MB",
        "nul\0.yaml": "cannot be read",
        "a" * 300 + ".yaml": "cannot be read",
        "latin.yaml/x.yaml": "cannot be read",
    }.items():
        (line,) = lines_of(tmp_path / name)
        assert what in line, line
        assert line.isprintable()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(write: Any) -> None:
    path = write(STRING)
    path.chmod(0)
    assert "Permission denied" in lines_of(path)[0]


def test_a_byte_order_mark_and_other_line_ends_are_harmless(write: Any) -> None:
    assert load_preset(write(b"\xef\xbb\xbf" + STRING.replace("\n", "\r\n").encode())) == load_preset(write(STRING))


def test_an_unknown_name_lists_what_there_is() -> None:
    (line,) = lines_of("sitarr")
    assert "did you mean sitar?" in line
    assert all(name in line for name in shipped())
    assert "choose one" in lines_of("zzzzzz")[0]
    assert "there is no such file" in lines_of("zzzzzz.yaml")[0]
    for source in (None, 5, b"sitar-string", ["sitar-string"]):
        assert "give a shipped name, a path or a dict" in lines_of(source)[0]


def test_a_path_may_be_text(write: Any) -> None:
    path = write(STRING)
    assert load_preset(str(path)) == load_preset(path)
    assert load_preset(str(path)).source == str(path)


HOSTILE = {
    "billion laughs": "a: &a [x]\nb: &b [*a, *a, *a]\nc: [*b, *b, *b]\n",
    "duplicates": "a: b\n" * 200_000,
    "unknown keys": "".join(f"key{i}: 1\n" for i in range(70_000)),
    "long unknown key": f"{'k' * 900_000}: 1\n",
    "known keys, long": f"string: {{length: {'1' * 900_000}}}\n",
    "long text": f"name: {'x' * 900_000}\n",
    "flow list": "[" + "a," * 490_000 + "]",
    "flow maps": "a: [" + "{}, " * 240_000 + "]",
    "open brackets": "[" * 900_000,
    "open braces": "{" * 900_000,
    "dashes": "- " * 450_000,
    "question marks": "? " * 450_000,
    "indentation": "".join(" " * i + "a:\n" for i in range(1300)),
    "one word": "a" * 990_000,
    "colons": ":" * 900_000,
    "comment": "#" * 990_000,
    "blank": "\n" * 990_000,
    "open quote": "a: '" + "x" * 900_000,
    "escapes": 'name: "' + "\\x41" * 240_000 + '"',
    "block": "name: |\n" + " x\n" * 300_000,
    "tag": "!" * 900_000,
    "anchors": "".join(f"- &a{i} x\n" for i in range(80_000)),
    "aliases": "".join(f"- *a{i}\n" for i in range(80_000)),
    "documents": "---\na\n" * 150_000,
    "pickups": STRING + "pickups: [" + "{}," * 3_000 + "]",
    "wide table": STRING + "barrier: {profile: table, table: [" + "[0, 0]," * 3_000 + "]}",
    "numbers": STRING + "barrier: {profile: polynomial, coefficients: [" + f"{'9' * 59}," * 9_000 + "]}",
    "units": STRING.replace("tension: 100", f"tension: 1 {'m^99.999999' * 5}"),
    "nul": "\0" * 900_000,
}


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML without libyaml reads twenty times slower")
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_costs_little(kind: str, write: Any) -> None:
    path = write(HOSTILE[kind])
    assert path.stat().st_size <= MAX_BYTES
    best, message = 1.0, ""
    for _ in range(3):
        start = time.process_time()
        with pytest.raises(PresetError) as error:
            load_preset(path)
        best, message = min(best, time.process_time() - start), str(error.value)
    assert best < 0.1
    assert message.count("\n") <= MAX_COMPLAINTS
    assert max(map(len, message.split("\n"))) < 400 + 2 * len(str(path))
    assert message.replace("\n", "").isprintable()


def test_nesting_is_counted_exactly(write: Any) -> None:
    def nested(depth: int) -> str:
        return "name: " + "[" * (depth - 1) + "1" + "]" * (depth - 1)

    assert "nested more than 32 deep" not in lines_of(write(nested(32)))[0]
    assert "nested more than 32 deep" in "".join(lines_of(write(nested(33))))


def test_values_are_counted_exactly(write: Any) -> None:
    room = MAX_NODES - 3  # the preset, its key, the list
    assert "holds more than" not in "".join(lines_of(write(f"name: [{'1,' * room}]")))
    assert f"holds more than {MAX_NODES} values" in "".join(lines_of(write(f"name: [{'1,' * (room + 1)}]")))


def test_hostile_dicts_end_too() -> None:
    loop: dict[str, Any] = {}
    loop["string"] = loop
    laughs: list[Any] = ["x"]
    for _ in range(25):
        laughs = [laughs, laughs, laughs]
    assert "nested more than" in lines_of(loop)[0]
    assert "holds more than" in lines_of({"name": laughs})[0]
    assert [line.split(";")[0] for line in lines_of(GOOD | {"polyphony": object()})] == [
        "preset: a value of type object is not accepted"
    ]
    assert [line.split(";")[0] for line in lines_of(GOOD | {5: 1})] == ["preset: key = 5: a key must be a word"]


def test_dicts_nest_as_deep_as_files() -> None:
    value: Any = 1
    for _ in range(31):
        value = [value]
    assert "must be text" in lines_of(GOOD | {"name": value})[0]
    assert "nested more than 32 deep" in lines_of(GOOD | {"name": [value]})[0]


def test_a_dict_is_a_preset_too(write: Any) -> None:
    assert load_preset(yaml.safe_load(CONTRACT.replace("1 N,", "1.0,"))) == load_preset(write(CONTRACT))
    assert load_preset(GOOD).source == "preset"


SCRAPS = [
    "string:",
    " ",
    "\n",
    "length",
    ": ",
    "[",
    "{",
    "}",
    "&a",
    "*a",
    "!t",
    "- ",
    "'",
    '"',
    "|",
    "1",
    "?",
    "---",
    "#",
]


@given(st.text(max_size=200) | st.lists(st.sampled_from(SCRAPS), max_size=40).map("".join))
def test_no_text_brings_a_traceback(text: str) -> None:
    complaints_or_preset(f"string: {{length: 1, density: 1, tension: 1}}\n{text}")
    complaints_or_preset(text)


def complaints_or_preset(text: str) -> None:
    with suppress(PresetError):  # and nothing else
        load_preset(GOOD, [f"about={text}", text])
    complaints, lines = Complaints(), ["text:1: "]
    try:
        read_yaml(text, "text", complaints)
        complaints.raise_if_any()
    except PresetError as error:
        lines = str(error).split("\n")
    assert all(re.match(r"text:[1-9][0-9]*: ", line) and line.isprintable() for line in lines)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(["name", "string", "barrier", "pickups", "contact", "string.tuned", "barrier.at"]), JSON)
def test_no_value_brings_a_traceback(key: str, value: Any) -> None:
    with suppress(PresetError):  # and nothing else
        load_preset(GOOD, {key: value})


def test_exit_codes_tell_physics_from_language(write: Any) -> None:
    def code(text: str) -> int:
        with pytest.raises(PresetError) as error:
            load_preset(write(text))
        return error.value.exit_code

    assert code(STRING.replace("tension: 100", "tension: -5")) == PhysicsError.exit_code
    assert code(STRING + "barrier: {profile: flat, to: 2 m}\n") == PhysicsError.exit_code
    assert code(STRING + "nam: a\n") == PresetError.exit_code
    assert code(STRING + "---\n") == PresetError.exit_code
    assert code("name: [\n") == PresetError.exit_code
    assert code(STRING + "nam: a\nbarrier: {profile: flat, to: -2 m}\n") == PresetError.exit_code
