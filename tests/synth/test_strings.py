"""Strings of any model: one set of functions, a voice's own arrays and its key's, all within the instrument's block."""

from __future__ import annotations

import inspect
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from synth.playing import SMALL, Event, bend, cc, instrument, off, on, pressure, render

from engine import aligned
from engine.aligned import LINE
from engine.compiled import called_by_python, native
from engine.layout import count_of, own_arrays, rebuilt
from engine.synth import memory, strings
from engine.synth.instrument import Instrument
from engine.synth.memory import machine
from engine.synth.renderer import play

every_model = pytest.mark.parametrize("name", list(SMALL))
# All that moves a string, on several keys and with more notes than there are voices.
MUSIC: list[Event] = [
    (0, on(40)), (30, on(64, 90)), (100, bend(3000)), (300, cc(1, 100)), (500, cc(74, 20)), (600, on(64, 50)),
    (700, pressure(90)), (900, cc(64, 127)), (1000, off(40)), (1100, on(90)), (1300, cc(7, 60)), (1500, bend(-8000)),
    (1700, cc(1, 3)), (2000, cc(64, 0)), (2100, on(52)), (2500, pressure(0)), (2600, off(64)), (3000, cc(120, 0)),
]  # fmt: skip


def arrays(inst: Instrument, words: Any, names: list[str] | None = None) -> dict[int, Any]:
    """Of a key's or a voice's row: the arrays, or those of some names only, by their words."""
    group = strings.GROUPS[inst.machine.model]
    found: dict[int, Any] = {}
    flat = flattened(rebuilt(group, inst.address, words))
    for (word, _), array in zip(own_arrays(group, group._fields), flat, strict=True):
        found[word] = array
    if names is None:
        return found
    return {word: found[word] for word, _ in own_arrays(group, names)}


def flattened(group: Any) -> list[Any]:
    """Its arrays, in order."""
    parts = [flattened(part) if isinstance(part, tuple) else [part] for part in group]
    return [array for part in parts for array in part if isinstance(array, np.ndarray)]


def span(array: Any) -> tuple[int, int]:
    """Where it begins and ends."""
    begin = int(array.__array_interface__["data"][0])
    return begin, begin + array.nbytes


# --- models -----------------------------------------------------------------------------------------------------------


def offered(file: Any) -> dict[str, list[str]]:
    """A model's functions that begin in its file, and what they take."""
    found = {}
    for name, function in vars(file).items():
        plain = getattr(function, "py_func", function)
        if inspect.isfunction(plain) and plain.__module__ == file.__name__ and not name.startswith("_"):
            found[name] = list(inspect.signature(plain).parameters)
    return found


def test_every_model_has_all_functions() -> None:
    assert len(strings.FILES) == len(strings.GROUPS) == len(strings.MODELS)
    assert sorted(strings.MODELS.values()) == list(range(len(strings.FILES)))
    wanted = {"laid_out", "resting", "of_voice", "of_key", "restore", "retune", "rest", "lift", "strike_at", "energy"}
    everywhere = [offered(file) for file in strings.FILES]
    shared = set.intersection(*(set(functions) for functions in everywhere))
    assert wanted | {"columns", "consistent"} <= shared
    alone = everywhere[: strings.NETWORK] + everywhere[strings.NETWORK + 1 :]
    assert all({"run", "run_lifted"} <= set(functions) for functions in alone)  # the others step together
    for name in shared:
        assert all(functions[name] == everywhere[0][name] for functions in everywhere), name


@native
def first(m: Any, v: Any, more: Any) -> Any:
    return more + 1


@native
def second(m: Any, v: Any, more: Any) -> Any:
    return more + 2


@native
def third(m: Any, v: Any, more: Any) -> Any:
    return more + 3


def test_the_function_of_a_machine_s_model_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """A third model is one entry more."""
    inst = instrument("modal")
    files = [SimpleNamespace(added=function) for function in (first, second, third)]
    monkeypatch.setattr(strings, "FILES", files)
    chosen = strings.of_its_model("added", apart=False)

    @called_by_python
    def call(address: int) -> int:
        return chosen(machine(address), 0, 10)  # type: ignore[no-any-return]

    before = inst.machine.model
    for model in range(3):
        inst.machine.model = model
        assert call(inst.address) == 11 + model
    inst.machine.model = before


@pytest.mark.parametrize("model", strings.MODELS.values())
def test_a_model_names_arrays_that_its_strings_have(model: int) -> None:
    """What need not be kept for a key is made anew by each voice, in an array of its own."""
    file, group = strings.FILES[model], strings.GROUPS[model]
    for names in (file.OWN, file.BLANK):
        assert all(own_arrays(group, [name]) for name in names)
    assert {word for word, _ in own_arrays(group, file.BLANK)} <= {word for word, _ in own_arrays(group, file.OWN)}
    together = model == strings.NETWORK  # a voice has a copy of all that its strings are
    assert 0 < len(own_arrays(group, file.OWN)) < len(own_arrays(group, group._fields)) + together


