#include "report/lab/verdict_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "isa/core/visible.h"
#include "labs/measures.h"
#include "report/run/run_text.h"
#include "report/text/markdown.h"
#include "report/text/numbers.h"
#include "report/text/paint.h"

namespace palladion::report {

namespace {

using labs::CaseVerdict, labs::LabVerdict, labs::MeasureVerdict, labs::QuestionVerdict;

std::string number_text(double number) {
  return number == double(uint64_t(number)) ? grouped(uint64_t(number)) : fmt::format("{:g}", number);
}

std::string_view unit_of(const labs::Measure& measure) {
  return std::ranges::find(labs::quantities(), measure.quantity, &labs::Quantity::name)->unit;
}

// Of a right output a learner needs no maxima.
std::string output_text(const verify::OutputComparison& o) {
  if (!o.comparison.ok() || o.comparison.bits_equal) return describe_comparison(o);
  return fmt::format("{} elements within the tolerance (rel {:.3g}, abs {:.3g})", o.comparison.elements,
                     o.tolerance.relative, o.tolerance.absolute);
}

std::string case_text(const CaseVerdict& c) {
  if (!c.refused.empty()) return "cannot run, see below";
  std::string text;
  for (const verify::OutputComparison& o : c.outputs)
    text += (text.empty() ? "" : "; ") + (c.outputs.size() > 1 ? o.output + ": " : "") + output_text(o);
  if (text.empty()) text = "did not end";
  const std::string under =
      c.decided ? "all schedules (one run decides)" : fmt::format("{} schedules", c.schedules);
  return text + (c.errors == 0 ? fmt::format("; no finding under {}", under) : "; findings, see below");
}

std::string measure_text(const MeasureVerdict& m) {
  const std::string limit = m.rule->low > 0
                                ? fmt::format("{} to {}", number_text(m.rule->low), number_text(m.rule->high))
                                : fmt::format("at most {}", number_text(m.rule->high));
  return m.value ? fmt::format("{} {} ({} wanted)", number_text(*m.value), unit_of(*m.rule), limit)
                 : m.why_none;
}

std::string answer_text(const QuestionVerdict& q) {
  if (!q.answered())
    return fmt::format("{0}: none yet: complete the line `// answer {0}: ...`", q.question->name);
  return fmt::format("{}: `{}` is {}", q.question->name, q.answer, q.ok() ? "right" : "not right");
}

std::string ending(const LabVerdict& v) {
  return fmt::format(", {} ({} of it to compile)", human_seconds(v.seconds),
                     human_seconds(v.compile_seconds));
}

std::string shown_finding_text(const LabVerdict& v, const LabView& view) {
  const SeenFinding* shown = main_finding(v);
  if (shown == nullptr) return {};
  SeenFinding finding = *shown;
  for (sim::Site& site : finding.finding.sites)
    if (site.source.known()) site.ptx_line = 0;  // of a text that the learner does not have
  std::string text = "\n" + finding_text(finding, {.folder = view.folder, .color = view.color});
  const auto others = std::ranges::count_if(
                          v.findings, [&](const SeenFinding& seen) { return counts(*v.lab, seen.finding); }) -
                      1;
  if (others > 0)
    text += paint(fmt::format("and {} more finding{}, as `{}` shows", others, others == 1 ? "" : "s",
                              shown->replay),
                  Style::dim, view.color) +
            "\n";
  return text;
}

}  // namespace

std::string reply_text(const LabVerdict& v) {
  if (v.reply == nullptr) return {};
  std::string text = v.reply->text;
  const auto put = [&](std::string_view name, const std::string& value) {
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size()))
      text.replace(at, name.size(), value);
  };
  std::string line = "?", measured = "?", limit = "?";
  if (const SeenFinding* shown = main_finding(v))
    for (const sim::Site& site : shown->finding.sites)
      if (line == "?" && site.source.known()) line = std::to_string(site.source.line);
  for (const MeasureVerdict& m : v.measures)
    if (measured == "?" && m.value && !m.ok()) {
      measured = number_text(*m.value);
      limit = number_text(*m.value > m.rule->high ? m.rule->high : m.rule->low);
    }
  put("{line}", line);
  put("{measured}", measured);
  put("{limit}", limit);
  return text;
}

