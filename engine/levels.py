"""Leaf: one object file with code for several levels of processors, of which it chooses by itself where it runs.

Arithmetic is strict, so that choice is nothing that could be heard. Each level's functions are told apart by an
attribute of LLVM's, all of them are inside, and what can be called from outside asks which to take.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import llvmlite.binding as llvm

from engine import lowering
from engine.errors import MissingPart
from engine.processor import Processor

# Of what CPUID and XGETBV say, the bits that a level needs (x86-64 psABI; Intel's manual, volume 2A, CPUID).
_V3_1 = sum(1 << bit for bit in (0, 9, 12, 13, 19, 20, 22, 23, 26, 27, 28, 29))  # leaf 1, ECX
_V3_7 = sum(1 << bit for bit in (3, 5, 8))  # leaf 7, EBX: BMI1, AVX2, BMI2
_V4_7 = sum(1 << bit for bit in (16, 17, 28, 30, 31))  # leaf 7, EBX: AVX-512 F, DQ, CD, BW, VL
_LZCNT = 1 << 5  # leaf 0x80000001, ECX
_YMM, _ZMM = 6, 230  # what the system must save: XCR0
_EXTENDED = -0x7FFFFFFF  # 0x80000001 as LLVM has 32 bits

_CPUID = (
    'call {i32, i32, i32, i32} asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"'
)
_DETECT = f"""
@chosen = internal global i32 0

define internal i1 @has(i32 %word, i32 %bits) {{
  %both = and i32 %word, %bits
  %all = icmp eq i32 %both, %bits
  ret i1 %all
}}

define internal i32 @detected() {{
  %first = {_CPUID}(i32 0, i32 0)
  %leaves = extractvalue {{i32, i32, i32, i32}} %first, 0
  %enough = icmp uge i32 %leaves, 7
  br i1 %enough, label %known, label %v2
known:
  %one = {_CPUID}(i32 1, i32 0)
  %one.c = extractvalue {{i32, i32, i32, i32}} %one, 2
  %has.1 = call i1 @has(i32 %one.c, i32 {_V3_1})
  br i1 %has.1, label %saved, label %v2
saved:
  %x = call {{i32, i32}} asm sideeffect "xgetbv", "={{ax}},={{dx}},{{cx}},~{{dirflag}},~{{fpsr}},~{{flags}}"(i32 0)
  %saves = extractvalue {{i32, i32}} %x, 0
  %has.ymm = call i1 @has(i32 %saves, i32 {_YMM})
  %seven = {_CPUID}(i32 7, i32 0)
  %seven.b = extractvalue {{i32, i32, i32, i32}} %seven, 1
  %has.7 = call i1 @has(i32 %seven.b, i32 {_V3_7})
  %far = {_CPUID}(i32 {_EXTENDED}, i32 0)
  %far.c = extractvalue {{i32, i32, i32, i32}} %far, 2
  %has.far = call i1 @has(i32 %far.c, i32 {_LZCNT})
  %some = and i1 %has.ymm, %has.7
  %third = and i1 %some, %has.far
  br i1 %third, label %more, label %v2
more:
  %has.512 = call i1 @has(i32 %seven.b, i32 {_V4_7})
  %has.zmm = call i1 @has(i32 %saves, i32 {_ZMM})
  %fourth = and i1 %has.512, %has.zmm
  %best = select i1 %fourth, i32 4, i32 3
  ret i32 %best
v2:
  ret i32 2
}}

define internal i32 @level() {{
  %known = load atomic i32, ptr @chosen monotonic, align 4
  %any = icmp ne i32 %known, 0
  br i1 %any, label %told, label %ask
ask:
  %found = call i32 @detected()
  store atomic i32 %found, ptr @chosen monotonic, align 4
  ret i32 %found
told:
  ret i32 %known
}}

