"""MIDI files: sound ones exactly as mido reads them, damaged ones as far as they go, hostile ones cheaply."""

from __future__ import annotations

import io
import os
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import mido
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.music.errors import ScoreError
from engine.music.midi_file import MOST_BYTES, MOST_EVENTS, midi_bytes, parse_midi, read_midi
from engine.music.score import Score

Timed = list[tuple[float, tuple[int, ...]]]


def chunk(name: bytes, body: bytes, length: int | None = None) -> bytes:
    return name + (len(body) if length is None else length).to_bytes(4, "big") + body


def midi(*tracks: bytes, kind: int = 1, count: int | None = None, division: int = 480) -> bytes:
    """A file of raw track bodies."""
    numbers = (kind, len(tracks) if count is None else count, division)
    header = b"".join(n.to_bytes(2, "big") for n in numbers)
    return chunk(b"MThd", header) + b"".join(chunk(b"MTrk", track) for track in tracks)


END = b"\x00\xff\x2f\x00"
ONE_NOTE = b"\x00\x90\x3c\x40\x83\x60\x80\x3c\x40" + END  # C4 for a quarter note


def timed(score: Score) -> Timed:
    return [(round(t / 1e9, 6), data) for t, data in score.events(1e9)]


def by_mido(file: mido.MidiFile) -> Timed:
    now, found = 0.0, []
    for message in file:
        now += message.time
        if not message.is_meta and message.bytes()[0] < 0xF0:
            found.append((round(now, 6), tuple(message.bytes())))
    return found


def song() -> mido.MidiFile:
    """Two tracks over a tempo map, with sustain, bends, a controller, text and a system exclusive message."""
    file = mido.MidiFile(type=1, ticks_per_beat=96)
    tempi, first, second = (file.add_track() for _ in range(3))
    tempi += [mido.MetaMessage("set_tempo", tempo=600_000), mido.MetaMessage("set_tempo", tempo=300_000, time=96)]
    tempi += [mido.MetaMessage("time_signature", time=1), mido.MetaMessage("set_tempo", tempo=1_000_000, time=95)]
    first += [
        mido.MetaMessage("track_name", name="one"),
        mido.Message("program_change", program=4),
        mido.Message("control_change", control=64, value=100),
        mido.Message("note_on", note=60, velocity=90, time=48),
        mido.Message("pitchwheel", pitch=2000, time=48),
        mido.Message("sysex", data=(1, 2, 3), time=3),
        mido.Message("note_on", note=60, velocity=0, time=45),
        mido.Message("aftertouch", value=33, time=48),
    ]
    second += [
        mido.Message("note_on", note=67, velocity=80, channel=1, time=96),
        mido.Message("note_on", note=69, velocity=80, channel=1),
        mido.Message("note_off", note=67, velocity=10, channel=1, time=192),
    ]
    return file


def test_a_song_is_read_as_mido_reads_it() -> None:
    file = song()
    score = parse_midi(midi_bytes(file))
    assert timed(score) == by_mido(file)
    assert score.remarks == ()
    # 0.5 beat at 100 a minute; the second track's last event by hand: 96 ticks, 96 twice as fast, 96 at 60 a minute.
    assert timed(score)[2] == (0.3, (0x90, 60, 90))
    assert score.length == pytest.approx(0.6 + 0.3 + 1.0, abs=1e-12)


def messages(channel: st.SearchStrategy[int]) -> st.SearchStrategy[mido.Message]:
    byte, delta = st.integers(0, 127), st.integers(0, 3) | st.integers(0, 20_000)
    return st.one_of(
        st.builds(
            lambda kind, c, n, v, t: mido.Message(kind, channel=c, note=n, velocity=v, time=t),
            st.sampled_from(["note_on", "note_off"]), channel, byte, byte, delta,
        ),
        st.builds(
            lambda c, n, v, t: mido.Message("control_change", channel=c, control=n, value=v, time=t),
            channel, byte, byte, delta,
        ),
        st.builds(
            lambda c, p, t: mido.Message("pitchwheel", channel=c, pitch=p, time=t),
            channel, st.integers(-8192, 8191), delta,
        ),
        st.builds(lambda c, v, t: mido.Message("aftertouch", channel=c, value=v, time=t), channel, byte, delta),
        st.builds(lambda d, t: mido.Message("sysex", data=d, time=t), st.lists(byte, max_size=4), delta),
        st.builds(lambda s, t: mido.MetaMessage("text", text=s, time=t), st.sampled_from(["", "MTrk", "la"]), delta),
        st.builds(lambda u, t: mido.MetaMessage("set_tempo", tempo=u, time=t), st.integers(1, 2**24 - 1), delta),
    )  # fmt: skip


