#include "report/explain/twin_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "isa/text/print.h"
#include "verify/arrays/words.h"

namespace palladion::report {
namespace {

using Lines = std::vector<std::string_view>;

struct Step {
  std::string_view line;
  bool wrong = false, right = false;  // whose line it is
  bool both() const { return wrong && right; }
};

// One text that holds both, by a longest common subsequence.
std::vector<Step> merged(const Lines& a, const Lines& b) {
  const size_t width = b.size() + 1;
  std::vector<uint32_t> common((a.size() + 1) * width, 0);  // lines that what is left of both shares
  for (size_t i = a.size(); i-- > 0;)
    for (size_t j = b.size(); j-- > 0;)
      common[i * width + j] = a[i] == b[j] ? common[(i + 1) * width + j + 1] + 1
                                           : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
  std::vector<Step> steps;
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    const bool end_a = i == a.size(), end_b = j == b.size();
    if (!end_a && !end_b && a[i] == b[j]) {
      steps.push_back({a[i++], true, true});
      ++j;
    } else if (end_b || (!end_a && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      steps.push_back({a[i++], true, false});
    } else {
      steps.push_back({b[j++], false, true});
    }
  }
  return steps;
}

Lines lines_of(std::string_view text) {
  Lines out = split(text, "\n");
  for (std::string_view& line : out) line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  std::erase(out, std::string_view());
  return out;
}

std::string one_side(const std::vector<Step>& steps, const std::vector<bool>& shown, bool Step::* mine) {
  std::string out;
  bool gap = false;
  for (size_t i = 0; i < steps.size(); ++i) {
    gap |= !shown[i] && !out.empty();
    if (!shown[i] || !(steps[i].*mine)) continue;
    if (std::exchange(gap, false)) out += "  ...\n";
    out += (steps[i].both() ? "  " : "> ") + std::string(steps[i].line) + "\n";
  }
  return out;
}

std::string dims(const isa::Dim3& d) { return fmt::format("{},{},{}", d.x, d.y, d.z); }

// The launch is part of it: some twins differ in nothing else.
std::string text_of(const Job& job) {
  return fmt::format("// grid {}, block {}, cluster {}, {} bytes of dynamic shared memory\n{}",
                     dims(job.grid), dims(job.block), dims(job.cluster), job.dynamic_shared,
                     job.ptx.empty() ? isa::print(*job.module) : job.ptx);
}

}  // namespace

TwinText where_apart(std::string_view wrong, std::string_view right) {
  constexpr size_t around = 2, most = 48;
  const Lines a = lines_of(wrong), b = lines_of(right);
  if (a.size() * b.size() > 4'000'000) return {};
  const std::vector<Step> steps = merged(a, b);
  std::vector<bool> shown(steps.size(), false);
  for (size_t i = 0; i < steps.size(); ++i)
    if (!steps[i].both())
      for (size_t k = i - std::min(i, around); k < std::min(steps.size(), i + around + 1); ++k)
        shown[k] = true;
  if (std::ranges::count(shown, true) > ptrdiff_t(most)) return {};
  return {one_side(steps, shown, &Step::wrong), one_side(steps, shown, &Step::right)};
}

TwinText twin_text(const kernels::zoo::Pair& pair) {
  const kernels::zoo::Specimen wrong = pair.make(true), right = pair.make(false);
  return where_apart(text_of(wrong.job), text_of(right.job));
}

}  // namespace palladion::report
