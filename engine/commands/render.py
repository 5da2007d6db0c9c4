"""`jawari render`: presets and notes in, audio files out."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from engine.commands.common import EPILOG, Commands, Help, UsageError, quantity
from engine.errors import EngineError, PhysicsError
from engine.preset.complaints import clean, shown
from engine.preset.files import shipped
from engine.preset.loader import Preset, load_preset
from engine.preset.tuning import load_tuning
from engine.render import phrase
from engine.rendering.audio_file import BIT_DEPTHS, Format, check_sound_target
from engine.rendering.errors import FileError, ScoreError
from engine.rendering.interrupts import stoppable
from engine.rendering.job import Job, Output, Setup, Treatment
from engine.rendering.midi_file import read_midi
from engine.rendering.note import parse_notes
from engine.rendering.pool import Outcome, cores, run_jobs
from engine.rendering.progress import Progress
from engine.rendering.report import make_report, write_report
from engine.rendering.score import Score, score_of_notes
from engine.rendering.target import check_output, is_sink, is_stdout, named
from engine.synth.silence import silent_keys, told

_MOST_DB = 200.0

DESCRIPTION = """Play notes or a MIDI file on a preset into an audio file, as fast as the machine can.
Without either, the preset's own phrase is played."""

EXAMPLES = """examples:
  jawari render sitar                                     its phrase, into sitar.wav
  jawari render sitar --notes "C4:0:2 E4:.5:2:80" -o two.flac
  jawari render tanpura --midi drone.mid --normalize -1 --bit-depth 16 -o drone.wav
  jawari render sitar --midi song.mid --start 30 --end 45 -o extract.wav --report extract.json
  jawari render sitar --midi song.mid --stems channel -o song.wav     song-channel-01.wav and so on
  jawari render --all-presets -o sounds                   every shipped preset, as many at a time as there are cores
  jawari render sitar -o - | aplay                        sound as it is made, for another program

notes are note:start:duration or note:start:duration:velocity, times in seconds, C4 being key 60. MIDI files are of
type 0 or 1; of a damaged one, what can be read is played, and said. A file appears under its name when it is whole:
after an error, an interrupt or a full disk there is none, and what --force would have replaced is still there. Of a
link, the file it points to is written. The same command gives the same bytes.

to standard output (-), a pipe or a device goes WAV without a length, or whole FLAC with --format flac; what else is
to be said then goes to standard error. SIGTERM ends a render as Ctrl-C does, with exit code 143."""


