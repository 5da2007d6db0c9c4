"""The list of programs, as the panel shows it."""

from __future__ import annotations

import pytest

from engine.live.changes import Programs


def test_the_list_numbers_every_program_and_marks_the_played_one() -> None:
    programs = Programs(["sitar", "my tanpura", "plain"], lambda number: pytest.fail("nothing is designed for a list"))
    assert programs.listing() == ["*1 sitar   2 my tanpura   3 plain"]
    programs.played = 2
    assert programs.listing() == ["1 sitar   2 my tanpura   *3 plain"]


def test_a_long_list_takes_several_lines() -> None:
    names = [f"preset-{number}" for number in range(1, 129)]
    lines = Programs(names, lambda number: pytest.fail("nothing is designed for a list")).listing()
    assert all(len(line) <= 78 for line in lines)
    assert " ".join(lines).split()[::2] == ["*1", *map(str, range(2, 129))]
    assert " ".join(lines).split()[1::2] == names
