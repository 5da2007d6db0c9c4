"""Notes and scores: read, put in order, cut and split."""

from __future__ import annotations

import mido
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import EngineError
from engine.music.errors import ScoreError
from engine.music.note import PHRASE, Note, parse_notes
from engine.music.score import Score, score_of_messages, score_of_notes


def events(score: Score, rate: float = 1000.0) -> list[tuple[int, tuple[int, ...]]]:
    return list(score.events(rate))


def test_notes_of_a_text() -> None:
    assert parse_notes(" C4:0:2  E4:.5:2\t60:1:1:80 Bb-1:0:500ms") == [
        Note(60, 100, 0.0, 2.0), Note(64, 100, 0.5, 2.0), Note(60, 80, 1.0, 1.0), Note(10, 100, 0.0, 0.5)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "there are no notes"),
        ("C4", "C4 is not a note; write note:start:duration"),
        ("C4:0:1 H4:0:1", "H4:0:1: 'H4' is not a note"),
        ("C4:0:1:2:3", "is not a note"),
        ("C12:0:1", "C12:0:1: key = 156: must be a whole number, 0 to 127"),
        ("128:0:1", "128:0:1: key = 128"),
        ("C4:-1:1", "start = -1: must be seconds, 0 or more"),
        ("C4:0:0", "duration = 0: must be above 0"),
        ("C4:0:1:0", "velocity = 0: must be a whole number, 1 to 127"),
        ("C4:0:1:loud", "velocity loud is no whole number"),
        ("C4:0:1:1e3", "velocity 1e3 is no whole number"),
        ("C4:0:1 Hz", "is not a note"),
        ("C4:soon:1", "C4:soon:1: start must be a time in s"),
        ("C4:0:nan", "duration must be"),
        ("C4:0:1\x1b[2J", r"\x1b[2J"),
        ("C4:0:" + "9" * 5000, "is not a note"),
    ],
)
def test_a_bad_note_is_named_with_its_remedy(text: str, told: str) -> None:
    with pytest.raises(ScoreError) as error:
        parse_notes(text)
    assert told in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


@given(st.text(max_size=60))
def test_any_text_is_notes_or_one_line(text: str) -> None:
    try:
        told = "" if parse_notes(text) else "nothing"
    except ScoreError as error:
        told = str(error)
    assert told.isprintable()
    assert told != "nothing"


@pytest.mark.parametrize(
    "wrong",
    [
        {"key": 60.0},
        {"key": True},
        {"key": -1},
        {"velocity": 128},
        {"channel": 16},
        {"start": float("inf")},
        {"start": "soon"},
        {"start": 10**400},
        {"duration": 0.0},
        {"duration": float("nan")},
        {"duration": -1},
    ],
)
def test_an_impossible_note_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(EngineError, match=next(iter(wrong))):
        Note(**{"key": 60, **wrong})  # type: ignore[arg-type]


def test_numpy_numbers_make_notes() -> None:
    assert Note(np.int64(60), np.uint8(90), np.float32(0.5), 1) == Note(60, 90, 0.5, 1.0)


def test_the_built_in_phrase_is_sound() -> None:
    score = score_of_notes(parse_notes(PHRASE))
    assert score.keys
    assert 5.0 < score.length < 10.0


def test_notes_become_messages_in_order() -> None:
    score = score_of_notes([Note(64, 90, 0.5, 0.25, 1), Note(60, 100, 0.0, 0.5)])
    assert events(score) == [
        (0, (0x90, 60, 100)), (500, (0x80, 60, 64)), (500, (0x91, 64, 90)), (750, (0x81, 64, 64))
    ]  # fmt: skip
    assert score.length == 0.75


def test_a_key_struck_twice_is_let_go_once() -> None:
    score = score_of_notes([Note(60, 100, 0.0, 2.0), Note(60, 90, 1.0, 3.0), Note(60, 80, 4.0, 1.0)])
    assert events(score, 1) == [
        (0, (0x90, 60, 100)), (1, (0x90, 60, 90)), (4, (0x80, 60, 64)), (4, (0x90, 60, 80)), (5, (0x80, 60, 64))
    ]  # fmt: skip


notes = st.builds(
    Note,
    st.integers(58, 62),
    st.integers(1, 127),
    st.floats(0.0, 1e6) | st.sampled_from([0.0, 1.0, 2.0]),
    st.floats(1e-12, 1e6) | st.sampled_from([1.0, 2.0]),
    st.integers(0, 1),
)


@given(st.lists(notes, max_size=12))
def test_every_string_struck_is_let_go_after_its_last_note(given_notes: list[Note]) -> None:
    score = score_of_notes(given_notes)
    down: dict[tuple[int, int], bool] = {}
    last = -1
    for sample, (status, key, _) in events(score):
        assert sample >= last
        last = sample
        down[status & 0x0F, key] = status & 0xF0 == 0x90
    assert not any(down.values())
    struck = sum(status & 0xF0 == 0x90 for _, (status, *_) in events(score))
    assert struck == len(given_notes)
    assert score.length == max((n.start + n.duration for n in given_notes), default=0.0)


