"""An instrument's memory, declared once: what the renderer reads and changes, by the names that Python uses, too.

All of it lies in one block (engine/layout.py). A `Machine` stands at its start, and everything hangs off it; compiled
code is given nothing but its address. What a string is made of, each model says for itself (modal_string.py,
grid_string.py): here it is a row of words.
"""

from __future__ import annotations

from engine import messages as midi
from engine.layout import Cube, IntegerRows, Integers, Matrix, Rows, Singles, Vector, inside, record
from engine.opened import at
from engine.preset import parameters
from engine.synth import circuit, decimate, output
from engine.synth.room import Echoes

CHANNELS, KEYS = midi.CHANNELS, midi.KEYS
TICK = 64  # base-rate samples between looks at a voice's energy; on the absolute clock, so blocks do not matter
GLIDE = 16  # base-rate samples between steps of a moving parameter
PULSES = 4  # plucks that may overlap on one string
SPARE_VOICES = 8  # slots in which stolen voices fade out

FREE, HELD, RELEASED, FADING = range(4)  # a voice's states

CONTROLLERS = 128  # by their numbers, and after them:
PRESSURE = CONTROLLERS
UNMOVED = -1.0  # a controller that has not been touched yet
BY_VOLUME, BY_EXPRESSION, BY_PAN = 1, 2, 4  # what a channel strip may be moved by

AS_DESIGNED = -1  # the tuning of a key that MIDI's tuning standard leaves alone

RING_SIZE = 4096  # events
ALL_SOUND, ALL_NOTES, ENDS = KEYS, KEYS + 1, KEYS + 2  # what may be ended: each key, all sound, all notes


@record
class KeyRow:
    """The string of a MIDI key, as designed, and what plucks it."""

    ready: int
    tension: float
    stiffening: float
    highest: float  # tension at which bending must stop
    gain: float
    mildest: float  # damping, 1/s
    gap: float  # m, by which the barrier may rise before it presses on the string
    force: float
    duration: float
    position: float
    release: float
    pitch: float  # in semitones: 69 is 440 Hz
    length: float
    line: int  # 1 + the number of the string of many frets that it lies on; 0: it has a string of its own
    other: int  # where else the key may be played: a further row; or 0


@record
class Voice:
    """One string that may sound."""

    state: int
    key: int
    place: int  # its row of keys: the key's own, but for a key of several strings of many frets
    channel: int
    born: int
    sostenuto: int
    pressed: int  # 1 + how hard its own key is pressed, or 0 if nobody has said
    moving: int  # 0, or 1 + the remainder of the clock by GLIDE at which it takes its steps, which is an event's
    forced: int  # 1 while a pluck lasts, 2 until the next look after something has worked on it
    calm: int  # looks in a row
    rising: int  # 1 while it fades in, where it takes over from a voice of another design (takeover.py)
    sounded: int  # model steps of the last span
    turned: int  # the sample at which its sides began to go from left, right to the next ones
    semitones: float
    tuned: float  # semitones by which MIDI's tuning standard has moved its key
    tension: float
    damping: float
    lift: float
    next_lift: float
    gain: float
    next_gain: float
    fade: float
    energy: float
    peak: float
    left: float
    right: float
    next_left: float
    next_right: float
    ages: Integers = inside(PULSES)  # steps since each pluck began, -1 when it is over
    forces: Vector = inside(PULSES)  # each pluck's peak
    lengths: Vector = inside(PULSES)  # and duration, in steps


@record
class Channel:
    """What a MIDI channel has been told. Positions are floats of 0 to 127, however finely they were sent."""

    bend: float  # -8192 to 8191
    range: float  # of the bend, cents
    manager: int  # the channel that speaks for it; its own number outside of an MPE zone
    strip: int  # which of BY_... have ever been where they change the sound
    position: Vector = inside(CONTROLLERS + 1)


@record
class Map:
    """A controller, and the movable parameter that it moves, with the values at its ends."""

    controller: int
    target: int
    low: float
    high: float


@record
class Ear:
    """A pickup: how much of it goes left and right, and what it hears (physics/hearing.py)."""

    left: float
    right: float
    way: int
    column: int  # of what contact and pluck carry, if it hears a body
    end: float  # that this body carries


@record
class Ring:
    """Events on their way: counts in cache lines of their own, then rows of (sample, message)."""

    written: Integers = inside(8)
    read: Integers = inside(8)
    rows: IntegerRows = inside(RING_SIZE, 2)


@record
class Late:
    """What a full ring may not lose.

    How many, the ring's count at the last of them, how many the renderer has seen; then for each channel the number of
    the last loss for each of its keys, all its sound, and all its notes.
    """

    count: Integers = inside(1)
    after: Integers = inside(1)
    seen: Integers = inside(1)
    losses: IntegerRows = inside(CHANNELS, ENDS)


