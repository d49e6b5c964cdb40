#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/execute/execute.h"
#include "cli/options/command.h"
#include "cli/support/output.h"
#include "cli/support/program_name.h"
#include "cli/support/term.h"
#include "isa/core/op.h"
#include "kernels/files/compiler.h"
#include "kernels/frame/registry.h"
#include "report/explain/codes.h"
#include "report/explain/stalls.h"
#include "report/explain/twin_text.h"
#include "report/explain/verbs.h"
#include "report/text/finding_text.h"
#include "report/text/row.h"
#include "verify/arrays/words.h"

namespace palladion::cli {
namespace {

constexpr int text_width = 100;

std::string wrapped(std::string_view text, std::string_view indent) {
  std::string out, line;
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > text_width) {
      out += std::string(indent) + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + std::string(word);
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return line.empty() ? out : out + std::string(indent) + line + "\n";
}

void print_example(std::string_view label, std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    print_out("  {:<6} {}\n", label, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    label = "";
  }
}

void print_part(std::string_view label, std::string_view text) {
  if (!text.empty()) print_out("  {}\n{}", label, wrapped(text, "    "));
}

// The pairs of the zoo that show this code: tests run them.
void print_pairs(const CodeText& code) {
  const std::string name = fmt::format("PLD{}", code.number);
  for (const kernels::zoo::Pair& pair : kernels::zoo::all_pairs()) {
    if (pair.code != name) continue;
    print_out("  {} check zoo/{}{}, and zoo/{}:good\n", program_name(), pair.name,
              pair.needs_exploration ? " --explore 1000000" : "", pair.name);
    const TwinText twins = twin_text(pair);
    print_example("wrong", twins.wrong);
    print_example("right", twins.right);
    if (twins.wrong.empty() && twins.right.empty())
      print_out("  both are recorded in C++: zoo, \"{}\"\n", pair.name);
  }
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

void explain_code(const CodeText& code) {
  const std::string entry = entry_of(code.number);
  print_out("PLD{}{}: {}\n{}", code.number, entry.empty() ? "" : " (" + entry + ")", code.title,
            wrapped(code.meaning, "  "));
  if (!code.rule.empty()) print_part("severity", severity_text(code.severity));
  print_part("rule", report::manual_text(code.rule));
  print_part("on hardware", code.effect);
  print_part("fix", code.fix);
  if (code.reported_as != 0) print_out("  reported as PLD{}\n", code.reported_as);
  print_example("wrong", code.wrong);
  print_example("right", code.right);
  print_pairs(code);
}

std::string_view unit_name(isa::Unit unit) {
  static constexpr std::string_view names[] = {"none", "alu",     "fma",  "fp64", "sfu",   "branch",
                                               "lsu",  "uniform", "sync", "tma",  "tensor"};
  return names[size_t(unit)];
}

// What the timing function answers for the form with each slot's first word.
std::string timing_text(const isa::Op& op, const isa::Form& form) {
  isa::Instruction i;
  i.op = &op;
  i.form = &form;
  std::ranges::fill(i.mods, int8_t{-1});
  for (size_t s = 0; s < form.slots.size(); ++s)
    if (!form.slots[s].optional) i.mods[s] = 0;
  const isa::Timing t = isa::timing(i);
  return t.latency.empty() ? fmt::format("unit {}", unit_name(t.unit))
                           : fmt::format("unit {}, latency class {}", unit_name(t.unit), t.latency);
}

std::string slot_text(const isa::SlotDef& slot) {
  constexpr size_t longest = 32, first = 2;
  std::string words = fmt::format("{}", fmt::join(slot.words, "|"));
  if (words.size() > longest && slot.words.size() > first + 1)
    words = fmt::format("{}|...|{}", fmt::join(slot.words.begin(), slot.words.begin() + first, "|"),
                        slot.words.back());
  if (slot.words.size() > 1) words = "(" + words + ")";
  return slot.optional ? "{." + words + "}" : "." + words;
}

std::string operand_text(const isa::OperandDef& o) {
  std::string text(o.name);
  if (o.kind == isa::OperandKind::address) text = "[" + text + "]";
  if (o.kind == isa::OperandKind::tensor) text = "[" + text + ", {...}]";
  if (!o.count_slot.empty() || o.count != 1) text = "{" + text + ", ...}";
  return o.optional ? "{" + text + "}" : text;
}

// "ld{.(relaxed|acquire)}.(global|shared).type d, [a]"
std::string form_text(const isa::Form& form) {
  std::string text(form.op);
  for (const isa::SlotDef& slot : form.slots) text += slot_text(slot);
  for (size_t i = 0; i < form.operands.size(); ++i)
    text += (i == 0 ? " " : form.operands[i].joined ? "|" : ", ") + operand_text(form.operands[i]);
  return text;
}

void explain_form(const isa::Op& op, const isa::Form& form, const isa::Form* before) {
  if (before == nullptr || before->def != form.def) print_out(wrapped(form.def->doc.value, "  "));
  print_out("    {}\n", form_text(form));
  std::string about;
  if (form.ptx_version > 10)
    about = fmt::format("PTX {}.{}, {}; ", form.ptx_version / 10, form.ptx_version % 10, form.target);
  print_out("      {}{}\n", about, timing_text(op, form));
}

// `words` behind the op's name choose among its forms, when any form has them.
void explain_op(const isa::Op& op, const std::vector<std::string_view>& words) {
  const auto chosen = [&](const isa::Form& form) {
    return std::ranges::all_of(words, [&](std::string_view w) {
      return std::ranges::any_of(form.slots, [&](const isa::SlotDef& slot) { return slot.find(w) >= 0; });
    });
  };
  const bool some = std::ranges::any_of(op.forms, chosen);
  print_out("{}\n", op.name);
  const isa::Form* before = nullptr;
  for (const isa::Form& form : op.forms) {
    if (some && !chosen(form)) continue;
    explain_form(op, form, before);
    before = &form;
  }
}

void explain_stall(const StallText& stall) {
  print_out("{}: a stall reason, in Nsight Compute's words\n",
            paint(sim::name(stall.stall), Style::bold, wants_color(stdout)));
  print_out(wrapped(stall.meaning, "  "));
  print_part("what helps", stall.fix);
}

// False when no verb has this name, or the headers are not installed.
bool explain_verb(std::string_view word) {
  const auto headers = kernels::find_headers();
  if (!headers) return false;
  const std::vector<VerbText> verbs = find_verbs(word, headers->include / "palladion");
  for (const VerbText& verb : verbs) {
    print_out("{}: a verb of kernels, {}\n", paint(verb.name, Style::bold, wants_color(stdout)), verb.header);
    print_out(wrapped(verb.comment, "  "));
    print_out(wrapped(verb.declaration, "    "));
  }
  return !verbs.empty();
}

// "wgmma.mma_async.sync..." names wgmma.mma_async, else wgmma, if there is such an op.
const isa::Op* op_of(std::string_view word) {
  for (; !word.empty();
       word = word.substr(0, word.rfind('.') == std::string_view::npos ? 0 : word.rfind('.')))
    if (const isa::Op* op = isa::find_op(word)) return op;
  return nullptr;
}

std::vector<const isa::Op*> ops_beginning_with(std::string_view word) {
  std::vector<const isa::Op*> out;
  for (const isa::Op& op : isa::all_ops())
    if (op.name.starts_with(word) && op.name.size() > word.size() && op.name[word.size()] == '.')
      out.push_back(&op);
  return out;
}

Outcome<void> explain_word(const std::string& word) {
  if (const int number = code_number(word); number != 0) {
    const CodeText* code = find_code(number);
    if (code == nullptr)
      return user_error(fmt::format("there is no code `{}`", word),
                        fmt::format("`{} explain` lists all codes and instructions", program_name()));
    explain_code(*code);
    return {};
  }
  const StallText* stall = find_stall(word);
  if (stall != nullptr) explain_stall(*stall);  // `mbarrier` is an instruction besides
  if (const isa::Op* op = op_of(word)) {
    explain_op(*op, word.size() > op->name.size()
                        ? split(std::string_view(word).substr(op->name.size() + 1), ".")
                        : std::vector<std::string_view>{});
    return {};
  }
  const auto family = ops_beginning_with(word);
  for (const isa::Op* op : family) explain_op(*op, {});
  if (!family.empty() || stall != nullptr || explain_verb(word)) return {};
  std::vector<std::string> names;
  for (const isa::Op& op : isa::all_ops()) names.emplace_back(op.name);
  const std::string near = nearest(word, names);
  return user_error(fmt::format("`{}` is no code, instruction, stall reason or verb", word),
                    near.empty() ? fmt::format("`{} explain` lists all", program_name())
                                 : fmt::format("did you mean `{}`?", near));
}

void list_topics() {
  const bool color = wants_color(stdout);
  print_out("{}\n", paint("codes", Style::bold, color));
  for (const auto codes : all_codes())
    for (const CodeText& code : codes) print_out("  PLD{}  {}\n", code.number, code.title);
  print_out("{}\n", paint("instructions", Style::bold, color));
  std::vector<std::string_view> names;
  for (const isa::Op& op : isa::all_ops()) names.push_back(op.name);
  print_out(wrapped(fmt::format("{}", fmt::join(names, " ")), "  "));
  print_out("{}\n", paint("stall reasons, of the hardware schedule's clock", Style::bold, color));
  std::vector<std::string_view> reasons;
  for (const StallText& stall : all_stalls()) reasons.push_back(sim::name(stall.stall));
  print_out(wrapped(fmt::format("{}", fmt::join(reasons, ", ")), "  "));
}

struct ExplainRequest {
  std::vector<std::string> topics;

  void state(Words& words) { words.texts("TOPIC", topics, "finding codes, instructions or stall reasons"); }
  Outcome<ExplainRequest> request(const Invocation&) const { return *this; }
};

Outcome<ExitCode> explain(const ExplainRequest& request) {
  if (request.topics.empty()) list_topics();
  for (const std::string& word : request.topics)
    if (const auto done = explain_word(word); !done) return tl::make_unexpected(done.error());
  return exit_clean;
}

}  // namespace

Command explain_command() {
  return {"explain", "explain a finding code (PLD3001), an instruction (wgmma) or a stall reason",
          stated<ExplainRequest, explain>};
}

}  // namespace palladion::cli