# --- whose arrays they are --------------------------------------------------------------------------------------------


@every_model
def test_a_voice_has_its_own_arrays_and_its_key_s_where_they_never_change(name: str) -> None:
    inst = instrument(name)
    render(inst, [(0, on(40)), (10, on(64)), (20, on(64, 90, 1))], 200)
    m, file = inst.machine, strings.FILES[inst.machine.model]
    assert m.voices.key[:3].tolist() == [40, 64, 64]
    for v, key in enumerate((40, 64, 64)):
        mine, designed = arrays(inst, m.voice_words[v]), arrays(inst, m.key_words[key])
        own = arrays(inst, m.voice_words[v], file.OWN)
        for word, array in mine.items():
            assert array.shape == designed[word].shape
            if array.size:
                assert (span(array) == span(designed[word])) == (word not in own)
    assert m.voice_words.shape[1] == count_of(strings.GROUPS[m.model])


@every_model
def test_no_array_of_a_voice_lies_over_any_other(name: str) -> None:
    """Not even where all voices play the key with the most nodes or modes; and a reset makes all of them new."""
    inst = instrument(name)
    m = inst.machine
    sizes = {key: sum(a.size for a in arrays(inst, m.key_words[key]).values()) for key in np.flatnonzero(m.keys.ready)}
    largest = max(sizes, key=lambda key: sizes[key])
    m.voices.key = largest
    for v in range(m.slots):  # as take_over does
        m.voice_words[v] = m.key_words[largest]
        m.voice_words[v, m.own] = m.own_words[v, m.own]
    changing = inst.address + inst._bank.image.size
    own = strings.FILES[m.model].OWN
    taken = sorted(span(array) for v in range(m.slots) for array in arrays(inst, m.voice_words[v], own).values())
    assert all(begin % LINE == 0 for begin, _ in taken)
    assert all(before[1] <= after[0] for before, after in pairwise(taken))
    assert min(taken)[0] > inst.address
    assert max(taken)[1] <= changing
    inst.reset()


@every_model
def test_keys_have_nothing_outside_of_the_block(name: str) -> None:
    """It all lies behind what changes."""
    inst = instrument(name)
    m, block, group = inst.machine, inst._bank.block, strings.GROUPS[inst.machine.model]
    blank = {word for word, _ in own_arrays(group, strings.FILES[m.model].BLANK)}
    ready = np.flatnonzero(m.keys.ready)
    assert ready.size > 50
    for key in ready:
        for word, array in arrays(inst, m.key_words[key]).items():
            if word not in blank:
                begin, end = span(array)
                assert begin % LINE == 0
                assert inst.address + inst._bank.image.size <= begin <= end <= inst.address + block.nbytes


# --- what lies where --------------------------------------------------------------------------------------------------


@every_model
def test_what_is_only_read_is_never_written_and_the_rest_comes_back(name: str) -> None:
    inst = instrument(name)
    block, image = inst._bank.block, inst._bank.image
    kept = block[image.size :].copy()
    assert (block[: image.size] == image).all()
    first = render(inst, MUSIC, 4000)
    assert np.abs(first).max() > 0.01
    assert (block[image.size :] == kept).all()
    assert (block[: image.size] != image).any()
    inst.reset()
    assert (block[: image.size] == image).all()
    assert (render(inst, MUSIC, 4000) == first).all()


def go_on(address: int, frames: int, channels: int) -> bytes:
    """What a renderer that is told nothing but an address plays from there on."""
    out = np.full((frames, channels), np.nan, np.float32)
    play(address, frames, out.ctypes.data)
    return out.tobytes()


@every_model
@pytest.mark.parametrize("off_the_line", [0, 16])
def test_a_copy_of_the_block_plays_on_to_the_last_bit(name: str, off_the_line: int) -> None:
    """In the middle of all that moves; wherever it lies, and when the first has long been something else."""
    inst = instrument(name)
    render(inst, [event for event in MUSIC if event[0] < 1200], 1200)
    for event in MUSIC:
        if event[0] >= 1200:
            assert inst.schedule(*event)
    copy = aligned.zeros(inst.nbytes + off_the_line, np.uint8)[off_the_line:]
    copy[:] = inst._bank.block
    wanted = go_on(inst.address, 3000, inst.channels)
    inst.reset()
    render(inst, MUSIC, 500)
    assert go_on(copy.ctypes.data, 3000, inst.channels) == wanted
    assert np.frombuffer(wanted, np.float32).any()


def test_states_of_memory_are_told_apart() -> None:
    """A voice that nobody plays points nowhere but into its own arrays, or at nothing."""
    new = Instrument(SMALL["modal"], 48_000, polyphony=2)
    assert (new.machine.voices.state == memory.FREE).all()
    assert not new.machine.voice_words.any()
