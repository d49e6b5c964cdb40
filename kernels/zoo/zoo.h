#pragma once
// The zoo: pairs of a small real kernel and its broken twin, one for every way in which the asynchronous
// machinery of Hopper and Blackwell is misused. The broken twin must be found, at the marked lines, under
// every schedule; the good twin must stay silent.
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "isa/arch/arch.h"
#include "sim/launch/finding.h"
#include "verify/launch/job.h"

namespace palladion::kernels::zoo {

// One twin, ready to launch. Owns what its job points to.
struct Specimen {
  std::shared_ptr<const void> owner;
  Job job;
};

// What a GPU does with the broken twin: whether it is safe to run there.
enum class OnDevice : uint8_t {
  ends,    // wrong or lucky results, but it ends
  hangs,   // never ends, or may not
  faults,  // stops with an error, or may
  no,      // cannot be launched
};

// The lines that the finding must name carry `// @1`, `// @2` in the source: the .ptx file, or the C++ file
// of a recorded kernel.
struct Pair {
  std::string name;   // "mbarrier-first-parity": unique, what people type after zoo/
  std::string entry;  // of the taxonomy: "MB-13"
  int place = 1;      // among the pairs of its entry; `palladion explain` shows the first
  std::string title;  // one line: what the broken twin does wrong
  std::string code;   // of its finding: "PLD4113"
  std::string also;   // another code that says the same where a schedule shows only that; mostly empty
  sim::FindingSeverity severity = sim::FindingSeverity::error;
  OnDevice on_device = OnDevice::ends;
  // No schedule shows it: only runs with other numbers of resident CTAs or start orders do.
  bool needs_exploration = false;
  std::function<Specimen(bool broken)> make;
};

// The first chip, h200 before b200, that runs code for the twin's target.
const isa::ArchSpec& chip_of(const Specimen& twin);

// All pairs, by group and number of their taxonomy entry.
std::span<const Pair> all_pairs();
const Pair* find_pair(std::string_view name);

}  // namespace palladion::kernels::zoo
