"""`jawari render`: presets and notes in, audio files out."""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from engine import messages as midi
from engine.commands.common import EPILOG, Commands, Help, UsageError, quantity, tuning
from engine.commands.racks import (
    add_map,
    asked_drone,
    facts_for,
    make_rack,
    mapped_channels,
    rack_of_take,
    shaped_take,
    stem,
)
from engine.cores import cores
from engine.errors import EngineError, SettingError
from engine.files.audio_file import Format, check_sound_target
from engine.files.errors import FileError
from engine.files.formats import BIT_DEPTHS, DEFAULT_DEPTH, FORMATS, SUFFIXES
from engine.files.target import check_output, is_sink, is_stdout, named
from engine.interrupts import stoppable
from engine.music.errors import ScoreError
from engine.music.figure import score_of_drone
from engine.music.midi_file import read_midi
from engine.music.note import parse_notes
from engine.music.score import DRUMS, Score, score_of_notes
from engine.music.sources import phrase
from engine.offline.job import Job, Manner, OutputFile, Treatment
from engine.offline.pool import Outcome, run_jobs
from engine.offline.progress import Progress
from engine.offline.report import make_report, write_report
from engine.preset.complaints import shown
from engine.preset.files import shipped
from engine.preset.loader import Preset, load_preset
from engine.preset.rack import Rack, is_rack
from engine.printable import printable
from engine.synth.keys import TunedKey
from engine.synth.shaping import Shaped
from engine.synth.silence import keys_of_piece, silent_keys, told
from engine.terminal import tell
from engine.units import counted

_MOST_DB = 200.0
DRONE_SECONDS, LONGEST_DRONE = "30 s", 86_400.0

DESCRIPTION = """Play notes or a MIDI file on a preset into an audio file, as fast as the machine can.
Without either, the preset's own phrase is played."""

EXAMPLES = """examples:
  jawari render sitar                                     its phrase, into sitar.wav
  jawari render sitar --notes "C4:0:2 E4:.5:2:80" -o two.flac
  jawari render tanpura --midi drone.mid --normalize -1 --bit-depth 16 -o drone.wav
  jawari render tanpura --drone --seconds 30 -o drone.flac   its drone, as `jawari play tanpura --drone` plays it
  jawari render sitar --midi song.mid --start 30 --end 45 -o extract.wav --report extract.json
  jawari render sitar --midi song.mid --stems channel -o song.wav     song-channel-01.wav and so on
  jawari render --all-presets -o sounds                   every shipped preset, as many at a time as there are cores
  jawari render sitar tanpura --map 2,10=tanpura --midi song.mid      two presets in one file, and two programs
  jawari render duo.yaml --midi song.mid                  a rack: presets, their channels, programs, gains and pans
  jawari render --midi take.mid --sample-rate '96 kHz'    what `jawari play --record` kept, on what it was played on
  jawari render sitar --tail '2 s' --limit -o - | aplay   sound as it is made, for another program
  jawari render sitar -o - | ffmpeg -i - sitar.m4a        whole, once it is made

notes are note:start:duration or note:start:duration:velocity, times in seconds, C4 being key 60. MIDI files are of
type 0 or 1; of a damaged one, what can be read is played, and said. Volume (CC 7), expression (CC 11) and pan (CC 10)
of each channel are obeyed, and MTS tuning messages. Channel 10 is played in files that are MPE or were recorded by
jawari play, and where --channel 10, --map or a rack asks for it. A file appears under its name when it is whole:
after an error, an interrupt or a full disk there is none, and what --force would have replaced is still there. Of a
link, the file it points to is written. The same command gives the same bytes.

a file holds what was played. Floats (--bit-depth 32f) keep any level; in whole numbers, and in lossy formats, a peak
above full scale would be cut off, so all of the sound is lowered then, by what is said, and all stems by as much as the
loudest of them needs. --limit bends loud samples instead, as live sound is bent: above -6 dBFS, never above -0.1.

a name's suffix decides what the file is: {formats}.
OGG (Vorbis), Opus and MP3 are lossy, of high quality and without a bit depth; OGG goes up to 200 kHz, MP3 up to 48 kHz,
Opus knows 8, 12, 16, 24 and 48 kHz. Their bytes are the same as long as libsndfile is.

to standard output (-), a pipe or a device go the bytes that a file would hold, true sizes first. WAV that need not wait
for its level (--limit or floats, without --normalize and --loudness) and whose length is known (--tail) comes as it is
made; all else once it is whole. What else is to be said then goes to standard error. SIGTERM ends a render as Ctrl-C
does, with exit code 143."""


