#!/usr/bin/env bash
# Runs both twins of the zoo's pairs on a GPU under compute-sanitizer's tools, and writes what each said.
#   compare.sh PALLADION PAIRS OUT.csv [JOBS]
# TOOLS in the environment: a choice of plain, racecheck, synccheck and memcheck.
# PAIRS: one "NAME ENTRY CODE ends|hangs|faults|no" a line. A twin that does not end is stopped after a while.
set -uo pipefail
palladion=$1 pairs=$2 out=$3 jobs=${4:-8}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One line: pair,twin,tool,verdict,count,seconds,first message
one() {
  local name=$1 twin=$2 tool=$3 limit=$4 subject log begin end rc verdict count message
  subject=zoo/$name
  [ "$twin" = good ] && subject=$subject:good
  log=$work/$name.$twin.$tool
  begin=$(date +%s.%N)
  if [ "$tool" = plain ]; then
    timeout -k 2 "$limit" "$palladion" run "$subject" --on device --repeats 0 --no-reference >"$log" 2>&1
  else
    local -a options=(--tool "$tool" --error-exitcode 99 --print-limit 5)
    [ "$tool" = memcheck ] && options+=(--report-api-errors no)
    timeout -k 2 "$limit" compute-sanitizer "${options[@]}" \
      "$palladion" run "$subject" --on device --repeats 0 --no-reference >"$log" 2>&1
  fi
  rc=$?
  end=$(date +%s.%N)
  case $rc in
    0) verdict=clean ;;
    99) verdict=reports ;;
    124 | 137) verdict=hangs ;;
    *) verdict=fails ;;
  esac
  count=$(grep -oE "SUMMARY: [0-9]+" "$log" | tail -1 | grep -oE "[0-9]+$" || true)
  message=$(grep -E "^========= (Error|ERROR|Warning|Barrier|Invalid|Potential|Race|Missing|Uninit|Program hit|Warpgroup|.*hazard)" "$log" |
    grep -v SUMMARY | head -1 | sed 's/^========= //; s/ 0x[0-9a-f]*//g; s/,/;/g' | cut -c1-120)
  [ -z "$message" ] && [ "$verdict" = fails ] && message=$(grep -m1 -iE "error|PLD[0-9]+" "$log" | tr ',' ';' | cut -c1-120)
  printf '%s,%s,%s,%s,%s,%.1f,%s\n' "$name" "$twin" "$tool" "$verdict" "${count:-0}" \
    "$(echo "$end $begin" | awk '{ print $1 - $2 }')" "$message"
}
export -f one
export palladion work

todo() {
  local name entry code device tool tools=${TOOLS:-plain racecheck synccheck memcheck}
  while read -r name entry code device; do
    [ "$device" = no ] && continue
    for tool in $tools; do
      echo "$name good $tool 40"
      [ "$device" = hangs ] || echo "$name broken $tool 40"
    done
  done <"$pairs"
  while read -r name entry code device; do
    [ "$device" = hangs ] || continue
    for tool in $tools; do echo "$name broken $tool 12"; done
  done <"$pairs"
}

todo | xargs -P "$jobs" -L 1 bash -c 'one "$@"' _ >"$out"
