"""The format web: a page that plays an instrument in any browser, without a server, a network or Python.

Its strings, keys, knobs and wheels are the editor's own modules and pieces of the editor's own page.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from engine.compiled import STACK
from engine.edit import frames
from engine.edit.scene import scene
from engine.export.code import SYMBOLS, renderers
from engine.export.designs import owned
from engine.export.job import Export, described, licence
from engine.export.memory import Exported
from engine.export.targets import System
from engine.export.web.bundle import EDITORS, OWN, script
from engine.export.web.doors import WEB_DOORS
from engine.export.web.wasm import module_of
from engine.layout import fields_of
from engine.preset.rack import Part
from engine.synth import capture, likeness
from engine.synth.ensemble import design_part
from engine.synth.rehearsal import REHEARSAL_RATE
from engine.versions import VERSION

BORDER = 64  # bytes, on which memory is laid out
FEATURES = "+bulk-memory,+bulk-memory-opt,+mutable-globals,+nontrapping-fptoint,+sign-ext"
TRIED = "run in the tests by node and Chromium"
# Twice: as all browsers since 2023 have it, and where the processor has no vectors that they would use.
SYSTEMS = {
    kind: System(f"browsers-{kind}", "wasm32-unknown-unknown", ("mvp",), "", "", TRIED, FEATURES + more)
    for kind, more in (("simd", ",+simd128"), ("plain", ""))
}
KEYS = (36, 96)  # that a page has if nothing else is asked for: low strings have so many modes that they weigh most
ANYWHERE = System("browsers", "", (), "", "", TRIED)
SCRIPTS = {"data.js": "data", "jawari.js": "script"}
FALLBACK = "plain.js"  # is fetched where it is needed only: half of all code


def write(order: Export, folder: Path) -> None:
    """Fill a folder."""
    page = WebPage(order)
    links = "".join(f'<script src="{name}"></script>\n' for name in SCRIPTS)
    (folder / "index.html").write_text(page.html('<link rel="stylesheet" href="page.css">', links), encoding="utf-8")
    (folder / "page.css").write_text(page.style, encoding="utf-8")
    for name, what in SCRIPTS.items():
        (folder / name).write_text(getattr(page, what), encoding="utf-8")
    (folder / FALLBACK).write_text(page.fallback, encoding="utf-8")
    (folder / "LICENSE").write_text(licence(), encoding="utf-8")
    (folder / "README.md").write_text(readme(order), encoding="utf-8")


def write_single(order: Export, file: Path) -> None:
    """The same as one file."""
    page = WebPage(order)
    scripts = (page.data, page.fallback, page.script)
    inside = "".join(f"<script>\n{script}</script>\n" for script in scripts)
    assert inside.count("</script") == len(scripts)
    terms = f"<!--\n{licence().replace('--', '- -')}-->\n"
    file.write_text(page.html(f"<style>\n{page.style}</style>", inside) + terms, encoding="utf-8")


class WebPage:
    """What the page consists of."""

    def __init__(self, order: Export) -> None:
        self._order = order

    @cached_property
    def script(self) -> str:
        """All modules as one script."""
        return script("main")

    @cached_property
    def style(self) -> str:
        """The editor's, and what there is besides."""
        return "".join((folder / "page.css").read_text(encoding="utf-8") for folder in (EDITORS, OWN))

    @cached_property
    def data(self) -> str:
        """The instrument, as a script that gives it to the page."""
        code = {kind: text for kind, text in self._facts["code"].items() if kind != "plain"}
        return f"window.jawariData = {_json(self._facts | {'code': code})};\n"

    @cached_property
    def fallback(self) -> str:
        """The code without vectors, as a script that adds it."""
        return f"window.jawariData.code.plain = {_json(self._facts['code']['plain'])};\n"

    @cached_property
    def _facts(self) -> dict[str, Any]:
        return facts(self._order)

    def html(self, style: str, scripts: str) -> str:
        """The page, with links to the others or with all of them inside."""
        editors = (EDITORS / "index.html").read_text(encoding="utf-8")
        icon = base64.b64encode((EDITORS / "icon.svg").read_bytes()).decode()
        given = {
            "title": _escaped(self._order.rack.name),
            "icon": f"data:image/svg+xml;base64,{icon}",
            "strings": piece(editors, "strings"),
            "hands": piece(editors, "hands"),
            "style": style,
            "scripts": scripts,
        }
        return filled((OWN / "index.html").read_text(encoding="utf-8"), given)


