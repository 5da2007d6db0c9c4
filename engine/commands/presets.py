"""`jawari presets`: which there are, how one sounds, what follows from it, if files are right, what may be in them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from difflib import get_close_matches
from math import inf, isfinite
from pathlib import Path
from typing import Any

from engine import messages as midi
from engine.commands.common import EPILOG, Commands, Help, UsageError, quantity
from engine.commands.instruments import instrument_rows
from engine.commands.play import demonstrate
from engine.ending import carefree
from engine.errors import Exit, PresetError
from engine.preset.complaints import shown
from engine.preset.files import known, own, own_folder, shipped
from engine.preset.loader import Preset, load_preset
from engine.preset.rack import format_channels, is_rack, load_rack
from engine.preset.scales import MAQAMS, RAGAS, SCALES, TEMPERAMENTS, notes_of
from engine.preset.schema import KEYS, render_markdown, render_text
from engine.printable import printable
from engine.study.buzzing import compass
from engine.study.describe import Description, Octave, Touching, describe
from engine.synth.silence import silent_keys, told, try_design
from engine.units import hz_to_key, key_to_note

CHECKED = 48_000.0  # Hz at which `check` designs


def add(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the command with its four actions."""
    p = commands.add_parser(
        "presets",
        help="list presets, find, hear and explain them, check files",
        description="Without an action: the shipped presets and your own by their families, a line each.",
        epilog="examples:\n  jawari presets find drone\n  jawari presets play tanpura\n"
        "  jawari presets show sitar --set barrier.curvature=0.5 --sample-rate '96 kHz'\n"
        f"  jawari presets check my-sitar.yaml\n  jawari presets keys\n\n{EPILOG}",
        formatter_class=Help,
    )
    p.set_defaults(run=_list)
    actions = p.add_subparsers(metavar="[ACTION]")
    _add_lists(actions)
    shown = actions.add_parser(
        "show",
        help="print all that follows from a preset",
        description="Pitch, inharmonicity, decay, modes or grid of every C, contact and cost of a preset.\n"
        "Costs are measured on this machine while the command runs.",
        formatter_class=Help,
    )
    shown.add_argument("preset", help="a shipped preset's name or a YAML file, also of a rack")
    shown.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a key; repeatable")
    shown.add_argument("--sample-rate", default="48000", metavar="HZ", help="base rate")
    shown.add_argument("--json", action="store_true", help="print JSON, in SI units")
    shown.set_defaults(run=_show)
    checked = actions.add_parser(
        "check",
        help="check preset files",
        description="A line for every mistake: file, line, key, value, limit, remedy. Exit code 3 if there is any, "
        f"4 if nothing but physics forbids it. All that `render` would refuse is found, at {CHECKED:g} Hz and the "
        "preset's oversample; keys that would be silent there are noted.",
    )
    checked.add_argument(
        "files", nargs="+", metavar="FILE", help="a YAML file, of a preset or a rack, or a shipped preset's name"
    )
    checked.set_defaults(run=_check)
    keys = actions.add_parser("keys", help="explain every key", description="Every key that a preset may hold.")
    keys.add_argument("--markdown", action="store_true", help="as a table for a document")
    keys.set_defaults(run=_keys)


def _add_lists(actions: Commands[argparse.ArgumentParser]) -> None:
    found = actions.add_parser(
        "find",
        help="list those in whose name, family, tags or description words occur",
        description="The presets in whose name, family, tags or description all of the words occur.",
    )
    found.add_argument("words", nargs="+", metavar="WORD", help="part of a word will do")
    found.set_defaults(run=_find)
    heard = actions.add_parser(
        "play",
        help="hear a preset's phrase",
        description="A preset's phrase through the sound card, as `jawari play NAME --demo` plays it. Without a card: "
        "`jawari render NAME`.",
        formatter_class=Help,
    )
    heard.add_argument("preset", metavar="NAME", help="a preset's name or a YAML file")
    heard.add_argument("--device", metavar="NAME", help="part of the card's name, or its number; default: the system's")
    heard.set_defaults(run=_play)
    tunings = actions.add_parser(
        "tunings",
        help="list scales by name",
        description="The scales that tuning:, --tuning and sympathetic: know by name, and their notes in cents above "
        "the first.",
    )
    tunings.set_defaults(run=_tunings)


