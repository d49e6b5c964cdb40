# The table of README.md, from zoo.csv: awk -F, -f table.awk zoo.csv
function mark(v) { return v == "reports" ? "found" : v == "hangs" ? "hangs" : v == "fails" ? "dies" : "-" }
/^#/ { next }
{
  key = $2 "," $1
  if (!(key in seen)) { seen[key] = 1; order[++n] = key; code[key] = $3 }
  verdict[key, $5, $6] = $7
  total[$5, $6, $7]++
}
END {
  print "| pair | entry | Palladion | on the H200 | racecheck | synccheck | memcheck | false alarms on the good twin |"
  print "|---|---|---|---|---|---|---|---|"
  for (i = 1; i <= n; ++i) {
    key = order[i]; split(key, part, ",")
    alarms = ""
    for (t = 1; t <= 3; ++t) {
      tool = t == 1 ? "racecheck" : t == 2 ? "synccheck" : "memcheck"
      if (verdict[key, "good", tool] == "reports") alarms = alarms (alarms == "" ? "" : ", ") tool
    }
    plain = verdict[key, "broken", "plain"]
    some = 0
    for (t = 1; t <= 3; ++t) some = some || verdict[key, "broken", t == 1 ? "racecheck" : t == 2 ? "synccheck" : "memcheck"] == "reports"
    found += some; silent += alarms == ""
    printf "| %s | %s | %s | %s | %s | %s | %s | %s |\n", part[2], part[1], code[key], plain == "clean" ? "ends" : mark(plain), mark(verdict[key, "broken", "racecheck"]), mark(verdict[key, "broken", "synccheck"]), mark(verdict[key, "broken", "memcheck"]), alarms
  }
  printf "\n%d pairs: compute-sanitizer says something of %d broken twins with at least one of its tools, and raises a false alarm on %d good twins.\n", n, found, n - silent
}
