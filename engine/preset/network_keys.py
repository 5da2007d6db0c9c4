"""Keys of an instrument of several strings: who plays which, what answers, what plucks, damps and prepares them, and
the body. They are part of the table of schema.py.
"""

from __future__ import annotations

from typing import Any

from engine.physics.network.bodies import BODIES
from engine.physics.network.parts import BRIDGE, FRAME, MOST_DIRECTIONS
from engine.preset.assembly import COUPLINGS, MANNERS, Blowing, Course, Felt, Knock, Played, Plucking
from engine.preset.key import Key
from engine.preset.parameters import REGISTERS

EXCITERS = ("pulse", "plectrum", "hammer")
_PULSE, PLECTRUM, HAMMER = EXCITERS
MOST_STRINGS, MOST_COURSES, MOST_PORTS, MOST_MODES = 128, 8, 16, 256
MOST_SYMPATHETIC = 16  # what lies side by side in one pass of vectors

_TINY = {"usual": (1e-6, 0.1), "units": ("mm",)}


def _key(
    name: str, kind: str, unit: str, limits: tuple[float, float], default: object, meaning: str, **more: Any
) -> Key:
    return Key(name, kind, meaning, default, unit, *limits, **more)


def _switch(name: str, meaning: str) -> Key:
    return Key(name, "switch", meaning, False, choices=("no", "yes"))


STRINGS = (
    Key(
        "strings.played",
        "range",
        "The keys that play this string: E2-G#2, or a single one. A key plays every string whose keys it is among. "
        "Without it, and without sympathetic: all keys.",
    ),
    Key(
        "strings.sympathetic",
        "pitches",
        "Instead of played: pitches of strings that nobody plays and that answer, a string each: [C#4, D4, 330 Hz]. Or "
        "the notes of a scale that has a name: yaman on C#; yaman on C# from C4 to F5; 13 of yaman on C# from C4. "
        "string.keys says how they are reached.",
        low=1,
        high=MOST_SYMPATHETIC,
    ),
    _switch(
        "strings.mono",
        "yes: one string with many frets, on which a new note takes the old one's place. no: a string for each key.",
    ),
    Key(
        "strings.legato",
        "choice",
        "Of one string with many frets: when a key is hammered or pulled instead of plucked. overlap: while another "
        "key of the string is held. pedal: if the legato pedal (CC 68) is down, too.",
        MANNERS[0],
        choices=MANNERS,
    ),
    _key(
        "strings.finger",
        "number",
        "",
        (0.0, 10.0),
        Played.finger,
        "Of one string with many frets: how hard a finger hammers and pulls, of the force of a pluck.",
    ),
    _key("strings.weight", "number", "", (0.0, 10.0), 1.0, "How strongly this string moves the bridge."),
)

OF_A_STRING = (
    _switch(
        "string.stretching",
        "Whether the string's tension grows as it swings: heard in hard basses and pulled strings only, it costs half "
        "as much again as the string. Needs elasticity, or diameter and material.",
    ),
    _key(
        "string.elasticity",
        "number",
        "N",
        (0.0, 1e8),
        None,
        "E·A, by which the tension grows. Without it: that of a wire of this diameter and material.",
    ),
    _key(
        "string.band", "number", "Hz", (20.0, 1e6), None, "Modes above it are left out. Without it: none that is heard."
    ),
)

OF_A_BARRIER = (
    Key(
        "barrier.stands",
        "choice",
        "What it moves with: the bridge, or the frame with its neck.",
        BRIDGE,
        choices=(BRIDGE, FRAME),
    ),
    _key(
        "barrier.friction",
        "number",
        "",
        (0.0, 10.0),
        0.0,
        "How it rubs on the plane across while the string presses on it; needs a second plane.",
    ),
    _switch(
        "barrier.mirrored",
        "yes: the same stands above the string, too, upside down; at heights below 0 the string swings in a gap.",
    ),
)

ANGLE = _key("excitation.angle", "angle", "°", (-180.0, 180.0), 0.0, "In which direction it acts, from upright on.")