def _list(args: argparse.Namespace) -> int:
    """Families in the order of their names, in each a line for each preset; what has no family, and no sense, last."""
    width = max(map(len, known()), default=0)
    _print_families({name: load_preset(name) for name in shipped()}, width)
    found, broken = _own()
    if found or broken:
        print(f"\nyour own, in {printable(str(own_folder()))}")
    _print_families(found, width)
    for name, why in broken.items():
        print(f"  {printable(name):{width}}  {why}")
    return 0


def _own() -> tuple[dict[str, Preset], dict[str, str]]:
    """The user's own presets, and why others are none."""
    found, broken = dict[str, Preset](), dict[str, str]()
    for name, path in own().items():
        try:
            with carefree():
                found[name] = load_preset(path)
        except PresetError as error:
            broken[name] = str(error).splitlines()[0]
    return found, broken


def _print_families(presets: Mapping[str, Preset], width: int) -> None:
    for family, members in by_family(presets).items():
        print(printable(family) or "others")
        for name, preset in members.items():
            tags = f"  [{printable(', '.join(preset.tags))}]" if preset.tags else ""
            print(f"  {printable(name):{width}}  {printable(preset.about)}{tags}".rstrip())


def by_family(presets: Mapping[str, Preset]) -> dict[str, dict[str, Preset]]:
    """Presets by their families, in the order of these; those without one last."""
    families = sorted({preset.family for preset in presets.values()}, key=lambda family: (not family, family))
    return {
        family: {name: preset for name, preset in presets.items() if preset.family == family} for family in families
    }


def _find(args: argparse.Namespace) -> int:
    presets = {name: load_preset(name) for name in shipped()} | _own()[0]
    told = {
        name: " ".join((name, preset.name, preset.about, preset.family, *preset.tags)).lower()
        for name, preset in presets.items()
    }
    found = {name: presets[name] for name, text in told.items() if all(word.lower() in text for word in args.words)}
    if not found:
        close = get_close_matches(args.words[0][:100].lower(), {w for text in told.values() for w in text.split()}, n=1)
        hint = f"did you mean {shown(close[0].strip('.,;:'))}?" if close else "jawari presets lists them all"
        raise PresetError(f"no preset is found by {shown(' '.join(args.words))}; {hint}")
    _print_families(found, max(map(len, found)))
    return 0


def _play(args: argparse.Namespace) -> int:
    return demonstrate(args.preset, args.device)


def _tunings(args: argparse.Namespace) -> int:
    width = max(map(len, SCALES))
    for title, names in (("temperaments", [*TEMPERAMENTS]), ("ragas", [*RAGAS]), ("maqams", [*MAQAMS])):
        print(title)
        for name in names:
            cents = " ".join(f"{1200.0 * note:.1f}" for note in notes_of(name))
            print(f"  {name:{width}}  {f'{RAGAS[name]:20}' if name in RAGAS else ''}{cents}")
    return 0


def _check(args: argparse.Namespace) -> int:
    wrong: list[int] = []
    for file in args.files:
        try:
            if is_rack(file):
                rack = load_rack(file)
                print(f"{file}: good ({rack.name}, a rack of {len(rack.parts)})")
                continue
            preset = load_preset(Path(file) if Path(file).is_file() else file)
        except PresetError as error:
            wrong.append(error.exit_code)
            print(error)
            continue
        try:
            with carefree():
                keys = try_design(preset, CHECKED)
        except PresetError as error:
            wrong.append(error.exit_code)
            print(f"{printable(file)}: {error}")
            continue
        print(f"{printable(file)}: good ({preset.name}, {preset.model} at {CHECKED * preset.oversample:g} Hz)")
        if silent := told(silent_keys(dict(enumerate(keys)))):
            print(f"{printable(file)}: note: {silent}")
    return min(wrong, default=Exit.DONE)


