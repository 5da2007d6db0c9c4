"""What the papers claim, judged by the numbers of the figures: confirmed, not, or only if."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reproduction.registry import Result

YES, NO, IF = "confirmed", "not here", "only if"
Verdict = tuple[str, str]  # one of these; what was measured


@dataclass(frozen=True)
class Claim:
    """Where it stands, what it says, the figure whose numbers decide, and how."""

    place: str
    says: str
    figure: str
    judge: Callable[[Any], Verdict]


def verdict(true: bool, measured: str) -> Verdict:
    return (YES if true else NO), measured


def judged(results: list[Result]) -> list[dict[str, str]]:
    """A row for each claim whose figure was drawn."""
    numbers, rows = {r.figure.id: r.numbers for r in results if not r.failed}, []
    for claim in CLAIMS:
        if claim.figure in numbers:
            found, measured = claim.judge(numbers[claim.figure])
            row = {"place": claim.place, "claim": claim.says, "figure": claim.figure}
            rows.append(row | {"verdict": found, "measured": measured})
    return rows


# --- 001 --------------------------------------------------------------------------------------------------------------


def too_long(n: Any) -> Verdict:
    off = {s: 100.0 * (n["hard"][s]["duration_us"] / n["hard"]["exact_us"] - 1.0) for s in ("two-point", "three-point")}
    two, three = off.values()
    return verdict(0.0 < two < three, f"hard wall: +{two:.0f} % two-point, +{three:.0f} % three-point")


def fewest(n: Any) -> Verdict:
    least = n["fewest_samples_inside_any_wall"]
    return verdict(least == {"two-point": 1, "three-point": 2}, "no wall and no moment of entry gives fewer")


def exact_stiffness(n: Any) -> Verdict:
    off = n["relative_error_over_phases"]
    worst, before = (100.0 * abs(off[f"two-point {kind}"]["worst"]) for kind in ("corrected", "uncorrected"))
    return (YES if worst < 0.01 else IF), f"{worst:.1g} % do not matter, at 3.5 samples; uncorrected {before:.0f} %"


def order(n: Any) -> Verdict:
    found = [o for name in ("two-point", "three-point") for o in n[name]["order"].values()]
    steep = [o for name in ("two-point", "three-point") for a, o in n[name]["order"].items() if float(a) > 1.0]
    return verdict(min(steep) > 1.8, f"the duration is of order {min(found):.2f} to {max(found):.2f}, α = 1 included")


def below(n: Any) -> Verdict:
    at = n["rate"].index(30e3)
    two, three = (n[f"{s}-point simulated"]["mean_error_us"][at] for s in ("two", "three"))
    return verdict(three > 3.0 * abs(two), f"at 30 kHz {two:.0f} and {three:.0f} µs of {n['target_us']:.0f}")


# --- 002 --------------------------------------------------------------------------------------------------------------


def constant(n: Any) -> Verdict:
    worst = max(run["energy_drift"] for run in n.values() if isinstance(run, dict) and "energy_drift" in run)
    return verdict(worst < 1e-11, f"to {worst:.0e} over half a second")


def kept(n: Any) -> Verdict:
    share = [100.0 * n[s]["stuck_energy"] for s in ("plain", "ours")]
    return verdict(share[0] > 1.0, f"{share[0]:.0f} % of the energy; with our rule {share[1]:.0f} %")


def again(n: Any) -> Verdict:
    rms = [1e3 * n[s]["rms_error_m"] for s in ("iterative", "plain", "ours")]
    said = f"rms error {rms[0]:.2f} mm iterative, {rms[1]:.2f} not, {rms[2]:.2f} our rule"
    return verdict(rms[1] < 5.0, said)


def struck(n: Any) -> Verdict:
    own = n["differences_worse_at"]["(57)-(60)"]
    every = len(own) == len(n["positions"])
    poles = n["differences_worse_at"]["exact poles, plain"]
    places = [", ".join(f"{x:g}" for x in found) for found in (own, poles)]
    return (YES if every else IF if own else NO), f"x_F = {places[0]} L, with exact poles {places[1]}; else it reverses"


def faster(n: Any) -> Verdict:
    audio, own = n["error_at_44100_Hz"], n["on_this_engines_grid_at_44100_Hz"]
    paper, here = (audio["iterative"], audio["fd plain"]), (own["iterative"], own["plain"])
    said = [f"{100 * one:.2g} against {100 * other:.2g} %" for one, other in (paper, here)]
    found = YES if paper[0] < 0.8 * paper[1] else IF if here[0] < 0.8 * here[1] else NO
    return found, f"partials are true: {said[1]} on this engine's grid; on the paper's, which decides, {said[0]}"


def nearer(n: Any) -> Verdict:
    e = {name: 100.0 * found["1"] for name, found in n["errors"].items()}
    shown = [e[name] for name in ("two-point, iterative", "three-point, iterative", "exact poles, plain")]
    found = YES if max(shown[:2]) < 0.8 * shown[2] else IF if min(shown[:2]) < 0.8 * shown[2] else NO
    return found, f"three-point: {shown[1]:.2f} % (two-point {shown[0]:.2f}) against {shown[2]:.2f}"


def own_modes(n: Any) -> Verdict:
    e = n["errors"]
    printed, poles, ours = (100.0 * e[s]["1"] for s in ("(57)-(60)", "exact poles, plain", "exact poles, ours"))
    said = f"{printed:.1f} % off ({poles:.1f} with exact poles, {ours:.1f} ours), "
    said += f"{n['sharp_at_5_kHz']:.0f} cents sharp at 5 kHz"
    return (IF if n["energy_drift"] < 1e-11 else NO), f"its signs are mended; then {said}"


def consistent(n: Any) -> Verdict:
    errors = n["error_at_0.9_L"]
    worst = 100.0 * max(errors.values())
    return verdict(worst < 5.0, f"within {worst:.1f} % of the converged motion")


def speed(n: Any) -> Verdict:
    ratio = n["time_gain"]["audio_20_iterations_over_x5_ours"]
    return verdict(ratio > 1.0, f"{1.0 / ratio:.2f} of its time, both compiled")


def gains(n: Any) -> Verdict:
    twenty, done = (n["time_gain"][k][0] for k in ("of_20_iterations", "of_convergence"))
    said = f"there are always 20 iterations: ×{twenty:.0f}; to convergence ×{done:.1f}"
    return (YES if done > 8.0 else IF if twenty > 8.0 else NO), said


# --- 003 --------------------------------------------------------------------------------------------------------------


def fit(n: Any) -> Verdict:
    return verdict(abs(n["worst_percent"]) < 2.5, f"{abs(n['worst_percent']):.2f} %; Lambert's W has none")


def soft(n: Any) -> Verdict:
    worst = max(abs(e["v_out"]) for e in n["errors"].values())
    return verdict(worst < 0.1, f"v_out within {worst:.0e} %, over {n['samples']:.0f} samples")


def table(n: Any) -> Verdict:
    worst = 0.0
    for part in n.values():
        for method, printed in part["paper"].items():
            here = part["against (7)-(8)"][method]
            pairs = zip(printed, (here["x_max"], here["v_out"], here["H_tau"]), strict=True)
            worst = max(worst, *(abs(p - h) for p, h in pairs if not isinstance(p, str)))
    return verdict(worst < 0.01, f"every entry within {worst:.3f} points")


def mended(n: Any) -> Verdict:
    before, after = ({m: n[f"{m} {kind}"] for m in ("Verlet", "Heun")} for kind in ("uncorrected", "corrected"))
    energy = max(abs(found["H_tau"]) for found in after.values())
    passed = max(abs(after[m]["x_max"]) for m in after if before[m]["x_max"] > 0.0)
    short = min(found["x_max"] for found in after.values())
    said = f"energy to {energy:.2f} %, a depth only where it was too deep: Heun's stays {-short:.1f} % short"
    return (NO if max(energy, passed) > 0.1 else IF if short < -0.1 else YES), said


def bounces(n: Any) -> Verdict:
    off = n["eighth_bounce_off_ms"]
    said = f"AM1's eighth bounce {off['AM1']:+.1f} ms, RK4's {off['RK4']:+.1f}"
    return verdict(min(abs(off["AM1"]), abs(off["RK4"])) > 0.1, said)


# --- 004 --------------------------------------------------------------------------------------------------------------


def micrometres(n: Any) -> Verdict:
    depth = n["compression_at_0.952_ms_um"]
    return verdict(0.5 < depth < 10.0, f"{depth:.1f} µm")


def slower(n: Any) -> Verdict:
    found = list(n["two_point_return_as_rate_and_stiffness_rise"].values())
    first = n["first_return_in_periods"]["two-point"]
    return verdict(
        1.5 < found[-1] < found[0], f"{first:.3f}, and {found[-1]:.3f} at a higher rate on a stiffer barrier"
    )


def cured(n: Any) -> Verdict:
    high = n["power_above_20_kHz"]
    two, three, cut = (high[s] for s in ("two-point", "three-point", "three-point below 20 kHz"))
    said = f"share of power above 20 kHz {three:.0e}, then {cut:.0e}; two-point {two:.0e}"
    return verdict(three > 100.0 * max(two, cut), said)


def quarter(n: Any) -> Verdict:
    at = {name: n[f"three-point, {name}"] for name in ("1e+09", "1e+10")}
    better = any(excess[2] < excess[1] - 1.0 for excess in at.values())
    said = [f"{excess[0]:+.0f}, {excess[1]:+.0f}, {excess[2]:+.0f} dB" for excess in at.values()]
    return verdict(better, f"at Nyquist, 20 kHz, f_s/4: {said[0]}; ten times stiffer {said[1]}")


def definite(n: Any) -> Verdict:
    condition = n["condition_of_W"]
    return (
        IF if condition > 1e14 else YES
    ), f"no points are closer than L/(M + 1); in Fig. 3 cond(W) = {condition:.0e}"


def spurious(n: Any) -> Verdict:
    schemes = (n["two-point"], n["three-point"])
    two, three = (s["power_above_10_kHz"] / s["power_above_10_kHz_oversampled"] for s in schemes)
    return verdict(
        two < three, f"power above 10 kHz, of what it is at x16: two-point ×{two:.1f}, three-point ×{three:.1f}"
    )


def iterations(n: Any) -> Verdict:
    two, three = (n[f"{s}, damped"]["most_iterations"][0] for s in ("two-point", "three-point"))
    return verdict(two <= 12 and three <= 15, f"at most {two} and {three} on the sitar's string")


def fails(n: Any) -> Verdict:
    first, at = {}, n["stiffness"].index(1e10)
    for scheme in ("two-point", "three-point"):
        shares = zip(n["stiffness"], n[f"{scheme}, plain"]["failed_steps"], strict=True)
        first[scheme] = next((f"{k:.0e}".replace("e+", "e") for k, share in shares if share > 0.0), "nowhere")
    damped = not any(any(n[f"{scheme}, damped"]["failed_steps"]) for scheme in first)
    there = [n[f"{scheme}, plain"]["failed_steps"][at] > 0.0 for scheme in first]
    said = f"three-point, from {first['three-point']}; two-point from {first['two-point']}; damped "
    said += "every step converges" if damped else "some steps still fail"
    return (NO if not damped or not any(there) else YES if all(there) else IF), said


CLAIMS = (
    Claim("001 Fig. 3", "both schemes stay in contact too long, three-point longest", "001.3", too_long),
    Claim("001 2.1", "the shortest contact is one step, two for three-point", "001.4", fewest),
    Claim("001 (15) (16)", "with β* the contact's duration is exact", "001.5", exact_stiffness),
    Claim("001 2.1", "second order for α > 1, for α = 1 only first inferred", "001.order", order),
    Claim("001 Fig. 6", "below the limit three-point is much the worse", "001.6", below),
    Claim("002 2.3", "the discrete energy is constant", "002.1", constant),
    Claim("002 Fig. 2", "not iterating leaves energy in a hard contact", "002.2", kept),
    Claim("002 Fig. 3", "at five times the rate the solutions coincide again", "002.3", again),
    Claim("002 Fig. 5", "finite differences leave more there than modes", "002.5.struck", struck),
    Claim("002 Fig. 7", "iterative is nearer at the same rate, on a grid", "002.7", faster),
    Claim("002 Fig. 7", "the same, on modes", "002.modal", nearer),
    Claim("002 (57)-(60)", "the modal scheme is stable", "002.modal", own_modes),
    Claim("002 Fig. 8", "all schemes agree after many collisions", "002.8", consistent),
    Claim("002 3.3", "not iterating at ×5 is faster than 20 iterations at ×1", "cost.string", speed),
    Claim("002 3.3", "up to an order of magnitude faster", "cost.string", gains),
    Claim("003 (7) (8)", "the closed form of v_out is within 2 %", "003.3", fit),
    Claim("003 Fig. 4", "in a soft impact all methods are right", "003.4", soft),
    Claim("003 Table 1", "its 20 errors of hard impacts", "003.table1", table),
    Claim("003 Fig. 7", "corrections bring depth and energy back", "003.7", mended),
    Claim("003 Fig. 8", "small errors add up over bounces", "003.8", bounces),
    Claim("004 Fig. 1", "the string is compressed by micrometres", "004.1", micrometres),
    Claim("004 Fig. 2", "over a flat barrier, slightly more than 1.5 periods", "004.2", slower),
    Claim("004 Fig. 2", "three-point oscillates, cured by modes below 20 kHz", "004.2", cured),
    Claim("004 IV-A", "elsewhere the cut must be at f_s/4", "004.cut", quarter),
    Claim("004 III-F", "W is positive definite, so the solution is unique", "004.3", definite),
    Claim("004 Fig. 4", "two-point oscillates less at x = L", "004.4", spurious),
    Claim("004 V", "about 9 Newton iterations, three-point 12", "004.newton", iterations),
    Claim("004 V", "Newton fails from 1e10 N/m² on, damped it does not", "004.newton", fails),
)
