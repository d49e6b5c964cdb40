// A command of the program: its words, its help and its function. Each stands in a file of cli/commands.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/words.h"
#include "kernels/frame/spec.h"

namespace palladion::cli {

// What a command gets besides its own options.
struct Invocation {
  std::span<const kernels::KernelSpec> kernels;  // that the program has by name
  std::vector<std::string> words;                // all that stood behind the command, for commands to repeat
  std::vector<std::string> program;              // another program and its arguments, behind `--`
};

using Run = std::function<Outcome<ExitCode>(const Invocation&)>;

struct Command {
  std::string name, doc;
  // States the options; the result parses once what was given, and runs.
  Run (*state)(Words& words);
  bool takes_program = false;  // words of another program may stand behind `--`
};

// `Given` has what was given: `state(Words&)` states it, `request(const Invocation&)` makes a request of it,
// which `run` takes.
template <class Given, auto run>
Run stated(Words& words) {
  const auto given = std::make_shared<Given>();
  given->state(words);
  return [given](const Invocation& invocation) -> Outcome<ExitCode> {
    return given->request(invocation).and_then(run);
  };
}

}  // namespace palladion::cli
