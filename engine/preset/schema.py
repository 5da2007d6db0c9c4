"""Every key of a preset, once: the loader, the documentation, `--help` and the tests are made from this table."""

from __future__ import annotations

import re
from difflib import get_close_matches
from textwrap import fill
from typing import Any

from engine.physics.excitation import SHAPES, Excitation
from engine.physics.problem import PICKUP_KINDS, Contact, Pickup
from engine.preset.circuit import CIRCUITS, COIL, USUAL
from engine.preset.drone import FASTEST, MOST_STROKES, MOST_SWING, SLOWEST, WIDEST, Drone
from engine.preset.key import AUTO, Key
from engine.preset.materials import MATERIALS
from engine.preset.network_keys import (
    ANGLE,
    MOST_COURSES,
    MOST_MODES,
    MOST_PORTS,
    MOST_STRINGS,
    OF_A_BARRIER,
    OF_A_STRING,
    PARTS,
    STANDING,
    STRINGS,
)
from engine.preset.parameters import PARAMETERS
from engine.preset.playing import HEARD, INTONATIONS, MAX_CONTROLLERS, Tracking, Velocity
from engine.preset.profiles import SURFACES, own
from engine.preset.room import LARGEST, LONGEST, SHORTEST, SMALLEST, Room
from engine.preset.strum import LATEST, MOST_ACCENT, ORDERS, Strum
from engine.preset.strum import WIDEST as WIDEST_STRUM

PROFILES = (*SURFACES, "points")  # surfaces are distributed along the string, points are lumped
_WIRE = ("string.density", "string.stiffness")  # what diameter and material stand for
_RANGES = {  # of kinds without numbers
    "tuning": "text", "source": "pressure, wheel, cc1 to cc119", "span": "2 values", "range": "keys",
}  # fmt: skip
MAX_PICKUPS = 16
FURTHEST = 2400.0  # cents of a bend
LISTED = ("numbers", "pairs", "table", "weights", "angles", "pitches", "strokes", "voices")  # kinds of lists

_PLACES = {"usual": (1e-3, 5.0), "units": ("mm", "cm")}  # of the barrier along the string
_HEIGHTS = {"usual": (1e-5, 0.05), "units": ("mm",)}


def _number(name: str, unit: str, limits: tuple[float, float], default: float | None, meaning: str, **more: Any) -> Key:
    return Key(name, "number", meaning, default, unit, *limits, **more)


def _choice(name: str, choices: tuple[str, ...], default: str | None, meaning: str) -> Key:
    return Key(name, "choice", meaning, default, choices=choices)


def _groups(group: str) -> list[str]:
    """A group and those around it, from outside: body, body.modes."""
    words = group.split(".") if group else []
    return [".".join(words[: n + 1]) for n in range(len(words))]


