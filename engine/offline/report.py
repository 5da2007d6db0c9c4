"""The report beside a render: what ran, on what, and what came out, as JSON."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.files.audio_file import load_library
from engine.files.target import is_sink, open_sink, whole_file
from engine.offline.job import Manner, Treatment
from engine.versions import version_of


def versions() -> dict[str, str]:
    """Of everything that can change a sample."""
    found = {"jawari": version_of("jawari"), "python": platform.python_version(), "machine": platform.machine()}
    found |= {name: version_of(name) for name in ("numpy", "numba", "llvmlite", "soundfile")}
    return found | {"libsndfile": load_library().__libsndfile_version__}


def make_report(
    setup: Manner, treatment: Treatment, given: dict[str, Any], renders: Sequence[dict[str, Any]]
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
        "loudness_lufs": treatment.loudness,
        "limit": treatment.limit,
        "tail_seconds": treatment.tail,
        "seed": treatment.seed,
        "renders": list(renders),
    }


def write_report(path: Path, report: dict[str, Any], *, force: bool) -> None:
    """Write a report; a file appears whole or not at all."""
    text = json.dumps(report, indent=2, allow_nan=False).encode() + b"\n"
    if is_sink(path):
        with open_sink(path) as sink:
            sink.write(text)
    else:
        with whole_file(path, force) as part:
            part.write_bytes(text)
