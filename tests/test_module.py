"""The engine's own module: what can be called in it and what it calls, what damage to it costs, who shares it."""

from __future__ import annotations

import ast
import ctypes
import importlib
import json
import logging
import os
import platform
import re
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
import pytest
from llvmlite import ir
from numba.core.errors import NumbaError
from one_string import ONE_STRING

from engine import Instrument, cache, compiled, load_preset, module, parts, processor, sources
from engine.compiled import floats, native
from engine.physics import linear, modal
from engine.processor import PROCESSOR, Processor
from engine.synth.ring import push

PACKAGE = Path(compiled.__file__).parent

pytestmark = pytest.mark.skipif(compiled.INTERPRETED, reason="nothing is compiled then")


@pytest.fixture(scope="module")
def whole() -> bytes:
    """The module as it is kept."""
    module.code()
    content = cache.read(module.name())
    assert content is not None
    return content


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[Path]:
    """An empty cache and nothing loaded, for as long as the test lasts."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "kept"))
    monkeypatch.setattr(cache, "_said", set())
    monkeypatch.setattr(module, "_here", [])
    cache._place.cache_clear()
    with caplog.at_level(logging.INFO, "jawari"):
        yield tmp_path / "kept" / module.name()
    cache._place.cache_clear()


@pytest.fixture
def making(whole: bytes, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """How often it was made: nothing is compiled here."""
    made: list[bytes] = []

    def make() -> bytes:
        time.sleep(0.05)
        made.append(whole)
        return whole

    monkeypatch.setattr(module, "make", make)
    return made


# --- what can be called, and what is --------------------------------------------------------------------------------


def declared() -> set[str]:
    """Every function in the sources with a decorator of an entry."""
    found = set()
    for file in PACKAGE.rglob("*.py"):
        place = ".".join(("engine", *file.relative_to(PACKAGE).with_suffix("").parts))
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            for mark in getattr(node, "decorator_list", []):
                name = mark.func if isinstance(mark, ast.Call) else mark
                if getattr(name, "id", "") in ("entry", "guarded", "called_by_c", "called_with"):
                    found.add(f"{place}.{node.name}")
    return found


def test_what_the_sources_declare_can_be_called_and_nothing_else(whole: bytes) -> None:
    head, _, code = whole.partition(b"\n")
    for place in sources.entrances(PACKAGE):
        importlib.import_module(place)
    assert set(json.loads(head)["entries"]) == declared() == set(module.ENTRIES)
    assert {"engine.synth.renderer.play", "engine.synth.ring.push"} <= declared()
    if code.startswith(b"\x7fELF"):
        assert {name for name, defined in all_symbols(whole) if defined} == declared() | set(parts.APART)


# Of the C library, and the processor's own where an operation has no instruction.
ALLOWED = {
    *("exp", "exp2", "log", "log2", "pow", "sin", "cos", "sincos", "tan", "sinh", "cosh", "tanh", "sqrt", "fmod"),
    *("ceil", "floor", "fma", "round", "memset", "memcpy", "memmove", "clock_gettime", "QueryPerformanceCounter"),
    "_GLOBAL_OFFSET_TABLE_",
}


def test_it_needs_nothing_but_the_c_library(whole: bytes) -> None:
    code = whole.partition(b"\n")[2]
    if not code.startswith(b"\x7fELF"):
        pytest.skip("the test reads ELF only")
    assert {name for name, defined in all_symbols(whole) if not defined} <= ALLOWED | set(parts.APART)
    for word in (b"numba", b"NRT_", b".const.pickle"):
        assert word not in code
    assert not re.search(rb"_?Py(_[A-Z]|[A-Z][a-z]+_)", code)  # the interpreter's names; two letters come by chance


def all_symbols(whole: bytes) -> list[tuple[str, bool]]:
    """Of all its object files."""
    return [found for code in module.objects(whole) for found in symbols(code)]


def symbols(code: bytes) -> list[tuple[str, bool]]:
    """Names that an object file for ELF (64 bits) shows, and whether they are defined in it."""
    (at,) = struct.unpack_from("<Q", code, 0x28)
    count, size = struct.unpack_from("<H", code, 0x3C)[0], 64
    heads = [struct.unpack_from("<IIQQQQIIQQ", code, at + size * n) for n in range(count)]
    found = []
    for _, kind, _, _, start, length, link, *_ in heads:
        if kind != 2:
            continue
        names = heads[link][4]
        for row in range(start, start + length, 24):
            name, info, _, section, _, _ = struct.unpack_from("<IBBHQQ", code, row)
            if info >> 4:  # not local
                found.append((code[names + name :].partition(b"\0")[0].decode(), section != 0))
    return found


def spd(size: int) -> Any:
    """A matrix that has a factor."""
    a = np.random.default_rng(size).standard_normal((size, size))
    return a @ a.T + np.eye(size)


def test_arrays_of_design_go_through_the_door_and_all_others_by_themselves(
    monkeypatch: pytest.MonkeyPatch, whole: bytes
) -> None:
    """With the same bits, as with what is compiled for the test alone; what is no array is refused."""
    monkeypatch.setattr(module, "_here", [module.Code(whole)])
    by_itself = compiled.called_by_python(linear.solve.py_func)
    went = []
    monkeypatch.setitem(linear.solve.__dict__, "door", lambda *words: went.append(words))
    for a, x in ((spd(5), np.arange(5.0)), (spd(1), np.ones(1))):
        linear.solve(a, x)
        assert went.pop() == (a.ctypes.data, *a.shape, x.ctypes.data, *x.shape)
    monkeypatch.delitem(linear.solve.__dict__, "door")
    for size in (1, 2, 7, 30):
        a, x = spd(size), np.linspace(-1.0, 2.0, size)
        b, y = a.copy(), x.copy()
        linear.solve(a, x)
        by_itself(b, y)
        assert (a.tobytes(), x.tobytes()) == (b.tobytes(), y.tobytes())
        turned, z = np.asfortranarray(spd(size)), np.linspace(-1.0, 2.0, size)
        linear.solve(turned, z)
        assert z.tobytes() == x.tobytes()
    with pytest.raises(NumbaError):
        linear.solve(a.tolist(), x.tolist())


def test_a_tuple_of_arrays_goes_through_the_door() -> None:
    c = modal.design(load_preset("sitar-string").problem, 48_000.0).coefficients
    again = c._replace(**{name: np.zeros_like(getattr(c, name)) for name in ("answer", "ahead", "response")})
    modal.answer.py_func(again, np.zeros(c.forward.size))
    for name in ("answer", "ahead", "response"):
        assert getattr(again, name).tobytes() == getattr(c, name).tobytes()
        assert getattr(c, name).any()


def test_an_address_of_this_process_is_found() -> None:
    from engine import lowering

    assert lowering.foreign("store i64 %x, ptr inttoptr (i64 139637976727552 to ptr)")
    assert lowering.foreign('@"numba.dynamic.globals.7f" = global ptr null')
    assert not lowering.foreign("store i64 %x, ptr inttoptr (i64 %y to ptr)\n %z = add i64 139637976727552, 1")


def test_python_keeps_its_lock_where_only_one_may_call() -> None:
    from engine.synth.renderer import play

    assert push.door._flags_ & ctypes._FUNCFLAG_PYTHONAPI  # type: ignore[attr-defined]
    assert not play.door._flags_ & ctypes._FUNCFLAG_PYTHONAPI  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        play(1, 2)
    with pytest.raises(ctypes.ArgumentError):
        play(1.5, 2, 3)


def test_an_entry_s_address_is_a_c_function() -> None:
    from engine.synth.renderer import play

    inst = Instrument(load_preset("plain"), polyphony=2)
    assert inst.schedule(0, [0x90, 60, 100])
    out, again = np.zeros((64, 2), np.float32), np.zeros((64, 2), np.float32)
    ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 3)(play.address)(inst.address, 64, out.ctypes.data)
    inst.reset()
    assert inst.schedule(0, [0x90, 60, 100])
    inst.run(again)
    assert again.any()
    assert (out == again).all()


# --- made from numba's front end --------------------------------------------------------------------------------------


@native
def larger(address: Any, count: Any) -> Any:
    best = -np.inf
    for value in floats(address, count):
        best = max(best, min(value, 10.0))
    return best > 2.0


@native
def doubled(address: Any, count: Any) -> None:
    values = floats(address, count)
    for n in range(count):
        values[n] = np.exp(np.log(values[n])) + values[n]


def test_functions_are_typed_lowered_and_linked_and_say_how_far_they_are() -> None:
    from engine import lowering

    told: list[float] = []
    given = (numba.int64, numba.int64)
    doors = {"larger": lowering.Door(larger, given), "doubled": lowering.Door(doubled, given)}
    code, returning = lowering.compiled(doors, 4, told.append)
    assert returning == {"larger": True, "doubled": False}
    assert told == sorted(told)
    assert 0.0 < told[0] < told[-1] < 1.0
    made = module.Code(module.sealed([code], returning))
    a = np.array([1.0, 0.5])
    for expected in (0, 0, 1):
        assert made.function("larger", False, 2)(a.ctypes.data, 2) == expected
        made.function("doubled", True, 2)(a.ctypes.data, 2)
    assert a == pytest.approx([8.0, 4.0])
    assert not larger.overloads, "numba's own compilation knows nothing of it"


def test_whoever_follows_is_told_and_the_line_is_wiped_off(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    with compiled.compilations(lambda *facts: told.append(facts)):
        for share in (0.0, 0.4, 1.0):
            module.tell(share)
    module.tell(0.5)
    assert told == [(0, True, 0.0), (0, True, 0.4), (0, False, 1.0)]


# --- made in parts ----------------------------------------------------------------------------------------------------


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Which parts this process makes: nothing is compiled."""
    made: list[int] = []

    def part(number: int, aim: Processor) -> bytes:
        made.append(number)
        return module.sealed([b"here" * number], {f"entry {number}": True})

    monkeypatch.setattr(module, "part", part)
    monkeypatch.setattr(parts, "cores", lambda: 2)
    return made


