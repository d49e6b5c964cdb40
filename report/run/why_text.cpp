// What would help, for people.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/run/advice.h"
#include "report/run/time_text.h"
#include "report/text/numbers.h"
#include "report/text/paint.h"
#include "report/text/row.h"

namespace palladion::report {
namespace {

std::string heading(std::string_view text, bool color) { return paint(text, Style::bold, color) + "\n"; }

std::string gains_text(const WhyReport& why) {
  std::string out;
  size_t n = 0;
  for (const sim::Gain& gain : why.relaxed.gains) {
    if (n == sim::most_gains || gain.saved < sim::worth_a_change) break;
    out += fmt::format("  {}. {:<34} {} cycles, {:.1f} % less\n     {}\n", ++n, gain.relaxation->name,
                       grouped(gain.cycles), gain.saved * 100, gain.relaxation->advice);
  }
  return n == 0 ? fmt::format("  nothing that was tried saves {:.0f} %\n", sim::worth_a_change * 100) : out;
}

// What was not tried alone, by what it saves together.
std::string untried_text(const WhyReport& why) {
  std::string out;
  for (const sim::GroupGain& group : why.relaxed.groups) {
    if (group.tried_alone) continue;
    std::vector<std::string_view> names;
    for (const sim::Relaxation* r : group.members) names.push_back(r->name);
    out += fmt::format("     {:.1f} % {}: {}\n", std::abs(group.saved) * 100,
                       group.saved < 0 ? "more" : "less", fmt::join(names, ", "));
  }
  return out.empty() ? out : "  together, so none of these was tried alone\n" + out;
}

}  // namespace

std::string plan_text(const verify::WhyPlan& plan) {
  const std::string runs =
      plan.least == plan.most ? fmt::format("{}", plan.most) : fmt::format("{} to {}", plan.least, plan.most);
  return fmt::format("what would help: {} runs of about {} each, {} to {}\n", runs,
                     human_seconds(plan.seconds), human_seconds(plan.seconds * double(plan.least)),
                     human_seconds(plan.seconds * double(plan.most)));
}

std::string why_text(const TimeReport& time, const TimeView& view) {
  const WhyReport& why = *time.why;
  std::string out = heading("what would help: the same run with a part of the chip relaxed", view.color);
  if (why.interrupted) out += "  interrupted: not everything was tried\n";
  out += gains_text(why) + untried_text(why);
  out += fmt::format("  {} of at most {} runs\n", why.runs, why.plan.most);
  out += heading("what an author would change, and what it follows from", view.color);
  for (const Advice& a : advice_of(time, view.folder))
    out += row(a.about, fmt::format("{}\n({})", a.text, a.from));
  return out;
}

}  // namespace palladion::report
