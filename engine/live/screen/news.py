"""What plain lines say of a session: what is new between two readings, how it stands, and how it went."""

from __future__ import annotations

from engine.live.meter import Reading
from engine.live.screen.panel import duration
from engine.units import counted

News = list[tuple[str, bool]]  # a line, and whether it tells of trouble


def news(before: Reading | None, r: Reading) -> News:
    """Lines about what has changed and matters."""
    if before is None:
        return [(f"playing {_what(r)}", False), *_troubles(None, r)]
    found: News = []
    # Of a card that is lost, and of sound that is back, whoever looks after the card tells.
    known = before.device and r.device
    if known and (before.device, before.rate, before.block_size) != (r.device, r.rate, r.block_size):
        found.append((f"now playing {_what(r)}", False))
    elif before.preset != r.preset:
        found.append((f"now playing {r.preset}", False))
    if before.ports != r.ports:
        found.append((f"MIDI: {', '.join(r.ports) or 'no input'}", False))
    return found + _troubles(before, r)


def status(r: Reading) -> str:
    """How it stands, in one line."""
    if r.load is None:
        return f"no block asked for in the last second, {counted(r.lost, 'block')} lost"
    level = max((level.now for level in r.levels), default=0.0)
    lowered = max((level.lowered for level in r.levels), default=0.0)
    limited = f", limited by {lowered:.1f} dB" if lowered > 0.05 else ""
    return (
        f"load {r.load.mean:.0%}, p99 {r.load.p99:.0%}, max {r.load.most:.0%}; {counted(len(r.strings), 'voice')}; "
        f"{level:.1f} dBFS{limited}; {counted(r.lost, 'block')} lost, {counted(r.underflows, 'underflow')}"
    )


def report(r: Reading) -> list[str]:
    """How it went, when it is over."""
    if r.blocks == 0:
        return ["no sound was played: the sound card never asked for a block"]
    lines = [
        f"played {counted(r.blocks, 'block')} in {duration(r.seconds)}, {counted(r.notes_played, 'note')}",
        f"load {r.mean_load:.1%} on average, {r.worst_load:.1%} at worst",
        f"{counted(r.lost, 'block')} lost, {counted(r.long, 'block')} too long, {counted(r.underflows, 'underflow')}",
    ]
    if r.bent:
        share = r.bent / max(r.seconds * r.rate, 1.0)
        limited = f"the limiter was at work for {share:.2%} of the time, by up to {r.lowered:.1f} dB"
        lines.append(f"{limited}; --set 'gain=-6 dB' plays softer")
    rare = [
        (r.stolen, "voice", "stolen for new notes; raise --polyphony"),
        (r.watchdog, "string", "silenced by the watchdog, their energy grew by itself; raise --oversample"),
        (r.events_lost, "event", "lost: they came faster than they could be taken"),
        (r.stale, "note", "not begun: they had waited through a pause"),
    ]
    return lines + [f"{counted(number, noun)} {what}" for number, noun, what in rare if number]


def _troubles(before: Reading | None, r: Reading) -> News:
    most = f" (load up to {r.load.most:.0%})" if r.load else ""
    watched = {
        "lost": ("block", f"lost{most}"),
        "underflows": ("underflow", "reported by the sound card"),
        "watchdog": ("string", "silenced by the watchdog"),
        "events_lost": ("event", "lost"),
        "stale": ("note", "not begun after a pause"),
    }
    found = []
    for name, (noun, what) in watched.items():
        new = getattr(r, name) - (0 if before is None else getattr(before, name))
        if new > 0:
            found.append((f"{counted(new, noun)} {what}", True))
    return found


def _what(r: Reading) -> str:
    return (
        f"{r.preset or 'nothing'} on {r.device or 'no device'}: {r.rate:.0f} Hz, {r.block_size} frames, "
        f"latency {1e3 * r.latency:.1f} ms"
    )
