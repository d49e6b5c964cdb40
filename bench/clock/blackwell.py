#!/usr/bin/env python3
"""Compares the b200 clock with the published table of Pallas' Blackwell matmul tutorial: blackwell.py PALLADION [MHZ]

f16, m=4096, n=8192, k=4096; shares of 2250 TFLOP/s. Each step's time is the best over the settings that the tutorial's own
benchmark searches, L2 as a previous run left it. MHZ: the SM clock of the simulated chip (default 1430, see blackwell.md).
Prints the table of blackwell.md.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

FLOP, PEAK = 2 * 4096 * 8192 * 4096, 2250e12
WIDE = "tile_n=128,256,stages=4,6"
STEPS = [  # kernel, published share in percent, settings to combine
    ("basic", 37.62, WIDE),
    ("warp_specialized", 45.47, WIDE),
    ("tiled_epilogue", 55.82, WIDE),
    ("two_cta", 59.41, "stages=6"),
    ("persistent", 61.46, "stages=6"),
    ("epilogue_warpgroup", 63.38, "stages=6"),
    ("grid_tiling", 69.44, "stages=6,minor_dim=0,1,tile_width=1,4,12,16"),
]


def best_of(palladion, kernel, settings, mhz):
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "sweep.json"
        subprocess.run([palladion, "sweep", f"blackwell_matmul_{kernel}", "--arch", "b200", "--set", settings, "--l2", "warm",
                        "--sm-clock", str(mhz), "--json", str(results)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        return json.loads(results.read_text())["ranking"][0]


def main():
    palladion, mhz = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1430
    print("| kernel | settings | cycles | clock | published | difference |")
    print("|---|---|---|---|---|---|")
    for kernel, published, settings in STEPS:
        best = best_of(palladion, kernel, settings, mhz)
        share = 100 * FLOP / (best["cycles"] / (mhz * 1e6)) / PEAK
        chosen = " ".join(f"{name}={value}" for name, value in sorted(best["settings"].items()))
        print(f"| {kernel} | {chosen} | {best['cycles']:,} | {share:.1f} % | {published:.2f} % | "
              f"{100 * (share / published - 1):+.1f} % |".replace(",", " "), flush=True)


if __name__ == "__main__":
    main()