REGISTERS = len(parameters.REGISTERS)
AT_HAND = 32  # keys of chords that may wait at a time
DOWN, UP, ALTERNATE = range(3)  # ways of a hand that strums


@record
class Hand:
    """What strikes chords string after string (strum.py), the present chord, and how many rows wait."""

    strums: int  # 0: keys sound as they come
    order: int  # DOWN | UP | ALTERNATE
    accent: int
    window: int  # samples
    spread: float  # s
    waiting: int
    chord: int  # its number; 0: there was none yet
    first: int  # the sample of its first key
    struck: int  # how many of its keys have been
    latest: int  # the sample of the last of them
    way: int  # 1: upwards in pitch
    turned: int  # the way of the last stroke over several strings, or 0
    swung: int  # the sample on which that began


@record
class Waiting:
    """A key of a chord that waits its turn; or, let go before that, the end of its note."""

    key: int
    channel: int
    velocity: int
    lifted: int  # velocity of its release
    arrived: int  # samples: when it came,
    released: int  # was let go, if it was,
    due: int  # and what it waits for
    turn: int  # of its chord
    chord: int


PULSED, HIT, TAKEN = range(3)  # what sounds a string: a force over time, a hammer, or a finger that lets it slip


@record
class Choir:
    """The strings that a key sounds together, in the block of memory that begins with it."""

    strands: Integers  # where they are, counted from here
    kind: Integers
    onset: Vector  # steps after the key
    share: Vector  # of what the key's velocity makes: a force (N), or a hammer's speed (m/s)
    lasting: Vector  # of the key's duration
    register: Integers  # that has to be drawn for it to be plucked, from 1 on; or 0
    drawn: Matrix  # [PULSES, strings]: how far it was for each pluck
    knock: float  # of the key's force (N, or m/s): what strikes the body; how long, and when, of the key's duration
    knocking: float
    after: float
    knocked: Vector  # [PULSES] 1 of a pluck that does; a slur does not
    position: Vector  # where each is struck, of its length
    point: Integers  # of a finger that takes it; or NOBODY
    hammer: Integers  # of this choir's, or NOBODY
    # Of its hammers, each string's own first, then of what lies loose on strings, which is one that its weight brings:
    mobility: Vector  # k^2/m
    weight: Vector  # N upwards
    height: Vector  # m, where it begins
    felt: Integers  # the point of the damper that ends the note, or NOBODY
    damped: Vector  # steps in which it takes hold
    met: Matrix  # [2 strings, 4]: how a finger met each of their planes (fretting.meet_finger)
    purse: Matrix  # [strings, 3] J: what it may give each of them (fretting.py)
    landing: Integers  # [2] 1 + samples since then, or 0; how many it takes
    aside: Vector  # [2 strings] m: where a finger on its way has the end of each plane
    leaning: Matrix  # [pickups, 2 strings]: how much of that each of them sees, as the string leans
    latest: float  # onset
    longest: float  # lasting
    calming: float  # damping that ends a stolen note soonest, 1/s
    ending: float  # s that it takes then


TO_BODY, TO_STRINGS, TO_FORCE = range(3)  # what is heard: the body, its strings by pickups, or the force on it
FINGERS = 8  # that are kept of a string; with more the first one is forgotten
OVERLAP, PEDAL = range(2)  # when a key is slurred: where it overlaps another one, or while the legato pedal is down


@record
class Fingerboard:
    """A string of many frets, or a course of them, which keys share: the fingers on it in the order they came in."""

    manner: int  # OVERLAP | PEDAL
    finger: float  # how hard it hammers and pulls, of the force of a pluck
    fingers: int
    places: Integers = inside(FINGERS)  # rows of keys
    keys: Integers = inside(FINGERS)
    channels: Integers = inside(FINGERS)


@record
class Joint:
    """What voices have in common where they stand on one bridge: the island, and what goes into it and comes out.

    Behind the voices there is one more, the body: its channel is that of the last note, its gain that of the sound.
    """

    island: int  # bytes from the machine's start
    courses: int  # the most strings of a key; those of voice v are courses * v and on
    hammers: int  # the most hammers of a key, likewise
    awake: int  # 1: something in it moves
    calm: int  # looks in a row
    most: float  # J that moved in it since it woke
    leaves: int  # 1: another design goes on with all of it, and it fades away (crossing.py)
    gain: float
    listens: int  # TO_BODY | TO_STRINGS | TO_FORCE
    spare: int  # bytes from the machine's start to room for the strings of a voice that goes on at another length
    lines: Rows[Fingerboard]
    way: Matrix  # [2, 3]: what a finger does to a string's planes in a sample (fretting.press)
    push: Matrix  # [strings, steps] N
    nudge: Vector  # [strings] N: of one step
    blows: Vector  # [steps] N on the body, elsewhere than on the bridge
    knock: Vector  # [r] N on the bridge
    felt: Matrix  # [steps, r] N on the bridge, of strings that drive it one-way
    out: Matrix  # [steps, channels]


