"""Where the engine reaches into other packages: which of their internals it uses is written here, and nowhere else.

Such a package may change them with any release, so pyproject.toml declares up to which one they are known.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "engine").rglob("*.py"))

# Modules, names in them, and ".attributes" and "options=" of what they make; by the package that brings them.
INTERNALS = {
    "numba": {
        "numba.core.analysis",  # front.py: its way of writing a function down, with values instead of memory
        "numba.core.base",  # inference.py: what is asked at every step, left out
        "numba.core.caching._Cache",  # machine_code.py puts a cache of its own in its place
        "numba.core.callconv",  # calling.py: results as values
        "numba.core.ccallback.CFunc",  # compiled.py: C functions that are cached there too
        "numba.core.cgutils",
        "numba.core.codegen.CodeLibrary",  # lowering.py: numba as a front end, with a target of its own
        "numba.core.codegen.JITCPUCodegen",
        "numba.core.compiler.CompileResult",
        "numba.core.compiler.CompilerBase",
        "numba.core.compiler.DefaultPassBuilder",
        "numba.core.compiler.Flags",
        "numba.core.compiler.compile_extra",  # by_itself.py: a bridge in place of a function
        "numba.core.compiler_machinery.PassManager",
        "numba.core.compiler_machinery.register_pass",
        "numba.core.compiler_lock.global_compiler_lock",
        "numba.core.cpu.CPUContext",
        "numba.core.datamodel.DataModelManager",
        "numba.core.datamodel.default_manager",
        "numba.core.datamodel.models",  # opened.py: records are pointers
        "numba.core.dispatcher.Dispatcher",
        "numba.core.dispatcher._FunctionCompiler",
        "numba.core.errors.ForceLiteralArg",
        "numba.core.errors.TypingError",
        "numba.core.event.Listener",  # how far compilation is
        "numba.core.event.install_listener",
        "numba.core.interpreter",
        "numba.core.ir",
        "numba.core.lowering.Lower",
        "numba.core.postproc.PostProcessor",
        "numba.core.registry.CPUDispatcher",
        "numba.core.registry.CPUTarget",
        "numba.core.registry.cpu_target",
        "numba.core.serialize.dumps",
        "numba.core.targetconfig.ConfigStack",
        "numba.core.target_extension.CPU",
        "numba.core.target_extension.dispatcher_registry",
        "numba.core.target_extension.jit_registry",
        "numba.core.target_extension.target_override",
        "numba.core.target_extension.target_registry",
        "numba.core.transforms",
        "numba.core.typed_passes.NativeLowering",
        "numba.core.typed_passes",
        "numba.core.typeinfer",
        "numba.core.types.abstract.Type",
        "numba.core.untyped_passes",
        "numba.core.types.functions.BaseFunction",
        "numba.core.types.containers.BaseTuple",  # module.py: arrays in a tuple, one by one
        "numba.core.types",
        "numba.core.types.misc.Optional",
        "numba.core.types.misc.unliteral",
        "numba.core.typing",
        "numba.core.typing.templates.AttributeTemplate",
        "numba.np.arrayobj",  # lowering.py: indices are taken as they stand
        "numba.np.arrayobj.populate_array",  # arrays from addresses
        "._analysis",
        "._cache",
        "._customize_flags",
        "._defns",
        "._get_arg_packer",
        "._rebuild",
        "._reduce",
        "._registries",
        "._wrap_missing_loc",
        "_nrt=",  # without a runtime
    },
    "python-rtmidi": {"rtmidi._rtmidi"},  # the file that JACK's functions are reached through
    "sounddevice": {"_sounddevice_data"},  # the folder that PortAudio lies in
}
# What numba's documents call open; below them everything is meant to be used.
INSIDE = ("numba.core", "numba.np")
# Python's own names that begin so and are documented.
DOCUMENTED = {"_asdict", "_fields", "_replace", "_exit", "_value_", "_length_", "_type_"}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def own_names() -> set[str]:
    """Every name that the engine itself gives to anything."""
    names: set[str] = set()
    for node in (node for file in SOURCES for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            names.add(node.attr)
    return names


def foreign(module: str) -> bool:
    return module.split(".")[0] not in (*sys.stdlib_module_names, "engine")


def inside(path: str) -> bool:
    return path.startswith(INSIDE) or any(map(is_private, path.split(".")))


def internals(source: str, own: set[str]) -> Iterator[str]:
    """Others' internals in a file of ours."""
    tree = ast.parse(source)
    guests: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            guests |= {alias.asname or alias.name.split(".")[0]: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            guests |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if called in ("find_spec", "import_module") and isinstance(node.args[0], ast.Constant):
                guests[str(node.args[0].value)] = str(node.args[0].value)
    python = {name for name, path in guests.items() if not foreign(path)}
    guests = {name: path for name, path in guests.items() if foreign(path)}
    yield from (path for path in guests.values() if inside(path))
    for node in ast.walk(tree) if guests else ():
        if isinstance(node, ast.Attribute):
            whole, part = ast.unparse(node), ast.unparse(node.value)
            root = whole.partition(".")[0]
            if guests.get(root) == root:
                if inside(whole) and not inside(part):
                    yield whole
            elif is_private(node.attr) and node.attr not in own | DOCUMENTED and root not in python:
                yield f".{node.attr}"
        elif isinstance(node, ast.Dict):
            keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
            yield from (f"{key}=" for key in keys if isinstance(key, str) and is_private(key))
        elif isinstance(node, ast.keyword) and node.arg and is_private(node.arg):
            yield f"{node.arg}="


def test_internals_of_others_are_used_as_declared() -> None:
    own = own_names()
    used = {name for file in SOURCES for name in internals(file.read_text(encoding="utf-8"), own)}
    declared = {name for names in INTERNALS.values() for name in names}
    assert used - declared == set(), "internals of other packages: do without, or declare them in INTERNALS"
    assert declared - used == set(), "not used any more: take them out of INTERNALS"


@pytest.mark.parametrize("package", INTERNALS)
def test_a_package_whose_internals_are_used_is_held_to_the_series_that_is_known(package: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [one for one in map(Requirement, project["dependencies"]) if one.name == package]
    assert wanted
    for one in wanted:
        bounds = {spec.operator: spec.version for spec in one.specifier}
        assert set(bounds) == {">=", "<"}, f"{package} has no upper bound"
        below, above = (tuple(map(int, bounds[operator].split("."))) for operator in (">=", "<"))
        assert above == (*below[: len(above) - 1], below[len(above) - 1] + 1), f"{package}: more than one series"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import numba\nnumba.njit(f)", set()),
        ("import numba.core.types as t", {"numba.core.types"}),
        ("import numba\nnumba.core.types.int64", {"numba.core"}),
        ("from numba.np import arrayobj", {"numba.np.arrayobj"}),
        ("from numpy import _core", {"numpy._core"}),
        ("import numpy as np\nnp._core.x", {"._core"}),
        ("import soundfile\nsoundfile._snd.sf_open(1)", {"soundfile._snd"}),
        ("import mido\nport = mido.open()\nport._device.get()", {"._device"}),
        ("import mido\nself._ours, a._replace()", set()),
        ("import os, mido\nos._exit(1), os._own()", set()),
        ("import importlib.util\nimportlib.util.find_spec('_data')", {"_data"}),
        ("import numba\nnumba.njit(_nrt=False, **{'_x': 1})", {"_nrt=", "_x="}),
        ("a._anything", set()),
    ],
)
def test_internals_are_found(source: str, found: set[str]) -> None:
    assert set(internals(source, {"_ours"})) == found
