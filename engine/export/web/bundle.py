"""Modules of JavaScript as one script: a page that is opened as a file may load no modules, but it may load scripts.

A module becomes a function that gives what it exports. Of the language's many ways to import and export it knows those
that the pages here use, and refuses others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

OWN = Path(__file__).parent / "page"
EDITORS = Path(__file__).parents[2] / "edit" / "page"
IMPORT = re.compile(r'^import \{ ([\w, ]+) \} from "\./(\w+)\.js";\n', re.M)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.M)
ANY = re.compile(r"^\s*(?:import|export)\b.*|\bimport\(.*", re.M)


def script(*mains: str) -> str:
    """One script of these modules and all that they import, each once."""
    texts: dict[str, str] = {}
    for main in mains:
        _gather(main, texts, ())
    return '"use strict";\n' + "\n".join(texts.values())


def source(name: str) -> Path:
    """A module of this page's own, or of the editor's."""
    return next(file for folder in (OWN, EDITORS) if (file := folder / f"{name}.js").is_file())


def _gather(name: str, texts: dict[str, str], path: Iterable[str]) -> None:
    assert name not in path, f"{name}.js imports itself"
    if name in texts:
        return
    text = source(name).read_text(encoding="utf-8")
    for _, other in IMPORT.findall(text):
        _gather(other, texts, (*path, name))
    given = EXPORT.findall(text)
    inside = EXPORT.sub("", IMPORT.sub(lambda found: f"const {{ {found[1]} }} = {_module(found[2])};\n", text))
    assert not (left := ANY.findall(inside)), f"{name}.js: {left[0]}"
    texts[name] = f"const {_module(name)} = (() => {{\n{inside}return {{ {', '.join(given)} }};\n}})();\n"


def _module(name: str) -> str:
    return f"module_{name}"
