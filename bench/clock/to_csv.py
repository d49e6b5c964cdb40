#!/usr/bin/env python3
"""Makes one table out of the folders that collect.sh wrote: to_csv.py DIR... > traces/device/h200.csv

One line a case: cycles and SM clock with cold and with warm caches (median of the launches; spread is the largest
less the smallest), what the driver says of the kernel, then Nsight Compute's counters under their own names. A case
that is in several folders is taken from the last.
"""
import csv
import statistics
import sys
from pathlib import Path

CYCLES, NANOSECONDS = "sm__cycles_elapsed.max", "gpu__time_duration.sum"
COUNTERS = [
    "sm__cycles_active.avg", "sm__inst_executed.sum", "sm__pipe_tensor_cycles_active.avg",
    "sm__pipe_tensor_op_hmma_cycles_active.avg", "sm__inst_executed_pipe_tensor.sum",
    "sm__inst_executed_pipe_tensor_op_gmma.sum", "l1tex__data_bank_conflicts_pipe_lsu.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "l1tex__data_pipe_lsu_wavefronts.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "lts__t_requests_srcunit_tex.sum", "lts__t_sectors_op_read.sum",
    "lts__t_sectors_op_write.sum", "lts__t_sectors_op_red.sum", "lts__t_sectors_op_atom.sum",
    "lts__t_sectors_lookup_miss.sum", "dram__bytes_read.sum", "dram__bytes_write.sum",
]


def launches(folder, run):
    """(kernel, case, registers, local bytes) of each launch, in order."""
    lines = (folder / f"{run}.launches").read_text().splitlines()
    return [line.split(";")[1:] for line in lines]


def profile(folder, run):
    """What ncu wrote, a dictionary a launch; the line of units is left out."""
    with open(folder / f"{run}.csv", newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("==")))
    return [row for row in rows if row["ID"]]


def cases(folder, run):
    """case -> ((registers, local bytes), [metrics of each launch])."""
    seen, rows = launches(folder, run), profile(folder, run)
    if len(seen) != len(rows):
        sys.exit(f"{folder}/{run}: {len(seen)} launches, but ncu saw {len(rows)}")
    found = {}
    for (kernel, case, registers, local_bytes), row in zip(seen, rows):
        if kernel != row["Kernel Name"]:
            sys.exit(f"{folder}/{run}: launch {row['ID']} is {row['Kernel Name']}, not {kernel}")
        found.setdefault(case, ((registers, local_bytes), []))[1].append(row)
    return found


def number(row, metric):
    text = row.get(metric, "").replace(",", "")
    return float(text) if text else None


def cycle_columns(rows):
    cycles = [number(row, CYCLES) for row in rows]
    mhz = [1e3 * number(row, CYCLES) / number(row, NANOSECONDS) for row in rows]
    return [f"{statistics.median(cycles):.0f}", f"{max(cycles) - min(cycles):.0f}", f"{statistics.median(mhz):.0f}"]


def table(folder):
    cold, warm, counters = (cases(folder, run) for run in ("cold", "warm", "counters"))
    for case, (attributes, rows) in cold.items():
        values = cycle_columns(rows) + cycle_columns(warm[case][1][1:]) + list(attributes)
        counted = (number(counters[case][1][0], name) for name in COUNTERS)
        yield case, values + ["" if c is None else f"{c:.0f}" for c in counted]


def header(folder):
    chip, cuda, ncu, date = (folder / "machine.txt").read_text().strip().splitlines()
    return f"# {date}: {chip} (name, driver, highest clocks, power); {cuda.split(',')[1].strip()}; ncu {ncu.split()[1]}"


def main():
    folders = [Path(name) for name in sys.argv[1:]]
    found = {}
    for line in dict.fromkeys(header(folder) for folder in folders):
        print(line)
    for folder in folders:
        found.update(table(folder))
    print("# bench/clock/collect.sh: clocks as found, 3 launches each (warm: after one more), random inputs.")
    print("# Cold: ncu --cache-control all. Counters: of one cold launch, which ncu repeats.")
    words = [f"{cache}_{what}" for cache in ("cold", "warm") for what in ("cycles", "spread", "mhz")]
    print(";".join(["case"] + words + ["registers", "local_bytes"] + COUNTERS))
    for case, values in found.items():
        print(";".join([case] + values))


main()