def add(commands: Commands[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    p = commands.add_parser(
        "render",
        help="play notes or a MIDI file into a WAV or FLAC file",
        description=DESCRIPTION,
        epilog=f"{EXAMPLES}\n\n{EPILOG}",
        formatter_class=Help,
    )
    p.add_argument("presets", nargs="*", metavar="PRESET", help="a shipped preset's name or a YAML file; or several")
    p.add_argument("--all-presets", action="store_true", help="every shipped preset")
    p.set_defaults(run=_run)
    _add_music(p.add_argument_group("what is played"))
    _add_instrument(p.add_argument_group("the instrument"))
    _add_files(p.add_argument_group("the files"))


def _add_music(p: argparse._ArgumentGroup) -> None:
    source = p.add_mutually_exclusive_group()
    source.add_argument("--midi", type=Path, metavar="FILE", help="a MIDI file")
    source.add_argument("--notes", metavar="TEXT", help="notes as text, see below")
    p.add_argument(
        "--channel", type=int, action="append", metavar="N", help="only this MIDI channel, 1 to 16; repeatable"
    )
    p.add_argument("--start", default="0 s", metavar="T", help="leave out what begins before this time")
    p.add_argument("--end", metavar="T", help="leave out what begins from this time on, and let go all keys then")
    p.add_argument(
        "--tail",
        metavar="T",
        help="sound after the last event, exactly; default: until the strings are silent, at most 30 s",
    )


def _add_instrument(p: argparse._ArgumentGroup) -> None:
    p.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a preset key; repeatable")
    p.add_argument("--tuning", metavar="TEXT", help="like 'just on D, A4=432', or a Scala file; default: the preset's")
    p.add_argument("--polyphony", type=int, metavar="N", help="strings at a time, 1 to 256; default: the preset's")
    p.add_argument("--oversample", type=int, metavar="N", help="1, 2, 4 or 8; default: the preset's")
    p.add_argument("--sample-rate", default="48000 Hz", metavar="HZ", help="of the file")
    p.add_argument("--block-size", type=int, default=128, metavar="N", help="frames at a time; the sound is the same")
    p.add_argument("--mono", action="store_true", help="one channel instead of two")


def _add_files(p: argparse._ArgumentGroup) -> None:
    p.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="a name in .wav or .flac, or - for standard output; default: PRESET.wav. For several presets the folder "
        "of such files",
    )
    p.add_argument("--format", default="wav", choices=("wav", "flac"), help="of what has no name to tell it")
    p.add_argument("--bit-depth", default="24", choices=tuple(BIT_DEPTHS), help="16 is dithered, 32f are floats")
    p.add_argument("--seed", type=int, default=0, metavar="N", help="of the dither")
    level = p.add_mutually_exclusive_group()
    level.add_argument("--gain", default="0", metavar="DB", help="louder or softer by this")
    level.add_argument("--normalize", nargs="?", const="-1", metavar="DBFS", help="bring the peak there; alone: to -1")
    p.add_argument("--stems", choices=("channel", "key"), help="a file for every MIDI channel or key instead of one")
    p.add_argument(
        "--report", type=Path, metavar="FILE", help="JSON: versions, levels, speed, stolen voices, faults; - prints it"
    )
    p.add_argument("--force", action="store_true", help="replace files that exist")


@stoppable()
def _run(args: argparse.Namespace) -> int:
    setup, treatment = _setup(args), _treatment(args)
    sources = [*args.presets, *(shipped() if args.all_presets else ())]
    if not sources:
        raise UsageError(f"no preset is named; name one ({', '.join(shipped())}), a YAML file, or --all-presets")
    presets = [(Path(source).stem, load_preset(source, args.set)) for source in sources]
    given = _given_score(args)
    jobs = [job for name, preset in presets for job in _jobs(args, name, preset, given, setup, treatment)]
    _check_outputs(jobs, args.report)
    for remark in given.remarks if given else ():
        _note(f"{clean(str(args.midi))}: {remark}")
    for name, preset in presets:
        _note_silent(name, [job for job in jobs if job.preset is preset])
    label = presets[0][1].name if len(presets) == 1 else f"{len(presets)} presets"
    with Progress(label, sum(job.seconds for job in jobs)) as progress:
        outcomes = run_jobs(jobs, progress.advance)
    reports = sorted((report for outcome in outcomes for report in outcome.reports), key=lambda report: report["file"])
    _tell(outcomes, reports, sys.stderr if _taken(args) else sys.stdout)
    if args.report:
        music = {"midi": str(args.midi) if args.midi else None, "notes": args.notes, "set": args.set}
        music["remarks"] = list(given.remarks) if given else []
        write_report(args.report, make_report(setup, treatment, music, reports), force=args.force)
    return _raise_errors(outcomes)


def _setup(args: argparse.Namespace) -> Setup:
    rate = quantity("--sample-rate", args.sample_rate, "Hz")
    if rate != int(rate):
        raise PhysicsError("--sample-rate", rate, "must be a whole number of Hz in a file", "try 48000")
    tuning = load_tuning(args.tuning) if args.tuning else None
    return Setup(rate, args.block_size, args.oversample, args.polyphony, tuning, args.mono)


def _treatment(args: argparse.Namespace) -> Treatment:
    if args.stems and args.normalize is not None:
        raise UsageError("--normalize would give every stem another gain, so that they no longer add up; use --gain")
    if args.seed < 0:
        raise UsageError(f"--seed = {args.seed}: must be 0 or more; choose another")
    return Treatment(
        depth=args.bit_depth,
        gain=_decibels("--gain", args.gain),
        normalize=None if args.normalize is None else _decibels("--normalize", args.normalize),
        tail=None if args.tail is None else quantity("--tail", args.tail, "s"),
        seed=args.seed,
        format=args.format,
        force=args.force,
    )


def _decibels(name: str, text: str) -> float:
    number = text.strip()
    number = number[:-4] if number.lower().endswith("dbfs") else number.removesuffix("dB").removesuffix("db")
    db = quantity(name, number, "")
    if abs(db) > _MOST_DB:
        raise UsageError(f"{name} = {shown(text)}: must be {-_MOST_DB:g} to {_MOST_DB:g} dB")
    return db


def _given_score(args: argparse.Namespace) -> Score | None:
    """What the arguments name, if they name anything."""
    if args.midi is not None:
        return read_midi(args.midi)
    if args.notes is not None:
        try:
            return score_of_notes(parse_notes(args.notes))
        except ScoreError as error:
            raise ScoreError(f"--notes: {error}") from None
    return None


def _cut(args: argparse.Namespace, score: Score) -> Score:
    """The part of a score that is wanted."""
    for channel in args.channel or ():
        if not 1 <= channel <= 16:
            raise UsageError(f"--channel = {channel}: must be 1 to 16")
    if args.channel:
        score = score.of_channels(channel - 1 for channel in args.channel)
    start = quantity("--start", args.start, "s")
    end = None if args.end is None else quantity("--end", args.end, "s")
    if start < 0.0 or (end is not None and end <= start):
        raise UsageError(f"--start = {args.start}, --end = {args.end}: must be 0 or more, the end after the start")
    if start > 0.0 or end is not None:
        score = score.between(start, end)
    if not score.keys:
        what = clean(str(args.midi)) if args.midi else "the notes"
        faults = f" ({'; '.join(score.remarks)})" if score.remarks else ""
        where = " in this channel or time" if args.channel or args.end or start else ""
        raise ScoreError(f"{what}: no note begins{where}{faults}; nothing to render")
    return score


def _jobs(
    args: argparse.Namespace, name: str, preset: Preset, given: Score | None, setup: Setup, treatment: Treatment
) -> list[Job]:
    score = _cut(args, phrase(preset) if given is None else given)
    path = _path(args, name)
    if not args.stems:
        return [Job(preset, setup, treatment, (Output(path, score),))]
    if is_sink(path):
        raise UsageError(f"--stems makes several files, and {named(path)} takes one; name a file")
    parts = score.parts(args.stems).items()
    outputs = [Output(path.with_name(f"{path.stem}-{part}{path.suffix}"), stem) for part, stem in parts]
    shares = [tuple(outputs[first :: cores()]) for first in range(cores())]
    return [Job(preset, setup, treatment, share) for share in shares if share]


def _path(args: argparse.Namespace, name: str) -> Path:
    several = args.all_presets or len(args.presets) > 1
    if args.output is not None and not several:
        return Path(args.output)
    folder = Path() if args.output is None else args.output
    if several and not folder.is_dir():
        raise FileError(f"{named(folder)}: is not a folder, but several presets need one; make it first")
    return Path(folder / f"{name}.{args.format}")


def _check_outputs(jobs: Sequence[Job], report: Path | None) -> None:
    """Find every file that cannot be written before anything is rendered."""
    paths = [] if report is None else [check_output(report, jobs[0].treatment.force)]
    for job in jobs:
        how = job.treatment
        form = Format(int(job.setup.sample_rate), 2, how.depth, how.seed, how.format)
        paths += [check_sound_target(output.path, form, how.force) for output in job.outputs]
    path, times = Counter(paths).most_common(1)[0]
    if times > 1:
        raise FileError(f"{named(path)}: would be written {times} times; choose other names")


def _taken(args: argparse.Namespace) -> bool:
    """Whether standard output is needed for sound or report, so that whatever is said must go elsewhere."""
    return any(path is not None and is_stdout(path) for path in (args.output, args.report))


def _tell(outcomes: Sequence[Outcome], reports: Sequence[dict[str, Any]], listener: TextIO) -> None:
    for text in dict.fromkeys(text for outcome in outcomes for text in outcome.warnings):
        _note(text)
    for report in reports:
        peak, loudness = report["peak_dbfs"], report["loudness_lufs"]
        level = "silence" if peak is None else f"peak {peak:.1f} dBFS"
        level += "" if loudness is None else f", {loudness:.1f} LUFS"
        name = named(Path(report["file"]))
        _say(f"wrote {name}: {report['seconds']:.2f} s, {level}, {report['speed']:.1f}x real time", listener)
        for text in _faults(report):
            _note(f"{name}: {text}")


def _note_silent(name: str, jobs: Sequence[Job]) -> None:
    """Say beforehand which keys of the music will not be heard."""
    keys = {key for job in jobs for output in job.outputs for key in output.score.keys}
    setup = jobs[0].setup
    silent = told(silent_keys(jobs[0].preset, setup.sample_rate, setup.oversample, setup.tuning, keys))
    if silent:
        _note(f"{name}: {silent}")


def _faults(report: dict[str, Any]) -> list[str]:
    faults = {
        "clipped_samples": "samples are beyond full scale and cut off; lower --gain",
        "voices_stolen": "notes took the string of another one; raise --polyphony",
        "watchdog": "strings were silenced, their energy grew by itself; raise --oversample",
        "events_lost": "events were lost",
    }
    return [f"{report[key]} {text}" for key, text in faults.items() if report.get(key)]


def _say(text: str, listener: TextIO) -> None:
    """Print; what the listener's alphabet lacks is escaped, since a name may have any character."""
    alphabet = listener.encoding or "utf-8"
    print(text.encode(alphabet, "backslashreplace").decode(alphabet), file=listener)


def _note(text: str) -> None:
    print(f"jawari: note: {clean(text)}", file=sys.stderr)


def _raise_errors(outcomes: Sequence[Outcome]) -> int:
    """0, or all errors as one."""
    failed = [outcome for outcome in outcomes if outcome.error]
    if failed:
        error = EngineError("\n".join(dict.fromkeys(outcome.error for outcome in failed)))
        error.exit_code = failed[0].exit_code
        raise error
    return 0