def facts(order: Export) -> dict[str, Any]:
    """All that the page is given: names, knobs, drawings, the code, the image, and where in memory what stands."""
    rack = order.rack
    objects = renderers(list(SYSTEMS.values()), WEB_DOORS, order.tell)
    modules = {kind: module_of(made, {*SYMBOLS, *WEB_DOORS}) for kind, made in zip(SYSTEMS, objects, strict=True)}
    routes = set(rack.routes)
    return {
        "version": VERSION,
        "name": rack.name,
        "rates": list(order.rates),
        "keys": list(order.keys),
        "first": routes.pop() if len(routes) == 1 else -1,
        "parts": [drawn(part, (*order.rates, REHEARSAL_RATE)[0]) for part in rack.parts],
        "dials": [dial.__dict__ for dial in order.dials],
        "designs": [dial.__dict__ for dial in order.designs],
        "frames": frames.layout(),
        "places": {**places(), "designs": len(order.designs)},
        "stacks": {kind: -(-module.data // BORDER) * BORDER + 2 * STACK for kind, module in modules.items()},
        "worklet": script("worklet"),
        "worker": script("worker") if order.designs else "",
        "code": {kind: packed(module.content) for kind, module in modules.items()},
        "image": packed(order.image),
    }


def drawn(part: Part, rate: float) -> dict[str, Any]:
    """A preset as the page shows it."""
    preset, lengths = part.preset, []
    if preset.keys == "length":
        keys = design_part(part, rate, 128, None, None, None, False).machine.keys
        lengths = [round(float(length), 5) for length in keys.length]
    own = {one.key: [one.value, *one.span] for one in owned(preset) if not one.played or 0 in one.played}
    return {"name": preset.name, "about": preset.about, "scene": scene(preset), "lengths": lengths, "own": own}


def places() -> dict[str, Any]:
    """Where things stand in the renderer's memory, as the records' declarations have it."""
    pictures = next(field.offset for field in fields_of(Exported) if field.name == "pictures")
    return {
        "pictures": pictures,
        "capture": {field.name: field.offset for field in fields_of(capture.Capture)},
        "looks": capture.LOOKS,
        "slot": capture.SLOT,
        "head": len(capture.HEAD),
        "picture": len(likeness.PICTURE),
        "size": likeness.PICTURE.index("size"),
        "points": likeness.PICTURE.index("points"),
        "largest": capture.LARGEST_PICTURE,
        "kinds": {"look": frames.LOOK, "film": frames.FILM},
        "states": {"empty": capture.EMPTY, "armed": capture.ARMED, "full": capture.FULL},
    }


def packed(content: bytes) -> str:
    """As texts carry it; the same content is always the same text."""
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


def piece(page: str, name: str) -> str:
    """A part of the editor's page, between comments."""
    found = re.search(rf"<!-- piece: {name} -->\n(.*?)\n *<!-- end -->", page, re.S)
    assert found, f"the editor's page has no piece {name}"
    return found[1]


def filled(text: str, given: Mapping[str, str]) -> str:
    """A page with all that it leaves open."""
    return re.sub(r"\{(\w+)\}", lambda gap: given[gap[1]], text)


def _json(value: object) -> str:
    """As scripts have it: nothing in it ends the script."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False).replace("<", "\\u003c")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def readme(order: Export) -> str:
    """How to use it."""
    rate = "{ sampleRate: jawari.data.rates[0] }" if order.rates else ""
    turned = (
        "node.design(0, value); // the first knob that all strings are designed anew for\n" if order.designs else ""
    )
    return f"""# {order.rack.name}, in the browser

Open `index.html`, as a file or from any server: it plays in the browser itself, asks no other machine for anything, and
needs neither a network nor Python. What it plays is what `jawari play` plays, to the last bit.

- `index.html`, `page.css`, `jawari.js`: the page. Keep the files together.
- `data.js`: the renderer as WebAssembly, and the instruments. `plain.js`: the renderer for browsers without vectors in
  WebAssembly, which ask for it. They open as such only.

In a page of your own, with both scripts and after a click:

```js
const context = new AudioContext({rate});
const node = await jawari.instrumentNode(context, jawari.data);
node.connect(context.destination);
node.port.postMessage(["midi", [0x90, 57, 100]]);
{turned}```

{described(order)}

Free to use by the terms in LICENSE.
"""