TABLE = (
    Key("name", "text", "What the preset is called.", "Unnamed", low=1, high=80),
    Key("about", "text", "One line about it.", "", low=0, high=1000),
    Key("family", "text", "What presets it is listed among.", "", low=0, high=40),
    Key("tags", "words", "Words by which it is found: [bright, drone].", low=0, high=12),
    _choice("model", ("modal", "fd"), "modal", "Model of the string: exact modes, or finite differences."),
    _choice(
        "quality", ("normal", "best"), "normal",
        "How a modal string meets its barrier. best: all points at once by Newton's method, nearer to the truth at a "
        "low rate, and slower; as loud as normal.",
    ),
    Key(
        "string.length", "number", "Speaking length.",
        None, "m", 1e-3, 100.0, required=True, usual=(0.05, 5.0), units=("cm", "mm"),
    ),
    _number(
        "string.density", "kg/m", (1e-7, 1e3), None,
        "Mass per length. Without it: that of a solid round wire of this diameter and material.",
    ),
    Key(
        "string.diameter", "number",
        "Diameter of a round wire (of the core, if density is given too). Needs material.",
        None, "m", 1e-6, 0.1, replaces=_WIRE, usual=(1e-4, 7e-3), units=("mm", "in"),
    ),
    Key(
        "string.material", "choice",
        "What the wire is made of. Needs diameter.",
        choices=tuple(MATERIALS), replaces=_WIRE,
    ),
    Key(
        "string.tension", "number",
        "Tension. Either this or tuned is required.",
        None, "N", 1e-3, 1e6, replaces=("string.tuned",),
    ),
    Key(
        "string.tuned", "pitch",
        "Pitch of the first partial, a note or Hz (also as tuned: {pitch: ...}); the tension follows from it.",
        None, "Hz", 1.0, 20e3, replaces=("string.tension",),
    ),
    _number(
        "string.stiffness", "N·m²", (0.0, 1e3), None,
        "Bending stiffness E·I. Without it: that of a wire of this diameter and material, or 0.",
    ),
    _number(
        "string.loss.s0", "1/s", (0.0, 1e6), None,
        "The decay rate of wavenumber b is s0 + s1·b + s2·b² + s3·b³; terms not given are 0. Without any of them: "
        "Woodhouse's rule for plain steel (s0 = 0.6 1/s, s1 and s3 follow tension, density and stiffness).",
    ),
    _number("string.loss.s1", "m/s", (0.0, 1e6), None, "First-order term of the decay rate (friction)."),
    _number("string.loss.s2", "m²/s", (0.0, 1e6), None, "Second-order term of the decay rate."),
    _number("string.loss.s3", "m³/s", (0.0, 1e6), None, "Third-order term of the decay rate (bending)."),
    _choice(
        "string.keys", ("tension", "length"), "tension",
        "How keys other than the string's own are reached: by its tension or by its length.",
    ),
    *OF_A_STRING,
    Key(
        "barrier.profile", "choice",
        "Height b(x) above the resting string, x from the end at 0, both in metres. "
        + "".join(f"{name}: {surface.formula}; " for name, surface in SURFACES.items())
        + "points: obstacles at single points. Without barrier: a free string.",
        choices=PROFILES, required=True,
    ),
    _number(
        "barrier.from", "m", (0.0, 100.0), 0.0, "Where the barrier begins; without it, a table at its first x.",
        **_PLACES,
    ),
    _number(
        "barrier.to", "m", (0.0, 100.0), None, "Where it ends. Without it: the string's end, or a table's last x.",
        **_PLACES,
    ),
    _number("barrier.height", "m", (-1.0, 1.0), 0.0, "Offset of the whole profile.", **_HEIGHTS),
    *(key for surface in SURFACES.values() for key in surface.keys),
    own(
        "points", "at", "pairs",
        "[[x, height], ...] of the point obstacles, each with contact.stiffness in N/m^exponent.",
        "m", 1, 500,
    ),
    Key(
        "barrier.points", "count",
        "Contact points of the modal string, at the centres of equal cells; fd uses its own grid. auto: as many as "
        "each key's modes tell apart, which for M modes is length/(M + 1), and the profile's curvature asks for.",
        AUTO, low=1, high=2000, profiles=tuple(SURFACES),
    ),
    *OF_A_BARRIER,
    # Before the stiffness, whose unit follows it.
    _number("contact.exponent", "", (1.0, 10.0), Contact.exponent, "Exponent of the contact's power law."),
    _number(
        "contact.stiffness", "N/m^(1+exponent)", (0.0, 1e18), Contact.stiffness,
        "Stiffness of the contact per metre of barrier; of each point obstacle, in N/m^exponent.",
    ),
    _number("contact.damping", "s/m", (0.0, 1e3), Contact.damping, "Hunt and Crossley's damping of the contact."),
    _number("excitation.position", "", (0.0, 1.0), Excitation.position, "Where the force acts, a fraction of length."),
    _number("excitation.force", "N", (-1e5, 1e5), Excitation.force, "Peak of the force, upwards."),
    _number(
        "excitation.duration", "s", (1e-6, 10.0), Excitation.duration,
        "Duration of the force, at the string's own pitch.",
    ),
    _choice(
        "excitation.shape", SHAPES, Excitation.shape,
        "Course of the force: a raised cosine, as of a plectrum; or drawn by a finger, which lets go at the end.",
    ),
    ANGLE,
    *PARTS,
    *STRINGS,
    *STANDING,
    _number(
        "pickups.at", "", (0.0, 1.0), Pickup.at,
        "Where a pickup hears the string, a fraction of length; for a force an end, 0 (without `at`) or 1.",
    ),
    _choice(
        "pickups.kind", PICKUP_KINDS, Pickup.kind,
        "What it hears, in m, m/s, N or m/s²: velocity is what a magnet hears; bridge_force the string's pull on its "
        "end alone; body_force what drives a body that carries the end and the barrier, too, as a crystal under a "
        "saddle feels it; air what a microphone near the string has of the string itself.",
    ),
    _number(
        "pickups.width", "m", (0.0, 1.0), Pickup.width,
        "How much of the string a pickup of displacement or velocity hears, on the mean: a magnet's window.",
        usual=(1e-3, 0.1), units=("mm",),
    ),
    _number(
        "pickups.distance", "m", (1e-3, 1.0), Pickup.distance,
        "Of air: how far beside the string the microphone is; waves that are shorter do not reach it.",
        profiles=("air",), usual=(1e-3, 0.3), units=("mm", "cm"),
    ),
    _number("pickups.pan", "", (-1.0, 1.0), 0.0, "Where it is heard: -1 left, 0 in the middle, 1 right."),
    _choice(
        "circuit.kind", CIRCUITS, COIL,
        "What stands between pickups and the jack. coil: that of a magnetic pickup, with its controls and its cable, a "
        "low-pass that resonates. crystal: that of a saddle, with what it works into, a high-pass.",
    ),
    _number("circuit.inductance", "H", (1e-3, 100.0), USUAL[COIL].inductance, "Of a coil.", profiles=(COIL,)),
    _number("circuit.resistance", "Ω", (1.0, 1e6), USUAL[COIL].resistance, "Of a coil's wire.", profiles=(COIL,)),
    _number(
        "circuit.capacitance", "F", (1e-12, 1e-4), None,
        "Of a coil's winding and its cable, 0.6 nF without it; or of a crystal itself, 1.2 nF without it.",
    ),
    _number(
        "circuit.load", "Ω", (1e3, 1e9), None,
        "What a coil works into, its controls included, 250 kΩ without it; or a crystal, 10 MΩ without it.",
    ),
    _number(
        "room.share", "", (0.0, 1.0), Room.share, "How much of the power that is heard is of a room around it all.",
    ),
    _number(
        "room.decay", "s", (SHORTEST, LONGEST), Room.decay,
        "In which time its sound falls by 60 dB; from 5 kHz on in half of it.",
    ),
    _number("room.size", "m", (SMALLEST, LARGEST), Room.size, "How long it is: so late its first echoes come."),
    Key("oversample", "whole", "The model runs at this multiple of the sample rate.", 1, choices=(1, 2, 4, 8)),
    Key(
        "polyphony", "whole", "How many strings may sound at a time, live; a render has as many as it needs.",
        16, low=1, high=256,
    ),
    Key(
        "gain", "level",
        "Loudness on top of the calibration, by which a note of velocity 100 is equally loud on every key of every "
        "preset.",
        0.0, "dB", -60.0, 24.0,
    ),
    Key(
        "bend", "cents",
        "How much higher all strings sound than their keys say, as where a finger pulls them or a key presses on them: "
        "for a map.",
        0.0, "cents", -FURTHEST, FURTHEST,
    ),
    _number("release", "s", (1e-3, 60.0), 0.3, "Time in which a string falls by 60 dB once its key is let go."),
    Key(
        "tuning", "tuning",
        "What the keys sound, in parts between commas: a scale (equal, just, a raga or another name of "
        "`jawari presets tunings`, an equal division such as 19edo, a Scala file.scl beside the preset; `just on D` "
        "puts 1/1 on D, otherwise it is on C), a reference (A4=432, 432 Hz; otherwise A4=440, or of ragas, maqams and "
        "shruti 1/1 as in equal temperament), or a file.kbm in place of note and reference.",
        "equal",
    ),
    _choice(
        "intonation", INTONATIONS, HEARD,
        "What is brought to a key's pitch. heard: what is heard of it at velocity 100, so that a string is tuned off "
        "it by as much as its body and what it touches bend it. string: the string by itself.",
    ),
    _number(
        "velocity.force", "", (0.0, 6.0), Velocity.force,
        "The excitation's force goes with (velocity/100) to this power.",
    ),
    _number(
        "velocity.duration", "", (-3.0, 3.0), Velocity.duration,
        "The excitation's duration goes with (velocity/100) to this power; below 0, loud notes are brighter.",
    ),
    _number(
        "tracking.duration", "", (-2.0, 2.0), Tracking.duration,
        "The excitation's duration goes with (pitch / the string's own pitch) to this power: at -1 it is the same "
        "share of the period at every key, at 0 the same time.",
    ),
    _number(
        "tracking.force", "", (-3.0, 3.0), Tracking.force,
        "The excitation's force goes with (pitch / own pitch) to this power. Where tension makes the keys: at 2 all "
        "strings swing equally far, at 1 as far as if they had been shortened instead, at 0 high ones hardly move.",
    ),
    _number(
        "tracking.position", "", (-2.0, 2.0), Tracking.position,
        "The excitation's position goes with (pitch / own pitch) to this power: where length makes the keys, a hand "
        "that stays where it is has 1. At least 0.01 from both ends.",
    ),
    _number(
        "tracking.release", "", (-2.0, 2.0), Tracking.release,
        "The release goes with (pitch / own pitch) to this power: below 0, low strings are slower to stop.",
    ),
    _number(
        "tracking.hearing", "", (-2.0, 2.0), Tracking.hearing,
        "The places of pickups go with (pitch / own pitch) to this power: where length makes the keys, pickups that "
        "stay where they are have 1, as those of strings with many frets do anyway. At least 0.01 from both ends.",
    ),
    Key(
        "voicing", "voices",
        "[[key, dB], ...]: how much harder keys are struck than all this says, and sound louder, as who voices an "
        "instrument evens it: [[C2, -3 dB], [C4, 0 dB]]; on a line from one key to the next, beyond them as the "
        "nearest. Without it: none is struck harder.",
        low=1, high=128,
    ),
    Key(
        "compass", "range",
        "The keys that the instrument has: C2-C6. Over them it is even, and is judged and told of. Others sound, too, "
        "where there is a string for them. Without it: those of all `strings.played`, of one string C1 to C7.",
    ),
    Key(
        "map.source", "source",
        "What moves a key of the preset, in a list of such things: pressure (of a note's own key, where the keyboard "
        "tells, else of the channel), the wheel (cc1), or any other controller that is no pedal, such as cc74. Of cc7, "
        "cc11 and cc10 what is mapped is no longer the channel's volume, expression or pan.",
        required=True,
    ),
    Key(
        "map.to", "choice",
        "The key that it moves. Until it first moves, the preset's own value holds. "
        f"{', '.join(p.key for p in PARAMETERS.values() if not p.smoothing)} count from the next pluck on.",
        choices=tuple(PARAMETERS), required=True,
    ),
    Key(
        "map.range", "span",
        "[value at 0, value at full], in the unit of that key and within its range; the second may be the lower one.",
        required=True,
    ),
    _number(
        "strum.spread", "s", (0.0, WIDEST_STRUM), Strum.spread,
        "Keys of a chord are struck one after the other, by one hand: from one string to the next. The first one that "
        "comes sounds at once.",
        usual=(0.0, WIDEST_STRUM), units=("ms",),
    ),
    _number(
        "strum.window", "s", (0.0, LATEST), Strum.window, "Keys that come so soon after the first one are its chord.",
        usual=(0.0, LATEST), units=("ms",),
    ),
    _choice(
        "strum.order", ORDERS, Strum.order,
        "down: from the lowest string on. up: from the highest on. alternate: to and fro, and down after a pause of a "
        "second.",
    ),
    Key(
        "strum.accent", "whole", "How much softer each further string is struck, in steps of velocity; below 0 harder.",
        Strum.accent, low=-MOST_ACCENT, high=MOST_ACCENT,
    ),
    Key(
        "drone.order", "strokes",
        "What `--drone` plays over and over, a stroke each, of a beat: a key, keys together (C3+G3), a second string "
        "of its pitch (C3'), or - for a rest; behind it beats and a velocity (C2 2 90).",
        low=1, high=MOST_STROKES, required=True,
    ),
    _number("drone.tempo", "", (SLOWEST, FASTEST), Drone.tempo, "Beats a minute; a MIDI clock goes before it."),
    _number("drone.swing", "", (0.0, MOST_SWING), Drone.swing, "Of a beat, by which every second one comes late."),
    _number(
        "drone.spread", "s", (0.0, WIDEST), Drone.spread, "From one key of a stroke to the next: a strum.",
        usual=(0.0, WIDEST), units=("ms",),
    ),
    _number(
        "drone.loose", "s", (0.0, WIDEST), Drone.loose,
        "By how much strokes are early or late at most, as a hand is; the same ones every time.",
        usual=(0.0, WIDEST), units=("ms",),
    ),
    Key("drone.velocity", "whole", "Velocity of strokes that have none of their own.", Drone.velocity, low=1, high=127),
    Key(
        "phrase", "notes",
        "A phrase that suits the preset, played when nothing else is asked for: notes as note:start:duration, or "
        "note:start:duration:velocity, in seconds, with blanks between them: C4:0:2 E4:.5:2:80.",
        "", low=0, high=10_000,
    ),
)  # fmt: skip

