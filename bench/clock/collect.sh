#!/usr/bin/env bash
# Measures the cases on the GPU of this machine with Nsight Compute, clocks as found, in four runs: cycles
# with cold caches, cycles with warm ones, counters and warp states (several passes, cold). Nothing of the
# device is changed.
#   collect.sh BENCH_CLOCK OUT_DIR CASES.txt...
# Then, anywhere: to_csv.py OUT_DIR... > traces/device/h200.csv
#                 stalls.py record OUT_DIR > traces/device/h200_stalls.csv
set -euo pipefail
bench=$1 out=$2
mkdir -p "$out"
cases=$(mktemp)
cat "${@:3}" > "$cases"

# What this ncu knows of what we want: names of metrics change with chip and version.
ncu --query-metrics --chip gh100 2>/dev/null | awk '{ print $1 }' > "$out/metrics.txt" || true
counters=
for metric in \
  sm__cycles_active.avg sm__inst_executed.sum \
  sm__pipe_tensor_cycles_active.avg sm__pipe_tensor_op_hmma_cycles_active.avg \
  sm__inst_executed_pipe_tensor.sum sm__inst_executed_pipe_tensor_op_gmma.sum \
  l1tex__data_bank_conflicts_pipe_lsu.sum l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum \
  l1tex__data_pipe_lsu_wavefronts.sum l1tex__data_pipe_lsu_wavefronts_mem_shared.sum \
  lts__t_sectors_op_read.sum lts__t_sectors_op_write.sum lts__t_sectors_op_red.sum \
  lts__t_sectors_op_atom.sum lts__t_sectors_lookup_miss.sum lts__t_requests_srcunit_tex.sum \
  dram__bytes_read.sum dram__bytes_write.sum; do
  if grep -qx "${metric%%.*}" "$out/metrics.txt"; then counters+=${counters:+,}$metric; fi
done
states=$(grep -o '^smsp__average_warps_issue_stalled_[a-z_]*_per_issue_active' "$out/metrics.txt" |
  sort -u | sed 's/$/.ratio/' | paste -sd,)
cycles=sm__cycles_elapsed.max,gpu__time_duration.sum

profile() {  # NAME REPEATS CACHE-CONTROL METRICS
  ncu --clock-control none --cache-control "$3" --csv --page raw --print-units base --metrics "$4" \
    --log-file "$out/$1.csv" "$bench" --device "$cases" --repeat "$2" --launches "$out/$1.launches" ||
    echo "$1: some cases failed" >&2
  echo "$1: $SECONDS s"
}
{
  nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.memory,power.limit --format=csv,noheader
  nvcc --version | tail -2 | head -1
  ncu --version | tail -1
  date -u +%F
} > "$out/machine.txt"
profile cold 3 all "$cycles"
profile warm 4 none "$cycles"  # the first warms up
profile counters 1 all "$counters"
profile states 1 all "$states"
