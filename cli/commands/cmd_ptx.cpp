#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/execute/execute.h"
#include "cli/support/files.h"
#include "isa/text/print.h"

namespace palladion::cli {

// For a file, what the parser understood of it.
Outcome<ExitCode> cmd_ptx(const Options& options) {
  const auto subject = load_program(options);
  if (!subject) return tl::make_unexpected(subject.error());
  const std::string text =
      isa::print(subject->program(), {.source_lines = true, .collect_files = !subject->is_foreign()});
  if (options.output.empty()) {
    fmt::print("{}", text);
    return exit_clean;
  }
  if (const auto written = write_text(options.output, text); !written) return user_error(written.error());
  return exit_clean;
}

}  // namespace palladion::cli
