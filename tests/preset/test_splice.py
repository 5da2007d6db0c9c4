"""Changes spliced into a preset's text: they mean what they should, and nothing else is touched.

The oracle is YAML itself: what a text says before, changed as a tree, is what it says afterwards.
"""

from __future__ import annotations

import copy
import difflib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from one_string import ONE_STRING

from engine.errors import PresetError
from engine.preset.files import shipped
from engine.preset.loader import load_preset, load_text
from engine.preset.splice import paths, spliced, written

EDITS: dict[str, dict[str, object]] = {
    "nothing": {},
    "a value on its line": {"string.length": "0.9 m"},
    "a value in brackets": {"excitation.force": "1.5 N"},
    "an item in brackets": {"map.0.range.1": "0.05 mm"},
    "a pickup": {"pickups.0.at": "1"},
    "a folded text": {"phrase": "C4:0:2 E4:.5:2:80"},
    "a text that needs quotes": {"about": "Mine: brighter, #2, {not} a 'map'"},
    "three values": {"string.length": "0.9 m", "excitation.force": "1.5 N", "polyphony": "12"},
    "a new key in lines": {"string.material": "steel"},
    "a new key in brackets": {"excitation.shape": "drawn"},
    "a new key at the end": {"gain": "-3 dB"},
    "a new group": {"velocity.force": "1.2"},
    "a key away": {"string.stiffness": None},
    "a key in brackets away": {"excitation.duration": None},
    "the first key in brackets away": {"excitation.position": None},
    "an item away": {"map.1": None},
    "beside a comment away": {"oversample": None},
    "the folded text away": {"phrase": None},
    "what is not there away": {"string.nothing": None},
    "a whole group in brackets": {"contact": {"stiffness": "1e7 N/m²", "exponent": "1"}},
    "a group of lines away": {"barrier": None},
    "a list": {"barrier.at": [["5 mm", "0 mm"], ["6 mm", "-0.1 mm"]]},
}
AWKWARD = (
    "0.123 mm",
    "-1e-3",
    "a: b",
    "#x",
    "x #y",
    "it's",
    "[",
    "ü µ",
    "",
    "null",
    "~",
    "- x",
    "-x",
    "yes",
    "*a",
    "?",
    "a,b",
    "x:",
    "---",
    "a\tb",
)


def tree(text: str) -> Any:
    return yaml.load(text, yaml.BaseLoader)


def changed(before: Any, edits: dict[str, object]) -> Any:
    """The tree that an edit should make: the oracle."""
    wanted = copy.deepcopy(before)
    for path, value in edits.items():
        parents, at, words = [], wanted, path.split(".")
        for word in words[:-1]:
            if isinstance(at, dict) and word not in at:
                if value is None:
                    break
                at[word] = {}
            parents.append((at, word))
            at = at[int(word)] if isinstance(at, list) else at[word]
        else:
            last = int(words[-1]) if isinstance(at, list) else words[-1]
            if value is not None:
                at[last] = value
            elif isinstance(at, list) or last in at:
                del at[last]
            for parent, word in reversed(parents):
                key = int(word) if isinstance(parent, list) else word
                if not parent[key] and value is None:
                    del parent[key]
    return wanted


INSTRUMENTS = sorted((Path(__file__).parent / "instruments").glob("*.yaml"))
NESTED: dict[str, dict[str, object]] = {
    "a value of a string": {"strings.0.played": "C2-C3"},
    "a value of a string's own": {"strings.0.string.length": "40 cm"},
    "a new group of a string": {"strings.0.damper.at": "0.3"},
    "a new list of a string": {"strings.0.ports.0": {"at": "0.3", "mass": "1 g"}},
    "a list of a string": {"strings.0.planes": [{"angle": "0°"}]},
    "a value of a string away": {"strings.0.played": None},
    "a string more": {"strings.{last}": {"played": "C8", "string": {"tuned": "C8"}}},
    "a string away": {"strings.0": None},
    "the body": {"body.weight": "2"},
    "a value in a list": {"courses.0.detuned": "3 cents"},
    "a mode": {"body.modes.0.frequency": "100 Hz"},
}


@pytest.mark.parametrize("file", INSTRUMENTS, ids=lambda file: file.stem)
@pytest.mark.parametrize("what", NESTED)
def test_an_edit_of_one_string_means_what_it_says(file: Path, what: str) -> None:
    text = file.read_text(encoding="utf-8")
    before = tree(text)
    edits = {path.replace("{last}", str(len(before["strings"]))): value for path, value in NESTED[what].items()}
    wanted = copy.deepcopy(before)
    for path, value in edits.items():
        at, *words = wanted, *path.split(".")
        for word, inner in pairwise(words):
            here = int(word) if isinstance(at, list) else word
            if isinstance(at, dict) and word not in at:
                at[word] = [] if inner.isdigit() else {}
            elif isinstance(at, list) and here == len(at):
                at.append({})
            at = at[here]
        last = int(words[-1]) if isinstance(at, list) else words[-1]
        if value is None:
            del at[last]
        elif isinstance(at, list) and last == len(at):
            at.append(value)
        else:
            at[last] = value
    wanted["strings"] = [one for one in wanted["strings"] if one]  # what is empty goes as well
    if not wanted["strings"]:
        del wanted["strings"]
    assert tree(spliced(text, edits)) == wanted