def helped_by(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "HELP", program)


THERE = module.sealed([b"there"], {"entry 1": True})


def test_a_helper_makes_the_second_part(pretended: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    helped_by(f"from engine.parts import hand_over; hand_over(lambda: {THERE!r})", monkeypatch)
    assert module.make() == module.sealed([b"", b"there"], {"entry 0": True, "entry 1": True})
    assert pretended == [0]


@pytest.mark.parametrize(
    "program", ["syntax error", "import os; os._exit(3)", "print(5); exit(1)", "import os; os.abort()", "pass"]
)
def test_a_helper_that_fails_is_done_without(
    program: str, pretended: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    helped_by(program, monkeypatch)
    assert module.make() == module.sealed([b"", b"here"], {"entry 0": True, "entry 1": True})
    assert pretended == [0, 1]


@pytest.mark.parametrize("program", ["", "/not/there/python", "/bin/host"])
def test_where_no_helper_can_be_started_one_process_makes_all(
    program: str, pretended: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", program)
    module.make()
    assert pretended == [0, 1]


def test_one_core_needs_no_helper(pretended: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "cores", lambda: 1)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    module.make()
    assert pretended == [0, 1]


def test_a_helper_ends_with_whoever_asked_for_it() -> None:
    program = "from engine.parts import hand_over; import time; hand_over(lambda: time.sleep(60))"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        process.stdin.close()
        assert process.wait(30) == 1


def test_a_helper_of_other_sources_makes_nothing() -> None:
    program = [sys.executable, "-c", parts.HELP, "1", "other sources", *PROCESSOR]
    run = subprocess.run(program, stdin=subprocess.PIPE, capture_output=True, check=False)
    assert (run.returncode != 0, run.stdout) == (True, b"")


# --- kept -------------------------------------------------------------------------------------------------------------


def test_it_is_made_once_and_then_read(place: Path, making: list[bytes], caplog: pytest.LogCaptureFixture) -> None:
    module.tell_if_cold()
    assert [message.split(",")[0] for message in caplog.messages] == ["compiling for this machine"]
    threads = [threading.Thread(target=module.code) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(making) == 1
    module._here.clear()
    module.code()
    module.tell_if_cold()
    assert len(making) == len(caplog.messages) == 1


def _cut(path: Path, whole: bytes) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _empty(path: Path, whole: bytes) -> None:
    path.write_bytes(b"")


def _foreign(path: Path, whole: bytes) -> None:
    if os.name == "nt" or os.geteuid() != 0:
        pytest.skip("only root can give files away")
    os.chown(path, 12_345, -1)


def _folder(path: Path, whole: bytes) -> None:
    path.unlink()
    path.mkdir()


def _other(content: Callable[[bytes], bytes]) -> Callable[[Path, bytes], None]:
    return lambda path, whole: cache.write(module.name(), content(whole))


DAMAGE: dict[str, Callable[[Path, bytes], None]] = {
    "cut": _cut,
    "empty": _empty,
    "of somebody else": _foreign,
    "a folder": _folder,
    "sealed, and no object file": _other(lambda whole: whole.replace(b"\x7fELF", b"\x7fELE")),
    "sealed, and no list of entries": _other(lambda whole: b"\xff\xfe" + whole),
    "sealed, and an entry is missing": _other(lambda whole: module.sealed(module.objects(whole), {"gone": True})),
    "sealed, and nothing in it": _other(lambda whole: b""),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_damage_costs_a_line_and_a_compilation(
    how: str, place: Path, making: list[bytes], whole: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    module.code()
    DAMAGE[how](place, whole)
    module._here.clear()
    module.code()
    assert len(making) == 2
    assert len(caplog.messages) == 1
    assert "made anew" in caplog.messages[0]
    module._here.clear()
    module.code()
    assert len(making) == 2


@pytest.mark.parametrize("brought", [lambda whole: whole[:-1], lambda whole: b"", lambda whole: whole])
def test_what_a_wheel_brought_is_taken_unless_it_is_damaged(
    brought: Callable[[bytes], bytes],
    place: Path,
    making: list[bytes],
    whole: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(processor, "SHIPPED", tmp_path)
    processor.shipped(PROCESSOR.name).write_bytes(brought(whole))
    for _ in range(2):
        module._here.clear()
        module.code()
    damaged = brought(whole) != whole
    assert (len(making), place.exists()) == (damaged, damaged)


def test_a_wheel_is_brought_what_is_kept_and_else_what_is_made(
    place: Path, making: list[bytes], tmp_path: Path
) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        module.ship(str(tmp_path / folder))
        (brought,) = (tmp_path / folder).iterdir()
        assert brought.name == processor.shipped(PROCESSOR.name).name
        assert [brought.read_bytes()] == making


def test_a_warm_start_needs_no_compiler() -> None:
    """Nothing is typed, lowered or optimised, and the front end is not even imported."""
    program = (
        "import sys; from engine import compiled, module; from engine.synth.ring import push; done = [0]\n"
        "with compiled.compilations(lambda count, *_: done.append(count)): assert push.address\n"
        "print(done, 'engine.lowering' in sys.modules)"
    )
    module.code()
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (run.stdout.strip(), run.stderr) == ("[0] False", "")


def test_a_warm_instrument_asks_numba_for_nothing() -> None:
    """Code of numba's own, however small, brings half a second of libraries with it."""
    program = (
        "import sys; from engine import Instrument, machine_code\n"
        "def refuse(code, *_): sys.exit(f'{code._function} is compiled by numba')\n"
        "machine_code.MachineCode.load_overload = refuse\n"
        "for name in sys.argv[1:]: Instrument(name)"
    )
    for name in ONE_STRING:
        Instrument(name)
    run = subprocess.run([sys.executable, "-c", program, *ONE_STRING], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


# --- arithmetic -------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(PROCESSOR.family not in compiled.FLUSHING, reason="nothing is flushed on other machines")
def test_the_renderer_takes_the_smallest_numbers_as_zero() -> None:
    """What the DC blocker holds, 1e-310, is nothing, whoever calls."""
    inst = Instrument(load_preset("plain"), polyphony=2)
    inst.machine.idle = inst.machine.quiet = 0
    mean = inst.machine.finished.mean
    mean[0], mean[2] = 1e-310, 2.0
    inst.run(np.zeros((4, 2), np.float32))
    assert mean[2] < 2.0  # it has been drained
    assert mean[0] == 0.0
    assert np.array([1e-310])[0] * 0.5 > 0.0


def test_arm_s_control_word_is_read_and_written() -> None:
    made = ir.Module("arm")
    number = ir.IntType(64)
    function = ir.Function(made, ir.FunctionType(number, [number]), "exchange")
    builder = ir.IRBuilder(function.append_basic_block())
    before = compiled.read_control_word(builder, "arm")
    compiled.write_control_word(builder, "arm", *function.args)
    builder.ret(before)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple("aarch64-unknown-linux-gnu").create_target_machine()
    text = machine.emit_assembly(llvm.parse_assembly(str(made)))
    assert re.search(r"mrs\s+x\d+, FPCR", text)
    assert re.search(r"msr\s+FPCR, x\d+", text)


def test_a_family_of_processors_is_known_by_its_systems_names() -> None:
    for name, family in (("x86_64", "x86"), ("aarch64", "arm"), ("arm64", "arm"), ("riscv64", "riscv64")):
        assert Processor("generic", "", f"{name}-unknown-linux-gnu").family == family
    machine = {"x86_64": "x86", "amd64": "x86", "aarch64": "arm", "arm64": "arm"}
    assert PROCESSOR.family == machine.get(platform.machine().lower(), PROCESSOR.family)