PARTS = (
    Key(
        "exciter.kind",
        "choice",
        "What sets the string in motion, at excitation.position. pulse: the force of excitation. plectrum: a finger "
        "or a plectrum that takes the string along and lets it slip. hammer: a mass that flies at it.",
        EXCITERS[0],
        choices=EXCITERS,
    ),
    _key(
        "exciter.by",
        "number",
        "m",
        (1e-6, 0.1),
        Plucking.by,
        "Of a plectrum: how far it takes the string along.",
        profiles=(PLECTRUM,),
        **_TINY,
    ),
    _key(
        "exciter.duration",
        "number",
        "s",
        (1e-5, 10.0),
        Plucking.duration,
        "Of a plectrum: in which time.",
        profiles=(PLECTRUM,),
    ),
    _key(
        "exciter.slip",
        "number",
        "N",
        (1e-4, 1e4),
        Plucking.slip,
        "Of a plectrum: the force at which the string slips off, at velocity 100.",
        profiles=(PLECTRUM,),
    ),
    _key(
        "exciter.damping",
        "number",
        "kg/s",
        (0.0, 1e3),
        Plucking.damping,
        "Of a plectrum: how it damps the string while they touch.",
        profiles=(PLECTRUM,),
    ),
    _key(
        "exciter.mass",
        "number",
        "kg",
        (1e-6, 10.0),
        Blowing.mass,
        "Of a hammer: its mass.",
        profiles=(HAMMER,),
        usual=(1e-5, 0.5),
        units=("g",),
    ),
    _key(
        "exciter.speed",
        "number",
        "m/s",
        (-100.0, 100.0),
        Blowing.speed,
        "Of a hammer: its speed at velocity 100, upwards.",
        profiles=(HAMMER,),
    ),
    # Before the stiffness, whose unit follows it.
    _key(
        "exciter.exponent",
        "number",
        "",
        (1.0, 10.0),
        None,
        "Exponent of the felt's or the tip's power law. Without it: 2.5 of a hammer, 1 of a plectrum.",
        profiles=(PLECTRUM, HAMMER),
    ),
    _key(
        "exciter.stiffness",
        "number",
        "N/m^exponent",
        (0.0, 1e18),
        None,
        "Stiffness of the felt or of the tip. Without it: 1e9 of a hammer, 2e4 of a plectrum.",
        profiles=(PLECTRUM, HAMMER),
    ),
    _key(
        "exciter.hysteresis",
        "number",
        "s/m",
        (0.0, 1e3),
        0.0,
        "Of a hammer: Hunt and Crossley's damping of its felt.",
        profiles=(HAMMER,),
    ),
    _key(
        "knock.force",
        "number",
        "N",
        (-1e5, 1e5),
        Knock.force,
        "What plucks a string strikes the body, too, as a bachi does the skin: the peak of this blow, upwards, at "
        "velocity 100.",
    ),
    _key("knock.duration", "number", "s", (1e-5, 1.0), Knock.duration, "How long the blow lasts."),
    _key(
        "knock.after",
        "number",
        "",
        (0.0, 10.0),
        Knock.after,
        "When it begins, of the pluck's duration: at 1 as the string is let go.",
    ),
    _key(
        "damper.at",
        "number",
        "",
        (0.0, 1.0),
        Felt.at,
        "Where a felt comes down when the key is let go, a fraction of length.",
    ),
    _key("damper.resistance", "number", "kg/s", (0.0, 1e5), Felt.resistance, "How it damps."),
    _key("damper.stiffness", "number", "N/m", (0.0, 1e7), Felt.stiffness, "How it holds."),
    _key("damper.mass", "number", "kg", (0.0, 1.0), Felt.mass, "Its mass.", usual=(1e-5, 0.1), units=("g",)),
    _key("damper.duration", "number", "s", (0.0, 10.0), Felt.duration, "In which time it comes down."),
    _key(
        "ports.at",
        "number",
        "",
        (0.0, 1.0),
        None,
        "Where something hangs on the string, in a list of such things, a fraction of length.",
        required=True,
    ),
    _key("ports.mass", "number", "kg", (0.0, 1.0), 0.0, "Its mass, as of a bolt.", usual=(1e-6, 0.1), units=("g",)),
    _key("ports.stiffness", "number", "N/m", (0.0, 1e7), 0.0, "Stiffness of a spring there, as of rubber."),
    _key("ports.resistance", "number", "kg/s", (0.0, 1e5), 0.0, "Resistance of a dashpot there, as of rubber."),
    _key(
        "ports.rattle",
        "number",
        "kg",
        (0.0, 1.0),
        0.0,
        "Mass of something loose that comes to lie on the string and is thrown off by it, as a ring or a nut.",
        usual=(1e-6, 0.1),
        units=("g",),
    ),
    _key("ports.gap", "number", "m", (0.0, 0.1), 1e-4, "How far from the string it is as a note begins.", **_TINY),
    _key("ports.angle", "angle", "°", (-180.0, 180.0), 0.0, "The direction in which it acts, from upright on."),
    _key(
        "planes.angle",
        "angle",
        "°",
        (-180.0, 180.0),
        0.0,
        "Direction of one of the one or two planes in which the string vibrates, from upright on.",
    ),
    _key(
        "planes.detuned", "cents", "cents", (-1200.0, 1200.0), 0.0, "How much higher the string sounds in this plane."
    ),
    _key("planes.loss", "number", "", (0.0, 1e3), 1.0, "The decay rate in this plane is the string's times this."),
    _key("planes.band", "number", "Hz", (20.0, 1e6), None, "Modes of this plane above it are left out."),
    _key(
        "courses.ratio",
        "ratio",
        "",
        (1.0 / 64.0, 64.0),
        Course.ratio,
        "Pitch of one of the strings that a key sounds together, of the key's own: 2 an octave above it, 1/2 below.",
    ),
    _key("courses.detuned", "cents", "cents", (-1200.0, 1200.0), Course.detuned, "How much higher it is than that."),
    _key(
        "courses.onset",
        "number",
        "s",
        (0.0, 10.0),
        Course.onset,
        "How much later it begins.",
        usual=(0.0, 1.0),
        units=("ms",),
    ),
    _key("courses.force", "number", "", (-10.0, 10.0), Course.force, "How hard it is struck, of the key's own force."),
    Key(
        "courses.stop",
        "choice",
        "Which of `registers` has to be drawn for it to be plucked. Without it: none.",
        choices=REGISTERS,
    ),
)

