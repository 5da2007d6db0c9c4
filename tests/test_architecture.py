"""The house keeps its shape: imports point one way, physics does no I/O, files stay small."""

from __future__ import annotations

import ast
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import engine

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "engine"
SOURCES = sorted(PACKAGE.rglob("*.py"))
ALL = sorted(f for room in ("engine", "scripts", "tests") for f in (ROOT / room).rglob("*.py"))

# A module imports from its own floor and from those below.
FLOORS = (
    {"errors", "units", "cache", "machine_code", "compiled", "vectors", "aligned", "versions", "reading", "printable"}
    | {
        "alone",
        "by_itself",
        "cores",
        "calling",
        "elementary",
        "elementwise",
        "ending",
        "front",
        "increments",
        "inference",
        "interrupts",
        "joined",
        "lanes",
        "pairs",
        "layout",
        "levels",
        "lowering",
        "messages",
        "module",
        "nodes",
        "opened",
        "parts",
        "processor",
        "sources",
        "terminal",
        "threads",
    },
    {"physics"},
    {"preset"},
    {"files"},
    {"synth"},
    {"music"},
    {"offline"},
    {"profiling"},
    {"study"},
    {"live"},
    {"edit"},
    {"export"},
    {"commands"},
    {"cli"},
    {"start", "jawari", "recording"},
)
# Within live play, where a file beside the rooms is a room of its own; those on one floor do not know each other.
LIVE = (
    {"errors", "hush", "thread"},
    {"player"},
    {"meter", "sound_take", "changes", "ahead", "helper"},
    {"droning"},
    {"audio", "midi", "screen", "recorder"},
    {"session", "measured"},
)
COMPILERS = {
    "machine_code",
    "compiled",
    "vectors",
    "lanes",
    "joined",
    "pairs",
    "alone",
    "by_itself",
    "nodes",
    "increments",
    "opened",
    "module",
    "lowering",
    "front",
    "calling",
    "inference",
    "levels",
    "processor",
    "threads",
}
# Who else may be asked in, and by whom; numpy comes everywhere.
GUESTS = {
    "numba": COMPILERS,
    "llvmlite": COMPILERS,
    "yaml": {"preset"},
    "matplotlib": {"study"},
    "soundfile": {"files"},
    "mido": {"music", "live"},
    "rtmidi": {"live"},
    "aiohttp": {"edit", "commands"},
}
LAZY = {"matplotlib", "soundfile", "mido", "rtmidi"}  # the engine works without them
WORLD = {
    *("os", "io", "pathlib", "sys", "shutil", "tempfile", "glob", "subprocess", "socket", "argparse", "logging"),
    *("json", "csv", "pickle", "sqlite3", "urllib", "http", "threading", "multiprocessing"),
}


# Bytes from 0x80 on, written as such, that are no MIDI message's.
OTHER_BYTES = {
    "engine/music/midi_run.py": {"0x80"},  # of a number in a MIDI file: more of it follows
    "engine/synth/admission.py": {"0xFF"},  # the largest byte
    "engine/live/midi/native.py": {"0xFF"},  # begins no text in UTF-8
}


