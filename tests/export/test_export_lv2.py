"""`--format lv2`: the bundle is right, and a host's ragged blocks give what the engine plays, to the last bit."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export.bundling import Ready, bundle, bundle_for_all, order
from export.exporting import (
    COMPILER,
    FRAMES,
    NEEDED,
    RATE,
    Opened,
    code,
    expected,
    library,
    music,
    rack,
    retuned,
    rows,
    written,
)
from export.test_export_designs import image_of as unfrozen
from export.test_export_designs import values as values_of
from live import guard

from engine import cli
from engine.errors import EngineError, Exit
from engine.export import linking, lv2
from engine.export.designs import designed
from engine.export.header import header
from engine.export.job import ROOM
from engine.export.knobs import dials
from engine.export.targets import TARGETS, here, target_of
from engine.synth.instrument import Instrument

pytestmark = NEEDED
SOURCES = ROOM / "lv2"
HOST = Path(__file__).with_name("lv2host.c")
SIZES = (1, 64, 333, 0, 128, 1024, 5, 8192)  # of its blocks
WORDS = ("-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{SOURCES}", f"-I{ROOM}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lv2")


def ports(*names: str) -> int:
    return 4 + len(dials(rack(*names))) + (len(names) > 1)


def host(folder: Path) -> Path:
    made = folder / "host"
    if not made.exists():
        subprocess.run([str(COMPILER), *WORDS, "-o", str(made), str(HOST), "-ldl"], check=True)
    return made


def played(program: Path, folder: Path, names: tuple[str, ...], times: int, *settings: str, **how: Any) -> Any:
    """The sound, [frames, 2]; of `more` events, too; `at` another rate, of a bundle for any, with `more_ports`."""
    rate, events, count = how.pop("at", RATE), folder / "events", ports(*names) + how.pop("more_ports", 0)
    there = bundle(folder, *names) if rate == RATE else bundle_for_all(folder, *names)
    heard = [*music(programs=len(names)), *how.pop("more", ())]
    events.write_bytes(rows(sorted(heard, key=lambda event: event[0])))
    at_first = [f"{4 + dial.number}={lv2.scaled(dial, dial.own)}" for dial in dials(rack(*names))]
    words = [str(there / f"jawari{TARGETS[here()].library}"), str(there), str(rate), str(events), str(FRAMES)]
    command = [str(program), *words, str(times), str(count), *at_first, *settings]
    done = subprocess.run(command, capture_output=True, check=False, **how)
    assert done.returncode == 0, done.stderr
    assert float(done.stderr.split()[-1]) == Instrument(names[0], rate).latency
    return np.frombuffer(done.stdout, np.float32).reshape(2, -1).T


@pytest.mark.parametrize("name", ["sitar-string", "tanpura-string", "prepared", "slap-bass"])
def test_a_host_hears_what_the_engine_plays(name: str, folder: Path) -> None:
    """Activated three times; guard.c watches, and ends a host whose plugin asks for memory or the system."""
    around = {} if guard.missing() else {"LD_PRELOAD": str(guard.library())}
    sound = played(host(folder), folder, (name,), 3, env={**os.environ, **around})
    assert np.array_equal(sound, expected(name))


def test_a_host_at_any_rate_hears_what_the_engine_plays(folder: Path) -> None:
    """Designed when the plugin is made, and played under the same guard."""
    around = {} if guard.missing() else {"LD_PRELOAD": str(guard.library())}
    sound = played(host(folder), folder, ("sitar-string",), 2, env={**os.environ, **around}, at=47_952)
    assert np.array_equal(sound, expected("sitar-string", rate=47_952))


def designs_of(name: str, values: dict[str, float]) -> list[str]:
    """How a host is told of a port, PORT=VALUE; and what a plugin makes of that number, by key, into the values."""
    first, found = 4 + len(dials(rack(name))), []
    for dial in designed(rack(name)):
        text = lv2.scaled(dial, values.get(dial.key, dial.own))
        found.append(f"{first + dial.number}={text}")
        if dial.key in values:
            values[dial.key] = dial.shown[1] * float(np.float32(text))
    return found


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("prepared", {"string.stiffness": 0.02, "release": 0.1}),
        ("sitar", {"contact.stiffness": 3e7, "body.scale": 1.3}),
    ],
    ids=str,
)
def test_a_port_that_strings_are_designed_for(name: str, changes: dict[str, float], late: bool, folder: Path) -> None:
    """From the first block on, or from the one after that in which the host's worker designs: a block of 1024 here."""
    library(folder)
    changes, own = dict(changes), dict[str, float]()
    told, first = designs_of(name, changes), designs_of(name, own)
    turned = sum(SIZES[:5])
    settings = [*first, *(f"{word}@{turned}" for word, other in zip(told, first) if word != other)] if late else told
    around = {} if guard.missing() else {"LD_PRELOAD": str(guard.library())}
    count, at = len(designed(rack(name))), 47_952
    sound = played(host(folder), folder, (name,), 1, *settings, env={**os.environ, **around}, at=at, more_ports=count)
    content = unfrozen(name)
    new = Opened(folder, content, at, values_of(name, changes))
    old = Opened(folder, content, at) if late else new
    expected, now = [], 0
    for frame in sorted({turned + SIZES[5], *(frame for frame, _ in music() if frame < FRAMES)}):
        expected.append(old.run(frame - now))
        if late and frame == turned + SIZES[5]:
            assert new.code.jawari_follow(new.at, old.at) == 1
            old = new
        now = frame
        for _, data in (event for event in music() if event[0] == frame):
            old.send(0, *data)
    expected.append(old.run(FRAMES - now))
    assert np.array_equal(sound, np.concatenate(expected))


