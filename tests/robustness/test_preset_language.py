"""A preset is data: reading one runs nothing, asks no network, and opens nothing but files in its own folder."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import PresetError
from engine.preset.files import MAX_BYTES
from engine.preset.loader import load_preset

STRING = "string: {length: 1, density: 1 g/m, tension: 100}\n"
TABLE = STRING + "barrier: {profile: table, table: %s}\n"
HOSTILE = {
    "object": STRING + "name: !!python/object/apply:os.system [touch owned]\n",
    "new": STRING + "name: !!python/object/new:os.system [touch owned]\n",
    "name": STRING + "name: !!python/name:os.system\n",
    "module": STRING + "name: !!python/module:antigravity\n",
    "tuple key": STRING + "? !!python/tuple [a, b]\n: c\n",
    "local tag": STRING + "name: !include secret.txt\n",
    "shorthand": f"%TAG ! tag:yaml.org,2002:python/\n---\n{STRING}name: !object/apply:os.system [touch owned]\n",
    "merge": STRING + "base: &b {name: x}\n<<: *b\n",
    "include": STRING + "include: secret.txt\n",
    "environment": TABLE % "${HOME}/bridge.csv",
    "home": TABLE % "~/bridge.csv",
    "command": TABLE % "$(id).csv",
    "parent": TABLE % "../secret.csv",
    "absolute": TABLE % "/etc/hosts.csv",
    "drive": TABLE % "'C:/bridge.csv'",
    "share": TABLE % "'\\\\\\\\server\\\\bridge.csv'",
    "stream": TABLE % "'bridge.csv:hidden.csv'",
    "network": TABLE % "http://localhost/bridge.csv",
    "link": TABLE % "link.csv",
    "linked folder": TABLE % "folder/secret.csv",
    "itself": TABLE % "hostile.yaml",
    "not a table": TABLE % "secret.txt",
    "no such file": TABLE % "absent.csv",
    "a folder": TABLE % "folder.csv",
    "large": TABLE % "large.csv",
    "scale above": STRING + "tuning: ../secret.scl\n",
    "scale linked": STRING + "tuning: link.scl\n",
    "map anywhere": STRING + "tuning: /etc/passwd.kbm\n",
    "scale from the network": STRING + "tuning: http://localhost/a.scl\n",
}
# Loads the presets named, with every event of the interpreter's own audit written down.
AUDITED = """
import json, sys
import encodings.utf_8_sig, encodings.idna, unicodedata
from pathlib import Path
from engine.errors import PresetError
from engine.preset.loader import load_preset
load_preset("plain")
seen, said = [], {}
OURS = ("open", "exec", "compile", "import", "os.", "socket.", "subprocess.", "pty.", "ctypes.", "urllib.", "shutil.")
def write_down(event, arguments):
    if event.startswith(OURS):
        seen.append([event, str(arguments[0]) if arguments else ""])
sys.addaudithook(write_down)
for path in sys.argv[1:]:
    try:
        load_preset(Path(path))
        said[path] = ""
    except PresetError as error:
        said[path] = str(error)
told = list(seen)
print(json.dumps([told, said]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A preset's folder, with links that lead out of it and secrets above."""
    inside = tmp_path / "presets"
    inside.mkdir()
    for secret in ("secret.csv", "secret.scl", "secret.txt"):
        (tmp_path / secret).write_text("0,0\n0.1,0\n")
    (inside / "secret.txt").write_text("inside\n")
    (inside / "link.csv").symlink_to(tmp_path / "secret.csv")
    (inside / "link.scl").symlink_to(tmp_path / "secret.scl")
    (inside / "folder").symlink_to(tmp_path)
    (inside / "folder.csv").mkdir()
    (inside / "large.csv").write_bytes(b"0,0\n" * (MAX_BYTES // 4 + 1))
    return inside


def test_nothing_runs_and_nothing_outside_is_opened(folder: Path) -> None:
    (folder / "bridge.csv").write_text("0,0\n0.1,0\n")
    paths = {name: folder / f"{number}.yaml" for number, name in enumerate([*HOSTILE, "good"])}
    for name, path in paths.items():
        path.write_text(HOSTILE.get(name, TABLE % "bridge.csv"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", AUDITED, *map(str, paths.values())],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen, said = json.loads(done.stdout)
    assert {event for event, _ in seen} == {"open"}
    opened = {Path(path) for _, path in seen}
    assert opened == {*paths.values(), folder / "bridge.csv", folder / "large.csv"}
    for name, path in paths.items():
        lines = said[str(path)].splitlines()
        assert bool(lines) == (name != "good"), name
        assert all(line.startswith(str(path)) and line.isprintable() for line in lines), name
    assert not list(folder.parent.rglob("owned"))


def test_a_pipe_in_the_place_of_a_table_is_not_waited_for(folder: Path) -> None:
    import os

    os.mkfifo(folder / "pipe.csv")
    (folder / "a.yaml").write_text(TABLE % "pipe.csv")
    with pytest.raises(PresetError, match="is not a regular file"):
        load_preset(folder / "a.yaml")


def test_a_preset_without_a_file_reads_none() -> None:
    preset = {"string": {"length": 1, "density": 1e-3, "tension": 100}}
    with pytest.raises(PresetError, match="this preset is no file"):
        load_preset({**preset, "barrier": {"profile": "table", "table": "bridge.csv"}})
    with pytest.raises(PresetError, match="this preset is no file"):
        load_preset({**preset, "tuning": "a.scl"})
