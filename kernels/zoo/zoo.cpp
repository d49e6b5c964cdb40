#include "kernels/zoo/zoo.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <vector>

#include <kernels/zoo/ptx_files.h>  // made by cmake/ZooFiles.cmake of kernels/zoo/*/*.ptx

#include "isa/arch/arch.h"
#include "isa/core/diagnostic.h"
#include "kernels/zoo/ptx_file.h"
#include "kernels/zoo/recorded.h"
#include "sim/check/catalogue/catalogue.h"

namespace palladion::kernels::zoo {
namespace {

int group_of(std::string_view entry) {
  using sim::check::code_groups, sim::check::CodeGroup;
  return int(std::ranges::find(code_groups, entry.substr(0, 2), &CodeGroup::letters) -
             std::begin(code_groups));
}

std::vector<Pair> collect() {
  std::vector<Pair> all;
  for (const PtxFile& file : ptx_files) all.push_back(ptx_pair(file));
  for (const auto recorded : {recorded_mbarrier_pairs, recorded_history_pairs})
    std::ranges::move(recorded(), std::back_inserter(all));
  std::ranges::sort(all, {},
                    [](const Pair& p) { return std::tuple(group_of(p.entry), p.entry, p.place, p.name); });
  return all;
}

}  // namespace

std::span<const Pair> all_pairs() {
  static const std::vector<Pair> pairs = collect();
  return pairs;
}

const isa::ArchSpec& chip_of(const Specimen& twin) {
  const isa::ArchSpec* const chip = isa::chip_for(twin.job.module->target);
  PLD_CHECK(chip != nullptr, "no chip for " + twin.job.module->target);
  return *chip;
}

const Pair* find_pair(std::string_view name) {
  const auto pairs = all_pairs();
  const auto it = std::ranges::find(pairs, name, &Pair::name);
  return it == pairs.end() ? nullptr : &*it;
}

}  // namespace palladion::kernels::zoo