def add(commands: Commands[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    p = commands.add_parser(
        "render",
        help="play notes or a MIDI file into a WAV, FLAC, AIFF, OGG, Opus or MP3 file",
        description=DESCRIPTION,
        epilog=f"{EXAMPLES.format(formats=', '.join(SUFFIXES))}\n\n{EPILOG}",
        formatter_class=Help,
    )
    p.add_argument(
        "presets",
        nargs="*",
        metavar="PRESET",
        help="a shipped preset's name or a YAML file, also of a rack; or several",
    )
    p.add_argument("--all-presets", action="store_true", help="every shipped preset")
    p.set_defaults(run=_run)
    _add_music(p.add_argument_group("what is played"))
    _add_instrument(p.add_argument_group("the instrument"))
    _add_files(p.add_argument_group("the files"))


def _add_music(p: argparse._ArgumentGroup) -> None:
    source = p.add_mutually_exclusive_group()
    source.add_argument("--midi", type=Path, metavar="FILE", help="a MIDI file")
    source.add_argument("--notes", metavar="TEXT", help="notes as text, see below")
    source.add_argument("--drone", action="store_true", help="what `jawari play --drone` plays, for --seconds")
    p.add_argument("--tempo", metavar="BEATS", help="with --drone: a minute; default: the preset's")
    p.add_argument("--seconds", metavar="T", help="with --drone: let go after this time; default: 30 s")
    p.add_argument(
        "--channel", type=int, action="append", metavar="N", help="only this MIDI channel, 1 to 16; repeatable"
    )
    p.add_argument(
        "--drums", action="store_true", help="play a MIDI file's channel 10 too, which is drums and else left out"
    )
    p.add_argument("--start", default="0 s", metavar="T", help="leave out what begins before this time")
    p.add_argument("--end", metavar="T", help="leave out what begins from this time on, and let go all keys then")
    p.add_argument(
        "--tail",
        metavar="T",
        help="sound after the last event, exactly; default: until the strings are silent, at most 30 s",
    )


def _add_instrument(p: argparse._ArgumentGroup) -> None:
    add_map(p)
    p.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a preset key; repeatable")
    p.add_argument("--tuning", metavar="TEXT", help="like 'just on D, A4=432', or a Scala file; default: the preset's")
    p.add_argument(
        "--polyphony",
        type=int,
        metavar="N",
        help="strings at a time, 1 to 256; default: as many as the notes need",
    )
    p.add_argument("--oversample", type=int, metavar="N", help="1, 2, 4 or 8; default: the preset's")
    p.add_argument("--sample-rate", metavar="HZ", help="of the file; default: 48000 Hz, or the take's own")
    p.add_argument("--block-size", type=int, default=128, metavar="N", help="frames at a time; the sound is the same")
    p.add_argument("--mono", action="store_true", help="one channel instead of two")


def _add_files(p: argparse._ArgumentGroup) -> None:
    p.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="a name in .wav or another suffix, see below, or - for standard output; default: PRESET.wav. For several "
        "presets the folder of such files",
    )
    p.add_argument("--format", default="wav", choices=tuple(FORMATS), help="of what has no name to tell it")
    p.add_argument(
        "--bit-depth",
        default=DEFAULT_DEPTH,
        choices=tuple(BIT_DEPTHS),
        help="16 is dithered, 32f are floats; lossy formats have none",
    )
    p.add_argument("--seed", type=int, default=0, metavar="N", help="of the dither")
    level = p.add_mutually_exclusive_group()
    level.add_argument("--gain", default="0", metavar="DB", help="louder or softer by this")
    level.add_argument("--normalize", nargs="?", const="-1", metavar="DBFS", help="bring the peak there; alone: to -1")
    level.add_argument("--loudness", metavar="LUFS", help="bring the integrated loudness there, such as -16")
    p.add_argument("--limit", action="store_true", help="the soft limiter of live sound, after the gain; see below")
    p.add_argument("--stems", choices=("channel", "key"), help="a file for every MIDI channel or key instead of one")
    p.add_argument(
        "--report", type=Path, metavar="FILE", help="JSON: versions, levels, speed, stolen voices, faults; - prints it"
    )
    p.add_argument("--force", action="store_true", help="replace files that exist")


@stoppable()
def _run(args: argparse.Namespace) -> int:
    _check_drone(args)
    treatment, given = _treatment(args), _given_score(args)
    facts = facts_for(given.facts, args.presets) if given and not (args.map or args.all_presets) else {}
    setup, presets = _setup(args, facts), _presets(args, facts)
    given = given and _without_drums(args, given, [preset for _, preset in presets])
    jobs = [job for name, preset in presets for job in _jobs(args, name, preset, given, setup, treatment)]
    _check_outputs(jobs, args.report)
    for remark in given.remarks if given else ():
        _note(f"{printable(str(args.midi))}: {remark}")
    _note_programs(args, given, [preset for _, preset in presets])
    designed = [  # held, so that the instrument need not design them again
        _note_silent(name, preset, [job for job in jobs if job.preset is preset])
        for name, preset in presets
        if isinstance(preset, Preset)
    ]
    label = presets[0][1].name if len(presets) == 1 else f"{len(presets)} presets"
    with Progress(label, sum(job.seconds for job in jobs)) as progress:
        outcomes = run_jobs(jobs, progress.advance)
    del designed
    reports = sorted((report for outcome in outcomes for report in outcome.reports), key=lambda report: report["file"])
    _tell(outcomes, reports, sys.stderr if _taken(args) else sys.stdout)
    if args.report:
        music = {"midi": str(args.midi) if args.midi else None, "notes": args.notes, "set": args.set}
        music["remarks"] = list(given.remarks) if given else []
        write_report(args.report, make_report(setup, treatment, music, reports), force=args.force)
    return _raise_errors(outcomes)


def _presets(args: argparse.Namespace, facts: Mapping[str, Any]) -> list[tuple[str, Preset | Rack | Shaped]]:
    """What is rendered, and what its file is called."""
    if shaped := shaped_take(facts, printable(str(args.midi))):
        if args.set or args.tuning or args.polyphony or args.oversample:
            fixed = "--set, --tuning, --polyphony and --oversample would undo that"
            raise UsageError(f"{shaped.source}: its preset was changed while it was played; {fixed}: leave them out")
        return [(stem(args.midi), shaped.later(quantity("--start", args.start, "s")))]
    if facts:
        return [(stem(args.midi), rack_of_take(facts, args.set))]
    if args.map and not args.all_presets:
        rack = make_rack(args.presets, args.map, args.set)
        return [(stem(args.midi) if args.midi else stem(rack.parts[0].label), rack)]
    if args.map:
        raise UsageError("--map is for the channels of one file, and --all-presets makes several; take one of them")
    sources = [*args.presets, *(shipped() if args.all_presets else ())]
    if not sources:
        raise UsageError(f"no preset is named; name one ({', '.join(shipped())}), a YAML file, or --all-presets")
    found: list[tuple[str, Preset | Rack | Shaped]] = []
    for source in sources:
        one = make_rack([source], (), args.set) if is_rack(source) else load_preset(source, args.set)
        found.append((stem(source), one))
    return found


def _note_programs(args: argparse.Namespace, given: Score | None, presets: Sequence[Preset | Rack | Shaped]) -> None:
    """Program changes are for a rack; alone, a preset plays whatever the file asks for."""
    changes = int((midi.kind(given.data[:, 0]) == midi.PROGRAM).sum()) if given else 0
    if changes and any(isinstance(preset, Preset) for preset in presets):
        remark = f"{counted(changes, 'program change')} passed over; --map or a rack gives channels presets"
        _note(f"{printable(str(args.midi))}: {remark}")


def _setup(args: argparse.Namespace, facts: Mapping[str, Any]) -> Manner:
    """What was asked for; where nothing was, what a take was played with."""
    rate = quantity("--sample-rate", args.sample_rate, "Hz") if args.sample_rate else facts.get("sample_rate", 48_000.0)
    if rate != int(rate):
        raise SettingError("--sample-rate", rate, "must be a whole number of Hz in a file", "try 48000")
    return Manner(
        rate,
        args.block_size,
        facts.get("oversample") if args.oversample is None else args.oversample,
        facts.get("polyphony") if args.polyphony is None else args.polyphony,
        tuning(args.tuning or facts.get("tuning")),
        args.mono or facts.get("mono", False),
    )


def _treatment(args: argparse.Namespace) -> Treatment:
    for name, value in (("--normalize", args.normalize), ("--loudness", args.loudness)):
        if args.stems and value is not None:
            raise UsageError(f"{name} would give every stem another gain, so that they no longer add up; use --gain")
    if args.limit and args.normalize is not None:
        raise UsageError("--normalize leaves nothing for --limit to do; leave one of them out, or use --loudness")
    if args.seed < 0:
        raise UsageError(f"--seed = {args.seed}: must be 0 or more; choose another")
    return Treatment(
        depth=args.bit_depth,
        gain=_decibels("--gain", args.gain),
        normalize=None if args.normalize is None else _decibels("--normalize", args.normalize),
        loudness=None if args.loudness is None else _decibels("--loudness", args.loudness),
        limit=args.limit,
        tail=None if args.tail is None else quantity("--tail", args.tail, "s"),
        seed=args.seed,
        format=args.format,
        force=args.force,
    )


def _decibels(name: str, text: str) -> float:
    number = re.sub(r"(?i)\s*(dBFS|dB|LUFS)$", "", text.strip())
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


def _own_score(args: argparse.Namespace, preset: Preset | Rack | Shaped) -> Score:
    """What a preset plays when nothing is named: its drone where that is asked for, else its phrase."""
    if not args.drone:
        return phrase(preset)
    drone, channels = asked_drone(preset, args.tempo)
    return score_of_drone(drone, quantity("--seconds", args.seconds or DRONE_SECONDS, "s"), channels)


def _check_drone(args: argparse.Namespace) -> None:
    for name, value in (("--tempo", args.tempo), ("--seconds", args.seconds)):
        if value is not None and not args.drone:
            raise UsageError(f"{name} is for --drone; add --drone" + ", or take --end" * (name == "--seconds"))
    if args.drone and not 0.0 < quantity("--seconds", args.seconds or DRONE_SECONDS, "s") <= LONGEST_DRONE:
        raise UsageError(f"--seconds = {shown(args.seconds)}: must be above 0, at most {LONGEST_DRONE:g} s")


def _without_drums(args: argparse.Namespace, score: Score, presets: Sequence[Preset | Rack | Shaped]) -> Score:
    """A MIDI file's channel 10 is played where it is asked for: by its number, or by a rack that has a part for it."""
    in_rack = not args.map and any(isinstance(preset, Rack) and preset.routes[DRUMS] >= 0 for preset in presets)
    asked = args.drums or in_rack or DRUMS in mapped_channels(args.map) or DRUMS + 1 in (args.channel or ())
    return score if asked else score.without_drums()


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
        what = printable(str(args.midi)) if args.midi else "the notes"
        faults = f" ({'; '.join(score.remarks)})" if score.remarks else ""
        where = " in this channel or time" if args.channel or args.end or start else ""
        raise ScoreError(f"{what}: no note begins{where}{faults}; nothing to render")
    return score


def _jobs(
    args: argparse.Namespace,
    name: str,
    preset: Preset | Rack | Shaped,
    given: Score | None,
    setup: Manner,
    treatment: Treatment,
) -> list[Job]:
    score = _cut(args, _own_score(args, preset) if given is None else given)
    path = _path(args, name)
    if not args.stems:
        return [Job(preset, setup, treatment, (OutputFile(path, score),))]
    if is_sink(path):
        raise UsageError(f"--stems makes several files, and {named(path)} takes one; name a file")
    parts = score.parts(args.stems).items()
    outputs = [OutputFile(path.with_name(f"{path.stem}-{part}{path.suffix}"), stem) for part, stem in parts]
    shares = [tuple(outputs[first :: cores()]) for first in range(cores())]
    return [Job(preset, setup, treatment, share, together=str(path)) for share in shares if share]


def _path(args: argparse.Namespace, name: str) -> Path:
    several = args.all_presets or (len(args.presets) > 1 and not args.map)
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


def _tell(outcomes: Sequence[Outcome], reports: Sequence[dict[str, Any]], listener: TextIO | None) -> None:
    for text in dict.fromkeys(text for outcome in outcomes for text in outcome.warnings):
        _note(text)
    for report in reports:
        peak, loudness = report["peak_dbfs"], report["loudness_lufs"]
        level = "silence" if peak is None else f"peak {peak:.1f} dBFS"
        level += "" if loudness is None else f", {loudness:.1f} LUFS"
        level += f", {report['bent_share']:.2%} of it limited" if report["bent_frames"] else ""
        name = named(Path(report["file"]))
        _say(f"wrote {name}: {report['seconds']:.2f} s, {level}, {report['speed']:.1f}x real time", listener)
        for text in _faults(report):
            _note(f"{name}: {text}")


def _note_silent(name: str, preset: Preset, jobs: Sequence[Job]) -> Mapping[int, TunedKey]:
    """Say beforehand which keys of the music will not be heard; all its keys."""
    wanted = {key for job in jobs for output in job.outputs for key in output.score.keys}
    setup = jobs[0].setup
    keys = keys_of_piece(preset, setup.sample_rate, setup.oversample, setup.tuning, wanted)
    if silent := told(silent_keys(keys)):
        _note(f"{name}: {silent}")
    return keys


def _faults(report: dict[str, Any]) -> list[str]:
    most = f"all {report['polyphony']} that there is room for sounded; render in parts, with --channel or --stems"
    more = "raise --polyphony" if report["polyphony_asked"] else most
    faults = {
        "clipped_samples": ("sample", "beyond full scale, cut off; lower --gain"),
        "voices_stolen": ("note", f"on strings of others; {more}"),
        "watchdog": ("string", "silenced, for energy that grew by itself; raise --oversample"),
        "events_lost": ("event", "lost"),
    }
    remarks = [report["level"]] if report["level"] else []
    remarks += [f"{counted(report[key], noun)} {text}" for key, (noun, text) in faults.items() if report.get(key)]
    if left_out := report.get("notes_left_out"):
        where = ", ".join(f"{counted(count, 'note')} of channel {channel}" for channel, count in left_out.items())
        remarks.append(f"{where} left out, no preset is mapped there; --map or a rack gives channels presets")
    if unknown := report.get("unknown_programs"):
        where = ", ".join(f"{program} on channel {channel}" for channel, program in unknown)
        remarks.append(f"no preset stands for program {where}; what was there plays on")
    silent = report["silent_keys"] if "parts" in report else {}  # those of a single preset are told beforehand
    return remarks + [f"{note} is silent: {reason}" for note, reason in silent.items()]


def _say(text: str, listener: TextIO | None) -> None:
    """Print where it is open; what the listener's alphabet lacks is escaped, since a name may have any character."""
    if listener is None:  # print would take standard output, which may be the sound's
        return
    alphabet = listener.encoding or "utf-8"
    print(text.encode(alphabet, "backslashreplace").decode(alphabet), file=listener)


def _note(text: str) -> None:
    tell(f"note: {text}")


def _raise_errors(outcomes: Sequence[Outcome]) -> int:
    """0, or all errors as one."""
    failed = [outcome for outcome in outcomes if outcome.error]
    if failed:
        error = EngineError("\n".join(dict.fromkeys(outcome.error for outcome in failed)))
        error.exit_code = failed[0].exit_code
        raise error
    return 0