def test_keys_are_retuned_by_sysex(folder: Path) -> None:
    sound = played(host(folder), folder, ("prepared",), 2, more=retuned())
    assert np.array_equal(sound, expected("prepared", more=retuned()))
    assert not np.array_equal(sound, expected("prepared"))


def test_several_presets_are_programs_by_midi_and_by_a_port(folder: Path) -> None:
    names = ("sitar-string", "slap-bass")
    assert np.array_equal(played(host(folder), folder, names, 1), expected(*names))
    other = played(host(folder), folder, names, 1, f"{ports(*names) - 1}=1")
    assert np.array_equal(other, expected(*names))  # the music begins with program changes, which come later


def test_under_the_sanitizers_nothing_is_wrong(folder: Path) -> None:
    """The plugin's C within the host, for addresses and undefined behaviour."""
    there, work = bundle(folder, "prepared"), folder / "checked"
    work.mkdir()
    (work / "jawari.h").write_text(header(rack("prepared"), dials(rack("prepared")), (RATE,)))
    (work / "shape.h").write_text(lv2.shape(order("prepared")))
    (work / "jawari.o").write_bytes(code())
    checks = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", f"-I{work}", "-DINSIDE"]
    sources = [str(HOST), str(SOURCES / "plugin.c"), str(work / "jawari.o")]
    command = [str(COMPILER), *WORDS, *checks, "-o", str(work / "host"), *sources, "-lm", "-ldl"]
    subprocess.run(command, check=True)
    assert np.array_equal(played(work / "host", folder, ("prepared",), 20), expected("prepared"))
    for broken in (b"", b"jawari 1", (there / "jawari.image").read_bytes()[:-8], os.urandom(5000)):
        (work / "jawari.image").write_bytes(broken)
        words = ["", str(work), str(RATE), str(written(folder, "prepared")[1]), "64", "1", str(ports("prepared"))]
        done = subprocess.run([str(work / "host"), *words], capture_output=True, check=False, env=quiet())
        assert done.returncode == 7
        assert b"export it again" in done.stderr
    words[1:3] = [str(there), "44100"]
    done = subprocess.run([str(work / "host"), *words], capture_output=True, check=False, env=quiet())
    assert (done.returncode, b"is not made for 44100 Hz, but for 48000 Hz" in done.stderr) == (7, True)


