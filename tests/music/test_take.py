"""Takes: on disk as they are played, MIDI files that any reader reads, and nothing lost however a session ends."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path

import mido
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import EngineError
from engine.files.errors import FileError
from engine.files.unfinished import Unfinished
from engine.music import take as takes
from engine.music.midi_file import read_midi
from engine.music.take import LONGEST_WAIT, Take, clock_of

RATE = 48_000
NOTE, OFF = 0x90 | 60 << 8 | 100 << 16, 0x80 | 60 << 8 | 64 << 16


def rows(*events: tuple[int, int]) -> np.ndarray:
    return np.array(events, np.int64).reshape(-1, 2)


def kept(folder: Path, *tables: np.ndarray, rate: int = RATE, facts: dict[str, object] | None = None) -> mido.MidiFile:
    """What mido reads of a take of these."""
    take = Take.begin(folder / "take.mid", rate, facts)
    for table in tables:
        take.add(table)
    take.write(folder / "take.mid", force=True)
    assert os.listdir(folder) == ["take.mid"]
    return mido.MidiFile(folder / "take.mid")


def absolute(track: mido.MidiTrack) -> list[tuple[int, list[int]]]:
    at, found = 0, []
    for message in track:
        at += message.time
        if not message.is_meta:
            found.append((at, message.bytes()))
    return found


seven_bits = st.integers(0, 127)
messages = st.one_of(
    st.tuples(
        st.sampled_from([0x80, 0x90, 0xA0, 0xB0, 0xE0]), st.integers(0, 15), st.integers(0, 127), st.integers(0, 127)
    ),
    st.tuples(st.sampled_from([0xC0, 0xD0]), st.integers(0, 15), st.integers(0, 127), st.just(0)),
).map(lambda m: m[0] | m[1] | m[2] << 8 | m[3] << 16)
far = [127, 128, 16_383, 16_384, 2**21 - 1, 2**21, 2**28 - 1, 2**28, 2**30]
waits = st.one_of(st.integers(0, 300), st.sampled_from(far))


@given(st.lists(st.tuples(waits, messages), max_size=30), st.integers(1, 5))
def test_any_reader_finds_every_event_at_its_sample(
    tmp_path_factory: pytest.TempPathFactory, events: list[tuple[int, int]], pieces: int
) -> None:
    samples = np.cumsum([wait for wait, _ in events])
    table = rows(*((int(at), message) for at, (_, message) in zip(samples, events)))
    file = kept(tmp_path_factory.mktemp("takes"), *np.array_split(table, pieces))
    expected = [
        (int(at), [m & 0xFF, m >> 8 & 0x7F] + ([] if m & 0xE0 == 0xC0 else [m >> 16 & 0x7F])) for at, m in table
    ]
    (track,) = file.tracks
    assert absolute(track) == expected


def test_a_tick_is_a_sample_and_our_reader_agrees(tmp_path: Path) -> None:
    for rate in (44_100, 48_000, 96_000, 192_000):
        kept(tmp_path, rows((3, NOTE), (rate * 1000 + 7, OFF)), rate=rate)
        score = read_midi(tmp_path / "take.mid")
        assert [sample for sample, _ in score.events(rate)] == [3, rate * 1000 + 7]
        assert score.remarks == ()
    with pytest.raises(EngineError, match="try 44100"):
        clock_of(44_101)


def test_a_silence_of_hours_is_no_damage(tmp_path: Path) -> None:
    """Four bytes of a delta are 93 minutes at 48 kHz; mido wrote five, which no reader takes."""
    at = 5 * LONGEST_WAIT + 3
    file = kept(tmp_path, rows((0, NOTE), (at, OFF)))
    assert absolute(file.tracks[0])[1][0] == at
    score = read_midi(tmp_path / "take.mid")
    assert [sample for sample, _ in score.events(RATE)] == [0, at]
    assert score.remarks == ()


def test_facts_come_first(tmp_path: Path) -> None:
    facts = {"presets": ["sitar-string", "Flöte\n"], "rack": {"1": [1.5, None]}}
    text = kept(tmp_path, rows((0, NOTE)), facts=facts).tracks[0][0]
    assert text.type == "text"
    assert text.text.startswith("jawari {")
    assert json.loads(text.text.removeprefix("jawari ")) == facts
    assert kept(tmp_path, rows((0, NOTE))).tracks[0][0].type == "set_tempo"


def test_a_retuned_key_is_system_exclusive(tmp_path: Path) -> None:
    pitch = 61 << 14 | 0x35 << 7 | 0x12
    tuning = takes.TUNING | 60 << 8 | pitch << 16
    file = kept(tmp_path, rows((4, tuning), (5, tuning | 1 << 37), (9, NOTE)))  # for later notes, and at once
    assert absolute(file.tracks[0]) == [
        (4, [0xF0, 0x7E, 0x7F, 8, 7, 0, 0, 1, 60, 61, 0x35, 0x12, 0xF7]),
        (5, [0xF0, 0x7F, 0x7F, 8, 2, 0, 1, 60, 61, 0x35, 0x12, 0xF7]),
        (9, [0x90, 60, 100]),
    ]


def test_events_a_little_out_of_order_are_sorted(tmp_path: Path) -> None:
    samples = np.arange(200_000) * 3
    shuffled = samples.reshape(-1, 100)[:, ::-1].ravel()  # within 300 samples
    table = np.column_stack([shuffled, np.full(len(samples), NOTE)])
    take = Take.begin(tmp_path / "take.mid", RATE)
    for piece in np.array_split(table, 777):
        take.add(piece)
    take.write(tmp_path / "take.mid", force=False)
    score = read_midi(tmp_path / "take.mid")
    assert np.array_equal(np.rint(score.seconds * RATE), samples)


def test_two_million_events_need_little_memory_and_are_read_again(tmp_path: Path) -> None:
    """Both while they are played and when they become MIDI; and what is recorded, `render` reads."""
    count, piece = 2_000_000, 4_000
    take = Take.begin(tmp_path / "take.mid", RATE)
    table = np.empty((piece, 2), np.int64)
    tracemalloc.start()
    for begin in range(0, count, piece):
        table[:, 0] = np.arange(begin, begin + piece) * 300
        table[:, 1] = 0xE0 | (table[:, 0] & 0x7F) << 8 | 64 << 16
        take.add(table)
    take.write(tmp_path / "take.mid", force=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6
    score = read_midi(tmp_path / "take.mid")
    assert len(score.seconds) == count
    assert score.remarks == ()
    assert np.array_equal(np.rint(score.seconds * RATE), np.arange(count) * 300)


# --- the journal ------------------------------------------------------------------------------------------------------


def events_of(journal: Path) -> list[tuple[int, int]]:
    """What can be recovered from a journal."""
    file = Unfinished.left(journal)
    assert file is not None
    take = Take.left(file)
    found = [] if take is None else [(int(at), int(m)) for table in take._tables() for at, m in table]
    file.close()
    return found


def test_everything_added_is_on_disk_at_once(tmp_path: Path) -> None:
    take = Take.begin(tmp_path / "take.mid", RATE, {"a": 1})
    journal = tmp_path / "take.mid.unfinished"
    for n in range(5):
        take.add(rows((n, NOTE), (n, OFF)))
        copy = tmp_path / "copy.mid.unfinished"
        copy.write_bytes(journal.read_bytes())
        assert events_of(copy) == [(k, m) for k in range(n + 1) for m in (NOTE, OFF)]
    assert not (tmp_path / "take.mid").exists()
    take.file.remove()


def test_a_journal_cut_or_damaged_anywhere_keeps_what_was_before(tmp_path: Path) -> None:
    take = Take.begin(tmp_path / "take.mid", RATE)
    sizes = [take.file.size]
    for n in range(6):
        take.add(rows((n, NOTE)))
        sizes.append(take.file.size)
    whole, copy = take.file.path.read_bytes(), tmp_path / "copy.mid.unfinished"
    take.file.remove()
    for size in range(len(whole)):
        copy.write_bytes(whole[:size])
        records = sum(end <= size for end in sizes) - 1
        assert events_of(copy) == [(n, NOTE) for n in range(max(records, 0))]
        copy.write_bytes(whole[:size] + bytes([whole[size] ^ 0x10]) + whole[size + 1 :])
        if size >= len(takes.MAGIC):
            assert events_of(copy) == [(n, NOTE) for n in range(max(records, 0))]


def test_a_hostile_journal_costs_nothing(tmp_path: Path) -> None:
    """A file that came with others, named as if a session had left it."""
    head = takes._framed(json.dumps({"sample_rate": RATE, "facts": {}}).encode())
    far = takes._framed(rows((1 << 62, NOTE)).tobytes())
    hostile = [b"", b"RIFF", head, takes.MAGIC, takes.MAGIC + head + far, takes.MAGIC + takes._framed(b"[" * 100_000)]
    wrong: list[object] = [{}, [], {"sample_rate": 0, "facts": {}}, {"sample_rate": 1e999, "facts": {}}]
    for facts in (*wrong, {"sample_rate": RATE, "facts": 7}):
        hostile.append(takes.MAGIC + takes._framed(json.dumps(facts).encode()))
    for n, data in enumerate(hostile):
        path = tmp_path / f"{n}.mid.unfinished"
        path.write_bytes(data)
        file = Unfinished.left(path)
        assert file is not None
        assert Take.left(file) is None, data[:60]
        file.close()


def test_a_disk_that_is_full_loses_nothing_while_there_is_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = Take.begin(tmp_path / "take.mid", RATE)
    take.add(rows((1, NOTE)))
    write, room = os.write, [10]

    def full(number: int, data: memoryview) -> int:
        if not room[0]:
            raise OSError(28, "No space left on device")
        taken = min(room[0], len(data))
        room[0] -= taken
        return write(number, data[:taken])

    with monkeypatch.context() as filling:
        filling.setattr(os, "write", full)
        for n in range(2, 6):
            take.add(rows((n, NOTE)))
            assert take.file.trouble == "No space left on device"
        copy = tmp_path / "copy.mid.unfinished"
        copy.write_bytes(take.file.path.read_bytes())
    assert events_of(copy) == [(1, NOTE)], "no half of a record stays"
    copy.unlink()
    take.add(rows((6, NOTE)))
    assert take.file.trouble == ""
    take.write(tmp_path / "take.mid", force=False)
    score = read_midi(tmp_path / "take.mid")
    assert [sample for sample, _ in score.events(RATE)] == [1, 2, 3, 4, 5, 6]


def test_where_nothing_can_be_written_it_is_said_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileError, match=r"cannot be recorded \(No such file or directory\)"):
        Take.begin(tmp_path / "none" / "take.mid", RATE)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(FileError, match="No space left"):
        Take.begin(tmp_path / "take.mid", RATE)
    assert os.listdir(tmp_path) == []


def test_remarks_stand_at_their_samples_and_events_stay_where_they_are(tmp_path: Path) -> None:
    """Also far behind, among events that came later, and out of a journal that was left."""
    told = [(0, "é"), (480, "b" * 70_000), (480, "c"), (LONGEST_WAIT + 5000, "d")]
    take = Take.begin(tmp_path / "take.mid", RATE)
    take.add(rows((0, NOTE), (960, OFF)))
    for sample, what in told:
        take.remark(sample, {"edit": what})
    take.add(rows((LONGEST_WAIT + 6000, NOTE)))
    left = Take(take.file, RATE, {})
    for found in (left, take):
        target = tmp_path / f"{id(found)}.mid"
        with target.open("wb") as file:
            file.write(b"".join(takes.midi_file(found._tables(), RATE, {}, found._remarks)))
        data = bytearray(target.read_bytes())
        data[takes._SIZE_AT : takes._SIZE_AT + 4] = (len(data) - takes._SIZE_AT - 4).to_bytes(4)
        target.write_bytes(data)
        score = read_midi(target)
        assert score.remarks == ()
        assert [(round(at * RATE), what) for at, what in score.facts["edits"]] == told
        wanted = [(0, 0x90), (960, 0x80), (LONGEST_WAIT + 6000, 0x90)]
        assert [(at, data[0]) for at, data in score.events(RATE)] == wanted
        assert absolute(mido.MidiFile(target).tracks[0])[1][0] == 960
    take.file.remove()