@given(
    st.lists(st.lists(messages(st.integers(0, 15)), max_size=12), min_size=1, max_size=4),
    st.integers(1, 32_767),
    st.integers(0, 1),
)
def test_any_sound_file_is_read_as_mido_reads_it(tracks: list[list[mido.Message]], division: int, kind: int) -> None:
    file = mido.MidiFile(type=kind if len(tracks) == 1 else 1, ticks_per_beat=division)
    file.tracks.extend(mido.MidiTrack(track) for track in tracks)
    score = parse_midi(midi_bytes(file))
    ours, theirs = timed(score), by_mido(file)
    assert [data for _, data in ours] == [data for _, data in theirs]
    np.testing.assert_allclose([t for t, _ in ours], [t for t, _ in theirs], rtol=1e-9, atol=2e-6)
    assert score.remarks == ()


def test_running_status_lasts_through_meta_events_and_times_of_four_bytes() -> None:
    track = b"\x00\x90\x3c\x40" + b"\x60\x40\x41" + b"\x00\xff\x01\x01a" + b"\x81\x80\x80\x00\x3c\x00" + END
    score = parse_midi(midi(track, kind=0))
    beat = 0.5
    expected = [(0.0, (0x90, 60, 64)), (0.1, (0x90, 64, 65)), (round((96 + 2**21) / 480 * beat, 6), (0x90, 60, 0))]
    assert timed(score) == expected
    assert score.remarks == ()


def test_smpte_time_knows_no_tempo() -> None:
    tempo = b"\x00\xff\x51\x03\x01\x00\x00"
    note = b"\x64\x90\x3c\x40" + END
    for frames, rate in ((24, 24.0), (25, 25.0), (29, 30_000 / 1001), (30, 30.0)):
        score = parse_midi(midi(tempo + note, division=(256 - frames) << 8 | 40))
        assert timed(score) == [(round(100 / (rate * 40), 6), (0x90, 60, 64))]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "is not a MIDI file"),
        (b"RIFF\x00\x00\x00\x00WAVEfmt ", "is not a MIDI file"),
        (midi(ONE_NOTE)[:13], "ends within its header"),
        (midi(ONE_NOTE, ONE_NOTE, kind=2), "is of type 2, patterns without a common time; save it as type 0 or 1"),
        (midi(ONE_NOTE, kind=3), "is of type 3"),
        (midi(ONE_NOTE, division=0), "has 0 ticks in a quarter note"),
        (midi(ONE_NOTE, division=(256 - 23) << 8 | 40), "which is no SMPTE time"),
        (midi(ONE_NOTE, division=(256 - 25) << 8), "which is no SMPTE time"),
    ],
)
def test_what_has_no_time_is_refused_plainly(data: bytes, told: str) -> None:
    with pytest.raises(ScoreError, match=told) as error:
        parse_midi(data)
    assert "; " in str(error.value) or "not a MIDI file" in str(error.value)


def test_one_pattern_of_type_2_is_a_song() -> None:
    assert timed(parse_midi(midi(ONE_NOTE, kind=2))) == timed(parse_midi(midi(ONE_NOTE, kind=0)))


def test_windows_wrapping_and_foreign_chunks_are_passed_over() -> None:
    plain = midi(ONE_NOTE)
    wrapped = b"RIFF" + (len(plain) + 12).to_bytes(4, "little") + b"RMID" + b"data" + len(plain).to_bytes(4, "little")
    foreign = plain[:14] + chunk(b"XFIH", b"abc") + plain[14:] + chunk(b"XFKM", b"def")
    longer_header = chunk(b"MThd", plain[8:14] + b"more") + plain[14:]
    for data in (wrapped + plain, foreign, longer_header):
        assert timed(parse_midi(data)) == timed(parse_midi(plain))
        assert parse_midi(data).remarks == ()


