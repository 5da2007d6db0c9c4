"""The `jawari` command: reads arguments, calls the engine, prints; every mistake is one line and an exit code."""

from __future__ import annotations

import argparse
import io
import logging
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import NoReturn

from engine import processor
from engine.commands import devices, edit, export, play, presets, profile, render, simulate
from engine.commands.common import EPILOG, Help
from engine.commands.compiling import compiling_shown
from engine.errors import EngineError, Exit, PhysicsWarning
from engine.interrupts import met
from engine.printable import printable
from engine.terminal import tell
from engine.versions import VERSION

BEGIN = """begin with:
  jawari play sitar                      live, from every MIDI keyboard; --keys plays on the computer's keys
  jawari render sitar --midi song.mid    into sitar.wav
  jawari presets show sitar              what it is made of"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    args = parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show is no reason to stop
    warnings.showwarning = lambda message, *_: tell(f"note: {message}")
    warnings.simplefilter("ignore", DeprecationWarning)  # between libraries: nothing that a user could mend
    warnings.simplefilter("always", PhysicsWarning)
    logging.basicConfig(handlers=[_Log()], format="%(message)s")
    logging.getLogger("jawari").setLevel(logging.INFO)
    try:
        processor.require()
        with compiling_shown():
            code = int(args.run(args))
        print(end="", flush=True)
        return code
    except EngineError as error:
        for line in str(error).splitlines():
            tell(line)
        return error.exit_code
    except MemoryError:
        tell("not enough memory; shorten the run or lower the rate")
        return Exit.OTHER
    except OSError as error:
        with suppress(
            OSError, AttributeError
        ):  # what is still unwritten would be tried, and fail, once more as Python ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # there, whoever read along has seen enough
            where = f"{error.filename}: " if error.filename else ""
            tell(f"{where}{error.strerror or error}; make room or choose another place")
        return Exit.OTHER
    except KeyboardInterrupt:
        tell("interrupted")
        met()
        return Exit.INTERRUPTED


class _Parser(argparse.ArgumentParser):
    """Arguments may come from anywhere, and are told of when they are wrong."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


class _Log(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        tell(self.format(record))


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    whole = _Parser(
        prog="jawari",
        description="Strings that collide with things.",
        epilog=f"{BEGIN}\n\n{EPILOG}",
        formatter_class=Help,
    )
    whole.add_argument("--version", action="version", version=f"jawari {VERSION}", help="say which this is")
    whole.set_defaults(run=partial(_help, whole))
    commands = whole.add_subparsers(metavar="COMMAND")
    for command in (play, edit, render, profile, simulate, export, presets, devices):
        command.add(commands)
    return whole


def _help(whole: argparse.ArgumentParser, _: argparse.Namespace) -> int:
    """Without a command: all that --help says; but nothing was done, which a script should learn."""
    whole.print_help()
    return Exit.USAGE


if __name__ == "__main__":
    sys.exit(main())
