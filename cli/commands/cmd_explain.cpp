#include <fmt/format.h>

#include "cli/options/command.h"
#include "cli/support/output.h"
#include "cli/support/program_name.h"
#include "cli/support/term.h"
#include "kernels/files/compiler.h"
#include "report/explain/op_text.h"
#include "report/explain/topics.h"
#include "verify/arrays/words.h"

namespace palladion::cli {
namespace {

// False when no verb has this name, or the headers are not installed.
bool explain_verb(std::string_view word) {
  const auto headers = kernels::find_headers();
  if (!headers) return false;
  const std::vector<VerbText> verbs = find_verbs(word, headers->include / "palladion");
  for (const VerbText& verb : verbs) print_out(verb_text(verb, wants_color(stdout)));
  return !verbs.empty();
}

Outcome<void> explain_word(const std::string& word) {
  if (const int number = code_number(word); number != 0) {
    const CodeText* code = find_code(number);
    if (code == nullptr)
      return user_error(fmt::format("there is no code `{}`", word),
                        fmt::format("`{} explain` lists all codes and instructions", program_name()));
    print_out(code_text(*code, program_name()));
    return {};
  }
  const StallText* stall = find_stall(word);
  if (stall != nullptr)
    print_out(stall_text(*stall, wants_color(stdout)));  // `mbarrier` is an instruction besides
  if (const isa::Op* op = op_of(word)) {
    print_out(op_text(*op, word));
    return {};
  }
  if (stall != nullptr || explain_verb(word)) return {};
  std::vector<std::string> names;
  for (const isa::Op& op : isa::all_ops()) names.emplace_back(op.name);
  const std::string near = nearest(word, names);
  return user_error(fmt::format("`{}` is no code, instruction, stall reason or verb", word),
                    near.empty() ? fmt::format("`{} explain` lists all", program_name())
                                 : fmt::format("did you mean `{}`?", near));
}

struct ExplainRequest {
  std::vector<std::string> topics;

  void state(Words& words) { words.texts("TOPIC", topics, "finding codes, instructions or stall reasons"); }
  Outcome<ExplainRequest> request(const Invocation&) const { return *this; }
};

Outcome<ExitCode> explain(const ExplainRequest& request) {
  if (request.topics.empty()) print_out(topics_text(wants_color(stdout)));
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