@pytest.mark.parametrize(
    ("track", "why"),
    [
        (b"\x00\x90\x3c\x40\x00\x3c", "goes on beyond its track"),
        (b"\x00\x90\x3c\x40\x00\x90\x3c\x80\x00\x90\x40\x40", "cut off by another"),
        (b"\x00\x90\x3c\x40\x00\xf4\x00\x90\x40\x40", "no such event"),
        (b"\x00\x90\x3c\x40\x81\x81\x81\x81\x01\x90\x40\x40", "more than four bytes"),
        (b"\x00\x90\x3c\x40\x00\xff\x01\x7fabc", "goes on beyond its track"),
    ],
)
def test_damage_costs_only_the_rest_of_its_track(track: bytes, why: str) -> None:
    score = parse_midi(midi(track, ONE_NOTE.replace(b"\x90", b"\x91").replace(b"\x80", b"\x81")))
    assert [data for _, data in timed(score)] == [(0x90, 60, 64), (0x91, 60, 64), (0x81, 60, 64)]
    assert len(score.remarks) == 1
    assert "track 1 is damaged at byte" in score.remarks[0]
    assert why in score.remarks[0]


def test_data_without_a_status_is_damage() -> None:
    score = parse_midi(midi(b"\x00\x3c\x40" + END))
    assert not score.keys
    assert "no such event" in score.remarks[0]


def test_wrong_lengths_of_tracks_are_survived() -> None:
    header = midi(count=2)
    for length in (0, 3, 200, 2**32 - 1):
        score = parse_midi(header + chunk(b"MTrk", ONE_NOTE, length) + chunk(b"MTrk", ONE_NOTE))
        assert timed(score)[-1] == (0.5, (0x80, 60, 64))
        assert score.keys


def test_missing_tracks_are_told() -> None:
    assert parse_midi(midi(ONE_NOTE, count=3)).remarks == ("only 1 of 3 tracks are there",)


def test_a_tempo_of_nothing_is_passed_over() -> None:
    score = parse_midi(midi(b"\x00\xff\x51\x03\x00\x00\x00" + ONE_NOTE))
    assert timed(score)[-1][0] == 0.5
    assert score.remarks == ("a tempo without duration was passed over",)


def test_a_file_cut_at_any_byte_plays_what_comes_before_the_cut() -> None:
    whole = midi_bytes(song())
    positions = note_positions(whole)
    for size in range(len(whole)):
        score, error = attempt(whole[:size])
        if score is None:
            assert "not a MIDI file" in error if size < 4 else "ends within its header" in error
            assert size < 14
            continue
        complete = sum(position <= size for position in positions)
        assert len(timed(score)) == complete
        assert score.remarks, f"cut at {size} of {len(whole)}"


def note_positions(whole: bytes) -> list[int]:
    """Where each channel message of the song ends, found by cutting mido's own encoding."""
    positions, at = [], 14
    for track in song().tracks:
        at += 8
        body = io.BytesIO()
        running = None
        for message in [*track, mido.MetaMessage("end_of_track")]:
            single = mido.MidiFile(type=0)
            single.tracks.append(mido.MidiTrack([message]))
            encoded = midi_bytes(single)[22:]
            encoded = encoded if message.type == "end_of_track" else encoded[:-4]
            status = message.bytes()[0]
            channel_message = not message.is_meta and status < 0xF0
            length = len(encoded) - (channel_message and status == running)
            running = status if channel_message else None
            body.write(encoded[:length])
            if channel_message:
                positions.append(at + body.tell())
        at += body.tell()
    assert at == len(whole)
    return positions


def attempt(data: bytes) -> tuple[Score | None, str]:
    try:
        return parse_midi(data), ""
    except ScoreError as error:
        return None, str(error)


