"""Instruments as files: the same bits after a journey, and nothing in a file is believed."""

from __future__ import annotations

import functools
import hashlib
import json
import subprocess
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import cache
from engine.errors import PresetError
from engine.files.errors import FileError
from engine.layout import arrays_of, words_of
from engine.physics.barrier import Barrier
from engine.preset.loader import Preset, load_preset
from engine.preset.plain import again, plain
from engine.synth import image, strings
from engine.synth.bank import Setup, design
from engine.synth.image import MAGIC, ImageError, designed_or_kept, packed, unpacked
from engine.synth.instrument import Instrument

RATE = 8_000
CHORD = [([0x90, key, 100], 0.01 * key) for key in (40, 47, 55)]
NAMES = ("sitar-string", "slap-bass", "prepared")


def setup_of(name: str = "sitar-string") -> Setup:
    preset = load_preset(name, {"oversample": 1, "polyphony": 4})
    return Setup(preset, RATE, 1, 4, 2, preset.tuning)


@functools.cache
def packed_of(name: str) -> bytes:
    own = setup_of(name)
    return packed(own, design(own))


@pytest.fixture(scope="module", params=NAMES)
def saved(request: pytest.FixtureRequest) -> tuple[str, bytes]:
    return request.param, packed_of(request.param)


def head_of(data: bytes) -> tuple[dict[str, Any], bytes]:
    content = zlib.decompress(data[len(MAGIC) + 32 :])
    size = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + size]), content[8 + size :]


def sealed(head: dict[str, Any], arrays: bytes) -> bytes:
    """A file as somebody might make it who knows how checksums work."""
    text = json.dumps(head).encode()
    whole = zlib.compress(len(text).to_bytes(8, "little") + text + arrays, 1)
    return MAGIC + hashlib.sha256(whole).digest() + whole


def changed(data: bytes, name: str, change: Callable[[Any], None], dtype: Any = np.int64) -> bytes:
    """The file with one of its arrays changed."""
    head, arrays = head_of(data)
    at = 0
    for part, size in head["sizes"].items():
        if part == name:
            array = np.frombuffer(arrays[at : at + size], dtype).copy()
            change(array)
            arrays = arrays[:at] + array.tobytes() + arrays[at + size :]
        at += size
    return sealed(head, arrays)


# --- the same instrument ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_an_instrument_that_was_saved_plays_the_same_bits(name: str, tmp_path: Path) -> None:
    made = Instrument(load_preset(name, {"polyphony": 4}), RATE, oversample=2, mono=name == "prepared")
    made.save(tmp_path / "it.jawari")
    opened = Instrument.open(tmp_path / "it.jawari")
    assert repr(opened) == repr(made)
    assert opened.silent_keys == made.silent_keys
    assert opened.preset == made.preset
    wheel = [([0xB0, 1, n], 0.3 + 0.002 * n) for n in range(100)]
    sound = [i([*CHORD, *wheel], 0.8, RATE, made.channels) for i in (made, opened)]
    assert np.array_equal(*sound)
    assert np.abs(sound[0]).max() > 1e-3
    assert np.array_equal(opened(CHORD, 0.2, 11_025), made(CHORD, 0.2, 11_025))  # and can be designed anew


def test_it_is_saved_as_if_just_made(tmp_path: Path) -> None:
    made = Instrument("plain", RATE)
    first, then = tmp_path / "first.jawari", tmp_path / "then.jawari"
    made.save(first)
    made(CHORD, 0.5, RATE)
    made.save(then)
    assert first.read_bytes() == then.read_bytes()
    with pytest.raises(FileError, match="exists already"):
        made.save(then)
    made.save(then, force=True)


def test_a_barrier_made_in_python_cannot_be_saved(tmp_path: Path) -> None:
    class Steps:
        def __call__(self, x: Any, /) -> Any:
            return -1e-3 - 1e-4 * np.floor(x * 100)

    preset = load_preset("sitar-string", {"oversample": 1, "polyphony": 2})
    own = replace(preset, problem=replace(preset.problem, barrier=Barrier(Steps(), 0.0, 0.02, points=4)))
    with pytest.raises(PresetError, match="Steps is made in Python: no file can hold it"):
        Instrument(own, RATE).save(tmp_path / "it.jawari")
    assert not list(tmp_path.iterdir())


