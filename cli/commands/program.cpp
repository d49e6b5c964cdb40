#include <fmt/format.h>

#include <exception>
#include <new>

#include "cli/commands/commands.h"
#include "cli/support/term.h"

namespace palladion::cli {
namespace {

Outcome<ExitCode> dispatch(const Options& options) {
  constexpr Outcome<ExitCode> (*commands[])(const Options&) = {
      // in the order of Command
      cmd_list, cmd_run, cmd_sweep, cmd_ptx, cmd_check, cmd_compare, cmd_explain, cmd_doctor, cmd_lab};
  return commands[static_cast<size_t>(options.command)](options);
}

int fail(const Failure& failure) {
  std::fflush(stdout);
  fmt::print(stderr, "{}", failure.text);
  return failure.code;
}

int run_program(int argc, const char* const* argv) {
  const auto parsed = parse_options(argc, argv);
  if (!parsed) return fail(parsed.error());
  if (parsed->text) {
    fmt::print("{}", *parsed->text);
    return exit_clean;
  }
  const Command command = parsed->options.command;
  if (command == Command::run || command == Command::sweep || command == Command::check ||
      command == Command::compare)
    install_interrupt_handler();
  const auto code = dispatch(parsed->options);
  return code ? *code : fail(code.error());
}

}  // namespace

int program(int argc, const char* const* argv) {
  try {
    return run_program(argc, argv);
  } catch (const isa::Error& e) {
    return fail(failure_of(e.diagnostics()).value());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr,
               "error: not enough memory on this machine\n   = help: smaller arrays (--shape, --arg), or "
               "more memory\n");
    return exit_user_error;
  } catch (const std::exception& e) {
    fmt::print(stderr, "palladion: internal error: {}\nThis is a bug of palladion, please report it.\n",
               e.what());
    return exit_internal;
  }
}

}  // namespace palladion::cli
