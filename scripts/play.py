#!/usr/bin/env python3
"""Play, from a clone, with nothing prepared: the sitar's phrase, or whatever `jawari play` is told.

    python3 scripts/play.py [ARGUMENTS OF jawari play]

It makes an environment of its own in .venv and installs what it needs. Without a sound card the phrase goes into a WAV.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parent.parent))

from bootstrap import install_from_system, portaudio, run_in_environment

from engine.start import command, run

BRINGS_PORTAUDIO = ("sounddevice",) if sys.platform in ("darwin", "win32") else ()
NEEDED = ("numpy", "numba", "yaml", "soundfile", "mido", *BRINGS_PORTAUDIO)
NO_CARD, NO_LIBRARY = 9, 11  # exit codes of `jawari play`


def main() -> int:
    run_in_environment(__file__, NEEDED)
    if not portaudio() and install_from_system({"libportaudio2": False}, "PortAudio, through which sound is played"):
        print(
            "PortAudio is missing, through which sound is played; install it with: sudo apt-get install libportaudio2"
        )
    arguments = ["play", *(sys.argv[1:] or ["sitar", "--demo"])]
    code = command(*arguments)
    if code not in (NO_CARD, NO_LIBRARY):
        return code
    from engine import cli

    preset = (cli.parser().parse_args(arguments).presets or ["sitar"])[0]
    target = free_name(Path(preset).stem)
    print(f"play: no sound card to play on; the phrase goes into {target} instead", flush=True)
    return command("render", preset, "-o", str(target))


def free_name(stem: str) -> Path:
    """A WAV that is not there yet."""
    names = [Path(f"{stem}.wav"), *(Path(f"{stem}-{number}.wav") for number in range(2, 1000))]
    return next(name for name in names if not name.exists())


if __name__ == "__main__":
    sys.exit(run(main))
