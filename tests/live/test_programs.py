"""Several instruments live: a program changes on its own sample, or when it has come; and the take renders the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from live.driving import Card, flushed, packed, unpacked
from numpy.typing import NDArray
from synth.playing import SMALL, bend, cc, limited, off, on, pressure

from engine.errors import EngineError
from engine.live.changes import Programs
from engine.live.player import Player
from engine.music.midi_file import read_midi
from engine.music.take import Take
from engine.offline.job import Manner, make_player
from engine.offline.stream import stream
from engine.preset.loader import load_preset
from engine.preset.rack import Part, Rack, bank
from engine.synth.ensemble import Ensemble, Seats, design_part
from engine.synth.instrument import Instrument

pytestmark = pytest.mark.usefixtures("shared_designs")

RATE = 8000


def design(rack: Rack, number: int) -> Instrument:
    return design_part(rack.parts[number], RATE, 128, None, None, None, False)


def offline(rack: Rack, journal: NDArray[np.int64], frames: int) -> NDArray[np.float32]:
    """What was obeyed, rendered on the same rack: everything that it asks for is designed when it asks."""
    made = Ensemble(rack, lambda number: design(rack, number), RATE)
    out, rows = np.zeros((frames, 2), np.float32), journal.tolist()
    for start in range(0, frames, 128):
        while rows and rows[0][0] < start + 128:
            sample, message = rows.pop(0)
            made.schedule(sample, unpacked(message))
        made.run(out[start : start + 128])
    return flushed(limited(out))


@pytest.fixture
def rack() -> Rack:
    """Three programs, one of them quieter and to the left, and one part that channel 4 alone begins on."""
    presets = [load_preset(SMALL[name]) for name in ("bridge", "grid", "grid frets", "modal")]
    return Rack(
        "Four",
        (
            Part(presets[0], (0, 1, 2), 0),
            Part(presets[1], (), 1, gain=-3.0, pan=-0.4),
            Part(presets[2], (), 130),
            Part(presets[3], (3,), pan=0.7),
        ),
    )


def player_of(rack: Rack, block: int) -> Player:
    player = Player(RATE, block, seats=Seats.of(rack, RATE))
    for number in sorted(set(rack.routes) - {-1}):
        player.put_on(number, design(rack, number))
    return player


def random_music(rng: np.random.Generator) -> list[int]:
    """Any of many kinds of messages on any of five channels."""
    channel, key = int(rng.choice([0, 0, 1, 3, 9])), int(rng.integers(35, 70))
    kinds: list[Any] = [
        lambda: on(key, int(rng.integers(1, 100)), channel),
        lambda: off(key, channel),
        lambda: cc(int(rng.choice([1, 7, 10, 64, 74])), int(rng.integers(128)), channel),
        lambda: bend(int(rng.integers(-8192, 8192)), channel),
        lambda: pressure(int(rng.integers(128)), channel),
        lambda: cc(32, int(rng.integers(2)), channel),
        lambda: [0xC0 | channel, int(rng.choice([0, 1, 2, 2, 5]))],
    ]
    message: list[int] = kinds[rng.choice(7, p=[0.4, 0.25, 0.08, 0.05, 0.04, 0.06, 0.12])]()
    return message


@pytest.mark.parametrize(("seed", "block"), [(1, 128), (2, 64), (3, 37), (4, 500)])
def test_what_is_played_live_is_what_its_journal_renders(rack: Rack, seed: int, block: int) -> None:
    """Whatever is played: instruments come some blocks after they are asked for, and then the channel changes."""
    rng, player = np.random.default_rng(seed), player_of(rack, block)
    card, asked, blocks = Card(player, block), dict[int, int](), 3 * RATE // block
    for n in range(blocks):
        for _ in range(rng.poisson(80 * block / RATE)):
            assert player.send(random_music(rng), int(card.time + rng.uniform(-1.0, 1.0) * block * card.frame))
        card.run(1)
        for part in player.wishes().values():
            asked.setdefault(part, n)
            if not player.has(part) and n > asked[part] + 0.2 * RATE / block:
                player.put_on(part, design(rack, part))
    journal = player.new_events()
    assert len({message for _, message in journal.tolist() if message & 0xF0 == 0xC0}) > 2
    assert (np.diff(journal[:, 0]) >= 0).all()
    got = np.concatenate(card.heard)
    assert len(player.instruments()) >= 3
    assert np.abs(got).max() > 0.1
    assert (got == offline(rack, journal, len(got))).all()


def test_a_program_that_is_here_changes_on_its_sample_and_one_that_is_not_when_it_comes(rack: Rack) -> None:
    player = player_of(rack, 128)
    player.put_on(1, design(rack, 1))
    card = Card(player)
    card.run(1)
    assert player.send([0xC0, 1], int(card.time + 40 * card.frame))
    assert player.send([0xB0, 32, 1], int(card.time + 200 * card.frame))
    assert player.send([0xC0, 2], int(card.time + 200 * card.frame))
    assert player.send([0xB0, 32, 0], int(card.time + 210 * card.frame))
    card.run(4)
    assert player.wishes() == {130: 2}
    journal = player.new_events().tolist()
    assert journal[0][1] == packed([0xC0, 1])
    assert [message for _, message in journal[1:]] == [packed(cc(32, 1)), packed(cc(32, 0))]
    player.put_on(2, design(rack, 2))
    card.run(1)
    assert player.wishes() == {}
    # The bank was another one meanwhile, and is afterwards.
    assert player.new_events().tolist() == [
        [5 * 128, message] for message in (packed(cc(32, 1)), packed([0xC0, 2]), packed(cc(32, 0)))
    ]
    assert player.seats.desk.routes[0] == 2


def test_the_last_wish_counts_and_a_program_that_nobody_knows_is_none(rack: Rack) -> None:
    player = player_of(rack, 128)
    card = Card(player)
    for number in (1, 7, 1, 7):
        assert player.send([0xC1, number], int(card.time))
    card.run(3)
    assert player.wishes() == {1: 1}
    assert player.wished == (4, 7)
    assert player.send([0xC1, 0], int(card.time))  # it is here: nothing is waited for any more
    card.run(3)
    assert player.wishes() == {}
    player.put_on(1, design(rack, 1))
    card.run(3)
    assert player.seats.desk.routes[1] == 0


def test_programs_are_designed_when_they_are_asked_for(rack: Rack) -> None:
    player, said = player_of(rack, 128), list[str]()
    card = Card(player)

    def make(number: int) -> Instrument:
        if number == 2:
            raise EngineError("it cannot be")
        return design(rack, number)

    programs = Programs(player, {0: "one", 1: "two", 130: "three"}, make)

    def turn() -> list[str]:
        for _ in range(3):
            card.catch_up()
            card.run(3)
            programs.tick(said.append)
            if programs._thread:
                programs._thread.join()
        card.run(3)
        told = said.copy()
        said.clear()
        return told

    assert turn() == []
    programs.step(1)
    assert turn() == ["two: being designed", "two: playing"]
    assert (player.seats.desk.routes == 1).all()
    programs.step(1)
    assert turn() == ["three: being designed", "three: it cannot be"]
    assert (player.seats.desk.routes == 1).all()
    programs.step(-1)  # from the one that is waited for
    assert turn() == []
    programs.step(-1)
    assert turn() == []
    assert (player.seats.desk.routes == 0).all()
    player.send([0xC4, 99])
    card.run_now()
    assert turn() == ["program 100: there are 3 presets; name more when you start"]
    assert player.instrument is player.seats.instruments[0]


def test_without_programs_the_keys_say_so() -> None:
    rack, said = bank([load_preset(SMALL["grid"])], {0: 0}, programs=0), list[str]()
    programs = Programs(Player(RATE, 128, seats=Seats.of(rack, RATE)), {}, lambda number: design(rack, number))
    programs.step(1)
    programs.tick(said.append)
    assert said == ["there are no programs to choose from; name presets when you start"]


def test_a_take_renders_what_was_heard_with_its_programs(rack: Rack, tmp_path: Path) -> None:
    player, take = player_of(rack, 64), Take.begin(tmp_path / "take.mid", RATE, {"bank": ["a", "b"]})
    card = Card(player, 64)
    for n, data in enumerate((on(50), on(60, channel=3), [0xC0, 1], on(52), [0xC0, 0], on(54), off(52), off(50))):
        assert player.send(data, int(card.time))
        card.run(7)
        if n == 2:
            player.put_on(1, design(rack, 1))
    card.run(30)
    take.add(player.new_events())
    take.write(tmp_path / "take.mid", force=False)
    score = read_midi(tmp_path / "take.mid")
    assert score.facts == {"bank": ["a", "b"]}
    made = make_player(rack, Manner(RATE, 128))
    rendered = np.concatenate([chunk.copy() for chunk in stream(made, score, 0.0)])
    heard = np.concatenate(card.heard)[made.latency :]
    assert len(rendered) > 0.04 * RATE
    assert (flushed(limited(rendered)) == heard[: len(rendered)]).all()
    assert [part["notes"] for part in made.report()["parts"]] == [2, 1, 1]
