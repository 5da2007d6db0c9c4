"""The engine under the name of its distribution: `import jawari` is `import engine`, module by module the same objects.

Installed beside the engine (see pyproject.toml); in a clone it stays in here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING

import engine

if TYPE_CHECKING:
    from engine import *  # noqa: F403

OURS, THEIRS = "engine.", f"{__name__}."


class _Same(MetaPathFinder, Loader):
    """Finds jawari.x as the module engine.x: there are never two of anything."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        own = find_spec(OURS + name.removeprefix(THEIRS)) if name.startswith(THEIRS) else None
        return None if own is None else ModuleSpec(name, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(OURS + spec.name.removeprefix(THEIRS))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__ = module.__spec__.loader_state  # it was executed under its own name, and keeps it


for _name in [name for name in sys.modules if name.startswith(OURS)]:
    sys.modules[THEIRS + _name.removeprefix(OURS)] = sys.modules[_name]
sys.meta_path.insert(0, _Same())
sys.modules[__name__] = engine
