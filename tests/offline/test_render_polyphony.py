"""A render has the strings that its piece needs, as far as memory lasts; who asks for fewer gets them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import cli, render
from engine.music.note import Note
from engine.music.score import score_of_notes
from engine.synth import budget
from engine.synth.instrument import Instrument

MANY = [Note(36 + n, start=0.01 * n, duration=0.5) for n in range(40)]


@given(st.lists(st.tuples(st.integers(0, 15), st.integers(0, 127)), max_size=60))
def test_every_key_of_every_channel_is_a_string(struck: list[tuple[int, int]]) -> None:
    notes = [Note(key, start=0.1 * n, duration=0.3, channel=channel) for n, (channel, key) in enumerate(struck)]
    assert score_of_notes(notes).strings == len(set(struck))


def test_no_string_is_stolen_unless_a_number_is_asked_for() -> None:
    """40 strings on a preset of 16: as many as there are if nobody says otherwise; and blocks leave no trace."""
    whole = render("sitar-string", MANY, sample_rate=8_000, tail=0.0)
    assert (render("sitar-string", MANY, sample_rate=8_000, tail=0.0, polyphony=64) == whole).all()
    assert (render("sitar-string", MANY, sample_rate=8_000, tail=0.0, block_size=37) == whole).all()
    stolen = render("sitar-string", MANY, sample_rate=8_000, tail=0.0, polyphony=16)
    assert np.abs(stolen - whole).max() > 1e-3


def test_memory_is_taken_only_for_what_the_piece_needs() -> None:
    sizes = {}
    for needed in (0, 3, 16, 40, 1000):
        made = Instrument("plain", 8_000, needed=needed)
        sizes[needed] = made.nbytes
        assert made.polyphony == min(max(needed, 32), 256)
    assert sizes[0] == sizes[3] == sizes[16] < sizes[40] < sizes[1000]
    assert Instrument("plain", 8_000, polyphony=2, needed=40).polyphony == 2


def test_what_memory_does_not_last_for_is_stolen_and_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = Instrument("sitar-string", 8_000)
    keys = budget.Budget(made.polyphony + 8)
    for key in made._bank.keys:
        keys.spend(key.design)
    monkeypatch.setattr(budget, "MOST_BYTES", 8 * (keys._keys + (20 + 8) * keys._voice))
    assert Instrument("sitar-string", 8_000, needed=1000).polyphony == 20
    monkeypatch.chdir(tmp_path)
    notes = " ".join(f"{note.key}:{note.start}:{note.duration}" for note in MANY)
    args = ["render", "sitar-string", "--sample-rate", "8000", "--tail", "0", "--notes", notes, "--report", "a.json"]
    assert cli.main([*args, "-o", "a.wav"]) == 0
    (entry,) = json.loads(Path("a.json").read_text())["renders"]
    assert entry["polyphony"] == 20
    stolen = entry["voices_stolen"]
    assert stolen >= 20
    assert f"{stolen} notes on strings of others; all 20 that there is room for" in capsys.readouterr().err
    assert cli.main([*args, "-o", "b.wav", "--force", "--polyphony", "16"]) == 0
    assert "notes on strings of others; raise --polyphony" in capsys.readouterr().err
