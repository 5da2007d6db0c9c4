"""MIDI messages as what they do to voices: notes, pedals, bends, controllers; events from the ring."""

from __future__ import annotations

from engine import messages as midi
from engine.compiled import native
from engine.synth import bridged, frets, room, strips, strum
from engine.synth.memory import (
    CHANNELS,
    ENDS,
    FADING,
    FREE,
    HELD,
    PRESSURE,
    RELEASED,
    UNMOVED,
    Machine,
)
from engine.synth.mts import TUNING, code_of, is_at_once
from engine.synth.ring import flagged, flagged_since, head, take
from engine.synth.voices import begin, departure, pluck, set_moving
from engine.synth.zones import hears, reset_controllers, resize, share_range


@native
def obey(m: Machine, message: int) -> None:
    """One message: of a channel (messages.py), or of a key's tuning (mts.py)."""
    kind, channel = midi.kind(message), midi.channel(message)
    first, second = midi.first(message), midi.second(message)
    if midi.begins_note(message):
        if not strum.enter(m, channel, first, second):
            note_on(m, channel, first, second)
    elif midi.ends_note(message):
        lifted = second if kind == midi.NOTE_OFF and second > 0 else frets.MODERATE
        if not strum.let_go(m, channel, first, lifted):
            note_off(m, channel, first, lifted)
    elif kind == midi.CONTROL:
        control(m, channel, first, second)
    elif kind == midi.KEY_PRESSURE:
        press(m, channel, first, second)
    elif kind == midi.PRESSURE:
        m.channels[channel].position[PRESSURE] = first
        stir(m, channel)
    elif kind == midi.WHEEL:
        m.channels[channel].bend = midi.bend(message)
        stir(m, channel)
    elif kind == TUNING:
        retune(m, first, code_of(message), is_at_once(message))


@native
def retune(m: Machine, key: int, code: int, at_once: int) -> None:
    """Strike a key at another pitch from now on; and if so wished have it glide there if it sounds."""
    m.tuned[key] = code
    for v in range(m.slots):
        if at_once and m.voices[v].state != FREE and m.voices[v].key == key:
            m.voices[v].tuned = departure(m, key)
            set_moving(m, v)


@native
def press(m: Machine, channel: int, key: int, value: int) -> None:
    """How hard a key is pressed: from now on its note has this in place of the channel's pressure."""
    for v in range(m.slots):
        voice = m.voices[v]
        if (voice.state == HELD or voice.state == RELEASED) and voice.key == key and voice.channel == channel:
            voice.pressed = 1 + value
            set_moving(m, v)


@native
def stir(m: Machine, channel: int) -> None:
    """Have the channel's voices, and its zone's, glide to where its controllers now point."""
    for v in range(m.voices.size):  # and the body, where there is one
        if hears(m, m.voices[v].channel, channel):
            set_moving(m, v)


@native
def note_on(m: Machine, channel: int, key: int, velocity: int) -> None:
    """Pluck the key's string: the one still sounding if there is one, else a free one, else a stolen one.

    A string of many frets may sound elsewhere, and be hammered or pulled instead.
    """
    if m.keys[key].ready == 0:
        return
    if m.joint:
        bridged.make_way(m)
    place, slurred = frets.place_of(m, channel, key), 0.0
    line = m.keys[place].line
    chosen = frets.voice_on(m, line) if line else sounding(m, channel, key)
    if chosen >= 0:
        if line:
            slurred = frets.reach(m, chosen, place, key, channel)
        m.voices[chosen].state, m.voices[chosen].pressed = HELD, 0
        m.voices[chosen].tuned = departure(m, key)
        set_moving(m, chosen)
    else:
        chosen = slot(m)
        begin(m, chosen, place, key, channel)
    frets.press(m, place, key, channel)
    m.born += 1
    m.voices[chosen].born = m.born
    if slurred > 0.0:
        frets.blow(m, chosen, slurred, velocity)
    else:
        pluck(m, chosen, velocity)
    if m.joint:
        bridged.begin(m, chosen)