namespace {

std::string broken_text(const labs::TextRule& rule) {
  if (!rule.wanted) return "is not wanted";
  return rule.times == 1 ? "is missing" : fmt::format("is there fewer than {} times", rule.times);
}

}  // namespace

std::string verdict_text(const LabVerdict& v, const LabView& view) {
  const std::string held =
      row("confined", v.confined.empty() ? "by nothing" : fmt::format("by {}", fmt::join(v.confined, ", ")));
  const auto good = [&](bool ok, const std::string& text) {
    return paint(text, ok ? Style::green : Style::red, view.color);
  };
  std::string text =
      fmt::format("{}  {}\n", paint("lab " + v.lab->folder, Style::bold, view.color), v.lab->title);
  if (!v.refusal.empty()) text += "\n" + isa::visible(v.refusal);
  for (const labs::TextRule* rule : v.broken_rules)
    text += row(rule->of == labs::TextRule::Of::ptx ? "PTX" : "source",
                good(false, fmt::format("`{}` {}: {}", rule->text, broken_text(*rule), rule->why)));
  for (size_t i = 0; i < v.cases.size(); ++i)
    text += row(fmt::format("input {}", i + 1),
                fmt::format("{}: {}", v.cases[i].values, good(v.cases[i].ok(), case_text(v.cases[i]))));
  for (const MeasureVerdict& m : v.measures)
    text += row(m.rule->quantity,
                fmt::format("{}: {}", labs::text_of(m.rule->values), good(m.ok(), measure_text(m))));
  for (const QuestionVerdict& q : v.questions) text += row("answer", good(q.ok(), answer_text(q)));
  const auto refused = std::ranges::find_if(v.cases, [](const CaseVerdict& c) { return !c.refused.empty(); });
  if (refused != v.cases.end()) text += "\n" + refused->refused;
  text += shown_finding_text(v, view);
  text += held;
  if (v.passed) return text + row("verdict", paint("passed", Style::green, view.color) + ending(v));
  if (v.reply != nullptr)
    text += fmt::format("\n{}\n{}\n", paint("What this means", Style::bold, view.color),
                        paragraphs(reply_text(v), view.color));
  const std::string share = v.score > 0 ? fmt::format(", {:.0f} % of the way", 100 * v.score) : "";
  return text + row("verdict", paint("not yet", Style::red, view.color) + share + ending(v));
}

json::object verdict_json(const LabVerdict& v) {
  json::object out{
      {"lab", v.lab->folder}, {"file", v.file.string()}, {"passed", v.passed}, {"score", v.score}};
  out.emplace("confined_by", array_of(v.confined, [](const std::string& s) { return s; }));
  if (!v.refusal.empty()) out.emplace("refused", v.refusal);
  out.emplace("ptx_rules", array_of(v.broken_rules, [](const labs::TextRule* r) {
                return json::object{{"text", r->text}, {"wanted", r->wanted}};
              }));
  out.emplace("cases", array_of(v.cases, [](const CaseVerdict& c) {
                return json::object{{"values", c.values},
                                    {"ok", c.ok()},
                                    {"findings", c.errors},
                                    {"schedules", c.schedules},
                                    {"decided", c.decided}};
              }));
  out.emplace("findings", array_of(v.findings, [](const SeenFinding& f) {
                const bool known = !f.finding.sites.empty() && f.finding.sites[0].source.known();
                return json::object{{"code", f.finding.code.name()},
                                    {"severity", word(f.finding.severity)},
                                    {"message", message_text(f.finding)},
                                    {"line", known ? f.finding.sites[0].source.line : 0}};
              }));
  out.emplace(
      "measures", array_of(v.measures, [](const MeasureVerdict& m) {
        json::object one{
            {"quantity", m.rule->quantity}, {"ok", m.ok()}, {"low", m.rule->low}, {"high", m.rule->high}};
        if (m.value) one.emplace("value", *m.value);
        return one;
      }));
  out.emplace("answers", array_of(v.questions, [](const QuestionVerdict& q) {
                return json::object{{"name", q.question->name}, {"answer", q.answer}, {"ok", q.ok()}};
              }));
  out.emplace("mistake", v.reply == nullptr ? json::value(nullptr) : json::value(v.reply->name));
  out.emplace("explanation", reply_text(v));
  out.emplace("seconds", v.seconds);
  return out;
}

}  // namespace palladion::report
