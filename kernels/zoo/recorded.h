#pragma once
// Pairs recorded with the frontend, whose API does not detect the mistake. Their marks are on the verbs'
// lines of the C++ file.
#include <functional>
#include <string>
#include <vector>

#include "kernels/zoo/zoo.h"

namespace palladion::kernels::zoo {

// `record(broken)` gives the kernel, `inputs` its arrays. `entry` as in a .ptx file: "MB-13" or "MB-13/2".
struct RecordedPair {
  std::string name, entry, title, code;
  OnDevice on_device = OnDevice::ends;
  sim::FindingSeverity severity = sim::FindingSeverity::error;
  std::function<plgpu::Kernel(bool broken)> record;
  std::function<std::vector<Array>()> inputs;
};
Pair recorded_pair(RecordedPair pair);

std::vector<Pair> recorded_mbarrier_pairs();
std::vector<Pair> recorded_history_pairs();

}  // namespace palladion::kernels::zoo
