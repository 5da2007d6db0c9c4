"""The virtual card itself: what has been killed does not stand in the way of others for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import virtual_card
from live.jack import alone, jack_server, needs_jack, wait_for
from live.midi_playing import Sender

pytestmark = needs_jack

# Takes every place that JACK has, and dies with all its servers in the hardest way.
GREEDY = """
import os, signal, sys
from pathlib import Path
from virtual_card import FULL, Server
for n in range(20):
    server = Server(Path(sys.argv[1]))
    if not server._is_up():
        assert FULL in server.said, server.said
        break
    os.kill(server._process.pid, signal.SIGKILL)
print(n, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_places_of_the_dead_are_taken_over(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(virtual_card.__file__).parent)}
    command = [sys.executable, "-c", GREEDY, str(tmp_path)]
    with alone():
        dead = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert dead.returncode == -signal.SIGKILL, dead.stderr
    assert 0 <= int(dead.stdout) <= 8  # others may have had some
    with jack_server(tmp_path) as server:
        assert "system:playback_2" in server.ports()


def test_it_tells_which_periods_its_clients_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a message that is lost is explained by: a client that is kept from running."""
    with jack_server(tmp_path, real_time=True) as server:
        monkeypatch.setenv("JACK_DEFAULT_SERVER", server.name)
        with Sender("keys") as keys:
            before = server.missed
            keys.process.send_signal(signal.SIGSTOP)
            wait_for(lambda: server.missed > before + 5, "periods are missed")
            keys.process.send_signal(signal.SIGCONT)
