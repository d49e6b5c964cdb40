#pragma once
// Settings that a kernel takes where the user names none: of the nearest sizes in a table that sweeps made.
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/frame/spec.h"

namespace palladion::kernels {

struct TunedEntry {
  std::string name;  // its sizes as they stand in the file
  std::map<std::string, int64_t> sizes;
  std::map<std::string, std::string> settings;
};

struct TunedTable {
  std::string kernel, arch, date;
  std::string_view file;  // in the repository
  std::vector<TunedEntry> entries;
};

// A line of the file of a table:
//   kernel matmul_ws
//   arch h200
//   date 2026-11-29
//   m=4096 n=4096 k=4096 : cluster=m tile_m=128 tile_n=256 | notes
// '#' begins a comment. Throws isa::Error (PLD5004) for another line.
TunedTable read_tuned(std::string_view text, std::string_view file);

struct Tuned {
  std::map<std::string, std::string> settings;
  std::string from;  // "those of m=512 n=512 in kernels/frame/tuned.inc (h200, 2026-11-29)"
};

// The entries for these sizes, the nearest first: those in which no size is more than twice or less than half
// of the one that is asked for, by the sum of the logarithms of the ratios.
std::vector<Tuned> nearest(const TunedTable& table, const std::map<std::string, int64_t>& sizes);

// What `choice` may take instead of the settings that nobody named, the best first; the kernel may refuse it
// for its sizes. Empty where the table is none of this kernel and chip, for types of other than 16 bits, and
// where a setting was named besides the types and `profile`.
std::vector<Tuned> tuned_settings(const KernelSpec& spec, const Choice& choice,
                                  const std::map<std::string, std::string>& named);

}  // namespace palladion::kernels