KEYS = {key.name: key for key in TABLE}
GROUPS = tuple(
    dict.fromkeys(group for key in TABLE for group in _groups(key.name.rpartition(".")[0]))  # each behind what it is in
)
REPEATED = {  # groups that come several times: fewest, most, what they are, and how to write one
    "strings": (1, MOST_STRINGS, "strings", "{played: E2-G#2, string: {tuned: E2}}"),
    "ports": (1, MOST_PORTS, "things", "{at: 0.25, mass: 3 g}"),
    "planes": (1, 2, "planes", "{angle: 90°, detuned: 0.5 cents}"),
    "courses": (1, MOST_COURSES, "strings", "{detuned: 2 cents}"),
    "body.modes": (1, MOST_MODES, "modes", "{frequency: 104 Hz, quality: 29, mass: 112 g}"),
    "pickups": (1, MAX_PICKUPS, "pickups", "{at: 0.1, kind: displacement}"),
    "map": (0, MAX_CONTROLLERS, "controllers", "{source: wheel, to: barrier.height, range: [0 mm, 0.2 mm]}"),
}
# What each of several strings may have of its own, before what the preset says for all of them.
OWN = ("string", "barrier", "contact", "excitation", "exciter", "knock", "damper", "ports", "planes", "courses")
CHOOSING = {"barrier": "barrier.profile", "exciter": "exciter.kind"}  # which key of a group others of it belong to
_ITEM = re.compile(rf"\b({'|'.join(REPEATED).replace('.', '[.]')})[.][0-9]+(?=[.]|$)")
_OF_ONE = re.compile(rf"^strings[.](?=(?:{'|'.join(OWN)})(?:[.]|$))")


