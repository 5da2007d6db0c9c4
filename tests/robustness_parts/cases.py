"""One case of any kind, by its seed: what became of it, what it cost, and whether that may be."""

from __future__ import annotations

import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from engine import EngineError, PhysicsWarning
from robustness_parts.broken_midi import play_damaged, play_file, write_damaged
from robustness_parts.broken_presets import check_complaint, play_broken, play_preset, write_broken
from robustness_parts.playing import Case, Fault, case_at_any_rate, network_case, play_case, random_case

MOST_SECONDS, MOST_MB = 2.0, 200.0  # for what comes in by a file: half a second is usual, of keys that are tuned by ear
PATIENT_SECONDS, PATIENT_MB = 5.0, 300.0  # for what is as large as the engine's own limits allow
TRIES = 3  # of a case that took too long: somebody else may have used the machine

KINDS: dict[str, Callable[[Random, Path], str]] = {
    "presets": lambda chance, folder: play_case(random_case(chance), chance),
    "rates": lambda chance, folder: play_case(case_at_any_rate(chance), chance),
    "networks": lambda chance, folder: play_case(network_case(chance), chance),
    "files": play_broken,
    "midi": play_damaged,
}
PATIENT: dict[str, Callable[[Random], Case]] = {
    "presets": random_case,
    "rates": case_at_any_rate,
    "networks": network_case,
}


class Result(NamedTuple):
    """What became of a case: its name, an outcome to be counted, a fault or "", CPU seconds and MB more than before."""

    case: str
    outcome: str
    fault: str
    seconds: float
    megabytes: float


def run_case(case: str, slower: float = 1.0) -> Result:
    """Run the case named kind:seed:number, on a processor so many times as slow as the limits are meant for."""
    result = _run(case, slower)
    for _ in range(TRIES - 1):
        if not result.fault.startswith("took "):
            break
        result = _run(case, slower)
    return result


def _run(case: str, slower: float) -> Result:
    kind = case.partition(":")[0]
    before, began = fresh_memory(), time.process_time()
    fault = outcome = ""
    with tempfile.TemporaryDirectory(prefix="jawari-") as folder, warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", PhysicsWarning)  # random lengths without units are asked about
        try:
            outcome = KINDS[kind](Random(case), Path(folder))
        except EngineError as error:
            outcome = "refused"
            try:
                check_complaint(str(error), folder)
            except Fault as odd:
                fault = f"{odd}: {str(error)[:200]!r}"
        except Fault as found:
            fault = str(found)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            fault = f"{type(error).__name__} in {Path(place.filename).name}:{place.lineno}: {str(error)[:200]}"
    seconds, megabytes = time.process_time() - began, most_memory() - before
    most_seconds, most_mb = (PATIENT_SECONDS, PATIENT_MB) if kind in PATIENT else (MOST_SECONDS, MOST_MB)
    most_seconds *= slower
    if not fault and seconds > most_seconds:
        fault = f"took {seconds:.2f} s of the processor, more than {most_seconds:g} s"
    elif not fault and megabytes > most_mb:
        fault = f"used {megabytes:.0f} MB, more than {most_mb:g} MB"
    return Result(case, "fault" if fault else outcome, fault, seconds, megabytes)


def kept(case: str, why: str) -> dict[str, Any]:
    """A case as data, which means the same when the generators have changed."""
    kind, chance = case.partition(":")[0], Random(case)
    if kind in PATIENT:
        return {"why": why, **PATIENT[kind](chance)}
    with tempfile.TemporaryDirectory(prefix="jawari-") as folder:
        main = write_broken(chance, Path(folder)) if kind == "files" else write_damaged(chance, Path(folder))
        files = {path.name: path.read_bytes().decode("latin-1") for path in sorted(Path(folder).iterdir())}
    return {"why": why, "main": main.name, "files": files}


def play_kept(data: dict[str, Any], folder: Path) -> str:
    """What becomes of it now."""
    if "preset" in data:
        return play_case(data, Random(0))
    for name, text in data["files"].items():
        (folder / name).write_bytes(text.encode("latin-1"))
    main = folder / data["main"]
    return play_file(main) if main.suffix == ".mid" else play_preset(main, Random(0))


def fresh_memory() -> float:
    """MB that this process has now; from here on the system counts the most anew, where it can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return most_memory()
    return _status("VmRSS") or 0.0


def most_memory() -> float:
    """MB that this process had at most."""
    most = _status("VmHWM")
    if most is not None:
        return most
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def _status(name: str) -> float | None:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024.0 for line in lines if line.startswith(f"{name}:")), None)
