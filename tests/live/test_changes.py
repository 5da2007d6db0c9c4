"""The list of programs, as the panel shows it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.live.changes import Programs
from engine.live.player import Player


def programs(names: Sequence[str]) -> Programs:
    player = Player(48_000, 128)
    for number in range(len(names)):
        player.seats.desk.programs[number] = number
    player.seats.desk.latest = 0
    return Programs(player, dict(enumerate(names)), lambda number: pytest.fail("nothing is designed for a list"))


def test_the_list_numbers_every_program_and_marks_the_played_one() -> None:
    some = programs(["sitar-string", "my tanpura", "plain"])
    assert some.listing() == ["*1 sitar-string   2 my tanpura   3 plain"]
    some.player.seats.desk.latest = 2
    assert some.listing() == ["1 sitar-string   2 my tanpura   *3 plain"]


def test_a_long_list_takes_several_lines() -> None:
    names = [f"preset-{number}" for number in range(1, 129)]
    lines = programs(names).listing()
    assert all(len(line) <= 78 for line in lines)
    assert " ".join(lines).split()[::2] == ["*1", *map(str, range(2, 129))]
    assert " ".join(lines).split()[1::2] == names
