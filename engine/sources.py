"""Leaf: which files machine code is made from, and what is the same as long as they are."""

from __future__ import annotations

import functools
import hashlib
import os
import re
from pathlib import Path

_COMPILED = r"^ *@(native|called_by_python|entry|guarded|inlined|pasted|called_by_c|called_with)\b"
_ENTRIES = r"^@(entry|guarded|called_by_c|called_with)\b"
_IMPORTS = r"^ *from engine(?:\.([\w.]+))? import +(\([^)]*\)|.*)"
_COMPILERS = (
    *("elementary", "compiled", "machine_code", "module", "lowering", "front", "calling", "inference", "parts"),
    *("by_itself", "processor", "sources"),
)


def kernel_sources(package: Path) -> list[Path]:
    """The files with compiled functions and everything these import: whatever else changes, machine code stays good."""
    # By names, not as paths, which would take longer than all the rest: every program that begins does this.
    texts = {str(file.relative_to(package)): file.read_text(encoding="utf-8") for file in package.rglob("*.py")}
    waiting = [name for name, text in texts.items() if re.search(_COMPILED, text, re.M)]
    found = {f"{name}.py" for name in _COMPILERS}
    scanned: set[str] = set()
    while waiting:
        file = waiting.pop()
        if file in scanned:
            continue
        scanned.add(file)
        for module, names in re.findall(_IMPORTS, texts[file], re.M):
            folder = module.replace(".", os.sep)
            parts = [f"{folder}.py", *(os.path.join(folder, f"{name}.py") for name in re.findall(r"\w+", names))]
            waiting += [part for part in parts if part in texts and part not in found]
    return sorted(package / name for name in found | scanned)


def entrances(package: Path) -> list[str]:
    """The modules of the package with functions that others call: Python, the audio thread, a MIDI driver."""
    return [
        ".".join(("engine", *file.relative_to(package).with_suffix("").parts))
        for file in kernel_sources(package)
        if re.search(_ENTRIES, file.read_text(encoding="utf-8"), re.M)
    ]


@functools.cache
def digest() -> str:
    """A number that changes with each of these files."""
    package, found = Path(__file__).parent, hashlib.sha256()
    for source in kernel_sources(package):
        found.update(source.relative_to(package).as_posix().encode() + b"\0" + source.read_bytes() + b"\0")
    return found.hexdigest()[:20]
