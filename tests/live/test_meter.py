"""What a reading says is what the player did; what is drawn of it fits and is all there."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from live.readings import READING
from synth.playing import instrument

from engine.layout import rows_of
from engine.live.meter import FALL, HOLD, SILENCE, WINDOW, BegunNote, Level, Load, Meter, Reading, SoundingString
from engine.live.player import Player
from engine.live.screen.news import news, report, status
from engine.live.screen.panel import BLOCK_CHARACTERS, HIGH, Look, bar, draw, duration
from engine.live.thread.block import run_block
from engine.live.thread.memory import JOURNAL_SIZE, LOG_SIZE
from engine.synth import memory
from engine.synth.output import limit
from engine.terminal import bare, cells, cut
from engine.units import key_to_note

RATE, BLOCK = 48_000, 128
START = 5_000_000_000_000  # ns, an invented time
SECOND = 1_000_000_000


class Clock:
    def __init__(self, at: int = START) -> None:
        self.at = at

    def __call__(self) -> int:
        return self.at


def log(player: Player, rows: np.ndarray) -> None:
    """Write blocks as the audio thread does: start, duration, frames, lateness."""
    book = player.stage.log
    for row in rows:
        book.rows[book.written[0] % LOG_SIZE] = row
        book.written[0] += 1


def journal(player: Player, *messages: tuple[int, ...]) -> None:
    book = player.stage.journal
    for data in messages:
        book.rows[book.written[0] % JOURNAL_SIZE, 1] = sum(byte << 8 * i for i, byte in enumerate(data))
        book.written[0] += 1


def some_blocks(seed: int, seconds: float) -> np.ndarray:
    """Blocks of three sizes with loads up to 150 %, ending at START."""
    random = np.random.default_rng(seed)
    frames = random.choice([64, 128, 1000], size=int(seconds * 300))
    starts = START - np.cumsum(frames[::-1] * SECOND // RATE)[::-1]
    took = frames * SECOND / RATE * random.uniform(0.0, 1.5, frames.size)
    return np.stack([starts, took.astype(np.int64), frames, np.zeros_like(frames)], axis=1)


# --- the meter --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_the_load_is_that_of_the_last_second(seed: int) -> None:
    player, clock = Player(RATE, BLOCK), Clock()
    blocks = some_blocks(seed, 3.0)
    log(player, blocks)
    load = Meter(player, clock).read().load
    recent = blocks[blocks[:, 0] > START - WINDOW]
    assert 0 < len(recent) < len(blocks)
    shares = np.sort(recent[:, 1] / (recent[:, 2] / RATE * 1e9))
    rank = 0.99 * (shares.size - 1)
    below = int(rank)
    p99 = shares[below] + (rank - below) * (shares[min(below + 1, shares.size - 1)] - shares[below])
    assert load is not None
    np.testing.assert_allclose(load, (shares.mean(), p99, shares[-1]), rtol=1e-12)
    assert load.p99 == pytest.approx(float(np.percentile(shares, 99.0)), rel=1e-12)


def test_often_or_rarely_read_the_load_is_the_same() -> None:
    blocks = some_blocks(7, 3.0)
    once, often = Player(RATE, BLOCK), Player(RATE, BLOCK)
    log(once, blocks)
    clock = Clock()
    meter = Meter(often, clock)
    for part in np.array_split(blocks, 23):
        log(often, part)
        clock.at = int(part[-1, 0]) + 1
        reading = meter.read()
    alone = Meter(once, Clock(clock.at)).read()
    assert reading.load == alone.load
    assert (
        reading.worst_load == alone.worst_load == pytest.approx(float((blocks[:, 1] / blocks[:, 2]).max()) * RATE / 1e9)
    )


def test_a_card_that_has_stopped_has_no_load() -> None:
    player, clock = Player(RATE, BLOCK), Clock()
    meter = Meter(player, clock)
    assert meter.read().load is None
    log(player, some_blocks(1, 0.5))
    assert meter.read().load is not None
    clock.at += WINDOW
    reading = meter.read()
    assert reading.load is None
    assert reading.worst_load > 0.0


def test_a_peak_stands_and_then_falls() -> None:
    player, clock = Player(RATE, BLOCK), Clock()
    meter = Meter(player, clock)
    player.stage.peak[:] = 1.0, 0.1
    down = pytest.approx(-20.0 * np.log10(limit(1.0)))  # what the limiter makes of full scale
    up = -down.expected
    assert meter.read().levels == (Level(up, up, down, down), Level(pytest.approx(-20.0), pytest.approx(-20.0)))
    clock.at += HOLD
    assert meter.read().levels == (Level(SILENCE, up, 0.0, down), Level(SILENCE, pytest.approx(-20.0)))
    clock.at += SECOND
    assert [level.held for level in meter.read().levels] == pytest.approx([-FALL, -20.0 - FALL])
    player.stage.peak[0] = 0.5
    assert meter.read().levels[0] == Level(pytest.approx(-6.0206, abs=1e-4), pytest.approx(-6.0206, abs=1e-4))
    clock.at += 100 * SECOND
    assert meter.read().levels == (Level(SILENCE, SILENCE),) * 2
    assert meter.read().lowered == down


def test_mono_has_one_level() -> None:
    assert len(Meter(Player(RATE, BLOCK, channels=1)).read().levels) == 1


def test_notes_are_those_that_began() -> None:
    player = Player(RATE, BLOCK)
    meter = Meter(player, Clock())
    journal(player, (0x90, 60, 100), (0x80, 60, 64), (0xB3, 64, 127), (0x92, 70, 1), (0x90, 60, 0), (0xE0, 1, 2))
    reading = meter.read()
    assert reading.notes == (BegunNote("C4", 100, 0), BegunNote("A#4", 1, 2))
    assert reading.notes_played == 2
    journal(player, *[(0x90, key, 90) for key in range(100)])
    reading = meter.read()
    assert reading.notes == tuple(BegunNote(key_to_note(key), 90, 0) for key in range(92, 100))
    assert meter.read().notes_played == reading.notes_played == 102


class Playing:
    """A player and a real instrument, driven at invented times."""

    def __init__(self) -> None:
        self.player, self.clock = Player(RATE, BLOCK), Clock()
        self.instrument = instrument("modal")
        assert self.player.change(self.instrument)
        self.meter = Meter(self.player, self.clock)
        self.out = np.zeros((BLOCK, 2), np.float32)

    def run(self, seconds: float) -> Reading:
        for _ in range(round(seconds * RATE / BLOCK)):
            run_block(self.player.address, BLOCK, self.out.ctypes.data, 0, self.clock.at)
            self.clock.at += BLOCK * SECOND // RATE
        return self.meter.read("card", 0.01, ["keys"])

    def send(self, *data: int) -> None:
        assert self.player.send(data, at=self.clock.at)


def test_strings_die_away() -> None:
    p = Playing()
    p.send(0x90, 67, 100)
    p.send(0x90, 48, 100)
    first = p.run(0.1)
    assert [(s.name, s.held) for s in first.strings] == [("C3", True), ("G4", True)]
    assert (first.preset, first.device, first.ports, first.polyphony) == (
        p.instrument.preset.name,
        "card",
        ("keys",),
        p.instrument.polyphony,
    )
    assert first.levels[0].now > -60.0
    voices = p.instrument.machine.voices
    for string in first.strings:
        (row,) = np.flatnonzero((voices.state != memory.FREE) & (voices.key == (48 if string.name == "C3" else 67)))
        expected = 10.0 * np.log10(voices.energy[row] / voices.peak[row])
        assert string.energy == pytest.approx(min(expected, 0.0))
    p.send(0x80, 67, 64)
    second = p.run(0.2)
    assert [(s.name, s.held) for s in second.strings] == [("C3", True), ("G4", False)]
    for before, after in zip(first.strings, second.strings, strict=True):
        assert after.energy < before.energy <= 0.0
    assert second.strings[1].energy < second.strings[0].energy - 10.0  # the damper is down
    p.send(0xB0, 120, 0)
    assert p.run(0.5).strings == ()


def test_a_reading_counts_what_the_player_counts() -> None:
    p = Playing()
    reading = p.run(1.0)
    gauges = p.player.gauges
    assert (reading.blocks, reading.lost, reading.long) == (gauges.blocks, gauges.lost, gauges.long)
    assert reading.blocks == 375
    assert reading.seconds == 1.0
    assert reading.mean_load == pytest.approx(gauges.busy / 1e9)
    assert reading.worst_load == pytest.approx(gauges.worst * RATE / BLOCK / 1e9)


def test_counts_outlive_instruments(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fake:
        def __init__(self, stolen: int, watchdog: int, lost: int) -> None:
            self.machine = SimpleNamespace(voices=rows_of(memory.Voice, 3))
            self.polyphony, self.preset = 3, SimpleNamespace(name="fake")
            self.counts = {"voices_stolen": stolen, "watchdog": watchdog, "events_lost": lost}

        def report(self) -> dict[str, int]:
            return dict(self.counts)

    there: list[Any] = []
    monkeypatch.setattr(Player, "instruments", lambda self: list(there))
    monkeypatch.setattr(Player, "instrument", property(lambda self: there[0]))
    on_the_way = [2]
    monkeypatch.setattr(
        Player, "events_lost", property(lambda self: on_the_way[0] + sum(i.counts["events_lost"] for i in there))
    )
    meter = Meter(Player(RATE, BLOCK), Clock())
    there[:] = [Fake(1, 0, 5)]
    assert [(r.stolen, r.watchdog, r.events_lost) for r in (meter.read(), meter.read())] == [(1, 0, 7)] * 2
    there[0].counts["voices_stolen"] = 4
    there.insert(0, Fake(0, 1, 0))
    reading = meter.read()
    assert (reading.stolen, reading.watchdog, reading.events_lost) == (4, 1, 7)
    del there[1]
    on_the_way[0] = 3
    there[0].counts["voices_stolen"] = 2
    reading = meter.read()
    assert (reading.stolen, reading.watchdog, reading.events_lost) == (6, 1, 8)


# --- the panel --------------------------------------------------------------------------------------------------------


def test_the_panel() -> None:
    assert draw(READING, Look(79, blocks=False, colours=False)) == [
        "sitar-string  USB Audio  48000 Hz, 128 frames, 5.3 ms",
        "load     ####====.......|..............  mean  12%  p99  25%  max  50%",
        "blocks   0 lost, 1 too long, 2 underflows, 1:02:03 played",
        "voices   ####..........................    2 of 16, 3 stolen",
        "left     ###############.........|.....  -30.0 dBFS, peak -12.0",
        "right    ............................|.   -inf dBFS, peak  -3.0 limited 1.5 dB",
        "notes    E3 85 ch3  C3 90",
        "strings  C3   ###. -15  A#-1 .... -99",
        "",
        "",
        "MIDI     Keystation 49, nanoKEY2",
        "? help, q quit",
    ]


def test_block_characters_show_eighths() -> None:
    assert bar(4, 0.5) == "██··"
    assert bar(4, 0.5 + 1 / 32) == "██▏·"
    assert bar(4, 0.25, 0.75, 1.0) == "█▒▒│"
    assert bar(4, 7.0, 9.0, 3.0) == "███│"
    assert bar(4, -1.0) == "····"
    assert bar(0, 0.5, mark=0.5) == ""
    assert bar(4, 0.4, 0.7, blocks=False) == "##=."


@given(st.integers(0, 60), st.floats(-2, 3), st.floats(-2, 3), st.floats(-2, 3), st.booleans())
def test_a_bar_is_as_wide_as_asked(width: int, share: float, further: float, mark: float, blocks: bool) -> None:
    drawn = bar(width, share, further, mark, blocks)
    assert len(drawn) == width
    assert blocks or drawn.isascii()


def test_colours_are_for_trouble() -> None:
    def line(reading: Reading, label: str) -> str:
        return next(line for line in draw(reading, Look(79)) if bare(line).startswith(label))

    def sick(**changes: Any) -> Reading:
        return replace(READING, **changes)

    assert "\x1b[33m" not in line(READING, "load")
    assert "\x1b[33m" in line(sick(load=Load(0.3, HIGH + 0.01, 0.8)), "load")
    assert "\x1b[33m" not in line(READING, "right")  # was limited a moment ago
    assert "\x1b[33m" in line(sick(levels=(Level(-1.0, -1.0, 3.2, 3.2),)), "level")
    assert "\x1b[31m" not in "".join(draw(READING, Look(79)))
    assert "\x1b[31m3 lost\x1b[0m" in line(sick(lost=3), "blocks")
    assert "2 silenced by the watchdog, 1 events lost" in line(sick(watchdog=2, events_lost=1), "faults")
    assert "\x1b" not in "".join(draw(sick(lost=3, watchdog=1), Look(79, colours=False)))


def test_more_strings_than_places_are_counted() -> None:
    strings = tuple(SoundingString(key_to_note(key), -1.0, True) for key in range(40, 70))
    lines = draw(replace(READING, strings=strings), Look(79, colours=False))
    first = next(i for i, line in enumerate(lines) if line.startswith("strings"))
    shown = [s for s in strings if f" {s.name} " in " ".join(lines[first : first + 3])]
    assert lines[first + 2].endswith(f"and {30 - len(shown)} more")
    assert lines[first + 3].startswith("MIDI")
    assert len(shown) == 11


NAMES = st.text(max_size=40) | st.sampled_from(["ピアノ 鍵盤", "e\u0301" * 30, "\x1b[2J", "a\nb", "\u202eabc"])
COUNTS = st.integers(0, 2**63 - 1)
FINITE = st.floats(0.0, 1e300)
LEVELS = st.floats(-1e6, 1e6)
READINGS = st.builds(
    Reading,
    preset=NAMES, device=NAMES, rate=FINITE, block_size=COUNTS, latency=FINITE, ports=st.tuples(NAMES) | st.just(()),
    hint=NAMES, load=st.none() | st.builds(Load, FINITE, FINITE, FINITE), mean_load=FINITE, worst_load=FINITE,
    seconds=FINITE, blocks=COUNTS, lost=COUNTS, long=COUNTS, underflows=COUNTS,
    levels=st.lists(st.builds(Level, LEVELS, LEVELS, LEVELS, LEVELS), max_size=2).map(tuple),
    bent=COUNTS, lowered=FINITE, polyphony=COUNTS,
    strings=st.lists(
        st.builds(SoundingString, st.sampled_from(["C3", "A#-1"]), LEVELS, st.booleans()), max_size=40
    ).map(tuple),
    notes=st.lists(st.builds(BegunNote, st.just("F#3"), COUNTS, st.integers(0, 15)), max_size=8).map(tuple),
    notes_played=COUNTS, stolen=COUNTS, watchdog=COUNTS, events_lost=COUNTS, stale=COUNTS,
)  # fmt: skip


@pytest.mark.parametrize("width", range(20, 201, 9))
@given(READINGS, st.booleans())
def test_no_panel_is_wider_than_its_terminal(width: int, reading: Reading, blocks: bool) -> None:
    lines = draw(reading, Look(width, blocks))
    assert len(lines) <= 16
    for line in lines:
        plain = bare(line)
        assert plain.isprintable()  # nothing that a terminal would obey
        assert cells(plain) <= width


def test_every_width_is_respected() -> None:
    many = tuple(SoundingString(key_to_note(key), -1.0, key % 2 == 0) for key in range(40, 70))
    for width in range(201):
        for strings in (READING.strings, many):
            for line in draw(replace(READING, strings=strings, device="ピアノ" * 40), Look(width)):
                assert cells(bare(line)) <= width


@given(NAMES, st.integers(0, 50))
def test_a_cut_takes_as_much_as_fits(text: str, width: int) -> None:
    head = cut(text, width)
    assert text.startswith(head)
    assert cells(head) <= width
    assert head == text or cells(text[: len(head) + 1]) > width


def test_wide_and_combining_characters_are_measured() -> None:
    assert (cells("abc"), cells("鍵盤"), cells("e\u0301"), cells(BLOCK_CHARACTERS)) == (3, 4, 1, 12)
    assert (cut("鍵盤", 3), cut("ae\u0301b", 2)) == ("鍵", "ae\u0301")


# --- words ------------------------------------------------------------------------------------------------------------


def test_news_are_what_has_changed() -> None:
    assert news(None, READING) == [
        ("playing sitar-string on USB Audio: 48000 Hz, 128 frames, latency 5.3 ms", False),
        ("2 underflows reported by the sound card", True),
    ]
    assert news(READING, READING) == []
    assert news(READING, replace(READING, blocks=9**9, seconds=9.0, strings=(), notes=(), load=None)) == []
    changes: list[tuple[dict[str, Any], str, bool]] = [
        ({"preset": "plain"}, "now playing plain", False),
        (
            {"device": "HDMI", "rate": 44_100.0},
            "now playing sitar-string on HDMI: 44100 Hz, 128 frames, latency 5.3 ms",
            False,
        ),
        ({"ports": ()}, "MIDI: no input", False),
        ({"lost": 3}, "3 blocks lost (load up to 50%)", True),
        ({"lost": 1, "load": None}, "1 block lost", True),
        ({"watchdog": 1}, "1 string silenced by the watchdog", True),
        ({"events_lost": 4}, "4 events lost", True),
        ({"stale": 1}, "1 note not begun after a pause", True),
    ]
    lost = replace(READING, device="")
    assert news(READING, lost) == news(lost, READING) == []  # the card's keeper tells
    for change, text, problem in changes:
        assert news(READING, replace(READING, **change)) == [(text, problem)]


def test_the_status_is_one_line() -> None:
    assert status(READING) == "load 12%, p99 25%, max 50%; 2 voices; -30.0 dBFS; no blocks lost, 2 underflows"
    assert status(replace(READING, load=None)) == "no block asked for in the last second, no blocks lost"


def test_the_report_tells_how_it_went() -> None:
    assert report(READING) == [
        "played 1396462 blocks in 1:02:03, 42 notes",
        "load 11.0% on average, 62.0% at worst",
        "no blocks lost, 1 block too long, 2 underflows",
        "3 voices stolen for new notes; raise --polyphony",
    ]
    sick = report(replace(READING, watchdog=1, events_lost=2, stale=3, stolen=0))
    assert [line.split(":")[0].split(" by")[0] for line in sick[3:]] == [
        "1 string silenced",
        "2 events lost",
        "3 notes not begun",
    ]
    bent = report(replace(READING, bent=48_000, lowered=3.21))
    assert "the limiter was at work for 0.03% of the time, by up to 3.2 dB; --set 'gain=-6 dB' plays softer" in bent
    assert report(replace(READING, blocks=0)) == ["no sound was played: the sound card never asked for a block"]


def test_durations_read_well() -> None:
    assert [duration(s) for s in (0.0, 59.9, 60.0, 3599.0, 3600.0, 90061.0)] == [
        "0:00", "0:59", "1:00", "59:59", "1:00:00", "25:01:01",
    ]  # fmt: skip


def test_levels_are_ordered_as_loudness_is() -> None:
    """The bar of a louder channel is never shorter."""
    drawn = [draw(replace(READING, levels=(Level(db, SILENCE),)), Look(79))[4] for db in range(-70, 5)]
    filled = [sum(BLOCK_CHARACTERS.index(c) + 1 for c in line if c in "▏▎▍▌▋▊▉█") for line in drawn]
    assert all(a <= b for a, b in pairwise(filled))
    assert filled[0] == 0 < filled[-1]
