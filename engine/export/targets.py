"""The systems that code is made for: as LLVM names them, and the levels of processors that one file has code for."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from difflib import get_close_matches

from engine.errors import SettingError
from engine.preset.complaints import shown
from engine.processor import LEVELS, Processor


@dataclass(frozen=True)
class System:
    """A system."""

    name: str
    triple: str
    levels: tuple[str, ...]
    zig: str  # what ziglang's compiler calls it
    library: str  # how the name of a shared library ends
    tried: str  # where its code was run, or that it was not
    features: str = ""  # what processors can do beyond their levels, as LLVM has it

    @property
    def processors(self) -> list[Processor]:
        """What the code is made for, the least first."""
        return [Processor(level, self.features, self.triple) for level in self.levels]


_X86 = tuple(LEVELS)
TARGETS = {
    target.name: target
    for target in (
        System("linux-x86_64", "x86_64-unknown-linux-gnu", _X86, "x86_64-linux-gnu.2.17", ".so", "run in the tests"),
        System(
            "linux-aarch64", "aarch64-unknown-linux-gnu", ("generic",), "aarch64-linux-gnu.2.17", ".so",
            "run in the tests by qemu",
        ),
        System("windows-x86_64", "x86_64-pc-windows-gnu", _X86, "x86_64-windows-gnu", ".dll", "run by wine"),
        System("macos-x86_64", "x86_64-apple-macosx11.0.0", _X86, "x86_64-macos.11.0", ".dylib", "untried"),
        System("macos-arm64", "arm64-apple-macosx11.0.0", ("apple-m1",), "aarch64-macos.11.0", ".dylib", "untried"),
    )
}  # fmt: skip
SYSTEMS = {"linux": "linux", "win32": "windows", "darwin": "macos"}
MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}


def here() -> str:
    """This machine's name among them; it need not be there."""
    system = SYSTEMS.get(sys.platform, sys.platform)
    machine = MACHINES.get(platform.machine().lower(), platform.machine().lower())
    return f"{system}-{'arm64' if (system, machine) == ('macos', 'aarch64') else machine}"


def target_of(name: str | None) -> System:
    """The one that is asked for, or this machine's."""
    wanted = here() if name is None else name
    if wanted not in TARGETS:
        close = get_close_matches(wanted, TARGETS, n=1)
        remedy = f"did you mean {close[0]}?" if close else f"take one of {', '.join(TARGETS)}"
        raise SettingError("--target", shown(wanted), "no such system is known", remedy)
    return TARGETS[wanted]
