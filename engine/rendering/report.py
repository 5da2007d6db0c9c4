"""The report beside a render: what ran, on what, and what came out, as JSON."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from engine.preset.complaints import clean
from engine.rendering.audio_file import check_target, load_library, part_of, publish
from engine.rendering.errors import FileError
from engine.rendering.job import Setup, Treatment


def versions() -> dict[str, str]:
    """Of everything that can change a sample."""
    found = {"jawari": _version("jawari"), "python": platform.python_version(), "machine": platform.machine()}
    found |= {name: _version(name) for name in ("numpy", "numba", "llvmlite", "soundfile")}
    return found | {"libsndfile": load_library().__libsndfile_version__}


def make_report(
    setup: Setup, treatment: Treatment, given: dict[str, Any], renders: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """The report: `given` tells what was played and its remarks, `renders` has an entry per file."""
    return {
        "versions": versions(),
        "input": given,
        "sample_rate": setup.sample_rate,
        "block_size": setup.block_size,
        "bit_depth": treatment.depth,
        "gain_db": treatment.gain,
        "normalize_dbfs": treatment.normalize,
        "tail_seconds": treatment.tail,
        "seed": treatment.seed,
        "renders": list(renders),
    }


def write_report(path: Path, report: dict[str, Any], *, force: bool) -> None:
    """Write a report; the file appears whole or not at all."""
    path = check_target(path, force)
    part = part_of(path)
    try:
        with open(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666), "w", encoding="utf-8") as file:
            json.dump(report, file, indent=2, allow_nan=False)
            file.write("\n")
        publish(part, path, force)
    except OSError as error:
        raise FileError(f"{clean(str(path))}: cannot be written ({error.strerror or error}); make room") from None
    finally:
        part.unlink(missing_ok=True)


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "unknown"
