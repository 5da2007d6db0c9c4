#!/usr/bin/env python3
"""Write the tables of the documents: between `<!-- made: NAME -->` and `<!-- end -->` stands what this makes.

    python3 scripts/make_tables.py              write them anew
    python3 scripts/make_tables.py --check      only tell which documents are out of date
    python3 scripts/make_tables.py --measure    measure first (five minutes; let nothing else run); a name behind it
                                                chooses: accuracy, engine, exports, judged, load, papers, redesigns

Lists come from the presets and the schema, figures from scripts/measured/, where --measure writes them.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

import judge_presets
import measure_recordings
from lists import gallery, presets, scales, table

import engine
from engine.live.meter import BegunNote, Level, Load, Reading, SoundingString
from engine.live.screen.key_table import help_lines, hint
from engine.live.screen.panel import Look, draw
from engine.physics.network.bodies import BODIES, named
from engine.preset.files import shipped
from engine.preset.materials import MATERIALS
from engine.preset.parameters import PARAMETERS
from engine.preset.schema import render_markdown
from engine.profiling.computer import computer, computer_line
from engine.units import QUANTITIES

MEASURED = ROOT / "scripts" / "measured"
PART = re.compile(r"(<!-- made: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
BLOCK, RATE = 64, 48_000  # of scripts/bench_engine.py, and of what is asked of `jawari profile`
DEADLINE = 1e6 * BLOCK / RATE  # µs


def documents() -> list[Path]:
    """Every document that is kept beside the code."""
    rooms = ("engine", "presets", "scripts", "tests")
    return sorted([*ROOT.glob("*.md"), *(file for room in rooms for file in (ROOT / room).rglob("*.md"))])


def made(text: str) -> str:
    """A document with its parts made anew."""
    return PART.sub(lambda part: f"{part[1]}\n{PARTS[part[2]]()}\n{part[3]}", text)


# --- what follows from the code ---------------------------------------------------------------------------------------


def quantities() -> str:
    """How each quantity is written."""
    return table(("quantity", "unit", "written like"), [(n, u, f"`{e}`") for u, (n, e) in QUANTITIES.items() if u])


def materials() -> str:
    """What `string.material` stands for."""
    rows = [
        (f"`{n}`", f"{m.density:g} kg/m³", f"{m.young / 1e9:g} GPa", f"{m.strength / 1e9:g} GPa")
        for n, m in MATERIALS.items()
    ]
    return table(("material", "density ", "Young's modulus ", "strength "), rows)


def bodies() -> str:
    """What `body.name` stands for."""
    rows = []
    for name in BODIES:
        body = named(name)
        pitches = [mode.frequency for mode in body.modes]
        span = f"{len(pitches)}, {min(pitches):.0f} to {max(pitches):.0f} Hz"
        rows.append(
            (f"`{name}`", span, f"{1e3 * BODIES[name].mass:g} g", f"{body.radiates:g} Hz" if body.radiates else "")
        )
    return table(("body", "modes", "mass at the bridge ", "radiates from "), rows)


def parameters() -> str:
    """What a controller can move."""
    rows = []
    for p in PARAMETERS.values():
        heard = f"glides, {1e3 * p.smoothing:g} ms" if p.smoothing else "at the next pluck"
        rows.append((p.name, f"`{p.key}`", p.effect, heard))
    return table(("parameter", "key", "what it does", "on a string that sounds"), rows)


READING = Reading(
    preset="sitar-string",
    device="Scarlett 2i2",
    rate=48_000.0,
    block_size=128,
    latency=0.0053,
    ports=("Keystation 49",),
    hint=hint(),
    load=Load(0.15, 0.21, 0.32),
    mean_load=0.11,
    worst_load=0.32,
    seconds=754.0,
    blocks=282_750,
    lost=0,
    long=0,
    underflows=0,
    levels=(Level(-14.2, -9.8), Level(-4.1, -2.0, 1.1, 2.3)),
    bent=310,
    lowered=2.3,
    polyphony=16,
    strings=(SoundingString("F#3", -21.0, False), SoundingString("A3", -9.0, True), SoundingString("C#4", -2.0, True)),
    notes=(BegunNote("F#3", 84, 0), BegunNote("A3", 71, 0), BegunNote("C#4", 90, 0)),
    notes_played=913,
    stolen=0,
    watchdog=0,
    events_lost=0,
    stale=0,
)


def computer_keys() -> str:
    """What `?` shows."""
    return "```text\n" + "\n".join(help_lines(plucking=True)) + "\n```\n"


def panel() -> str:
    """What `jawari play` shows."""
    return "```text\n" + "\n".join(draw(READING, Look(width=100, colours=False))) + "\n```\n"


# --- what was measured ------------------------------------------------------------------------------------------------


def read(name: str) -> Any:
    """The figures of one file of scripts/measured/."""
    return json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8"))


def speed() -> str:
    """What scripts/bench_engine.py found."""
    found = read("engine")
    rows = [
        ("sitar strings at a time in real time, one core", f"**{found['sitar_voices_x1']:.0f}**"),
        ("the same at twice the rate, as the preset has it", f"{found['sitar_voices_x2']:.0f}"),
        ("whole engine / its kernels alone, 32 strings sounding", f"{found['overhead']:.2f}"),
        (f"a block of {BLOCK} frames ({DEADLINE:.0f} µs), chord of 25, 1st second", _us(found, "first")),
        ("the same in its 60th second, when most strings sleep", _us(found, "60th")),
    ]
    return f"{_where(found)}\n\n{table(('48 kHz, float64, output stage included', 'measured '), rows)}"


def _us(found: dict[str, Any], which: str) -> str:
    return f"{found[f'block_us_{which}_second']:.0f} µs"


def _where(found: dict[str, Any]) -> str:
    line = computer_line(found["computer"])
    return f"Measured on {line}, {found['date']}."


def load() -> str:
    """What a chord of ten costs on every preset, from scripts/measure_load.py."""
    found = read("load")
    rows = [
        (
            f"`{row['preset']}` ×{row['oversample']}",
            f"{row['keys']}",
            f"{100 * row['p50']:.1f} %",
            f"{100 * row['p99.9']:.1f} %",
            f"{100 * row['p50'] / row['keys']:.2f} %",
        )
        for row in found["chords"]
    ]
    head = (f"{BLOCK} frames, as the preset has it", "keys ", "p50 of the deadline ", "p99.9 ", "a key ")
    return f"{_where(found)}\n\n{table(head, rows)}"


def editor() -> str:
    """What the page costs, and how soon a knob is heard, from scripts/measure_editor.py."""
    found = read("editor")
    rows = [
        (
            f"`{row['preset']}`",
            f"{row['heard']} of {row['changes']}",
            f"{row['p50']:.0f} ms",
            f"{row['p99']:.0f} ms",
            f"{row['worst']:.0f} ms",
            f"{100 * row['page']:.1f} %",
            f"{row['frames']:.0f}",
            f"{row['lost_watched']} and {row['lost_alone']}",
        )
        for row in found["rows"]
    ]
    head = ("four strings ring", "changes heard ", "half within ", "99 % within ", "all within ")
    more = ("a page takes of a core ", "pictures a second ", "blocks late with a page, and without ")
    busy = [
        f"`{row['preset']}`, {row['seconds']:.0f} s each: {row['lost'][0]} of {row['blocks'][0]} blocks late "
        f"with a page, {row['lost'][1]} of {row['blocks'][1]} without."
        for row in found["busy"]["rows"]
    ]
    in_turns = f"The same with a busy interpreter, in turns ({found['busy']['date']}). {' '.join(busy)}"
    return f"{_where(found)}\n\n{table((*head, *more), rows)}\n{in_turns}"


def exports() -> str:
    """What exported code takes, from scripts/bench_export.py."""
    found, rows = read("exports"), []
    for row in found["rows"]:
        engine, page = 100 * row["engine"] / row["seconds"], row["browser"]
        ratios = f"{row['native_over_engine']:.2f}", f"{row['wasm_over_v3']:.1f}"
        rows.append(
            (f"`{row['preset']}`", f"{engine:.1f} %", *ratios, f"{100 * page['share']:.0f} %", f"{page['broke']}")
        )
    head = ("16 keys, the wheel moves", "engine, of a core ", "native code / engine ", "WebAssembly / native v3 ")
    engine = found["rows"][0]["v8"]
    more = ("the page in Chromium, of a core ", "and its sound broke off ")
    return f"{_where(found)} WebAssembly runs in V8 {engine}.\n\n{table((*head, *more), rows)}"


def redesigns() -> str:
    """What a turned knob costs, from scripts/bench_redesign.py."""
    found, rows = read("redesigns"), []
    for row in found["rows"]:
        design, follow = _two_digits(row["design ms"]), _two_digits(row["takeover µs"])
        rows.append((f"`{row['preset']}`", f"{design} ms", f"{follow} µs", f"{row['MB']:.0f} MB"))
    head = ("48 kHz", "all keys designed ", "taken over, 16 strings sounding ", "each memory ")
    return f"{_where(found)}\n\n{table(head, rows)}"


def judged() -> str:
    """What scripts/judge_presets.py --json found."""
    return judge_presets.report(read("judged")) + "\n"


def distances() -> str:
    """What scripts/measure_recordings.py --table found."""
    return measure_recordings.table(read("recordings")) + "\n"


def bounces() -> str:
    """One very short collision in the three schemes, from scripts/reproduce.py."""
    found = read("accuracy")["bounces"]
    names = {"iterative": "iterative, 20 iterations", "plain": "paper 002, not iterative", "ours": "Jawari's rule"}
    rows = []
    for name, title in names.items():
        run = found[name]
        rows.append(
            (
                title,
                f"{100 * abs(run['stuck_energy']):.1f} %",
                f"{100 * abs(run['speed_loss']):.1f} %",
                f"{1e3 * run['rms_error_m']:.3g} mm",
            )
        )
    head = ("scheme", "energy left in the contact ", "speed lost ", "rms error over 0.5 s ")
    return f"{table(head, rows)}"


def energies() -> str:
    """One second of every preset."""
    found = read("accuracy")["presets"]
    rows = [
        (
            f"`{name}`",
            f"{run['steps']}",
            f"{run['drift']:.0e}",
            f"{run['least_force']:g} N" if run["points"] else "no contact",
        )
        for name, run in found.items()
    ]
    return table(("one second of", "steps ", "energy balance kept to ", "least contact force "), rows)


SCHEMES = {
    "modal": "`modal`",
    "best-004": "`modal-best` without N: paper 004",
    "best": "`modal-best`: `quality: best`",
}


def convergence() -> str:
    """What scripts/measure_convergence.py found."""
    found = read("convergence")
    rows = []
    for run in found["found"]:
        pull, velocity = run["heard"]
        heard = [_apart(one) for one in (velocity, pull)]
        cost = f"{run['ns_per_sample']:.0f} ns"
        rows.append((SCHEMES[run["scheme"]], f"×{run['factor']}", f"{run['points']}", f"{run['modes']}", *heard, cost))
    own = found["continuum_from_itself"]
    doubt = "; ".join(
        f"{name} {100 * one[1]['error']:.1f} and {100 * one[0]['error']:.1f} %" for name, one in own.items()
    )
    head = ("scheme", "rate ", "points ", "modes ", "velocity: 10-14, 14-20 kHz ", "pull: the same ", "per sample ")
    return f"{table(head, rows)}\nThe continuum is that far from itself: {doubt}.\n"


def _apart(one: dict[str, float]) -> str:
    low, high = one["excess_10_14_db"], one["excess_14_20_db"]
    return f"{100 * one['error']:.1f} %, {low:+.1f} dB, {high:+.1f} dB"


def claims() -> str:
    """What became of the papers' claims in scripts/reproduce.py."""
    rows = [(c["place"], c["claim"], f"**{c['verdict']}**: {c['measured']}") for c in read("papers")["claims"]]
    return table(("where", "claim", "here"), rows)


