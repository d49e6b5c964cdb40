#include "report/explain/topics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "isa/core/op.h"
#include "kernels/zoo/zoo.h"
#include "report/explain/paragraph.h"
#include "report/explain/twin_text.h"
#include "report/text/finding_text.h"
#include "report/text/paint.h"

namespace palladion::report {
namespace {

// The pairs of the zoo that show this code: tests run them.
std::string pairs_text(const CodeText& code, std::string_view program) {
  std::string out;
  const std::string name = fmt::format("PLD{}", code.number);
  for (const kernels::zoo::Pair& pair : kernels::zoo::all_pairs()) {
    if (pair.code != name) continue;
    out += fmt::format("  {} check zoo/{}{}, and zoo/{}:good\n", program, pair.name,
                       pair.needs_exploration ? " --explore 1000000" : "", pair.name);
    const TwinText twins = twin_text(pair);
    out += labelled("wrong", twins.wrong);
    out += labelled("right", twins.right);
    if (twins.wrong.empty() && twins.right.empty())
      out += fmt::format("  both are recorded in C++: zoo, \"{}\"\n", pair.name);
  }
  return out;
}

std::string_view severity_text(isa::CodeSeverity severity) {
  switch (severity) {
    case isa::CodeSeverity::error:
      return "error";
    case isa::CodeSeverity::strict:
      return "strict: an error with --strict only";
    case isa::CodeSeverity::by_case:
      return "error, or strict where shipped kernels do the same";
  }
  return {};
}

}  // namespace

std::string code_text(const CodeText& code, std::string_view program) {
  const std::string entry = entry_of(code.number);
  std::string out = fmt::format("PLD{}{}: {}\n{}", code.number, entry.empty() ? "" : " (" + entry + ")",
                                code.title, wrapped(code.meaning, "  "));
  if (!code.rule.empty()) out += labelled_part("severity", severity_text(code.severity));
  out += labelled_part("rule", report::manual_text(code.rule));
  out += labelled_part("on hardware", code.effect);
  out += labelled_part("fix", code.fix);
  if (code.reported_as != 0) out += fmt::format("  reported as PLD{}\n", code.reported_as);
  out += labelled("wrong", code.wrong);
  out += labelled("right", code.right);
  return out + pairs_text(code, program);
}

std::string stall_text(const StallText& stall, bool color) {
  return fmt::format("{}: a stall reason, in Nsight Compute's words\n{}{}",
                     paint(sim::name(stall.stall), Style::bold, color), wrapped(stall.meaning, "  "),
                     labelled_part("what helps", stall.fix));
}

std::string verb_text(const VerbText& verb, bool color) {
  return fmt::format("{}: a verb of kernels, {}\n{}{}", paint(verb.name, Style::bold, color), verb.header,
                     wrapped(verb.comment, "  "), wrapped(verb.declaration, "    "));
}

std::string topics_text(bool color) {
  std::string out = fmt::format("{}\n", paint("codes", Style::bold, color));
  for (const auto codes : all_codes())
    for (const CodeText& code : codes) out += fmt::format("  PLD{}  {}\n", code.number, code.title);
  std::vector<std::string_view> names, reasons;
  for (const isa::Op& op : isa::all_ops()) names.push_back(op.name);
  for (const StallText& stall : all_stalls()) reasons.push_back(sim::name(stall.stall));
  out += fmt::format("{}\n{}", paint("instructions", Style::bold, color),
                     wrapped(fmt::format("{}", fmt::join(names, " ")), "  "));
  return out + fmt::format("{}\n{}",
                           paint("stall reasons, of the hardware schedule's clock", Style::bold, color),
                           wrapped(fmt::format("{}", fmt::join(reasons, ", ")), "  "));
}

}  // namespace palladion::report