def test_mido_messages_are_taken_with_absolute_times() -> None:
    messages = [
        mido.Message("note_off", note=60, time=1.0),
        mido.Message("note_on", note=60, time=0.0),
        mido.Message("program_change", program=5, time=0.0),
        mido.Message("sysex", data=[1, 2], time=0.5),
        mido.MetaMessage("lyrics", text="la", time=0.5),
        mido.Message("clock", time=0.2),
        mido.Message("pitchwheel", pitch=-8192, channel=3, time=0.25),
    ]
    assert events(score_of_messages(messages)) == [
        (0, (0x90, 60, 64)), (0, (0xC0, 5)), (250, (0xE3, 0, 0)), (1000, (0x80, 60, 64))
    ]  # fmt: skip
    with pytest.raises(ScoreError, match="seconds from the start"):
        score_of_messages([mido.Message("note_on", time=-1)])


def long_score() -> Score:
    return score_of_messages(
        [
            mido.Message("control_change", control=1, value=10, time=0.0),
            mido.Message("control_change", control=101, value=0, time=0.0),
            mido.Message("control_change", control=100, value=0, time=0.0),
            mido.Message("control_change", control=6, value=12, time=0.0),
            mido.Message("control_change", control=101, value=0, time=0.1),
            mido.Message("control_change", control=100, value=1, time=0.1),
            mido.Message("note_on", note=50, time=0.2),
            mido.Message("pitchwheel", pitch=100, time=0.3),
            mido.Message("pitchwheel", pitch=0, time=0.4),
            mido.Message("control_change", control=1, value=20, time=0.5),
            mido.Message("control_change", control=64, value=127, time=1.5),
            mido.Message("note_on", note=60, time=1.5),
            mido.Message("note_on", note=62, time=1.6),
            mido.Message("note_off", note=62, time=1.8),
            mido.Message("note_on", note=64, channel=2, time=1.9),
            mido.Message("note_off", note=60, time=5.0),
        ]
    )


def test_a_cut_keeps_what_was_set_and_lets_go_what_is_held() -> None:
    cut = long_score().between(1.0, 2.0)
    assert events(cut) == [
        (0, (0xB0, 101, 0)), (0, (0xB0, 100, 0)), (0, (0xB0, 6, 12)), (0, (0xB0, 101, 0)), (0, (0xB0, 100, 1)),
        (0, (0xE0, 0, 64)), (0, (0xB0, 1, 20)),
        (500, (0xB0, 64, 127)), (500, (0x90, 60, 64)), (600, (0x90, 62, 64)), (800, (0x80, 62, 64)),
        (900, (0x92, 64, 64)),
        (1000, (0xB0, 64, 0)), (1000, (0x80, 60, 64)), (1000, (0x82, 64, 64)),
    ]  # fmt: skip
    assert cut.length == 1.0


def test_a_cut_beyond_the_end_changes_nothing() -> None:
    score = long_score()
    assert events(score.between(0.0, 9.0)) == events(score)
    assert score.between(0.0, 9.0).length == score.length
    late = score.between(6.0)
    assert not late.keys
    assert late.length == 0.0


def test_parts_hold_every_note_once_and_all_controllers() -> None:
    score = long_score()
    keys = score.parts("key")
    assert list(keys) == ["key-050", "key-060", "key-062", "key-064"]
    assert all(part.length == score.length for part in keys.values())
    steering = [event for event in events(score) if event[1][0] & 0xF0 > 0xA0]
    for name, part in keys.items():
        assert [e for e in events(part) if e[1][0] & 0xF0 > 0xA0] == steering
        assert {e[1][1] for e in events(part) if e[1][0] & 0xF0 < 0xA0} == {int(name[-3:])}
    channels = score.parts("channel")
    assert list(channels) == ["channel-01", "channel-03"]
    assert sorted(events(channels["channel-01"]) + events(channels["channel-03"])) == sorted(events(score))


def test_a_member_of_an_mpe_zone_is_cut_out_with_its_manager() -> None:
    zone = [(0xB0, 101, 0), (0xB0, 100, 6), (0xB0, 6, 5)]
    music = [(0x91, 60, 100), (0x92, 64, 100), (0x90, 40, 100), (0xE0, 0, 80), (0xEF, 0, 10)]
    data = np.array(zone + music, np.uint8)
    plain = Score(np.arange(5.0), np.array(music, np.uint8), 5.0)
    score = Score(np.arange(8.0), data, 8.0)
    assert score.of_channels([1]).data.tolist() == [list(row) for row in [*zone, music[0], music[3]]]
    assert plain.of_channels([1]).data.tolist() == [list(music[0])]
