#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/execute/execute.h"
#include "cli/report/lowered_text.h"
#include "cli/support/files.h"
#include "cli/support/output.h"
#include "isa/text/print.h"
#include "sim/program/compile/compile.h"

namespace palladion::cli {
namespace {

// --lowered: an entry, and all that it calls.
Outcome<std::string> lowered(const Subject& subject, const Options& options) {
  const isa::Module& module = subject.program();
  const isa::Function* const entry = module.find_entry(options.entry);
  if (entry == nullptr)
    return user_error(options.entry.empty() ? "the module has no entry, or several: name one with --entry"
                                            : fmt::format("the module has no entry `{}`", options.entry));
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

}  // namespace

Outcome<ExitCode> cmd_ptx(const Options& options) {
  const auto subject = load_program(options);
  if (!subject) return tl::make_unexpected(subject.error());
  const Outcome<std::string> text = options.lowered ? lowered(*subject, options) : printed(*subject);
  if (!text) return tl::make_unexpected(text.error());
  if (options.output.empty()) {
    write_out(*text);
    return exit_clean;
  }
  if (const auto written = write_text(options.output, *text); !written) return not_written(written.error());
  return exit_clean;
}

}  // namespace palladion::cli
