"""`--format web`: WebAssembly plays what the engine plays, to the last bit; the page is whole, and asks nobody."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from export.exporting import COMPILER, NETWORK, PRESETS, RAGGED, RATE, expected
from export.paging import SHORT, native, node, order, page_of, performed

from engine import cli
from engine.compiled import INTERPRETED
from engine.edit.scene import scene
from engine.errors import Exit
from engine.export.web import bundle, piece, wasm
from engine.preset.loader import load_preset
from engine.synth.instrument import Instrument
from engine.synth.output import limit_block

pytestmark = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
NODE = pytest.mark.skipif(node() is None, reason="nothing runs WebAssembly: apt install nodejs")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("web")


# --- the sound --------------------------------------------------------------------------------------------------------


@NODE
@pytest.mark.parametrize("names", [*((name,) for name in PRESETS), (NETWORK,), ("sitar-string", "slap-bass")], ids=str)
def test_wasm_plays_the_same_bits(names: tuple[str, ...], folder: Path) -> None:
    sound, said = performed(page_of(folder, *names), names, "exact", "simd", *RAGGED)
    assert np.array_equal(sound, expected(*names))
    if names == ("sitar-string",):
        assert said["latency"] == Instrument("sitar-string", RATE).latency


@NODE
@pytest.mark.parametrize("name", ["sitar-string", "slap-bass"])
def test_so_it_does_without_vectors(name: str, folder: Path) -> None:
    sound, _ = performed(page_of(folder, name), (name,), "exact", "plain", 128, frames=SHORT)
    assert np.array_equal(sound, expected(name)[:SHORT])


@NODE
@pytest.mark.parametrize("rates", [(RATE,), ()], ids=str)
def test_what_a_worklet_plays_to_itself_leaves_nothing(rates: tuple[float, ...], folder: Path) -> None:
    """Nor does the design that it goes over to meanwhile, where there are any."""
    page, names = page_of(folder, "sitar-string", rates=rates), ("sitar-string",)
    sound, _ = performed(page, names, "warmed", "simd", 128, frames=SHORT)
    wanted = np.ascontiguousarray(expected("sitar-string")[:SHORT])
    limit_block(wanted.ctypes.data, SHORT, 2)
    assert np.array_equal(sound, wanted)


@NODE
def test_what_is_heard_is_limited_and_pictures_change_nothing(folder: Path) -> None:
    page, names = page_of(folder, "sitar-string"), ("sitar-string",)
    live, nothing = performed(page, names, "live", "simd", 128, frames=SHORT)
    watched, seen = performed(page, names, "watched", "simd", 128, frames=SHORT)
    wanted = np.ascontiguousarray(expected("sitar-string")[:SHORT])
    limit_block(wanted.ctypes.data, SHORT, 2)
    assert np.array_equal(live, wanted)
    assert np.array_equal(watched, wanted)
    assert (nothing["looks"], nothing["films"]) == (0, 0)
    assert (seen["looks"] > 10 * SHORT / RATE, seen["films"]) == (True, 1)


@NODE
@pytest.mark.parametrize(("name", "rate"), [("sitar-string", 44_100), ("sitar-string", 48_000), (NETWORK, 44_100)])
def test_at_any_rate_strings_are_designed_where_they_are_played(name: str, rate: int, folder: Path) -> None:
    page, names = page_of(folder, name, rates=()), (name,)
    sound, _ = performed(page, names, "exact", "simd", *RAGGED, rate=rate)
    assert np.array_equal(sound, expected(*names, rate=rate))


@NODE
@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler: apt install gcc libc6-dev")
@pytest.mark.parametrize(
    ("name", "code", "rate"),
    [
        *(("sitar-string", code, rate) for code, rate in (("simd", 48_000), ("simd", 44_100), ("plain", 48_000))),
        ("tanpura", "simd", 44_100),
        ("sitar", "simd", 48_000),
    ],
)
def test_a_turned_knob_is_the_design_of_native_code(name: str, code: str, rate: int, folder: Path) -> None:
    """Made in one memory, brought to another one, and gone on with, twice, while strings ring: the same bits. It waits
    for a finger that is on its way to a fret of the sitar, and for nothing else."""
    names, made = (name,), order(name, rates=())
    ends = [dial.high if n % 2 else dial.low for n, dial in enumerate(made.designs)]
    designs = [(2500, [None, *ends[1:]]), (5000, [None] * len(ends))]
    told = {"frames": 8000, "rate": rate}
    sound, said = performed(page_of(folder, *names, rates=()), names, "exact", code, 128, designs=designs, **told)
    wanted, followed = native(folder, made.image, rate, names, designs, 8000)
    assert np.array_equal(sound, wanted)
    assert said["followed"] == followed
    assert (followed != [2500, 5000]) == (name == "sitar")
    still, _ = performed(page_of(folder, *names, rates=()), names, "exact", code, 128, **told)
    assert not np.array_equal(sound[2500:], still[2500:])


@NODE
@pytest.mark.parametrize("name", ["sitar-string", "prepared"])
def test_what_is_drawn_is_what_python_draws_of_such_a_preset(name: str, folder: Path) -> None:
    """But for where a string may touch a barrier, of which a design may have other points."""
    page, made = page_of(folder, name, rates=()), order(name, rates=())
    values = {dial.key: 0.7 * dial.own + 0.3 * dial.high for dial in made.designs}
    program = f"""
        const shown = JSON.parse(require("fs").readFileSync({json.dumps(str(page / "data.js"))}, "utf8")
          .replace(/^[^{{]*/, "").replace(/;\\s*$/, ""));
        {bundle.script("redrawn")}
        const {{ scene, own }} = shown.parts[0];
        const values = new Map(Object.entries({json.dumps(values)}));
        console.log(JSON.stringify(module_redrawn.redrawn(scene, own, values)));"""
    drawn = json.loads(subprocess.run([str(node()), "-e", program], capture_output=True, check=True).stdout)
    wanted = scene(load_preset(name, values))
    assert drawn != scene(load_preset(name))
    for one in (drawn, wanted):
        del one["barrier"]["points"]
    wanted["barrier"]["h"] = pytest.approx(wanted["barrier"]["h"], rel=1e-9, abs=1e-15)
    assert drawn == wanted


# --- the module -------------------------------------------------------------------------------------------------------


def test_an_object_file_becomes_a_module(folder: Path) -> None:
    """Of a function that calls another, data, and a name that is not to be seen: as LLVM writes them."""
    text = """target triple = "wasm32-unknown-unknown"
        @table = internal constant [2 x i32] [i32 5, i32 7]
        declare double @fmod(double, double)
        define internal i32 @inner(i32 %n) noinline {
          %at = getelementptr [2 x i32], ptr @table, i32 0, i32 %n
          %found = load i32, ptr %at
          ret i32 %found
        }
        define i32 @outer(i32 %n) {
          %found = call i32 @inner(i32 %n)
          %more = add i32 %found, 1
          ret i32 %more
        }
        define double @rest(double %a) {
          %r = frem double %a, 3.0
          ret double %r
        }"""
    made = wasm.module_of(compiled(text), {"outer", "rest"})
    assert made.data == 8
    if node() is None:
        return
    (folder / "small.wasm").write_bytes(made.content)
    program = f"""
        const module = new WebAssembly.Module(require("fs").readFileSync({json.dumps(str(folder / "small.wasm"))}));
        const memory = new WebAssembly.Memory({{ initial: 1 }});
        const env = {{ __linear_memory: memory, fmod: (a, b) => a % b,
          __stack_pointer: new WebAssembly.Global({{ value: "i32", mutable: true }}, 1024),
          __indirect_function_table: new WebAssembly.Table({{ initial: 0, element: "anyfunc" }}) }};
        const call = new WebAssembly.Instance(module, {{ env }}).exports;
        console.log(Object.keys(call).join(), call.outer(0), call.outer(1), call.rest(-7.5));"""
    said = subprocess.run([str(node()), "-e", program], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["outer,rest", "6", "8", "-1.5"]


def test_what_no_page_has_is_not_asked_for() -> None:
    text = """target triple = "wasm32-unknown-unknown"
        declare void @elsewhere()
        define void @outer() {
          call void @elsewhere()
          ret void
        }"""
    with pytest.raises(AssertionError, match="elsewhere"):
        wasm.module_of(compiled(text), {"outer"})


def compiled(text: str) -> bytes:
    """LLVM's own object file."""
    import llvmlite.binding as llvm

    from engine.lowering import machine
    from engine.processor import Processor

    found = machine(Processor("mvp", "", "wasm32-unknown-unknown")).emit_object(llvm.parse_assembly(text))
    assert isinstance(found, bytes)
    return found


# --- the files --------------------------------------------------------------------------------------------------------


def test_modules_become_a_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "main": 'import { two } from "./leaf.js";\nimport { three as more } from "./leaf.js";\nconst n = two();\n',
        "leaf": "const own = 1;\nexport function two() {\n  return 2;\n}\nexport const three = 3;\n",
    }
    for name, text in files.items():
        (tmp_path / f"{name}.js").write_text(text.replace(" as more", ""))
    monkeypatch.setattr(bundle, "OWN", tmp_path)
    made = bundle.script("main")
    assert made.index("module_leaf =") < made.index("module_main =")
    assert "return { two, three };" in made
    for wrong in ('import leaf from "./leaf.js";\n', "export default 3;\n", 'const a = import("./leaf.js");\n'):
        (tmp_path / "main.js").write_text(wrong)
        with pytest.raises(AssertionError, match=r"main\.js"):
            bundle.script("main")
    (tmp_path / "main.js").write_text('import { main } from "./main.js";\n')
    with pytest.raises(AssertionError, match="itself"):
        bundle.script("main")


def test_strings_and_keys_are_the_editors_own() -> None:
    """No module of a page is there twice."""
    own = {file.name for file in bundle.OWN.glob("*.js")} - {"main.js", "worklet.js"}
    assert not own & {file.name for file in bundle.EDITORS.glob("*.js")}
    used = bundle.script("main")
    for name in ("stage", "strings", "films", "keys", "knobs", "wheels", "theme", "midi", "frames", "units"):
        assert f"const module_{name} =" in used
        assert bundle.source(name).parent == bundle.EDITORS
    editors = (bundle.EDITORS / "index.html").read_text(encoding="utf-8")
    assert 'id="whole"' in piece(editors, "strings")
    assert 'id="keys"' in piece(editors, "hands")


def test_the_page_names_no_other_address(folder: Path) -> None:
    page = page_of(folder, "sitar-string")
    for file in ("index.html", "page.css", "jawari.js"):
        assert not re.findall(r"https?://|//[a-z]+\.[a-z]", (page / file).read_text(encoding="utf-8")), file
    html = (page / "index.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in html
    assert "connect-src" not in html  # so nobody at all may be asked
    sizes = {file.name: file.stat().st_size for file in page.iterdir() if file.name != "events"}
    assert sum(sizes.values()) < 800_000
    assert sum(sizes.values()) - sizes["plain.js"] < 500_000  # what browsers of today fetch: it designs networks, too


def test_one_file_is_the_whole_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["export", "prepared", "--format", "web", "--single"]) == 0
    assert "wrote prepared.html: " in capsys.readouterr().out
    made = (tmp_path / "prepared.html").read_text(encoding="utf-8")
    assert [file.name for file in tmp_path.iterdir()] == ["prepared.html"]
    assert len(made) < 800_000  # both codes are in it
    assert re.findall(r'(?:src|href)="([^"]*)', made) == [re.search(r'href="(data:[^"]*)', made)[1]]  # the icon
    assert "Permission is hereby granted" in made
    assert cli.main(["export", "prepared", "--format", "web", "--single"]) == Exit.FILE
    assert "exists already" in capsys.readouterr().err
    assert cli.main(["export", "prepared", "--format", "web", "--single", "--force"]) == 0


def test_what_a_page_has_no_use_for_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in ((["c", "--single"], "--single"), (["web", "--target", "linux-x86_64"], "--target")):
        assert cli.main(["export", "prepared", "--format", *words]) == Exit.USAGE
        told = capsys.readouterr().err
        assert said in told
        assert told.count("\n") == 1