def check_any_bytes(data: bytes) -> None:
    began = time.process_time()
    score, error = attempt(data)
    assert error.isprintable()
    if score is not None:
        assert np.isfinite(score.seconds).all()
        assert (np.diff(score.seconds) >= 0.0).all()
        assert (score.data[:, 0] >= 0x80).all()
        plain = score.data[score.data[:, 0] < 0xF0]
        assert (plain[:, 1:] < 0x80).all()
        assert len(score.data) - len(plain) == len(score.tunings)
        assert not score.seconds.size or 0.0 <= score.seconds[0] <= score.seconds[-1] == score.length
        assert all(remark.isprintable() for remark in score.remarks)
        channel = [data for _, data in score.events(48_000) if data[0] < 0xF0]
        assert all(len(data) == (2 if data[0] & 0xE0 == 0xC0 else 3) for data in channel)
    assert time.process_time() - began < SOON


@settings(max_examples=300)
@given(st.binary(max_size=200))
def test_random_tracks_are_read_or_refused_in_a_line(noise: bytes) -> None:
    check_any_bytes(noise)
    check_any_bytes(midi(noise, noise[::-1]))
    check_any_bytes(midi(ONE_NOTE[:-4] + noise, kind=0))


@settings(max_examples=500)
@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=8), st.integers(0, 10_000))
def test_mutated_songs_are_read_or_refused_in_a_line(changes: list[tuple[int, int]], cut: int) -> None:
    data = bytearray(midi_bytes(song()))
    for at, value in changes:
        data[at % len(data)] = value
    check_any_bytes(bytes(data))
    check_any_bytes(bytes(data[: cut % len(data)]))


ONE_KEY = bytes((0x7F, 0x7F, 8, 2, 0, 1, 60, 60, 64, 0, 0xF7))  # C4 half a semitone up, without the first byte
OCTAVE = bytes((0x7F, 0x7F, 8, 8, 3, 0x7F, 0x7F, *range(58, 70), 0xF7))


def sysex(body: bytes) -> bytes:
    """As it stands in a file, at delta 0."""
    return b"\x00\xf0" + bytes([len(body)]) + body


def test_tunings_stand_in_the_score_where_they_stood_in_the_file() -> None:
    """Whole, and with the first byte that a file leaves out; other system exclusive messages are passed over."""
    track = sysex(b"\x43\x10\x4c\xf7") + sysex(ONE_KEY) + b"\x00\x90\x3c\x40" + sysex(OCTAVE) + sysex(ONE_KEY)
    score = parse_midi(midi(track + b"\x60\x80\x3c\x40" + sysex(ONE_KEY[:-1]) + END))
    whole, all_keys = b"\xf0" + ONE_KEY, b"\xf0" + OCTAVE
    assert [data for _, data in score.events(1)] == [whole, (0x90, 60, 64), all_keys, whole, (0x80, 60, 64)]
    assert score.tunings == (whole, all_keys, whole)
    assert score.remarks == ()
    # Whatever is picked or cut, they stay with the notes.
    assert [data for _, data in score.of_channels([5]).events(1)] == [whole, all_keys, whole]
    assert [data for _, data in score.of_key(61).events(1)] == [whole, all_keys, whole]
    later = [(at, data) for at, data in score.between(0.05).events(100)]
    assert later == [(0, whole), (0, all_keys), (0, whole), (5, (0x80, 60, 64))]


def test_many_tunings_are_kept_apart() -> None:
    """More than two bytes can count: the number of each takes twenty bits."""
    keys = [n % 128 for n in range(70_000)]
    score = parse_midi(midi(b"".join(sysex(ONE_KEY[:6] + bytes([key]) + ONE_KEY[7:]) for key in keys), kind=0))
    assert [data[7] for _, data in score.events(1)] == keys


def text(words: bytes) -> bytes:
    return b"\x00\xff\x01" + bytes([len(words)]) + words