def _keys(args: argparse.Namespace) -> int:
    print(render_markdown() if args.markdown else render_text(), end="")
    return 0


def _show(args: argparse.Namespace) -> int:
    if is_rack(args.preset):
        return _show_rack(args)
    d = describe(load_preset(args.preset, args.set), quantity("--sample-rate", args.sample_rate, "Hz"))
    if args.json:
        print(json.dumps(_plain(asdict(d) | {"voices": d.voices}), indent=2, default=str, allow_nan=False))
    else:
        print("\n".join(map(printable, _lines(d))))
    return 0


def _show_rack(args: argparse.Namespace) -> int:
    """A line for each part; what follows from its preset is shown by naming that."""
    if args.set:
        raise UsageError("--set is for a preset; in a rack, write set: into the part")
    rack = load_rack(args.preset)
    if args.json:
        parts = [asdict(replace(part, preset=None)) | {"preset": part.preset.source} for part in rack.parts]  # type: ignore[arg-type]
        print(json.dumps({"rack": rack.name, "parts": parts}, indent=2, default=str))
        return 0
    print(rack.name)
    for number, part in enumerate(rack.parts, 1):
        facts = [part.preset.name, f"{part.gain:+g} dB", f"pan {part.pan:+g}"]
        facts += [f"channel{'s' * (len(part.channels) > 1)} {format_channels(part.channels)}"] * bool(part.channels)
        facts += [] if part.program is None else [f"program {part.program + 1}"]
        facts += [] if part.tuning is None else [part.tuning.name]
        facts += [f"{part.polyphony or part.preset.polyphony} strings at most"]
        print(_row(f"part {number}", ", ".join(facts)))
    return 0


