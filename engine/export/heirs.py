"""An instrument that was designed anew takes over what sounds on another one, between two blocks of the audio thread.

Both have a memory of their own, so a design may take its time on any thread: whoever plays looks only at one that is
whole. As in live play (synth/routing.py) strings ring on in their new design, and the old one is heard while it fades
away: until then its memory is in use, as parts of the new ensemble that nobody plays.

Nothing here is decorated, for the reason that doors.py gives.
"""

from __future__ import annotations

from typing import Any

from engine import messages as midi
from engine.compiled import native
from engine.export.memory import exported
from engine.opened import address
from engine.synth.idle import adopt, hear_of
from engine.synth.memory import ABSENT, CHANNELS, PARTS, PLAYING, RING_SIZE, desk, machine
from engine.synth.ring import put
from engine.synth.takeover import covers, take_over

ELDERS = PARTS // 2  # the first part that is an elder's: whose number is so much less is its heir


def _alone(where: Any) -> Any:
    """Whether nothing is heard any more of the instrument that this one followed."""
    d = desk(where + exported(where).desk)
    for s in range(ELDERS, PARTS):
        if d.parts[s].state[0] == PLAYING:
            return 0
    return 1


def _ready_for(d: Any, e: Any) -> Any:
    """Whether the parts of one ensemble can go on where those of another are."""
    for s in range(ELDERS):
        if e.parts[s].state[0] == PLAYING:
            if d.parts[s].state[0] != PLAYING:
                return 0
            mine, theirs = machine(d.parts[s].machine), machine(e.parts[s].machine)
            if mine.rate != theirs.rate or theirs.hand.waiting > 0 or not covers(mine, theirs):
                return 0
    return 1


def _hand_over(mine: Any, theirs: Any) -> None:
    """What waits to be obeyed waits in both, but notes that are to begin, which begin on the new one alone."""
    ring, kept = theirs.ring, theirs.ring.read[0]
    for n in range(theirs.ring.read[0], theirs.ring.written[0]):
        row = ring.rows[n & (RING_SIZE - 1)]
        put(mine.ring, row[0], row[1])
        if not midi.begins_note(row[1]):
            other = ring.rows[kept & (RING_SIZE - 1)]
            other[0], other[1] = row[0], row[1]
            kept += 1
    ring.written[0] = kept


def _inherit(d: Any, e: Any) -> None:
    """Have an ensemble that was just opened go on where another one is, each part with what sounds on its own."""
    d.clock, d.latest = e.clock, e.latest
    for c in range(CHANNELS):
        d.routes[c] = e.routes[c]
    hear_of(machine(d.listener), machine(e.listener))
    for s in range(ELDERS):
        part, elder = e.parts[s], d.parts[ELDERS + s]
        if part.state[0] != PLAYING:
            d.parts[s].state[0] = ABSENT
            continue
        mine, theirs = machine(d.parts[s].machine), machine(part.machine)
        adopt(address(mine), e.clock, address(theirs))
        hand_over(mine, theirs)
        take_over(mine, theirs)
        d.parts[s].since = e.clock
        elder.machine, elder.outputs, elder.delay = part.machine, part.outputs, part.delay
        elder.left, elder.right, elder.since, elder.asked = part.left, part.right, part.since, 1
        elder.state[0] = PLAYING


alone, ready_for, hand_over, inherit = native(_alone), native(_ready_for), native(_hand_over), native(_inherit)
