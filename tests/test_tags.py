"""What a comment cites is there: sections of the physics document (§2.3), its errata (E4), the papers (000 to 004)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENT = (ROOT / "engine" / "physics" / "README.md").read_text(encoding="utf-8")
SECTIONS = set(re.findall(r"^#+ (\d+(?:\.\d+)?)\.? ", DOCUMENT, re.MULTILINE))
ERRATA = re.findall(r"^\| E(\d+) \|", DOCUMENT, re.MULTILINE)
PAPERS = {"000", "001", "002", "003", "004"}
SOURCES = sorted(file for room in ("engine", "scripts", "tests") for file in (ROOT / room).rglob("*.py"))
PHYSICS = [file for file in SOURCES if {"physics", "reproduction"} & set(file.parts)]  # elsewhere E7 may be a key
ELSEWHERE = re.compile(r"NUMERICS|SOUND\.md|LANES\.md|\bT(?:10|[1-9])\b")


def name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def cited(text: str) -> set[str]:
    """The sections that a text names."""
    return set(re.findall(r"§(\d+(?:\.\d+)?)", text))


def test_sections_and_errata_are_numbered_in_order() -> None:
    found = re.findall(r"^(#+) (\d+)(?:\.(\d+))?\.? ", DOCUMENT, re.MULTILINE)
    chapter, part = 0, 0
    for marks, number, below in found:
        chapter, part = (chapter, part + 1) if below else (chapter + 1, 0)
        assert (int(number), int(below or 0), len(marks)) == (chapter, part, 3 if below else 2)
    assert len(re.findall(r"^##+ ", DOCUMENT, re.MULTILINE)) == len(found)
    assert [int(number) for number in ERRATA] == [*range(1, len(ERRATA) + 1)]


@pytest.mark.parametrize("room", ["engine", "scripts", "tests"])
def test_every_tag_leads_to_a_section(room: str) -> None:
    files = [file for file in (ROOT / room).rglob("*.py") if file != Path(__file__)]
    texts = {name(file): file.read_text(encoding="utf-8") for file in files}
    assert {file: left for file, text in texts.items() if (left := cited(text) - SECTIONS)} == {}
    assert any(cited(text) for text in texts.values()) or room == "scripts"


def test_the_document_cites_itself_rightly() -> None:
    assert cited(DOCUMENT) <= SECTIONS


def test_every_erratum_that_is_cited_is_listed() -> None:
    for file in PHYSICS:
        text = file.read_text(encoding="utf-8")
        assert set(re.findall(r"\bE(\d{1,2})\b(?!['\"]?\s*\*)", text)) <= set(ERRATA), name(file)


def test_every_paper_that_is_cited_is_one_of_the_five() -> None:
    for file in SOURCES:
        said = set(re.findall(r"\bpapers? (0\d\d)\b", file.read_text(encoding="utf-8")))
        assert said <= PAPERS, name(file)


def test_no_tag_leads_out_of_the_repository() -> None:
    """What a reader of the repository cannot open is not cited."""
    stray = {name(file) for file in SOURCES if file != Path(__file__) and ELSEWHERE.search(file.read_text("utf-8"))}
    assert stray == set()