@native
def strike_due(m: Machine) -> None:
    """What is due of chords that are struck string after string, and the ends that follow."""
    r = strum.whose_turn(m)
    while r >= 0:
        row = m.waiting[r]
        channel, key, lifted = row.channel, row.key, row.lifted
        if row.chord == strum.STRUCK:
            strum.forget(m, r)
            note_off(m, channel, key, lifted)
        else:
            strum.forget_ends(m, channel, key)
            note_on(m, channel, key, strum.strike(m, strum.whose_turn(m)))
        r = strum.whose_turn(m)


@native
def sounding(m: Machine, channel: int, key: int) -> int:
    """The voice of a key that still sounds on a channel, or -1."""
    chosen = -1
    for v in range(m.slots):
        voice = m.voices[v]
        ringing = voice.state == HELD or voice.state == RELEASED
        if ringing and voice.key == key and voice.channel == channel:
            chosen = v
    return chosen


@native
def slot(m: Machine) -> int:
    """A free voice. Beyond the polyphony the quietest is sent to fade; with no slot left the faintest fade is cut."""
    sounding, quietest, faintest = 0, -1, -1
    for v in range(m.slots):
        if m.voices[v].state == FADING:
            if faintest < 0 or m.voices[v].fade < m.voices[faintest].fade:
                faintest = v
        elif m.voices[v].state != FREE:
            sounding += 1
            if quietest < 0 or before(m, v, quietest):
                quietest = v
    if sounding >= m.polyphony:
        m.voices[quietest].state = FADING
        m.meters.stolen += 1
        if faintest < 0:
            faintest = quietest
    for v in range(m.slots):
        if m.voices[v].state == FREE:
            return v
    return faintest


@native
def before(m: Machine, v: int, other: int) -> bool:
    """Whether v is stolen rather than the other: released before held, then the lower energy, then the older."""
    a, b = m.voices[v], m.voices[other]
    if a.state != b.state:
        return a.state == RELEASED
    if a.energy > 0.0 and b.energy > 0.0 and a.energy != b.energy:
        return a.energy < b.energy
    return a.born < b.born


@native
def note_off(m: Machine, channel: int, key: int, velocity: int) -> None:
    """Let the damper down, as far as the pedals allow, unless another finger is on the string."""
    frets.release(m, channel, key, velocity)
    for v in range(m.slots):
        voice = m.voices[v]
        if voice.state == HELD and voice.key == key and voice.channel == channel:
            voice.state = RELEASED
            set_moving(m, v)


@native
def control(m: Machine, channel: int, number: int, value: int) -> None:
    """Pedals, registered parameters, mode messages; everything else is kept for whoever maps it."""
    own = m.channels[channel].position
    earlier = own[number]
    own[number] = value
    if number == midi.SOSTENUTO:
        for v in range(m.slots):
            voice = m.voices[v]
            if hears(m, voice.channel, channel):
                if value >= 64 and earlier < 64:
                    voice.sostenuto = 1 if voice.state == HELD else 0
                elif value < 64:
                    voice.sostenuto = 0
    elif number in (midi.NRPN, midi.NRPN_FINE):
        own[midi.RPN] = own[midi.RPN_FINE] = UNMOVED  # data that follow are not for a registered parameter
    elif number in (midi.DATA, midi.DATA_FINE) and own[midi.RPN] == 0:
        set_parameter(m, channel, number, value)
    elif number == midi.ALL_SOUND_OFF:
        silence(m, channel)
    elif number == midi.RESET_CONTROLLERS:
        for other in range(CHANNELS):
            if hears(m, other, channel):
                reset_controllers(m.channels[other])
        for v in range(m.slots):
            if hears(m, m.voices[v].channel, channel):
                m.voices[v].sostenuto = m.voices[v].pressed = 0
    elif number >= midi.ALL_NOTES_OFF:
        let_go(m, channel)
    if moves_strings(m, number):
        stir(m, channel)
    if number in (midi.VOLUME, midi.PAN, midi.EXPRESSION, midi.RESET_CONTROLLERS):
        strips.turn_all(m)


