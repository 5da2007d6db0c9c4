"""The presets that can be opened, and the folder into which the user's own are saved."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from engine.edit.errors import AskedError
from engine.edit.scene import scene
from engine.errors import PresetError
from engine.files.errors import FileError
from engine.files.target import whole_file
from engine.preset.files import MAX_BYTES, known, own_file, own_folder, shipped
from engine.preset.loader import Preset, load_text
from engine.reading import read_text


def find(name: str) -> Path:
    """The file of a preset that has this name; nothing but names is ever looked for."""
    found = known().get(name)
    if found is None:
        raise AskedError(f"there is no preset called {name[:40]}")
    return found


def text_of(path: Path) -> str:
    """What a preset's file says."""
    return read_text(path, MAX_BYTES, PresetError)


_cards: dict[str, tuple[tuple[int, int], dict[str, Any]]] = {}  # as they were read last, while their files stay so


def listing() -> list[dict[str, Any]]:
    """Every preset with what a card of it shows; of one that cannot be read, why."""
    found = []
    for name, path in known().items():
        try:
            told = path.stat()
            stamp = told.st_mtime_ns, told.st_size
        except OSError:
            continue  # it has gone
        if name not in _cards or _cards[name][0] != stamp or "broken" in _cards[name][1]:
            _cards[name] = stamp, _card(name, path)
        found.append(_cards[name][1])
    return found


def _card(name: str, path: Path) -> dict[str, Any]:
    card: dict[str, Any] = {"name": name, "own": name not in shipped()}
    try:
        preset, _ = load_text(text_of(path), str(path), path.parent)
    except PresetError as error:
        return {**card, "title": name, "about": str(error).splitlines()[0], "broken": True}
    facts = [preset.model, f"{preset.problem.string.length:.3g} m"]
    if preset.assembly is not None:
        facts = [f"{len(preset.assembly.played)} played", f"{len(preset.assembly.sympathetic)} answer"]
    drawn = {key: value for key, value in scene(preset).items() if key != "strings"}
    card |= {"title": preset.name, "about": preset.about, "scene": drawn, "facts": facts}
    return {**card, "family": preset.family, "tags": list(preset.tags)}


def save(name: str, text: str, beside: Path | None, replace: bool) -> Path:
    """Write a preset of the user's own, whole or not at all, once it is known that it loads from there.

    A file that it names (a table, a scale) must lie beside it: the preset's own folder is `beside`.
    """
    path = own_file(name)
    if path.exists() and not replace:
        raise FileError(f"{name} exists already; replace it, or choose another name")
    try:
        load_text(text, str(path), path.parent)
    except PresetError as error:
        if beside is None or beside == path.parent:
            raise
        raise PresetError(f"{str(error).splitlines()[0]} (it was opened from {beside}: copy the file there)") from None
    try:
        own_folder().mkdir(parents=True, exist_ok=True)
        with whole_file(path, force=replace) as part:
            part.write_bytes(text.encode("utf-8"))
    except OSError as error:
        raise FileError(
            f"{os.fspath(path)}: cannot be written ({error.strerror}); make room or choose another place"
        ) from None
    return path


def loaded(path: Path) -> Preset:
    """The preset of a file."""
    return load_text(text_of(path), str(path), path.parent)[0]