# --- presets as data --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sitar-string", "tanpura-string", "plain", "prepared", "slap-bass"])
def test_a_preset_comes_back_whole(name: str) -> None:
    preset = load_preset(name)
    assert again(json.loads(json.dumps(plain(preset))), Preset) == preset


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("problem", "string", "length"), -1.0, "length"),
        (("problem", "string", "length"), "long", "'long' is no float"),
        (("problem", "string", "length"), True, "no float"),
        (("problem", "string", "is"), "Popen", "Popen"),
        (("problem", "string", "is"), "Tuning", "Tuning instead of String"),
        (("problem", "pickups"), {}, "list"),
        (("polyphony",), 2.5, "no int"),
        (("name",), 7, "no str"),
        (("surprise",), 7, "surprise"),
    ],
)
def test_what_is_no_preset_is_refused_in_a_line(path: tuple[str, ...], value: Any, said: str) -> None:
    data = plain(load_preset("sitar-string"))
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    with pytest.raises(PresetError, match="holds no preset") as found:
        again(data, Preset)
    assert said in str(found.value)
    assert "\n" not in str(found.value)


# --- nothing is believed ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["empty", "other", "cut", "longer", "bit", "head", "deep"])
def test_damage_is_told_in_a_line(saved: tuple[str, bytes], kind: str, tmp_path: Path) -> None:
    data = saved[1]
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 4
    damaged = {
        "empty": b"",
        "other": b"RIFF" + bytes(100),
        "cut": data[: len(data) // 2],
        "longer": data + b"x",
        "bit": bytes(flipped),
        "head": sealed({"layout": image.layout()}, b""),
        "deep": sealed({"layout": image.layout(), "preset": json.loads("[" * 500 + "]" * 500)}, b""),
    }[kind]
    path = tmp_path / "it.jawari"
    path.write_bytes(damaged)
    with pytest.raises(ImageError) as found:
        Instrument.open(path)
    assert str(found.value).startswith(str(path))
    assert "\n" not in str(found.value)
    assert "save" in str(found.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"none\.jawari: No such file"):
        Instrument.open(tmp_path / "none.jawari")


def test_another_layout_is_refused(saved: tuple[str, bytes]) -> None:
    head, arrays = head_of(saved[1])
    head["layout"] = "0" * 64
    with pytest.raises(ImageError, match="another version"):
        unpacked(sealed(head, arrays), "it")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("polyphony", value) for value in (10**9, -1, "4")),
        *(("sample_rate", value) for value in (1e12, float("nan"))),
        *(("sizes", value) for value in ({"words": 1 << 40}, {"keys": -8})),
        *(("channels", 3), ("oversample", 3)),
        *(("retuned", [value]) for value in ([40, 0, 0], [40, 0, 0, 9.0], [40, 0, 0, float("nan")], ["a", 0, 0, 1.0])),
    ],
)
def test_numbers_of_a_head_are_checked(saved: tuple[str, bytes], field: str, value: Any) -> None:
    head, arrays = head_of(saved[1])
    with pytest.raises(ImageError, match="holds no instrument"):
        unpacked(sealed({**head, field: value}, arrays), "it")


@pytest.mark.parametrize("value", [-64, 1, 1 << 40, 1 << 62, -(1 << 62)])
@pytest.mark.parametrize("name", ["prepared", "slap-bass"])  # modes, and a grid
def test_no_place_and_no_shape_is_believed(name: str, value: int) -> None:
    """Every word of a key's row that is a place or a length, each wrong in turn."""
    data = packed_of(name)
    model = strings.MODELS[load_preset(name).model]
    group, count = strings.GROUPS[model], strings.words_in(model)
    blank = {word for word, _ in strings.own_arrays(group, strings.FILES[model].BLANK)}
    key, (_, right) = 45, unpacked(data, "it")
    for word, dimensions in arrays_of(group):
        for entry in range(word if word not in blank else word + 1, word + 1 + dimensions):
            if right.strings.words[key, entry] == value:
                continue

            def spoil(words: Any, at: int = key * count + entry) -> None:
                words[at] = value

            with pytest.raises(ImageError, match="holds no instrument"):
                unpacked(changed(data, "words", spoil), "it")