def quiet() -> dict[str, str]:
    """The host ends without clearing up."""
    return {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}


def test_a_dial_moves_what_its_controller_does(folder: Path) -> None:
    names = ("prepared",)
    still, turned = (played(host(folder), folder, names, 1, *words) for words in ((), ("4=1e9",)))
    assert np.isfinite(turned).all()
    assert not np.array_equal(still, turned)


# --- the bundle -------------------------------------------------------------------------------------------------------


def test_a_bundle_has_no_more_than_it_says(folder: Path) -> None:
    there = bundle(folder, "sitar-string")
    files = {"LICENSE", "README.md", "jawari.image", "jawari.so", "jawari.ttl", "manifest.ttl"}
    assert {path.name for path in there.iterdir()} == files
    if shutil.which("nm"):
        said = subprocess.run(
            ["nm", "-D", "--defined-only", there / "jawari.so"], capture_output=True, text=True, check=True
        )
        assert [line.split()[-1] for line in said.stdout.splitlines()] == ["lv2_descriptor"]


def test_ports_are_the_movable_parameters(folder: Path) -> None:
    text = (bundle(folder, "sitar-string") / "jawari.ttl").read_text()
    found = re.findall(r'lv2:symbol "(\w+)".*?lv2:default (\S+) .*?lv2:minimum (\S+) .*?lv2:maximum (\S+)', text, re.S)
    shown = {symbol: tuple(map(float, ends)) for symbol, *ends in found}
    assert shown["barrier_height"] == (0.0, pytest.approx(-0.1), 0.0)  # mm
    assert shown["excitation_duration"] == (2.0, 0.5, 4.0)  # ms
    assert shown["string_loss_s0"] == (pytest.approx(0.6), pytest.approx(0.6), 20.0)
    assert "units:mm" in text
    assert "lv2:reportsLatency" in text


def test_the_readme_has_the_ports_names_units_and_ends(folder: Path) -> None:
    there = bundle_for_all(folder, "prepared")
    rows = re.findall(r"^\| (.*?) \| (.*?) \| (\S+) \| (\S+) \| (\S+) \|", (there / "README.md").read_text(), re.M)
    words = r'lv2:name "(.*?)" ;\s+lv2:default (\S+) .*?lv2:minimum (\S+) .*?lv2:maximum (\S+) (.*?)\n    \]'
    ports = {name: rest for name, *rest in re.findall(words, (there / "jawari.ttl").read_text(), re.S)}
    shown = [(name, unit, *map(float, ends)) for name, unit, *ends in rows if name in ports]
    assert len(shown) == len(dials(rack("prepared"))) + len(designed(rack("prepared")))
    for name, unit, low, high, own in shown:
        first, least, most, more = ports[name]
        assert (low, high, own) == pytest.approx((float(least), float(most), float(first)), rel=1e-5), name
        assert {"mm", "ms"}.isdisjoint({unit}) != (f"units:{unit}" in more), (name, more)
    assert {"mm", "ms"} < {unit for _, unit, *_ in shown}


def test_the_validators_find_no_error(folder: Path) -> None:
    """LV2's own, over a bundle with programs and one that is designed anew."""
    if not shutil.which("lv2_validate") or not shutil.which("sord_validate"):
        pytest.skip("nothing validates bundles: apt install lv2-dev sordi")
    for there in (bundle(folder, "sitar-string", "slap-bass"), bundle_for_all(folder, "prepared")):
        files = [str(there / name) for name in ("manifest.ttl", "jawari.ttl")]
        done = subprocess.run(["lv2_validate", *files], capture_output=True, text=True, check=False)
        said = done.stdout + done.stderr
        assert done.returncode == 0, said
        assert "Found 0 errors" in said, said
        schemas = sorted(map(str, Path("/usr/lib/lv2").glob("*.lv2/*.ttl")))
        assert schemas
        checked = subprocess.run(["sord_validate", *schemas, *files], capture_output=True, text=True, check=False)
        assert "urn:jawari" not in checked.stdout + checked.stderr, checked.stderr


