"""What other programs say of a sound: sox and ffmpeg, where they are installed."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

PROGRAMS = {
    "sox": ["sox", "-t", "wav", "{}", "-n", "stat"],
    "ffmpeg": ["ffmpeg", "-v", "warning", "-i", "{}", "-f", "null", "-"],
}
# sox prints figures; ffmpeg wonders about every stereo file that does not name its channels, which few do.
_NO_COMPLAINT = re.compile(r"|[A-Z][A-Za-z ]+(?:\([a-z]+\))?: +-?[0-9.]+|.*Guessed Channel Layout.*")


def complaints(program: str, file: str, piped: bytes | None = None) -> list[str]:
    """Everything a program dislikes about a file, or about what it is sent as "-"; which it must be able to read."""
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    words = [word.format(file) for word in PROGRAMS[program] if piped or word not in ("-t", "wav")]
    done = subprocess.run(words, input=piped, capture_output=True, check=False)
    lines = done.stderr.decode().splitlines()
    return [line for line in lines if not _NO_COMPLAINT.fullmatch(line)] + ["failed"] * (done.returncode != 0)