define i32 @OUTSIDE(i32 %most) {{
  %found = call i32 @detected()
  %asked = icmp sge i32 %most, 2
  %less = icmp slt i32 %most, %found
  %lower = and i1 %asked, %less
  %now = select i1 %lower, i32 %most, i32 %found
  store atomic i32 %now, ptr @chosen monotonic, align 4
  ret i32 %now
}}
"""
_NO_LEVELS = "define i32 @OUTSIDE(i32 %most) {\n  ret i32 0\n}\n"


def fused(doors: Mapping[str, lowering.Door], declared: int, aims: Sequence[Processor], told: str) -> bytes:
    """An object file for processors of one kind, the least first; what can be called is what the doors say, and a
    function of the name `told`: the level in use (2 to 4, or 0 where there are none), from now on at most so much.
    """
    if len(aims) > 1:
        _require_assembler()
    made, _ = lowering.optimised_for(doors, declared, _silent, aims)
    whole, machine = made[0]
    if len(aims) == 1:
        _link(whole, _NO_LEVELS.replace("OUTSIDE", told))
        return _emitted(whole, machine)
    signatures = {name: str(whole.get_function(name).global_value_type) for name in doors}
    together = llvm.parse_assembly(_head(machine))
    for aim, (part, _) in zip(aims, made):
        for name in doors:
            part.get_function(name).name = f"{name}.{aim.name}"
        together.link_in(llvm.parse_assembly(marked(str(part), aim.name)))
    choices = (_chooser(name, signature, [aim.name for aim in aims]) for name, signature in signatures.items())
    _link(together, _DETECT.replace("OUTSIDE", told) + "\n".join(choices))
    for value in (*together.functions, *together.global_variables):
        if not value.is_declaration and value.name not in (*doors, told):
            value.linkage = "internal"
    together.verify()
    return _emitted(together, machine)


def separate(doors: Mapping[str, lowering.Door], declared: int, aims: Sequence[Processor], told: str) -> list[bytes]:
    """An object file for each of some processors that run the same program, if not by the same instructions: it is
    optimised once, for the first one."""
    whole, machine, _ = lowering.optimised(doors, declared, _silent, aims[0])
    _link(whole, _NO_LEVELS.replace("OUTSIDE", told))
    text = str(whole)
    others = (_emitted(llvm.parse_assembly(text), lowering.machine(aim)) for aim in aims[1:])
    return [_emitted(whole, machine), *others]


def marked(text: str, processor: str) -> str:
    """A module's text with every function made for a processor, whatever the module is."""
    return re.sub(r"^(define .*) \{$", rf'\1 "target-cpu"="{processor}" {{', text, flags=re.M)


def _silent(share: float) -> None:
    pass


def _require_assembler() -> None:
    """What asks the processor is two words of assembler, which LLVM's Python side reads for this machine only."""
    if not llvm.get_process_triple().startswith(("x86_64", "amd64")):
        raise MissingPart("code for x86-64 can only be made on x86-64: there is no assembler for it here")
    llvm.initialize_native_asmparser()


def _head(machine: Any) -> str:
    return f'target triple = "{machine.triple}"\ntarget datalayout = "{machine.target_data}"\n'


def _link(whole: Any, text: str) -> None:
    whole.link_in(llvm.parse_assembly(f'target triple = "{whole.triple}"\n{text}'))


def _emitted(whole: Any, machine: Any) -> bytes:
    found: bytes = machine.emit_object(whole)
    return found


def _chooser(name: str, signature: str, levels: Sequence[str]) -> str:
    """The function that is called from outside, and calls that of the level in use."""
    result, _, kinds = signature.partition(" (")
    types = [kind for kind in kinds.rstrip(")").split(", ") if kind]
    given = ", ".join(f"{kind} %a{n}" for n, kind in enumerate(types))
    lines = [f"declare {result} @{name}.{level}({', '.join(types)})" for level in levels]
    lines += [f"define {result} @{name}({given}) {{", "  %level = call i32 @level()"]
    others = " ".join(f"i32 {n}, label %v{n}" for n in range(3, 2 + len(levels)))
    lines.append(f"  switch i32 %level, label %v2 [{others}]")
    for n, level in enumerate(levels, 2):
        got, back = ("", "ret void") if result == "void" else (f"%r{n} = ", f"ret {result} %r{n}")
        lines += [f"v{n}:", f"  {got}tail call {result} @{name}.{level}({given})", f"  {back}"]
    return "\n".join([*lines, "}"])
