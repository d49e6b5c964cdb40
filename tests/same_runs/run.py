#!/usr/bin/env python3
"""Runs kernels again and again on several numbers of host threads: the JSON must be equal byte for byte, but
for the times of the host. Races are among them. Prints a table; the exit code is 1 when two runs differ."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

here = pathlib.Path(__file__).parent
racy = sorted(here.glob("*.ptx"))
shape = ["--grid", "24", "--block", "64", "--arg", "inout:u32[4096]=iota"]
right = [
    "vector_add --shape n=20000", "stream_copy --shape n=262144 --set ctas=8", "reduce_sum --shape n=65536 --set ctas=6",
    "histogram --shape n=16384 --set ctas=4", "softmax --shape m=16,n=256", "cluster_exchange --shape n=512 --set clusters=3",
    "matmul_split_k --shape m=128,n=256,k=512 --set splits=4", "ref_matmul_2x2", "ref_global_semaphore",
    "ref_exchange_shards", "ref_multicast", "ref_grid_bands", "ref_increment_blocks", "transpose --shape m=256,n=128",
]
schedules = ["functional", "latest", "earliest", "seeded:1", "seeded:2", "hardware"]
host_only = {"wall", "host_seconds", "threads"}


def without_host(value):
    if isinstance(value, dict):
        return {k: without_host(v) for k, v in value.items() if k not in host_only}
    return [without_host(v) for v in value] if isinstance(value, list) else value


def kernels(quick):
    named = [(path.stem, ["--ptx", str(path), *shape]) for path in racy]
    return named + [(words.split()[0], words.split()) for words in (right[5:9] if quick else right)]


def commands(quick):
    """(name, words): one run each, without the number of threads and the file for the JSON."""
    for name, words in kernels(quick):
        for schedule in schedules[:4:3] if quick else schedules:
            yield f"run {name} {schedule}", ["run", *words, "--schedule", schedule, "--check", "all"]
        yield f"run {name} unchecked", ["run", *words]
        yield f"check {name}", ["check", *words]
    for path in racy:
        for schedule in schedules[:1] if quick else schedules:
            yield f"exec {path.stem} {schedule}", ["exec", "--schedule", schedule, "--check", "all", "--",
                                                   sys.executable, str(here / "launch.py"), str(path)]


def outcome(program, words, threads, folder):
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".json") as file:
        more = ["--threads", str(threads), "--json", file.name]
        done = subprocess.run([program, words[0], *more, *words[1:]], capture_output=True, text=True)
        text = pathlib.Path(file.name).read_text()
    report = without_host(json.loads(text)) if text else {}
    return json.dumps(report) + (done.stdout if words[0] == "exec" else "") + f" exit {done.returncode}", report


def replays(program, report):
    """Commands of `= replay` that do not show their finding again."""
    for finding in report.get("findings", []):
        command = finding.get("replay", "")
        if not command:
            continue
        done = subprocess.run(command.replace("palladion", program, 1), shell=True, capture_output=True, text=True)
        if f"[{finding['code']}]" not in done.stdout + done.stderr:
            yield command


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--palladion", default="build/palladion")
    options.add_argument("--threads", default="1,2,3,7")
    options.add_argument("--repeats", type=int, default=20)
    options.add_argument("--quick", action="store_true", help="fewer kernels and schedules")
    options.add_argument("--jobs", type=int, default=1, help="runs at once")
    o = options.parse_args()
    threads = [int(n) for n in o.threads.split(",")]
    runs = different = lost = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(o.jobs) as pool:
        for name, words in commands(o.quick):
            wanted = [n for _ in range(o.repeats) for n in threads]
            found = list(pool.map(lambda n: outcome(o.palladion, words, n, folder), wanted))
            outcomes = {text for text, _ in found}
            gone = list(replays(o.palladion, found[0][1])) if words[0] == "check" else []
            runs += len(found)
            different += len(outcomes) > 1
            lost += len(gone)
            print(f"{name:<40} {len(found):>5} runs, {len(outcomes)} outcome{'s' if len(outcomes) > 1 else ''}", flush=True)
            for command in gone:
                print(f"  not shown again: {command}")
    print(f"{runs} runs; {different} commands with several outcomes; {lost} replays without their finding")
    return different != 0 or lost != 0


if __name__ == "__main__":
    sys.exit(main())