def name_of(file: Path) -> str:
    """engine/physics/modal.py is physics.modal; the package itself is empty."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def imports(file: Path) -> Iterator[tuple[str, bool]]:
    """Every module imported, with its dots; whether at the top, where importing the file imports it too."""
    module = tree(file)
    for node in ast.walk(module):
        top = node in module.body
        if isinstance(node, ast.Import):
            yield from ((alias.name, top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            base = node.module or ""
            for alias in node.names:
                inside = PACKAGE.joinpath(*base.split(".")[1:], alias.name)
                is_module = base.startswith("engine") and (inside.is_dir() or inside.with_suffix(".py").is_file())
                yield f"{base}.{alias.name}" if is_module else base, top


def floor(room: str, floors: tuple[set[str], ...] = FLOORS) -> int:
    for i, rooms in enumerate(floors):
        if room in rooms:
            return i
    raise AssertionError(f"{room} is on no floor: say in FLOORS from where it may import")


# --- imports ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", [f for f in SOURCES if name_of(f)], ids=name_of)
def test_imports_point_down(file: Path) -> None:
    here = floor(name_of(file).split(".")[0])
    for module, _ in imports(file):
        if module.split(".")[0] == "engine":
            if name_of(file) == "jawari":  # it is that face, under another name
                continue
            assert "." in module, "the package's own face is for users"
            assert floor(module.split(".")[1]) <= here, f"{name_of(file)} imports {module}"


@pytest.mark.parametrize("file", sorted((PACKAGE / "live").rglob("*.py"))[1:], ids=name_of)
def test_rooms_of_live_play_do_not_know_each_other(file: Path) -> None:
    here = name_of(file).split(".")[1]
    for module, _ in imports(file):
        if module.startswith("engine.live."):
            there = module.split(".")[2]
            assert there == here or floor(there, LIVE) < floor(here, LIVE), f"{name_of(file)} imports {module}"


def test_no_imports_go_in_circles() -> None:
    graph = {
        name_of(f): {m.removeprefix("engine.") for m, top in imports(f) if top and m.startswith("engine.")}
        for f in SOURCES
    }
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, f"circle: {' -> '.join((*path, module))}"
        if module not in done:
            for other in graph.get(module, ()):
                visit(other, (*path, module))
            done.add(module)

    for module in graph:
        visit(module, ())


@pytest.mark.parametrize("file", SOURCES, ids=lambda f: name_of(f) or "engine")
def test_guests_come_only_where_they_are_asked_in(file: Path) -> None:
    room = name_of(file).split(".")[0]
    for module, top in imports(file):
        package = module.split(".")[0]
        if package in sys.stdlib_module_names or package in ("engine", "numpy"):
            continue
        assert room in GUESTS.get(package, set()), f"{name_of(file)} imports {package}"
        assert not (top and package in LAZY), f"{package} is imported before anybody needs it"


def test_every_guest_is_a_declared_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = [line for lines in project["optional-dependencies"].values() for line in lines]
    declared = {re.split(r"[^\w-]", line)[0] for line in [*project["dependencies"], *extra]}
    names = {"yaml": "pyyaml", "llvmlite": "numba", "rtmidi": "python-rtmidi"}  # numba brings its own llvmlite
    used = {module.split(".")[0] for file in SOURCES for module, _ in imports(file)}
    for package in used - set(sys.stdlib_module_names) - {"engine"}:
        assert names.get(package, package) in declared, f"{package} is used but not declared"


@pytest.mark.parametrize("file", sorted((PACKAGE / "physics").rglob("*.py")), ids=name_of)
def test_physics_knows_nothing_of_the_world(file: Path) -> None:
    assert not {module.split(".")[0] for module, _ in imports(file)} & WORLD
    called = {n.func.id for n in ast.walk(tree(file)) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    assert not called & {"open", "print", "input", "exec", "eval"}


def numbered(module: ast.Module) -> set[str]:
    """Names that a module gives to numbers in a row: A, B, C = range(3)."""
    found = set()
    for node in ast.walk(module):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and ast.unparse(node.value.func) == "range"
        ):
            found |= {name.id for to in node.targets for name in ast.walk(to) if isinstance(name, ast.Name)}
    return found


def indices(module: ast.Module) -> set[str]:
    """Names, with or without their module's, that stand within brackets."""
    inside = [part for node in ast.walk(module) if isinstance(node, ast.Subscript) for part in ast.walk(node.slice)]
    return {part.id for part in inside if isinstance(part, ast.Name)} | {
        part.attr for part in inside if isinstance(part, ast.Attribute)
    }


def test_memory_has_named_fields_and_no_numbered_columns() -> None:
    """What an instrument and live play remember is declared by `record`; numbers in a row are for states and kinds."""
    old = ast.parse("READ, WRITTEN = range(2)\nstate[WRITTEN], voices[:, f.READ] = ring[READ, 0], HELD")
    assert numbered(old) & indices(old) == {"READ", "WRITTEN"}
    files = [file for file in SOURCES if name_of(file).split(".")[0] in ("synth", "live", "layout")]
    numbers = set().union(*(numbered(tree(file)) for file in files))
    assert {"FREE", "HELD", "ABSENT"} <= numbers
    for file in files:
        found = numbers & indices(tree(file))
        assert not found, f"{name_of(file)}: {sorted(found)} number columns; declare a record (engine/layout.py)"


def test_nothing_is_imported_by_a_star() -> None:
    """But by the package's other face, which is the same."""
    for file in SOURCES:
        for node in ast.walk(tree(file)):
            if isinstance(node, ast.ImportFrom) and name_of(file) != "jawari":
                assert [alias.name for alias in node.names] != ["*"], f"{name_of(file)} imports * from {node.module}"


def test_compiler_flags_are_named_in_one_place() -> None:
    for file in SOURCES:
        if name_of(file) != "compiled":
            for node in ast.walk(tree(file)):
                assert getattr(node, "attr", getattr(node, "id", "")) not in ("njit", "jit", "guvectorize")


def test_midi_is_spelled_in_one_place() -> None:
    """Every other file asks messages.py: for a status, its channel, how long a message is."""
    found: dict[str, set[str]] = {}
    for file in [*SOURCES, *(ROOT / "scripts").rglob("*.py")]:
        with tokenize.open(file) as text:
            for token in tokenize.generate_tokens(text.readline):
                number = token.type == tokenize.NUMBER and re.fullmatch(r"(?i)0x(0f|[89a-f][0-9a-f])", token.string)
                octets = token.type == tokenize.STRING and re.match(r"(?is)b.*\\x[89a-f][0-9a-f]", token.string)
                if number or octets:
                    found.setdefault(file.relative_to(ROOT).as_posix(), set()).add(token.string)
    assert found.pop("engine/messages.py")
    assert found == OTHER_BYTES


