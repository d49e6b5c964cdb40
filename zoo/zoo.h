#pragma once
// The zoo: pairs of a small real kernel and its broken twin, one for every way in which Hopper's
// asynchronous machinery is misused. The broken twin must be found, at the marked lines, under every
// schedule; the good twin must stay silent.
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/job.h"
#include "sim/launch/finding.h"

namespace palladion::zoo {

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

// The lines that the finding must name carry `// @1`, `// @2` in the source: the C++ file of a recorded
// kernel, the PTX text of the others.
struct Pair {
  std::string name;   // "mbarrier-first-parity": unique, what people type after zoo/
  std::string entry;  // of the taxonomy: "MB-13"
  std::string title;  // one line: what the broken twin does wrong
  std::string code;   // of its finding: "PLD4113"
  std::string also;   // another code that says the same where a schedule shows only that; mostly empty
  sim::FindingSeverity severity = sim::FindingSeverity::error;
  OnDevice on_device = OnDevice::ends;
  // No schedule shows it: only runs with other numbers of resident CTAs or start orders do.
  bool needs_exploration = false;
  std::function<Specimen(bool broken)> make;
};

// All pairs, by group and number of their taxonomy entry.
std::span<const Pair> all_pairs();
const Pair* find_pair(std::string_view name);

// --- making pairs -------------------------------------------------------------------------------
// A pair in PTX. Lines that end in `//! broken` are only in the broken twin, lines that end in
// `//! good` only in the good one.
struct PtxPair {
  std::string name, entry, title, code;
  sim::FindingSeverity severity = sim::FindingSeverity::error;
  OnDevice on_device = OnDevice::ends;
  bool needs_exploration = false;
  std::string also;
  std::string text;
  isa::Dim3 grid{1, 1, 1}, block{128, 1, 1}, cluster{1, 1, 1};
  uint32_t dynamic_shared = 0;
  std::vector<Buffer> buffers;
  std::vector<ParamValue> params;
};
Pair ptx_pair(PtxPair pair);
// The text of one twin.
std::string twin_text(std::string_view text, bool broken);

// A pair recorded with the frontend: `record(broken)` gives the kernel, `inputs` its arrays.
struct RecordedPair {
  std::string name, entry, title, code;
  sim::FindingSeverity severity = sim::FindingSeverity::error;
  OnDevice on_device = OnDevice::ends;
  std::function<plgpu::Kernel(bool broken)> record;
  std::function<std::vector<Array>()> inputs;
};
Pair recorded_pair(RecordedPair pair);

}  // namespace palladion::zoo
