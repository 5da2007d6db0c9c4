"""What pedalboard makes of a VST 3 plugin, in a process of its own: python boarding.py PLUGIN JOB RESULT.

The job says which messages are played, in blocks of which sizes, and where which parameter is turned; the result has
the sounds, what pedalboard knows of the plugin, and what another one plays that was given its state.
"""

from __future__ import annotations

import json
import sys

import numpy as np
import pedalboard


def main(path: str, job: str, result: str) -> None:
    with open(job, encoding="utf-8") as file:
        told = json.load(file)
    rate, frames = told["rate"], told["frames"]
    plugin = pedalboard.load_plugin(path)

    def played(board, first, last, size, reset):
        # A quarter of a frame more, since pedalboard cuts off what is not a whole one.
        between = [(bytes(d), (at - first + 0.25) / rate) for at, d in told["events"] if first <= at < last]
        return board(between, (last - first) / rate, rate, 2, size, reset)

    made = {f"blocks of {size}": played(plugin, 0, frames, size, True) for size in told["sizes"]}
    size = told["sizes"][0]
    pieces, now = [], 0
    for at, name, share in told["turns"]:
        pieces.append(played(plugin, now, at, size, not now))
        plugin.parameters[name].raw_value = share
        now = at
    pieces.append(played(plugin, now, frames, size, not now))
    made["turned"] = np.concatenate(pieces, axis=1)
    made["from the start"] = played(plugin, 0, frames, size, True)
    other = pedalboard.load_plugin(path)
    other.raw_state = plugin.raw_state
    made["by its state"] = played(other, 0, frames, size, True)
    facts = {
        "name": plugin.name,
        "maker": plugin.manufacturer_name,
        "instrument": plugin.is_instrument,
        "latency": plugin.reported_latency_samples,
        "shown": {name: [p.raw_value, str(p)] for name, p in other.parameters.items() if "MIDI" not in p.name},
    }
    np.savez(result, facts=json.dumps(facts), **made)


if __name__ == "__main__":
    main(*sys.argv[1:])