def plain(path: str) -> str:
    """The name in the table of a path in a preset: of pickups.0.at pickups.at, of strings.2.string.keys string.keys."""
    return _OF_ONE.sub("", _ITEM.sub(r"\1", path))


def own_of(path: str) -> str:
    """Which of several strings a path belongs to, as strings.2; "" where it is for all."""
    match = re.match(r"strings[.][0-9]+(?=[.]|$)", path)
    return match[0] if match else ""


def nearest(path: str) -> str:
    """Words that help with a key that does not exist: one beside it, one elsewhere, or all that are beside it."""
    group, _, word = plain(path)[-100:].rpartition(".")
    names = {name: name.rpartition(".") for name in reversed([*KEYS, *GROUPS])}
    beside = {own: name for name, (around, _, own) in names.items() if around == group}
    if group == "strings":
        beside |= {own: own for own in reversed(OWN)}
    anywhere = {own: name for name, (_, _, own) in names.items()}
    close = (
        [word] if word in anywhere else get_close_matches(word, beside, n=1) or get_close_matches(word, anywhere, n=1)
    )
    if close:
        return f"did you mean {beside.get(close[0]) or anywhere[close[0]]}?"
    return f"known{f' in {group}' if group else ''}: {', '.join(reversed(beside))}"


def render_markdown() -> str:
    """The table, for documentation."""
    rows = ["| key | unit | range | default | meaning |", "|---|---|---|---|---|"]
    rows += [f"| `{k.name}` | {k.unit} | {_limits(k)} | {_default(k)} | {k.meaning} |" for k in TABLE]
    return "\n".join(rows) + "\n"