def _plain(value: Any) -> Any:
    """The value with None for what JSON has no number for: a decay that never ends."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _lines(d: Description) -> Iterator[str]:
    preset, string = d.preset, d.preset.problem.string
    key = hz_to_key(d.first_partial)
    cents = 100.0 * (key - round(key))
    yield f"{preset.name}: {preset.about}" if preset.about else preset.name
    if listed := [preset.family, *preset.tags] if preset.family else list(preset.tags):
        yield _row("listed", ", ".join(listed))
    model = preset.model if preset.quality == "normal" else f"{preset.model}, quality {preset.quality},"
    yield _row("model", f"{model} at {d.rate:g} Hz ({d.sample_rate:g} Hz x {preset.oversample}), {_kept(d)}")
    yield _row("pitch", f"{d.first_partial:.2f} Hz ({key_to_note(round(key))} {cents:+.1f} cents); f0 {d.pitch:.2f} Hz")
    yield _row("inharmonicity", f"B = {d.inharmonicity:.3g}, {_stretch(d.inharmonicity)}")
    yield _row("wave speed", f"{d.wave_speed:.4g} m/s")
    yield _row("tension", f"{string.tension:.4g} N")
    yield _row("wire", f"{string.length:.4g} m, {string.density * 1e3:.4g} g/m, E·I {string.stiffness:.3g} N·m²")
    yield _row("T60", ", ".join(f"{_seconds(t60)} at {_hertz(f)}" for f, t60 in d.decay))
    if d.loss_error is not None:
        yield _row("loss fit", f"within {100.0 * d.loss_error:.2g} % of that decay, 20 Hz to 20 kHz")
    yield _row(_parts(preset), ", ".join(map(_octave, d.octaves)) + f" (other keys by {preset.keys})")
    for octave in d.octaves:
        if octave.silent_because:
            yield _row("", f"{octave.note} is silent: {octave.silent_because}")
    yield from _touching_lines(d.touching)
    if d.buzz:
        shares = ", ".join(f"{100.0 * own.share:.0f} % at {own.note}" for own in d.buzz)
        yield _row("", f"strings touch for {shares} of the time")
    if d.cost is not None and d.voices is not None:
        each, most = f"{d.cost * 1e9:.0f} ns a sample and sounding string", f"about {int(d.voices)} on this core"
        yield _row("cost", f"{each}, measured here: {most}")
    if d.instrument:
        yield from (_row(name, text) for name, text in instrument_rows(d.instrument))
    yield from _playing_lines(preset, d)
    for note in d.notes:
        yield _row("note", note)


def _touching_lines(t: Touching | None) -> Iterator[str]:
    if t is None:
        yield _row("contact", "none")
        return
    where = f"{t.first * 1e3:.4g} mm" + (f" to {t.last * 1e3:.4g} mm" if t.points > 1 else "")
    least, most = (f"{k:.3g}" for k in t.stiffness)
    unit = f"N/m^{t.exponent:g}" if t.exponent != 1.0 else "N/m"
    stiffness = least if least == most else f"{least} to {most}"
    yield _row("contact", f"{t.points} point{'s' * (t.points > 1)} at {where}, {stiffness} {unit} each")
    yield _row("", f"shortest touch {_seconds(t.duration)}, {t.samples:.2g} steps, by {t.mass * 1e6:.3g} mg of string")


def _playing_lines(preset: Preset, d: Description) -> Iterator[str]:
    velocity, release = preset.velocity, _seconds(preset.release)
    yield _row("played", f"gain {preset.gain:g} dB, release {release}, {preset.polyphony} strings at most")
    if preset.room:
        share, decay, size = 100.0 * preset.room.share, _seconds(preset.room.decay), preset.room.size
        yield _row("room", f"{share:.3g} % of what is heard, {decay} to -60 dB, {size:.3g} m")
    off = ", ".join(f"{one.cents:+.1f} cents at {one.note}" for one in d.tuned)
    yield _row("tuning", preset.tuning.name + (f"; by ear, strings by themselves {off}" if off else ""))
    yield _row("velocity", f"force to the power {velocity.force:g}, duration to the power {velocity.duration:g}")
    yield _row("tracking", ", ".join(f"{name} {power:g}" for name, power in vars(preset.tracking).items()))
    low, high = compass(preset)
    yield _row("compass", f"{key_to_note(low)} to {key_to_note(high)}")
    if voiced := ", ".join(f"{key_to_note(key)} {db:+g}" for key, db in preset.voicing.points):
        yield _row("voicing", f"{voiced} dB")
    for c in preset.controllers:
        unit = KEYS[c.to].unit
        called = f" ({midi.CONTROLLERS[c.number]})" if c.number in midi.CONTROLLERS else ""
        yield _row("map", f"{c.source}{called} moves {c.to} from {c.low:g} to {c.high:g} {unit}".rstrip())
    if h := preset.strum:
        chords = f"of what comes within {_seconds(h.window)}, {h.accent} softer each"
        yield _row("strum", f"{h.order}, {_seconds(h.spread)} from string to string {chords}")
    if preset.phrase:
        yield _row("phrase", preset.phrase)
    if own := preset.drone:
        beats = f"{len(own.order)} strokes in {own.beats:g} beats"
        yield _row("drone", f"{beats}, {own.tempo:g} a minute, swing {own.swing:g}")


def _row(name: str, text: str) -> str:
    return f"  {name:14}  {text}"


def _parts(preset: Preset) -> str:
    return "grid intervals" if preset.model == "fd" else "modes"


def _kept(d: Description) -> str:
    return f"{d.size} {_parts(d.preset)}"


def _stretch(inharmonicity: float) -> str:
    """How sharp it makes the tenth partial."""
    cents = (hz_to_key((1.0 + 100.0 * inharmonicity) ** 0.5) - hz_to_key((1.0 + inharmonicity) ** 0.5)) * 100.0
    return f"which puts partial 10 {cents:.2g} cents sharp"


def _octave(octave: Octave) -> str:
    return f"{octave.note} {octave.size if octave.size is not None else 'silent'}"


def _hertz(frequency: float) -> str:
    return f"{frequency / 1e3:g} kHz" if frequency >= 1e3 else f"{frequency:.0f} Hz"


def _seconds(seconds: float) -> str:
    if seconds == inf:
        return "never"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
