#!/usr/bin/env python3
"""Prints the tables of ../rivals.md from the CSV files of compare.py.

tables.py FOLDER    kernels.csv, zoo.csv, mutants.csv, and ../sanitizer/zoo.csv of compute-sanitizer
"""

import collections
import csv
import pathlib
import sys

REPORTS = {"not_wellsynced", "potential_race", "invalid_lifecycle"}
OURS = ["error", "strict", "undecided", "clean"]


def rows(path):
    with open(path, newline="") as file:
        return [r for r in csv.DictReader(line for line in file if not line.startswith("#"))]


def theirs(row):
    word = row["sentryward"]
    return "reports" if word in REPORTS else "proves" if word == "race_free" else "undecided"


def table(head, lines):
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for line in lines:
        print("| " + " | ".join(str(c) for c in line) + " |")
    print()


def crossed(found):
    count = collections.Counter((r["palladion"], theirs(r)) for r in found)
    columns = ["reports", "proves", "undecided"]
    table(
        ["Palladion", *(f"SentryWard {c}" for c in columns), "all"],
        [(o, *(count[o, c] for c in columns), sum(count[o, c] for c in columns)) for o in OURS],
    )


def kernels(folder):
    found = rows(folder / "kernels.csv")
    table(
        ["kernel", "Palladion", "s", "SentryWard", "s"],
        [
            (
                r["kernel"],
                f"{r['palladion']} {r['codes'].replace('strict:', '')}".strip(),
                r["palladion_s"],
                f"{r['sentryward']} {r['sentryward_code']}".strip(),
                r["sentryward_s"],
            )
            for r in found
        ],
    )
    crossed(found)


def zoo(folder):
    sanitizer = collections.defaultdict(set)
    with open(folder.parent / "sanitizer" / "zoo.csv", newline="") as file:
        for r in csv.reader(line for line in file if not line.startswith("#")):
            sanitizer[r[0], r[4]].add((r[5], r[6]))
    found = {"broken": [], "good": []}
    for r in rows(folder / "zoo.csv"):
        pair, twin = r["kernel"].rsplit(".", 1)
        found[twin].append(r | {"pair": pair})
    for twin in found:
        print(f"{twin} twins\n")
        crossed(found[twin])
    both = [r for r in found["broken"] if any(t != "plain" for t, _ in sanitizer[r["pair"], "broken"])]
    says = lambda r, twin: any(v == "reports" for t, v in sanitizer[r["pair"], twin] if t != "plain")
    good = [r for r in found["good"] if any(t != "plain" for t, _ in sanitizer[r["pair"], "good"])]
    table(
        ["", "Palladion", "SentryWard", "compute-sanitizer"],
        [
            (
                "broken twins reported",
                sum(r["palladion"] in ("error", "strict") for r in both),
                sum(theirs(r) == "reports" for r in both),
                sum(says(r, "broken") for r in both),
            ),
            (
                "broken twins called right",
                sum(r["palladion"] == "clean" for r in both),
                sum(theirs(r) == "proves" for r in both),
                "-",
            ),
            (
                "good twins reported",
                sum(r["palladion"] in ("error", "strict") for r in good),
                sum(theirs(r) == "reports" for r in good),
                sum(says(r, "good") for r in good),
            ),
            ("of", len(both), len(both), len(both)),
        ],
    )


def mutants(folder):
    found = [r for r in rows(folder / "mutants.csv") if r["sentryward"]]
    crossed(found)
    bases = collections.defaultdict(list)
    for r in found:
        bases[r["base"].split("/")[0]].append(r)
    table(
        [
            "mutants of",
            "kernels",
            "mutants",
            "SentryWard reports",
            "of these ours: error",
            "strict",
            "exit 0 without a finding",
            "ours reports, SentryWard proves",
        ],
        [
            (
                name,
                len({r["base"] for r in b}),
                len(b),
                sum(theirs(r) == "reports" for r in b),
                *(sum(theirs(r) == "reports" and r["palladion"] == o for r in b) for o in ("error", "strict")),
                sum(theirs(r) == "reports" and r["palladion"] in ("clean", "undecided") for r in b),
                sum(theirs(r) == "proves" and r["palladion"] in ("error", "strict") for r in b),
            )
            for name, b in sorted(bases.items())
        ],
    )
    for title, ours, other in (
        ("SentryWard reports, ours exits 0", OURS[1:], "reports"),
        ("ours is an error, SentryWard proves", OURS[:1], "proves"),
    ):
        groups = collections.Counter(
            (r["palladion"], r["codes"], r["sentryward_code"], r["operator"].split(" +")[0])
            for r in found
            if r["palladion"] in ours and theirs(r) == other
        )
        print(title + "\n")
        table(
            ["mutants", "Palladion", "SentryWard", "operator"],
            [
                (n, codes or ours_, code or "race_free", operator)
                for (ours_, codes, code, operator), n in groups.most_common()
            ],
        )


if __name__ == "__main__":
    for part in (kernels, zoo, mutants):
        part(pathlib.Path(sys.argv[1]))