def test_facts_of_a_take() -> None:
    """A text of the first track that begins with our name, and JSON; other texts are nobody's business."""
    facts = {"preset": "sitar-string", "rate": 48000}
    score = parse_midi(
        midi(text(b"la") + text(b'jawari {"preset": "sitar-string"}') + text(b'jawari {"rate": 48000}') + ONE_NOTE)
    )
    assert (score.facts, score.remarks) == (facts, ())
    assert parse_midi(midi(ONE_NOTE, text(b'jawari {"preset": "sitar-string"}') + END)).facts == {}
    assert parse_midi(midi(ONE_NOTE)).facts == {}
    for damaged in (b"jawari {", b"jawari [1]", b"jawari \xff", b"jawari " + b"[" * 100, b"jawari "):
        score = parse_midi(midi(text(damaged) + ONE_NOTE))
        assert (score.facts, score.keys) == ({}, [60])
        assert score.remarks == ("what jawari once wrote into it is damaged and was passed over",)


SOON = 5.0  # seconds of the slowest processor: 0.7 were seen; what grows with the square takes minutes
HOSTILE: dict[str, Callable[[], bytes]] = {
    "events": lambda: midi(b"\x00\x90\x3c\x40" + b"\x00\x3c\x40" * 5_000_000),
    "just enough events": lambda: midi(b"\x00\x90\x3c\x40" + b"\x00\x3c\x40" * (MOST_EVENTS - 100)),
    "empty tracks": lambda: midi(count=65535) + b"MTrk\x00\x00\x00\x00" * 1_900_000,
    "damaged tracks": lambda: midi(count=65535) + b"MTrk\x00\x00\x00\x01\x00" * 1_700_000,
    "overlapping tracks": lambda: midi(count=65535) + b"MTrk\x7f\xff\xff\xff\x00" * 1_700_000,
    "tempos": lambda: midi(b"\x00\xff\x51\x03\xff\xff\xff" * 2_000_000),
    "long waits": lambda: midi(b"\xff\xff\xff\x7f\x90\x3c\x40" * 700_000, division=1),
    "zeros": lambda: midi(bytes(MOST_BYTES - 100)),
    "meta": lambda: midi(b"\x00\xff\x01\x00" * 7_900_000),
    "facts": lambda: midi(b"\x00\xff\x01\xff\xff\x7fjawari " + b"[" * (1 << 21)),
    "tunings": lambda: midi((b"\x00\xf0" + bytes([len(ONE_KEY)]) + ONE_KEY) * 1_000_000),
    "octaves": lambda: midi((b"\x00\xf0" + bytes([len(OCTAVE)]) + OCTAVE) * 600_000),
    "runs cut short": lambda: midi((b"\x00\x90\x3c\x40" * 9 + b"\x00\xff\x01\x00") * 790_000),
    "tracks of runs": lambda: midi(count=65535) + (b"MTrk\x7f\xff\xff\xff" + b"\x00\x90\x3c\x40" * 30) * 240_000,
}


@pytest.fixture(scope="module", autouse=True)
def compiled_before() -> None:
    """What is measured here is reading."""
    parse_midi(midi(ONE_NOTE[:-4] * 9 + END))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_costs_little(name: str) -> None:
    data = HOSTILE[name]()
    assert len(data) <= MOST_BYTES
    began = time.process_time()
    score, error = attempt(data)
    assert len("; ".join(score.remarks)) < 5000 if score else "holds more than" in error
    assert time.process_time() - began < SOON


def test_a_hostile_file_needs_little_memory() -> None:
    data = HOSTILE["just enough events"]()
    tracemalloc.start()
    score = parse_midi(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert score.seconds.size == MOST_EVENTS - 99
    assert peak < 150e6


def test_files_that_are_none_are_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "empty.mid").touch()
    (tmp_path / "huge.mid").write_bytes(bytes(MOST_BYTES + 1))
    os.mkfifo(tmp_path / "pipe.mid")
    told = {
        "empty.mid": "is not a MIDI file",
        "huge.mid": "is larger than 32 MB",
        "none.mid": "there is no such file",
        "pipe.mid": "is not a regular file",
        "": "is a folder",
        "\0.mid": "null",
        "x" * 300: "cannot be read",
    }
    for name, words in told.items():
        with pytest.raises(ScoreError, match=words) as error:
            read_midi(tmp_path / name)
        assert str(error.value).isprintable()
        assert str(error.value).startswith(str(tmp_path))
