"""The sound card's thread asks for no memory, takes no lock, calls no system and touches no new page; and the guard
that says so catches who does."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from live.guard import TOLD, library, missing
from live.jack import jack_server, needs_jack
from live.program import BEGINNING, PLACES, program

from engine.live.audio.locked import lock_memory
from engine.live.helper import refusal

if missing():
    pytest.skip(missing(), allow_module_level=True)

# --- the guard itself -------------------------------------------------------------------------------------------------

# A function of the C library in the place of our callback: its first arguments are the callback's.
WRAPPED = (
    TOLD
    + """
import json, mmap, sys
libc = ctypes.CDLL(None)
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_size_t] * 6)
def guarded(function):
    libc.guard_wrap.restype, libc.guard_wrap.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    return CALLBACK(libc.guard_wrap(ctypes.cast(function, ctypes.c_void_p)))
"""
)
MISDEEDS = {
    "malloc(8)": "malloc 0",
    "calloc(8, 8)": "calloc 0",
    "realloc(0, 8)": "realloc 0",
    "posix_memalign(place, 8, 8)": "posix_memalign 0",
    "free(0)": "free 0",
    **{f"{name}(place)": f"{name} 0" for name in ("pthread_mutex_lock", "pthread_cond_signal", "sem_post", "sem_wait")},
    "getppid()": "system call 110",
    "sched_yield()": "system call 24",
}


def under_guard(code: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LD_PRELOAD": str(library()), "PYTHONPATH": PLACES}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_the_guard_lets_pass_what_only_reckons() -> None:
    done = under_guard(WRAPPED + "call = guarded(libc.abs)\nprint(call(7, 0, 0, 0, 0, 0), guard_told())")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("7 {'blocks': 1, ")


@pytest.mark.parametrize("misdeed", MISDEEDS)
def test_the_guard_catches(misdeed: str) -> None:
    name, _, arguments = misdeed.rstrip(")").partition("(")
    code = f"""
place = ctypes.addressof(ctypes.create_string_buffer(256))
call = guarded(libc.{name})
rest = [{arguments}]
call(*rest, *[0] * (6 - len(rest)))
"""
    done = under_guard(WRAPPED + code)
    if "system call" in MISDEEDS[misdeed] and done.returncode == 0:
        pytest.skip("this kernel does not tell of a thread's system calls: the guard knows those of its list only")
    assert done.returncode == -signal.SIGABRT
    assert done.stderr == f"guard: {MISDEEDS[misdeed]} in the sound card's thread\n"


def test_the_guard_counts_the_pages_that_are_touched_for_the_first_time() -> None:
    code = """
page = mmap.PAGESIZE
memory = mmap.mmap(-1, 40 * page)
memory.madvise(mmap.MADV_NOHUGEPAGE)
start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
call = guarded(libc.memset)
for first, count in ((0, 3), (0, 3), (10, 20)):
    call(start + first * page, 0, count * page, 0, 0, 0)
print(json.dumps(guard_told()))
"""
    done = under_guard(WRAPPED + code)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["blocks"] == 3
    assert told["first"] >= 3
    assert told["faults"] == 20


# --- our callback under it --------------------------------------------------------------------------------------------

# Sixteen strings, all that moves them, and another preset: 128 frames at a time, `play(blocks)` as the case may be.
SESSION = """
def session(player, play):
    player.change(Instrument("sitar-string", RATE, 128, polyphony=16))
    others = [Instrument(name, RATE, 128, polyphony=16) for name in ("slap-bass", "tanpura-string")]
    play(30)
    for other in (*others, None):
        for n in range(16):
            for data in ([0x90, 45 + n, 100], [0xE0, n, 64 + n], [0xB0, 1, 8 * n], [0xD0, 8 * n], [0xB0, 64, 127]):
                assert player.send(data)
            play(4)
        assert player.instrument.report()["voices"] == 16
        if other:
            player.change(other)
            play(4)
    player.send([0xB0, 120, 0])
    play(20)
"""
RATE = 48000


# A second core that helps from the first string on, or nobody where there is one core only.
HELPED = """
from engine.live.helper import HELP, Helper
helper = Helper(player, lambda text: None, least=1)
helper.order(HELP)
"""


@pytest.mark.parametrize("helped", [False, True])
def test_no_rule_is_broken_and_no_new_page_touched_on_a_thread_without_a_sound_server(helped: bool) -> None:
    """JACK's library may lock a program's memory by itself: here nobody does, and huge pages are not given away."""
    code = """
import threading, numpy as np
from engine.live.thread import callback
libc.prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE
player, out, call = Player(RATE, 128), np.full((128, 2), 0, np.float32), guarded(callback.audio.address)
post = np.array([player.address])
helper = None
HELPED
def play(blocks):
    for _ in range(blocks):
        call(0, out.ctypes.data, 128, 0, 0, post.ctypes.data)
threading.stack_size(1 << 20)
thread = threading.Thread(target=session, args=(player, play))
thread.start()
thread.join()
tell(**guard_told(), shared=bool(helper and helper.crew.due[0]))
"""
    code = code.replace("HELPED", HELPED if helped else "")
    done = under_guard(BEGINNING + WRAPPED + f"RATE = {RATE}\n" + SESSION + code)
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert told["blocks"] >= 250
    assert told["faults"] == 0
    assert told["shared"] == (helped and not refusal())


@needs_jack
def test_no_rule_is_broken_and_no_new_page_touched_on_the_card_s_thread(tmp_path: Path) -> None:
    code = """
player = Player(RATE, 128)
stream = Stream(player, choose(), 128)
def play(blocks):
    seen = player.gauges.blocks + blocks
    until(lambda: player.gauges.blocks >= seen, every=0.001)
stream.start()
session(player, play)
stream.close()
tell(**guard_told())
"""
    with jack_server(tmp_path) as server:
        environment = {**server.environment, "LD_PRELOAD": str(library())}
        with program(environment, TOLD + f"RATE = {RATE}\n" + SESSION + code) as playing:
            told = playing.told()
            playing.ends_well()
    assert told["blocks"] >= 250
    assert told["faults"] == 0


# --- locked memory ----------------------------------------------------------------------------------------------------


@pytest.fixture
def unlocked_again() -> Iterator[None]:
    yield
    ctypes.CDLL(None).munlockall()


@pytest.mark.usefixtures("unlocked_again")
def test_memory_is_locked_or_it_is_said_why_not() -> None:
    said = lock_memory()
    locked = int(Path("/proc/self/status").read_text().partition("VmLck:")[2].split()[0])
    assert bool(said) == (locked == 0)
    assert said == "" or "memory is not locked: " in said


def test_below_a_limit_nothing_is_locked(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be reached some time, and then memory be refused that has nothing to do with sound."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(resource, "getrlimit", lambda which: (8 << 20, 8 << 20))
    assert lock_memory().startswith("memory is not locked: the system sets a limit; ulimit -l")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "this system has no way" in lock_memory()