choir = at(Choir)
joint_at = at(Joint)


@record
class Meters:
    """Counts that drivers read."""

    stolen: int
    watchdog: int
    lost: int
    sounding: int
    most: int


@record
class Machine:
    """Everything that one instrument is made of while it plays. What changes comes first: a reset copies it back."""

    model: int  # strings.MODELS
    slots: int  # voices that may sound or fade
    polyphony: int
    pickups: int
    oversample: int
    latency: int  # samples
    outputs: int
    shape: int  # of a pluck
    strip: int  # which of BY_... are the channel strip's; the preset's map has the others
    clock: int
    born: int
    idle: int  # 1: no voice sounds, the filters are empty, and silence is all that comes out until a note begins
    quiet: int  # 1 as long as nothing but silence has come out since the last tick
    crew: int  # the address of a Crew, whose helper performs some of the voices (crew.py), or 0
    held: int  # 1: it has not answered; until it does, there is silence
    apart: int  # 1: some strip has been moved, so each voice goes through its own one
    rate: float  # Hz, of the model
    force_power: float
    duration_power: float
    bend: float  # cents by which all strings sound higher where nobody moves that
    registers: Vector = inside(REGISTERS)  # how far each is drawn where nobody moves it
    glide: float  # share of the way that is left, each step
    fade: float  # 1/steps
    turn: float  # steps
    joint: int  # bytes from here to a Joint; 0: each voice stands by itself
    room: Echoes
    meters: Meters
    ring: Ring
    late: Late
    hand: Hand
    waiting: Rows[Waiting] = inside(AT_HAND)
    channels: Rows[Channel] = inside(CHANNELS)
    tuned: Integers = inside(KEYS)  # where MIDI's tuning standard has each key, in 2^-14 semitones, or AS_DESIGNED
    keys: Rows[KeyRow]  # of all keys, then further places of some
    voices: Rows[Voice]
    maps: Rows[Map]
    ears: Rows[Ear]
    resting: Matrix  # what the kernel gives of each key's string at rest
    key_words: IntegerRows  # what the string of each key is made of, as its model lays it out
    voice_words: IntegerRows  # the same of each voice: its own arrays, and its key's where they never change
    own_words: IntegerRows  # where its own arrays are
    own: Integers  # which words that is
    scratch: Matrix  # each voice's own
    force: Matrix  # row 0 is that of all voices that the audio thread performs, 1 + v a helper's of voice v
    out: Cube  # the same: what the kernel gives of a voice's string; then what its pickups hear
    heard: Cube  # what it gave for each pickup of every voice, one and two steps ago
    bus: Matrix
    stereo: Matrix
    base: Matrix
    wiring: circuit.Wiring
    passing: circuit.State
    filter: decimate.Decimator
    filtered: decimate.State
    finish: output.Output
    finished: output.State


machine = at(Machine)
ring_at, late_at = at(Ring), at(Late)

PARTS = 128  # instruments that an ensemble may hold, by the number of their part
PROGRAMS = 1024  # that can be chosen; a bank select counts 128 of them
MIXED = 1024  # frames that are rendered at a time where instruments are mixed
ABSENT, ARRIVED, PLAYING = range(3)  # states of a part


@record
class Seat:
    """A place for an instrument. Python fills an absent one and says that it has arrived; from then on only who plays
    writes `state`. Two wishes are Python's: `everywhere` and `asked`.
    """

    state: Integers = inside(1)
    machine: int  # its address
    outputs: int
    delay: int  # samples by which its events are late, so that all instruments are heard together
    everywhere: int  # every channel should begin its notes on it
    asked: int  # it should go as soon as nobody hears it
    heir: int  # 0, or the number of a design, which takes over what sounds on lower ones (takeover.py)
    partial: int  # 1: a design of some keys only, on which no older design may count
    since: int  # the sample on which it was welcomed
    left: float  # gains
    right: float


@record
class Desk:
    """An ensemble: instruments that share a clock, a way in and a way out."""

    outputs: int
    clock: int
    latest: int  # the part that last began a note or was chosen; -1: none yet
    listener: int  # the address of a machine without strings, which knows where all channels stand
    parts: Rows[Seat] = inside(PARTS)
    routes: Integers = inside(CHANNELS)  # for each channel the part that its notes begin on, or -1
    programs: Integers = inside(PROGRAMS)  # for each program its part, or -1
    mix: Singles = inside(2 * MIXED)


desk = at(Desk)