def test_no_library_decides_a_sum_of_design() -> None:
    """Its sums differ with the processor and the threads: linear.py has its own. References and pictures may."""
    forbidden = {"linalg", "fft", "dot", "vdot", "inner", "matmul", "einsum", "tensordot", "interp", "convolve"}
    for file in SOURCES:
        rooms = name_of(file).split(".")
        if rooms[0] not in ("physics", "preset", "synth") or "reference" in rooms:
            continue
        for node in ast.walk(tree(file)):
            assert not isinstance(node, ast.MatMult), f"{name_of(file)}: @ is a library's"
            assert getattr(node, "attr", "") not in forbidden, f"{name_of(file)}: {ast.unparse(node)}"


# What reaches the sound takes these from elementary.py and elementwise.py: libraries differ in the last digit.
INEXACT = {"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "power", "pow", "float_power", "cbrt", "hypot"} | {
    prefix + name for prefix in ("", "a", "arc") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")
}
SOUNDING = [f for f in SOURCES if name_of(f).split(".")[0] in ("physics", "preset", "synth", "units", "offline")]


@pytest.mark.parametrize("file", [f for f in SOUNDING if "reference" not in name_of(f)], ids=name_of)
def test_no_library_takes_a_sine_that_is_heard(file: Path) -> None:
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.ImportFrom) and node.module in ("math", "numpy", "cmath"):
            assert not {alias.name for alias in node.names} & INEXACT, f"{name_of(file)} takes it from {node.module}"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("np", "math"):
            assert node.attr not in INEXACT, f"{name_of(file)}: {node.value.id}.{node.attr}"
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            # Squares are products, in compiled code and of arrays; powers of whole numbers and decimals are exact.
            base, power = ast.unparse(node.left), ast.unparse(node.right)
            exact = power == "2" or base.lstrip("-").isdigit() or base.startswith("int(") or "Decimal" in base
            assert exact, f"{name_of(file)}: {base} ** {power}"


COMPILED = {"native", "inlined", "pasted", "entry", "guarded", "called_by_python", "called_with", "called_by_c"}


def powers(module: ast.Module) -> list[str]:
    """Those in functions that are compiled."""
    compiled = [
        node
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef)
        and {ast.unparse(decorator).partition("(")[0] for decorator in node.decorator_list} & COMPILED
    ]
    parts = [part for function in compiled for part in ast.walk(function)]
    return [ast.unparse(part) for part in parts if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Pow)]


def test_squares_in_compiled_code_are_products() -> None:
    """A power is taken there by a loop that asks at each factor; sums of squares took four times as long."""
    assert powers(ast.parse("@native\ndef f(x):\n    return x ** 2\ndef g(x):\n    return x ** 3")) == ["x ** 2"]
    for file in SOURCES:
        assert not powers(tree(file)), name_of(file)


# --- size and form ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ALL, ids=lambda f: str(f.relative_to(ROOT)))
def test_files_and_functions_stay_small(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 500
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno + 1 <= 60, f"{node.name} is too long"
            count = len(node.args.posonlyargs) + len(node.args.args) + len(node.args.kwonlyargs)
            assert count <= 12, f"{node.name} takes {count} arguments"


@pytest.mark.parametrize("file", SOURCES, ids=lambda f: name_of(f) or "engine")
def test_every_module_says_what_it_is(file: Path) -> None:
    module = tree(file)
    assert ast.get_docstring(module) or not module.body


def test_a_name_of_a_class_means_one_thing() -> None:
    """But for what each model of a string has of its own."""
    homes: dict[str, list[str]] = {}
    for file in SOURCES:
        for node in tree(file).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(name_of(file))
    shared = {name: files for name, files in homes.items() if len(files) > 1}
    assert not shared.keys() - {"Coefficients", "Design", "Scheme", "State"}, shared


def test_no_script_hides_a_module_of_python() -> None:
    """A script's folder comes first on the path: scripts/profile.py would break numba, string.py everything."""
    for file in [*(ROOT / "scripts").iterdir(), *(ROOT / "tests").iterdir(), *PACKAGE.iterdir()]:
        assert file.stem not in sys.stdlib_module_names


def test_the_public_api_is_there() -> None:
    assert sorted(engine.__all__) == list(engine.__all__)
    for name in engine.__all__:
        assert getattr(engine, name).__doc__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert engine.__version__ == project["version"]
    assert f"## {engine.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