@native
def set_parameter(m: Machine, channel: int, number: int, value: int) -> None:
    """The bend's range, in semitones and cents, or the number of a zone's members."""
    own = m.channels[channel]
    if own.position[midi.RPN_FINE] == midi.BEND_RANGE:
        fine = own.range % 100.0
        own.range = value * 100.0 + fine if number == midi.DATA else own.range - fine + min(value, 99)
        share_range(m, channel)
        stir(m, own.manager)
    elif (
        own.position[midi.RPN_FINE] == midi.ZONE
        and number == midi.DATA
        and channel in midi.MANAGERS
        and value < CHANNELS
    ):
        begin_anew(m, channel, resize(m, channel, value))
        strips.turn_all(m)
        own.position[midi.RPN], own.position[midi.RPN_FINE] = 0, midi.ZONE  # still chosen: only controllers were reset


@native
def begin_anew(m: Machine, manager: int, reach: int) -> None:
    """Let go all keys of channels up to so far from a manager: who held them has another channel now."""
    frets.let_go(m, manager - reach, manager + reach)
    strum.drop(m, manager - reach, manager + reach)
    for v in range(m.slots):
        voice = m.voices[v]
        if abs(voice.channel - manager) <= reach:
            voice.sostenuto = 0
            if voice.state == HELD:
                voice.state = RELEASED
            set_moving(m, v)


@native
def let_go(m: Machine, channel: int) -> None:
    """Let all dampers of a channel and its zone down, as far as the pedals allow."""
    for other in range(CHANNELS):
        if hears(m, other, channel):
            frets.let_go(m, other, other)
            strum.drop(m, other, other)
    for v in range(m.slots):
        voice = m.voices[v]
        if voice.state == HELD and hears(m, voice.channel, channel):
            voice.state = RELEASED
            set_moving(m, v)


@native
def moves_strings(m: Machine, number: int) -> bool:
    """Whether a controller can change what a sounding string should be; the others must cost nothing."""
    mapped = False
    for r in range(m.maps.size):
        mapped |= m.maps[r].controller == number
    own = (midi.SUSTAIN, midi.SOSTENUTO, midi.DATA, midi.DATA_FINE)
    return mapped or number in own or number >= midi.MODES


@native
def silence(m: Machine, channel: int) -> None:
    """Have every voice of a channel and its zone fade out now, whatever the pedals say; with the last one, the room."""
    for other in range(CHANNELS):
        if hears(m, other, channel):
            strum.drop(m, other, other)
    for v in range(m.slots):
        if hears(m, m.voices[v].channel, channel) and m.voices[v].state != FREE:
            m.voices[v].state = FADING
    left = False
    for v in range(m.slots):
        left |= m.voices[v].state == HELD or m.voices[v].state == RELEASED
    if not left:
        room.hush(m.room)


@native
def take_events(m: Machine) -> None:
    """Obey everything that is due, and in its turn what a full ring could not hold; then a chord's turns are known."""
    while head(m.ring) <= m.clock:
        take_late(m)  # flags are up before what comes after them is queued: they must not end a later note
        obey(m, take(m.ring))
    take_late(m)
    strike_due(m)


@native
def take_late(m: Machine) -> None:
    """End the notes whose end found the ring full, as soon as everything that was queued before has been obeyed."""
    seen = flagged_since(m.ring, m.late)
    if seen < 0:
        return
    for channel in range(CHANNELS):
        for end in range(ENDS):
            message = flagged(m.late, seen, channel, end)
            if message >= 0:
                obey(m, message)
