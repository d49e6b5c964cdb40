#include <fmt/format.h>

#include "cli/options/command.h"
#include "cli/subjects/subject.h"
#include "cli/support/output.h"
#include "isa/host/files.h"
#include "isa/text/print.h"
#include "report/run/launch_json.h"
#include "report/run/lowered_text.h"
#include "sim/program/compile/compile.h"

namespace palladion::cli {
namespace {

struct PtxRequest {
  SubjectRequest subject;
  std::string output;    // a file; empty: standard output
  std::string launch;    // a file for the launch; empty: none
  bool lowered = false;  // what ptxas makes of it
};

struct WordsOfPtx {
  SubjectWords subject;
  PtxRequest given;

  void state(Words& words) {
    subject.state(words);
    words.text("-o,--output", given.output, "output file (default: standard output)", Value::output);
    words.text(
        "--launch", given.launch,
        "a file for the launch of a kernel as JSON: grid, arrays, parameters; `palladion.load` reads it",
        Value::output);
    words.flag(
        "--lowered", given.lowered,
        "print beside each instruction what ptxas makes of it, as the clock predicts: SASS instructions, "
        "unit, what it folds into, scoreboard; then registers and totals by unit");
  }
  Outcome<PtxRequest> request(const Invocation& invocation) const {
    return subject.request(invocation).map([&](SubjectRequest s) {
      PtxRequest request = given;
      request.subject = std::move(s);
      request.subject.any_chip = !request.subject.names_arch;
      return request;
    });
  }
};

// --lowered: an entry, and all that it calls.
Outcome<std::string> lowered(const Subject& subject, const std::string& name) {
  const isa::Module& module = subject.program();
  const isa::Function* const entry = module.find_entry(name);
  if (entry == nullptr)
    return user_error(name.empty() ? "the module has no entry, or several: name one with --entry"
                                   : fmt::format("the module has no entry `{}`", name));
  const isa::ClockParameters* const parameters = isa::find_clock(subject.arch->name);
  if (parameters == nullptr)
    return unsupported(fmt::format("the clock has no parameters of {}", subject.arch->name));
  const auto program =
      sim::compile(module, *entry, *subject.arch, std::vector<uint64_t>(module.symbols.size()));
  return lowered_text(*program, sim::sass::lower(*program, *parameters));
}

// For a file, what the parser understood of it.
std::string printed(const Subject& subject) {
  return isa::print(subject.program(),
                    {.source_lines = true, .collect_files = !subject.is_foreign(), .buffer_names = true});
}

// Of a kernel by name or of a file: what is launched with it, without contents of arrays.
Outcome<void> write_launch(Subject& subject, const std::string& file) {
  if (subject.spec == nullptr) return user_error("--launch takes a kernel by name, or of a file of C++");
  std::vector<std::string> names(subject.spec->inputs.begin(), subject.spec->inputs.end());
  names.insert(names.end(), subject.spec->outputs.begin(), subject.spec->outputs.end());
  subject.job = job_of(*subject.kernel, blank_inputs(*subject.kernel), names);
  const auto written = write_text(file, launch_json(launched(subject), subject.kernel->launch));
  return written ? Outcome<void>{} : not_written(written.error());
}

Outcome<ExitCode> print_ptx(const PtxRequest& request) {
  auto subject = load_program(request.subject);
  if (!subject) return tl::make_unexpected(subject.error());
  if (!request.launch.empty())
    if (const auto written = write_launch(*subject, request.launch); !written)
      return tl::make_unexpected(written.error());
  const auto* const file = std::get_if<PtxFile>(&request.subject.what);
  const Outcome<std::string> text =
      request.lowered ? lowered(*subject, file != nullptr ? file->entry : "") : printed(*subject);
  if (!text) return tl::make_unexpected(text.error());
  if (request.output.empty()) {
    write_out(*text);
    return exit_clean;
  }
  if (const auto written = write_text(request.output, *text); !written) return not_written(written.error());
  return exit_clean;
}

}  // namespace

Command ptx_command() { return {"ptx", "print the PTX of a kernel", stated<WordsOfPtx, print_ptx>}; }

}  // namespace palladion::cli