STANDING = (
    *(
        _key(
            f"registers.{name}",
            "number",
            "",
            (0.0, 1.0),
            1.0,
            f"Whether strings of the {name} register are plucked: at 1 its jacks stand at the strings, at 0 they pass "
            "by; between, as hard as that says.",
        )
        for name in REGISTERS
    ),
    Key("body.name", "choice", "A body that has a name, under the bridge of all strings.", choices=tuple(BODIES)),
    _key("body.scale", "number", "", (0.05, 20.0), 1.0, "Of a body with a name: all its frequencies times this."),
    _key("body.weight", "number", "", (1e-3, 1e3), 1.0, "Of a body with a name: its mass times this."),
    Key(
        "body.directions",
        "angles",
        f"Directions in which the bridge moves, 1 to {MOST_DIRECTIONS}, from upright on: [0°], [0°, 90°].",
        None,
        "°",
        1,
        MOST_DIRECTIONS,
    ),
    _key(
        "body.radiates",
        "number",
        "Hz",
        (0.0, 5e3),
        None,
        "From where on it radiates: what is lower is heard less, by 12 dB an octave. Without it: as a body with a name "
        "does, or all.",
    ),
    _key(
        "body.modes.frequency",
        "number",
        "Hz",
        (1.0, 48e3),
        None,
        "Frequency of one of the modes of a body without a name.",
        required=True,
    ),
    _key(
        "body.modes.quality",
        "number",
        "",
        (0.501, 1e6),
        30.0,
        "Its quality: how many times it swings to fall by 27 dB.",
    ),
    _key(
        "body.modes.mass",
        "number",
        "kg",
        (1e-6, 1e4),
        None,
        "How much of the body moves with it, as the bridge feels it.",
        required=True,
        units=("g",),
    ),
    Key(
        "body.modes.moves",
        "weights",
        "How much the bridge moves with it in each of its directions; 1 in all of them without it.",
        None,
        "",
        1,
        MOST_DIRECTIONS,
    ),
    _key(
        "body.modes.struck",
        "number",
        "",
        (-1e6, 1e6),
        None,
        "How much it moves where `knock` strikes the body, as `moves` says it of the bridge. Without it: as much as "
        "there.",
    ),
    _key("body.modes.left", "number", "", (-1e6, 1e6), 1.0, "How much of it is heard on the left."),
    _key("body.modes.right", "number", "", (-1e6, 1e6), 1.0, "How much of it is heard on the right."),
    _key(
        "body.plate.density",
        "number",
        "1/Hz",
        (1e-5, 1.0),
        None,
        "How many modes a hertz there are that nobody has counted, drawn at random as those of a plate are.",
        required=True,
    ),
    _key(
        "body.plate.mass",
        "number",
        "kg",
        (1e-5, 1e4),
        None,
        "Mass of that plate.",
        required=True,
        units=("g",),
    ),
    _key("body.plate.loss", "number", "", (1e-5, 1.9), 0.03, "Its loss factor, which is 1/quality."),
    _key(
        "body.plate.from",
        "number",
        "Hz",
        (1.0, 48e3),
        None,
        "Where these modes begin: above those that are listed.",
        required=True,
    ),
    _key("body.plate.to", "number", "Hz", (1.0, 48e3), 3000.0, "Where they end."),
    Key("body.plate.seed", "whole", "Another number draws other ones.", 0, low=0, high=1e9),
    Key(
        "coupling",
        "choice",
        "two-way: strings move the bridge, and it moves them. one-way: played strings do not feel it, for less. "
        "none: every string by itself.",
        COUPLINGS[0],
        choices=COUPLINGS,
    ),
)