@pytest.mark.parametrize("file", INSTRUMENTS, ids=lambda file: file.stem)
def test_every_scalar_of_an_instrument_takes_any_text(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    for n, (path, value) in enumerate(paths(text).items()):
        if not value.startswith(("'", '"', ">", "|")):
            assert spliced(text, {path: value}) == text
        for other in AWKWARD[n % 3 :: 3]:
            assert tree(spliced(text, {path: other})) == changed(tree(text), {path: other}), (path, other)


def lines_touched(before: str, after: str) -> list[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return [line for line in lines if line[0] in "+-" and line[:3] not in ("+++", "---")]


@pytest.mark.parametrize("name", ONE_STRING)
@pytest.mark.parametrize("what", EDITS)
def test_an_edit_means_what_it_says_and_touches_nothing_else(name: str, what: str) -> None:
    text, edits = shipped()[name].read_text(encoding="utf-8"), EDITS[what]
    try:
        wanted = changed(tree(text), edits)
    except (IndexError, KeyError):
        with pytest.raises(PresetError, match="no such item"):
            spliced(text, edits)
        return
    after = spliced(text, edits)
    assert tree(after) == wanted
    if what in ("a group of lines away", "a list", "the folded text away", "a folded text"):
        left = [line for line in lines_touched(text, after) if line.startswith("+")]
        assert len(left) <= 1, left
    else:
        assert len(lines_touched(text, after)) <= 2 * len(edits)


@pytest.mark.parametrize("name", ONE_STRING)
def test_every_scalar_of_every_preset_takes_any_text(name: str) -> None:
    text = shipped()[name].read_text(encoding="utf-8")
    before = tree(text)
    for n, path in enumerate(paths(text)):
        for value in AWKWARD[n % 3 :: 3]:
            assert tree(spliced(text, {path: value})) == changed(before, {path: value}), (path, value)


@pytest.mark.parametrize("name", ONE_STRING)
def test_paths_are_those_of_the_file_and_unchanged_values_change_nothing(name: str) -> None:
    text = shipped()[name].read_text(encoding="utf-8")
    for path, value in paths(text).items():
        if not value.startswith(("'", '"', ">", "|")):
            assert spliced(text, {path: value}) == text


def test_line_ends_byte_order_mark_and_missing_last_line_end_stay() -> None:
    text = shipped()["sitar-string"].read_text(encoding="utf-8").replace("\n", "\r\n")
    after = spliced(text, {"string.length": "0.9 m", "gain": "-3 dB"})
    assert after.count("\r\n") == after.count("\n") == text.count("\n") + 1
    assert spliced("\ufeffa: 1\n", {"a": "2"}) == "\ufeffa: 2\n"
    assert spliced("a: 1", {"b": "2"}) == "a: 1\nb: 2\n"
    assert spliced("# only a remark\n", {"name": "New"}) == "# only a remark\nname: New\n"
    assert tree(spliced("", {"string.length": "1 m"})) == {"string": {"length": "1 m"}}


def test_another_hands_style_is_kept() -> None:
    text = (
        "name:   'Mine'      # of my own\n"
        "string: { length:  880 mm,density: 0.555 g/m }   # a wire\n"
        "map:\n"
        "- source: wheel\n"
        "  to: barrier.height   # which\n"
        "  range:\n"
        "  - 0 mm\n"
        "  - 1 mm\n"
        "\n"
        "# the end\n"
    )
    after = spliced(text, {"name": "Yours", "string.density": "1 g/m", "map.0.range.1": "2 mm", "map.0.to": "gain"})
    assert after == (
        text.replace("'Mine'", "Yours")
        .replace("0.555 g/m", "1 g/m")
        .replace("- 1 mm", "- 2 mm")
        .replace("barrier.height", "gain")
    )
    assert spliced(text, {"map.0": None}) == text.replace(text[text.index("map:") : text.index("\n# the end")], "")
    assert "- to: barrier.height   # which" in spliced(text, {"map.0.source": None})
    longer = spliced(text, {"map.1": {"source": "cc74", "to": "gain", "range": ["0 dB", "-6 dB"]}})
    assert longer.replace("- {source: cc74, to: gain, range: [0 dB, -6 dB]}\n", "") == text


@given(st.text(max_size=12))
def test_any_text_reads_back_as_it_was_written(text: str) -> None:
    if not text.isprintable():
        text = text.encode("unicode_escape").decode()
    for whole in (f"a: {written(text, False)}\n", f"a: {{b: {written(text)}}}\n", f"a: [{written(text)}]\n"):
        found = tree(whole)["a"]
        assert text == (
            found if isinstance(found, str) else next(iter(found.values() if isinstance(found, dict) else found))
        )


def test_a_number_is_written_as_a_hand_would() -> None:
    assert written([0.1 + 0.2, 1e-12, 3, 2.5e20]) == "[0.3, 1e-12, 3, 2.5e+20]"


def test_what_is_not_yaml_is_refused_in_one_line() -> None:
    with pytest.raises(PresetError, match="line 3: is not valid YAML"):
        spliced("a: 1\nb: [\n", {"a": "2"})
    with pytest.raises(PresetError, match="group of keys"):
        spliced("a:\n  b: 1\n", {"a": "2"})


def test_most_edits_load_and_mean_the_same_as_overrides() -> None:
    text = shipped()["sitar-string"].read_text(encoding="utf-8")
    for changes in (
        {"barrier.curvature": "0.5 1/m"},
        {"excitation.force": "1.5 N", "gain": "-3 dB"},
        {"release": "2 s"},
    ):
        preset, values = load_text(spliced(text, changes), "sitar-string.yaml")
        assert preset == load_preset("sitar-string", changes)
        assert all(values.given(path) for path in changes)


def test_a_mistake_in_a_text_is_told_with_its_line() -> None:
    text = spliced(shipped()["sitar-string"].read_text(encoding="utf-8"), {"barrier.curvature": "lots"})
    line = text[: text.index("lots")].count("\n") + 1
    with pytest.raises(PresetError, match=f"^mine.yaml:{line}: barrier.curvature = lots: must be"):
        load_text(text, "mine.yaml")
