#include "cuda/driver/judged.h"

#include <fmt/format.h>

#include <algorithm>

namespace palladion::cuda::driver {
namespace {

void add(const std::vector<verify::SeenFinding>& findings, std::vector<verify::SeenFinding>& into) {
  for (const verify::SeenFinding& seen : findings)
    for (const std::string& schedule : seen.schedules) verify::merge_findings(into, {seen.finding}, schedule);
}

}  // namespace

void Judged::unite(const Judged& other) {
  tried = std::min(tried, other.tried);
  decided &= other.decided;
  outputs_vary |= other.outputs_vary;
  waited |= other.waited;
  add(other.findings, findings);
}

std::vector<verify::SeenFinding> with_others(const std::vector<sim::Finding>& own,
                                             const std::string& schedule, const Judged& judged) {
  std::vector<verify::SeenFinding> all;
  verify::merge_findings(all, own, schedule);
  add(judged.findings, all);
  return all;
}

std::string text_of(const Judged& judged) {
  std::string text = judged.decided      ? "decided for all schedules"
                     : judged.tried == 1 ? "1 schedule"
                                         : fmt::format("{} schedules tried", judged.tried);
  if (judged.waited) text += ", it waited for what is outside of it";
  if (judged.outputs_vary) text += ", their outputs differ";
  return text;
}

}  // namespace palladion::cuda::driver