def durations() -> str:
    """Errors of a contact's duration, exponent 1."""
    found = read("papers")["durations"]
    rows = [(name, *(f"{100 * error:.2g} %" for error in errors)) for name, errors in found["1"].items()]
    return table(("samples in contact", *(f"{n:g} " for n in found["samples"])), rows)


def costs() -> str:
    """Error and load of every scheme at the audio rate, twice and four times it."""
    found, shown, rows = read("papers")["costs"], (1, 2, 4), []
    places = [found["factors"].index(factor) for factor in shown]
    for case, (unit, schemes) in found["cases"].items():
        for name, curve in schemes.items():
            cells = [(f"{curve['error'][i]:.2g} {unit}", f"{_two_digits(1e3 * curve['load'][i])} ms") for i in places]
            rows.append((case, name, *(cell for pair in cells for cell in pair)))
    heads = (head for factor in shown for head in (f"×{factor} ", "cost "))
    return f"{_where(read('papers'))}\n\n{table(('case', 'scheme', *heads), rows)}"


def _two_digits(value: float) -> str:
    """Without an exponent."""
    return f"{float(f'{value:.2g}'):g}"


PARTS: dict[str, Callable[[], str]] = {
    "gallery": gallery,
    "presets": presets,
    "keys": render_markdown,
    "quantities": quantities,
    "materials": materials,
    "bodies": bodies,
    "scales": scales,
    "parameters": parameters,
    "panel": panel,
    "computer-keys": computer_keys,
    "speed": speed,
    "load": load,
    "bounces": bounces,
    "energies": energies,
    "convergence": convergence,
    "editor": editor,
    "exports": exports,
    "redesigns": redesigns,
    "claims": claims,
    "durations": durations,
    "costs": costs,
    "distances": distances,
    "judged": judged,
}


