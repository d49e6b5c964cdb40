#!/usr/bin/env python3
"""Warp states of an H200 beside those of the clock: why warps did not issue, as shares of all warps' cycles.

  stalls.py record COLLECTED > h200_stalls.csv    from the folder of collect.sh
  stalls.py compare PALLADION h200_stalls.csv     the tables of stalls.md

Nsight Compute's `smsp__average_warps_issue_stalled_*` are counters of the chip; the machine counts every cycle of every warp.
"""
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PREFIX, SUFFIX = "smsp__average_warps_issue_stalled_", "_per_issue_active.ratio"
SIZES = {"m", "n", "k", "clusters"}  # the other words of a case are settings
# What both sides can tell apart. Nsight Compute has no state for mbarriers and groups of copies, and counts warps that wait to
# issue a wgmma as barrier and mio_throttle.
GROUPS = {
    "memory": "long_scoreboard lg_throttle tex_throttle drain membar mbarrier async_group tma_throttle sleeping",
    "barriers, tensor core, shared memory": "barrier cluster_barrier gmma mio_throttle short_scoreboard",
    "issue": "selected not_selected wait dispatch_stall branch_resolving no_instruction imc_miss math_pipe_throttle misc "
             "convergence registers",
}


def record(folder):
    rows = csv.DictReader(line for line in (folder / "states.csv").open() if not line.startswith("=="))
    states = [row for row in rows if row["ID"]]
    cases = [line.split(";")[2] for line in (folder / "states.launches").open()]
    if len(states) != len(cases):
        sys.exit(f"{len(states)} launches were measured, {len(cases)} were made")
    print("# " + ", ".join(line.strip() for line in (folder / "machine.txt").open()))
    print("# Shares of all warps' cycles, L2 cold. bench/clock/collect.sh")
    print("case,state,percent")
    for case, row in zip(cases, states):
        ratios = {k[len(PREFIX):-len(SUFFIX)]: float(row[k]) for k in row if k.startswith(PREFIX) and row[k]}
        for state, ratio in ratios.items():
            if ratio:
                print(f"{case},{state},{100 * ratio / sum(ratios.values()):.2f}")


def measured(path):
    cases = {}
    for row in csv.DictReader(line for line in path.open() if not line.startswith("#")):
        cases.setdefault(row["case"], {})[row["state"]] = float(row["percent"])
    return cases


def simulated(palladion, case):
    kernel, *words = case.split()
    command = [palladion, "run", kernel, "--schedule", "hardware"]
    for word in words:
        command += ["--shape" if word.split("=")[0] in SIZES else "--set", word]
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "run.json"
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        command += ["--json", str(results)]
        if subprocess.run(command + ["--values", "none"], **quiet).returncode != 0:
            subprocess.run(command, check=True, **quiet)
        roles = json.loads(results.read_text())["sim"]["clock"]["roles"]
    cycles = {}
    for role in roles:
        for state, n in role["stalls"].items():
            cycles[state] = cycles.get(state, 0) + n
    return {state: 100 * n / sum(cycles.values()) for state, n in cycles.items()}


def in_words(states):
    largest = sorted(states.items(), key=lambda s: -s[1])
    return ", ".join(f"{name.replace('_', ' ')} {share:.0f}" for name, share in largest if share >= 1)


def compare(palladion, path):
    cases = {case: (states, simulated(palladion, case)) for case, states in measured(path).items()}
    shares = {case: [[sum(side.get(state, 0) for state in names.split()) for side in both] for names in GROUPS.values()]
              for case, both in cases.items()}
    print("| case | " + " | ".join(f"{name}: H200 | clock" for name in GROUPS) + " |")
    print("|---|" + "---|" * 2 * len(GROUPS))
    for case, groups in shares.items():
        print(f"| {case} | " + " | ".join(f"{device:.0f} | {clock:.0f}" for device, clock in groups) + " |")
    means = [sum(abs(groups[i][0] - groups[i][1]) for groups in shares.values()) / len(shares) for i in range(len(GROUPS))]
    print("| mean difference, points | " + " | ".join(f"{mean:.1f} | " for mean in means) + "|")
    print("\n| case | | states, percent of all warps' cycles |\n|---|---|---|")
    for case, (device, clock) in cases.items():
        print(f"| {case} | H200 | {in_words(device)} |\n| | clock | {in_words(clock)} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["record"] and len(sys.argv) == 3:
        record(Path(sys.argv[2]))
    elif sys.argv[1:2] == ["compare"] and len(sys.argv) == 4:
        compare(sys.argv[2], Path(sys.argv[3]))
    else:
        sys.exit(__doc__)
