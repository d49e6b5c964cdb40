// What was measured on a device: traces/device/h200.csv, written by to_csv.py.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace palladion::bench {

struct Measured {
  double cycles = 0;  // sm__cycles_elapsed.max, median
  double spread = 0;  // largest less smallest
  double mhz = 0;     // of the SM clock meanwhile
};

struct Recorded {
  std::string text;  // the case
  Measured cold, warm;
  int registers = 0;
  int local_bytes = 0;                     // stack and spills of a thread
  std::map<std::string, double> counters;  // of a cold launch, under Nsight Compute's names
};

// By the case's text. Throws isa::Error (PLD5002) when the file cannot be read or lacks a column.
std::map<std::string, Recorded> read_recorded(const std::string& path);

}  // namespace palladion::bench