@pytest.mark.parametrize("field", ["c.stencil.intervals", "c.ports.inject_node", "c.surface.first_node"])
@pytest.mark.parametrize("value", [-1, 1 << 40])
def test_nodes_of_a_grid_are_checked(field: str, value: int) -> None:
    data, grid = packed_of("slap-bass"), strings.MODELS["fd"]
    at = 45 * strings.words_in(grid) + words_of(strings.GROUPS[grid])[field]

    def spoil(words: Any) -> None:
        words[at] = value

    with pytest.raises(ImageError, match="holds no instrument"):
        unpacked(changed(data, "words", spoil), "it")


PLAYED = """
import sys
import numpy as np
from engine.synth.image import ImageError
from engine.synth.instrument import Instrument
try:
    made = Instrument.open(sys.argv[1])
except ImageError:
    print("refused")
else:
    out = made([([0x90, key, 100], 0.001 * key) for key in range(30, 90, 5)], 0.1, made.sample_rate)
    print("played", bool((abs(out) <= 1e6).all()))
"""


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_file_of_noise_is_refused_or_harmless(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Bytes of all arrays changed at random: whoever opens that neither crashes nor hears what is no sound."""
    random = np.random.default_rng(seed)
    head, arrays = head_of(packed_of(NAMES[seed % len(NAMES)]))
    spoilt = np.frombuffer(arrays, np.uint8).copy()
    spoilt[random.integers(0, spoilt.size, 1 + seed % 50)] = random.integers(0, 256)
    path = tmp_path_factory.mktemp("noise") / "it.jawari"
    path.write_bytes(sealed(head, spoilt.tobytes()))
    done = subprocess.run([sys.executable, "-c", PLAYED, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in ("refused", "played True")


# --- the cache --------------------------------------------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of one's own."""
    monkeypatch.setattr(cache, "_place", lambda: cache.CacheFolder(tmp_path))
    return tmp_path / image.FOLDER


def test_a_design_is_kept_and_found(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = designed_or_kept(setup_of())
    assert len(list(kept.iterdir())) == 1
    monkeypatch.setattr(image, "design", lambda _: pytest.fail("designed again"))
    found = designed_or_kept(setup_of())
    assert np.array_equal(found.strings.block, made.strings.block)
    assert np.array_equal(found.strings.words, made.strings.words)
    assert found.silent == made.silent


def test_a_damaged_one_is_made_anew(kept: Path) -> None:
    designed_or_kept(setup_of())
    (file,) = kept.iterdir()
    file.write_bytes(file.read_bytes()[:-7])
    designed_or_kept(setup_of())
    (file,) = kept.iterdir()
    assert unpacked(cache.read(f"{image.FOLDER}/{file.name}") or b"", "it")


def test_another_preset_rate_or_source_is_another_design(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = setup_of()
    for other in (own, own._replace(sample_rate=8_001), own._replace(polyphony=5), own._replace(channels=1)):
        designed_or_kept(other)
    monkeypatch.setattr(image, "sources", lambda: "others")
    designed_or_kept(own)
    designed_or_kept(own._replace(preset=replace(own.preset, gain=1.0)))
    assert len(list(kept.iterdir())) == 6


def test_what_is_made_up_in_a_program_is_not_kept(kept: Path) -> None:
    preset = load_preset({"string": {"length": 0.6, "density": 1e-3, "tension": 60}, "polyphony": 2})
    designed_or_kept(Setup(preset, RATE, 1, 2, 2, preset.tuning))
    assert not kept.exists()


def test_only_so_many_are_kept(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image, "MOST_KEPT", 2)
    for rate in (8_000, 8_001, 8_002):
        designed_or_kept(setup_of()._replace(sample_rate=rate))
    assert len(list(kept.iterdir())) == 2
