#!/usr/bin/env python3
"""Compares `palladion check` with SentryWard on kernels, on mutants of them, and on the zoo; writes CSV files.

compare.py record  --work DIR [CORPUS...]       bundles of Triton's and our kernels and of the zoo's twins
compare.py kernels --work DIR [CORPUS...]       one row a kernel: DIR/CORPUS.csv
compare.py mutants --work DIR [CORPUS...]       one row a mutant of each kernel that SentryWard proves race-free there
                                                (a report on another's mutant would say nothing of the edit):
                                                DIR/mutants.csv; rows that are there are kept
"""

import argparse
import concurrent.futures
import csv
import hashlib
import pathlib
import random
import shutil
import sys

import bundles
import checkers
import corpora
import mutants

MUTANT_ROW = [
    "base",
    "operator",
    "line",
    "instruction",
    "sha",
    "palladion",
    "codes",
    "palladion_s",
    "sentryward",
    "sentryward_code",
    "sentryward_s",
]
KERNEL_ROW = ["kernel", "sha", "palladion", "codes", "palladion_s", "sentryward", "sentryward_code", "sentryward_s"]


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def first_code(verdict):
    return verdict.details.split(":")[0].replace(",", ";")


def record(options):
    for name in options.names or corpora.CORPORA:
        found = corpora.CORPORA[name](options.palladion, options.work / "bundles" / name)
        print(f"{name}: {len(found)} launches; not recorded: {[n for n, b in found.items() if b is None]}")


def kernels(options):
    for corpus in options.names or corpora.CORPORA:
        with (options.work / f"{corpus}.csv").open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(KERNEL_ROW)
            for name, bundle in corpora.recorded(options.work / "bundles" / corpus).items():
                # Memory that nothing wrote, and schedules that a pair names, are no part of a bundle.
                pair = corpus == "zoo" and f"zoo/{name}".replace(".good", ":good").replace(".broken", "")
                ours = checkers.palladion(options.palladion, bundle, 60, pair)
                theirs = checkers.sentryward(bundle, options.seconds)
                rows.writerow(
                    [
                        name,
                        sha(bundle.ptx),
                        ours.result,
                        ours.details,
                        f"{ours.seconds:.2f}",
                        theirs.result,
                        first_code(theirs),
                        f"{theirs.seconds:.1f}",
                    ]
                )
                file.flush()


def read_rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def proved(options):
    """(name, Bundle) of the kernels that SentryWard proves, the quickest first; of the zoo the right twins."""
    found = []
    for corpus in options.names or corpora.CORPORA:
        recorded = corpora.recorded(options.work / "bundles" / corpus)
        for row in read_rows(options.work / f"{corpus}.csv"):
            if row["sentryward"] == "race_free" and not row["kernel"].endswith(".broken"):
                found.append((float(row["sentryward_s"]), f"{corpus}/{row['kernel']}", recorded[row["kernel"]]))
    return [(name, bundle) for seconds, name, bundle in sorted(found, key=lambda f: f[:2]) if seconds < options.quick]


def mutate(options):
    """Ours on every mutant; then SentryWard, first on those that ours lets pass, then on the others in random order."""
    path = options.work / "mutants.csv"
    rows = {(r["base"], r["sha"]): r for r in (read_rows(path) if path.exists() else [])}
    jobs = []
    for base, bundle in proved(options):
        for m in mutants.mutants(bundle.ptx):
            row = rows.setdefault(
                (base, sha(m.ptx)),
                dict.fromkeys(MUTANT_ROW, "")
                | {
                    "base": base,
                    "operator": m.operator,
                    "line": str(m.line),
                    "instruction": m.text[:70],
                    "sha": sha(m.ptx),
                },
            )
            jobs.append((bundle, m, row))

    def finish(pending, work):
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for i, _ in enumerate(pool.map(work, pending)):
                if i % 10 == 0 or i + 1 == len(pending):
                    write(path, rows.values())
                    print(f"{i + 1} of {len(pending)}", flush=True)

    def scratch(bundle, m, row):
        return bundles.with_ptx(
            bundle, m.ptx, options.work / "mutants" / f"{row['base'].replace('/', '.')}.{row['sha']}"
        )

    def ours(job):
        copy = scratch(*job)
        verdict = checkers.palladion(options.palladion, copy, 60)
        job[2].update(palladion=verdict.result, codes=verdict.details, palladion_s=f"{verdict.seconds:.2f}")
        shutil.rmtree(copy.folder)

    def theirs(job):
        copy = scratch(*job)
        verdict = checkers.sentryward(copy, options.seconds)
        job[2].update(
            sentryward=verdict.result, sentryward_code=first_code(verdict), sentryward_s=f"{verdict.seconds:.1f}"
        )
        shutil.rmtree(copy.folder)

    finish([j for j in jobs if not j[2]["palladion"]], ours)
    pending = [j for j in jobs if not j[2]["sentryward"]]
    random.Random(0).shuffle(pending)
    pending.sort(key=lambda j: j[2]["palladion"] == "error")  # stable
    finish(pending[: options.most], theirs)


def write(path, rows):
    with path.with_suffix(".tmp").open("w", newline="") as file:
        table = csv.DictWriter(file, MUTANT_ROW)
        table.writeheader()
        table.writerows(rows)
    path.with_suffix(".tmp").replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["record", "kernels", "mutants"])
    parser.add_argument("names", nargs="*", metavar="CORPUS", help=", ".join(corpora.CORPORA))
    parser.add_argument("--work", type=pathlib.Path, required=True, help="a folder outside of the repository")
    parser.add_argument("--palladion", default="build/palladion")
    parser.add_argument("--seconds", type=int, default=20, help="of one call of SentryWard")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", type=float, default=20, help="mutants of kernels that took SentryWard fewer seconds")
    parser.add_argument("--most", type=int, help="mutants that SentryWard gets at most")
    options = parser.parse_args()
    {"record": record, "kernels": kernels, "mutants": mutate}[options.command](options)


if __name__ == "__main__":
    sys.exit(main())