def measure(names: list[str]) -> None:
    """Run what measures, and keep the figures."""
    stamp = {"computer": computer(), "date": date.today().isoformat()}
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            write(name, stamp | MEASURES[name](Path(folder)))


def measured_accuracy(folder: Path) -> dict[str, Any]:
    """One short collision, and the energy of every preset."""
    return {"bounces": measured_bounces(folder), "presets": measured_energies()}


def found_by(script: str, *how: str) -> Callable[[Path], dict[str, Any]]:
    """What a script in this folder finds."""

    def measured(folder: Path) -> dict[str, Any]:
        file = folder / "found.json"
        subprocess.run([sys.executable, ROOT / "scripts" / script, *how, "--json", file], check=True)
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return found

    return measured


def measured_verdicts(folder: Path) -> dict[str, Any]:
    """What every preset does, and what it lacks."""
    verdicts = [judge_presets.judged(name) for name in judge_presets.names()]
    return {"verdicts": [asdict(v) for v in verdicts]}


def write(name: str, found: dict[str, Any]) -> None:
    MEASURED.mkdir(exist_ok=True)
    (MEASURED / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def measured_papers(folder: Path) -> dict[str, Any]:
    """The papers' claims, and what each scheme's accuracy costs."""
    reproduce(folder)
    found = {id: _numbers(folder, id) for id in ("cost.duration", "cost.lumped", "cost.string")}
    lumped, string = found["cost.lumped"], found["cost.string"]
    cases = {f"mass, {case}": ("mm", lumped[case]) for case in lumped if case.startswith(("soft", "hard"))}
    curves = {name: curve for name, curve in string.items() if isinstance(curve, dict) and "load" in curve}
    return {
        "claims": json.loads((folder / "claims.json").read_text(encoding="utf-8")),
        "durations": {key: found["cost.duration"][key] for key in ("samples", "1")},
        "costs": {"factors": lumped["factors"], "cases": cases | {"string": ("%", curves)}},
    }


def measured_bounces(folder: Path) -> dict[str, dict[str, float]]:
    """Paper 002 Fig. 2: an oscillator that meets a barrier for 2.4 samples."""
    reproduce(folder, "002.2")
    numbers = _numbers(folder, "002.2")
    kept = ("stuck_energy", "speed_loss", "rms_error_m")
    return {name: {key: numbers[name][key] for key in kept} for name in ("iterative", "plain", "ours")}


def reproduce(folder: Path, *figures: str) -> None:
    """Draw these figures of the papers, or all."""
    only = ("--only", *figures) if figures else ()
    script = ROOT / "scripts" / "reproduce.py"
    subprocess.run([sys.executable, script, "--out", folder, *only], check=True, stdout=subprocess.DEVNULL)


def _numbers(folder: Path, figure: str) -> Any:
    return json.loads((folder / f"{figure}.json").read_text(encoding="utf-8"))["numbers"]


def measured_energies() -> dict[str, dict[str, float]]:
    """A second of each preset's own string after its pluck."""
    found = {}
    for name in shipped():
        sim = engine.simulate(name, seconds=1.0)
        found[name] = {
            "steps": sim.time.size,
            "points": sim.contact_position.size,
            "drift": sim.energy_drift,
            "least_force": float(sim.contact_force.min(initial=0.0)),
        }
    return found


MEASURES: dict[str, Callable[[Path], dict[str, Any]]] = {
    "accuracy": measured_accuracy,
    "engine": found_by("bench_engine.py"),
    "load": found_by("measure_load.py"),
    "papers": measured_papers,
    "convergence": found_by("measure_convergence.py"),
    "exports": found_by("bench_export.py", "--browser"),
    "redesigns": found_by("bench_redesign.py"),
    "judged": measured_verdicts,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if anything is out of date")
    parser.add_argument("--measure", nargs="*", choices=MEASURES, metavar="WHAT", help="measure on this machine first")
    args = parser.parse_args()
    if args.measure is not None:
        measure(args.measure or list(MEASURES))
    stale = 0
    for file in documents():
        before = file.read_text(encoding="utf-8")
        after = made(before)
        if before != after:
            stale += 1
            print(f"{file.relative_to(ROOT)}: {'out of date' if args.check else 'written'}")
            if not args.check:
                file.write_text(after, encoding="utf-8")
    return int(args.check and stale > 0)


if __name__ == "__main__":
    sys.exit(main())