def render_text(width: int = 100) -> str:
    """The table, for `--help`."""
    blocks = []
    for key in TABLE:
        default = f"default {_default(key)}" if key.default not in (None, "") else _default(key)
        facts = "; ".join(fact for fact in (key.unit, _limits(key), default) if fact)
        meaning = fill(key.meaning, width, initial_indent="    ", subsequent_indent="    ")
        blocks.append(f"{key.name}  ({facts})\n{meaning}\n")
    return "".join(blocks)


def _limits(key: Key) -> str:
    if key.choices:
        return ", ".join(str(choice) for choice in key.choices)
    if key.kind == "words":
        return f"{key.low:g} to {key.high:g} words"
    if key.kind == "count":
        return f"{AUTO}, {key.low:g} to {key.high:g}"
    if key.kind in _RANGES:
        return _RANGES[key.kind]
    if key.kind in ("text", "notes"):
        return f"{key.low:g} to {key.high:g} characters"
    if key.kind in LISTED:
        return f"{key.low:g} to {key.high:g} items"
    return f"{key.low:g} to {key.high:g}"


def _default(key: Key) -> str:
    if key.required:
        return "required" + (f" for {', '.join(key.profiles)}" if key.profiles else "")
    if isinstance(key.default, bool):
        return "yes" if key.default else "no"
    return f"{key.default:g}" if isinstance(key.default, int | float) else str(key.default or "")
