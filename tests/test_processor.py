"""The processor that code is made for: what JAWARI_CPU may say, and that all code of a process is for the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import numba
import pytest

from engine import compiled, machine_code, processor
from engine.errors import Exit, SettingError
from engine.processor import LEVELS, Processor

pytestmark = pytest.mark.skipif(compiled.INTERPRETED, reason="nothing is compiled then")
HERE = processor.known()


@pytest.fixture
def can(monkeypatch: pytest.MonkeyPatch) -> dict[str, bool]:
    """What a processor of x86-64 can do; nothing to begin with."""
    found: dict[str, bool] = {}
    monkeypatch.setattr(llvm, "get_process_triple", lambda: "x86_64-unknown-linux-gnu")
    monkeypatch.setattr(llvm, "get_host_cpu_features", lambda: Features(found))
    return found


class Features(dict[str, bool]):
    def flatten(self) -> str:
        return ",".join(f"+{name}" for name, has in self.items() if has)


def test_a_level_is_known_by_all_that_it_needs(can: dict[str, bool]) -> None:
    expected: list[str] = []
    assert processor.known() == expected
    for level, needed in LEVELS.items():
        for feature in needed:
            assert processor.known() == expected
            can[feature] = True
        expected.append(level)
        assert processor.known() == expected
    can["popcnt"] = False
    assert processor.known() == []


def test_levels_are_llvm_s() -> None:
    """Each makes code, and of what it can do nothing is called otherwise in LLVM."""
    target = llvm.Target.from_triple("x86_64-unknown-linux-gnu")
    for level, needed in LEVELS.items():
        machine = target.create_target_machine(cpu=level, features=",".join(f"+{feature}" for feature in needed))
        assert machine.emit_object(llvm.parse_assembly('target triple = "x86_64-unknown-linux-gnu"'))
    if llvm.get_process_triple().startswith("x86_64"):
        assert {feature for needed in LEVELS.values() for feature in needed} <= set(llvm.get_host_cpu_features())


def test_short_and_whole_names_are_the_same(can: dict[str, bool]) -> None:
    can.update({feature: True for needed in LEVELS.values() for feature in needed})
    for level in LEVELS:
        assert processor.chosen(level) == processor.chosen(level.removeprefix("x86-64-")) == Processor(level)
    assert processor.chosen("native") == processor.native() == processor.chosen("")


@pytest.mark.parametrize(
    "asked", ["v5", "z80", "x86-64", "x86-64-", "V3", " ", "x86-64-x86-64-v3", "v3\n", "x" * 10_000]
)
def test_what_is_no_processor_is_refused(asked: str, can: dict[str, bool]) -> None:
    can.update(dict.fromkeys(LEVELS["x86-64-v2"], True))
    with pytest.raises(SettingError, match="take v2 or native") as caught:
        processor.chosen(asked)
    assert len(str(caught.value)) < 200


def test_what_this_machine_lacks_is_refused(can: dict[str, bool], monkeypatch: pytest.MonkeyPatch) -> None:
    can.update(dict.fromkeys((*LEVELS["x86-64-v2"], *LEVELS["x86-64-v3"]), True))
    with pytest.raises(SettingError, match=r"JAWARI_CPU = v4: .*can't run that; take v2, v3 or native"):
        processor.chosen("v4")
    monkeypatch.setattr(llvm, "get_process_triple", lambda: "arm64-apple-darwin")
    with pytest.raises(SettingError, match="take generic or native"):
        processor.chosen("v2")
    assert processor.chosen("generic") == Processor("generic")


def test_the_best_that_a_wheel_brought_is_taken(
    can: dict[str, bool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(processor, "SHIPPED", tmp_path / "shipped")
    can.update(dict.fromkeys((*LEVELS["x86-64-v2"], *LEVELS["x86-64-v3"]), True))
    assert processor.chosen("") == processor.native()
    (tmp_path / "shipped").mkdir()
    for level in ("x86-64-v4", "x86-64-v2", "x86-64-v3"):
        processor.shipped(level).touch()
        expected = processor.native() if level == "x86-64-v4" else Processor(level)
        assert processor.chosen("") == expected
    assert processor.chosen("native") == processor.native()
    monkeypatch.setattr(processor.sources, "digest", lambda: "of other sources")
    assert processor.chosen("") == processor.native()


PROGRAM = """
from numba.core.registry import cpu_target
from engine import compiled, lowering, machine_code, processor
machine = lowering.machine()
print(*processor.PROCESSOR, cpu_target.target_context.codegen()._get_host_cpu_name(), machine_code.fingerprint())
"""


def test_all_code_is_for_the_processor_that_was_asked_for() -> None:
    prints = {machine_code.fingerprint()}
    for level in HERE:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, processor.VARIABLE: level},
            capture_output=True,
            text=True,
            check=True,
        )
        first, second, fingerprint = done.stdout.split()
        assert first == second == level
        prints.add(fingerprint)
    assert len(prints) == len(HERE) + (numba.config.CPU_NAME not in HERE)


def test_a_command_says_it_in_one_line(tmp_path: Path) -> None:
    for arguments in (
        ["render", "plain", "-o", str(tmp_path / "a.wav")],
        ["simulate", "plain", "--seconds", "1 ms"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "engine.start", *arguments],
            env={**os.environ, processor.VARIABLE: "z80"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == Exit.USAGE
        assert done.stderr.startswith("jawari: JAWARI_CPU = z80: no such processor is known; take ")
        assert done.stderr.count("\n") == 1
        assert done.stdout == ""
