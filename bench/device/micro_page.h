#pragma once
// The page of the replayed microbenchmarks: a summary by part of the chip, then every case.
#include <string>
#include <vector>

namespace palladion::bench {

struct Replayed {
  std::string id, unit;
  double device = 0, machine = 0;
  std::string problem;  // the machine could not run it
  double ratio() const { return machine / device; }
  double error() const;  // absolute, of the ratio
};

// One line for a terminal.
std::string line_of(const Replayed& r);
// "892 of 1252 cases within 5 %, ..."
std::string summary_of(const std::vector<Replayed>& all);
// Markdown; groups by the first word of the case's name.
std::string page_of(const std::vector<Replayed>& all);

}  // namespace palladion::bench