def test_lilv_knows_the_plugin_and_its_presets(folder: Path, tmp_path: Path) -> None:
    if not shutil.which("lv2info"):
        pytest.skip("nothing tells what hosts see: apt install lilv-utils")
    shutil.copytree(bundle(folder, "sitar-string", "slap-bass"), tmp_path / "rack.lv2")
    around = {**os.environ, "LV2_PATH": f"{tmp_path}:/usr/lib/lv2"}
    name = lv2.uri(order("sitar-string", "slap-bass"))
    done = subprocess.run(["lv2info", name], capture_output=True, text=True, check=True, env=around)
    assert "Has latency:       yes" in done.stdout
    shown = re.search(r"Presets:\s*\n((?:\t .*\n)+)", done.stdout)
    assert shown
    assert sorted(line.strip() for line in shown[1].splitlines()) == ["Sitar string", "Slap bass"]
    assert "error" not in done.stderr.lower(), done.stderr


def test_our_declarations_are_lv2s(tmp_path: Path) -> None:
    if not Path("/usr/include/lv2/core/lv2.h").is_file():
        pytest.skip("LV2's own headers are not here: apt install lv2-dev")
    source = Path(__file__).with_name("same_interface.c")
    subprocess.run([str(COMPILER), *WORDS, "-o", str(tmp_path / "same"), str(source)], check=True)
    assert subprocess.run([str(tmp_path / "same")], check=False).returncode == 0


# --- bad input --------------------------------------------------------------------------------------------------------


def test_without_a_compiler_there_is_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(linking.shutil, "which", lambda name: None)
    monkeypatch.setattr(linking.importlib.util, "find_spec", lambda name: None)
    for target in (here(), "windows-x86_64"):
        assert cli.main(["export", "prepared", "--format", "lv2", "--target", target]) == Exit.LIBRARY
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "pip install 'jawari[export]'" in said
    assert list(tmp_path.iterdir()) == []


def test_a_compiler_that_fails_is_quoted(tmp_path: Path) -> None:
    (tmp_path / "bad.c").write_text("nonsense\n")
    with pytest.raises(EngineError, match=r"error.*the C compiler could not link it"):
        linking.library(target_of(None), tmp_path, [tmp_path / "bad.c"], tmp_path / "x.so", "x")


def test_names_are_safe_in_every_file(folder: Path) -> None:
    """Of a preset that is called as badly as one may be."""
    from dataclasses import replace

    bad = rack("prepared")
    preset = replace(bad.parts[0].preset, name='*/ "];\\ <x> . ??/', about='`|"')
    named = replace(bad, name='a"b\\*/', parts=(replace(bad.parts[0], preset=preset),))
    made = Ready(named, (float(RATE),), target_of(None), print)
    assert lv2.uri(made) == "urn:jawari:a-b"
    (folder / "names.c").write_text(header(named, made.dials, (RATE,)) + "const char *parts[] = JAWARI_PARTS;\n")
    subprocess.run([str(COMPILER), "-fsyntax-only", "-Wall", "-Werror", str(folder / "names.c")], check=True)
    if shutil.which("serdi"):
        (folder / "names.ttl").write_text(lv2.description(made))
        done = subprocess.run(["serdi", "-q", folder / "names.ttl"], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr


def test_the_music_has_all_that_it_should() -> None:
    kinds = {data[0] & 0xF0 for _, data in music()}
    assert kinds >= {0x80, 0x90, 0xB0, 0xC0, 0xD0, 0xE0}
