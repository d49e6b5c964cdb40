// Scripts that complete the command line in a shell. They are made of what the commands state.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands/commands.h"
#include "cli/options/command_line.h"
#include "cli/support/output.h"
#include "cli/support/program_name.h"

namespace palladion::cli {
namespace {

enum class Shell : uint8_t { bash, zsh, fish };

struct CompletionRequest {
  Shell shell = Shell::bash;
  std::vector<std::string> kernels;
};

struct WordsOfCompletion {
  std::string shell;

  void state(Words& words) {
    words.text("SHELL", shell, "bash, zsh or fish: prints a script for it").one_of({"bash", "zsh", "fish"});
  }
  Outcome<CompletionRequest> request(const Invocation& invocation) const {
    for (const auto& [name, meant] :
         {std::pair{"bash", Shell::bash}, {"zsh", Shell::zsh}, {"fish", Shell::fish}})
      if (shell == name) return CompletionRequest{meant, names_of(invocation.kernels)};
    return user_error("completion takes a shell: bash, zsh or fish",
                      fmt::format("source <({} completion bash)", program_name()));
  }
};

bool is_file(Value value) {
  return value == Value::kernel || value == Value::input || value == Value::output ||
         value == Value::continued;
}

// The words that may stand for a value; kernels by name among them.
std::vector<std::string> choices_of(const Option& option, const std::vector<std::string>& kernels) {
  return option.value == Value::kernel ? kernels : option.choices;
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

// Of a command: its options, and what each value and each word behind it may be.
std::string bash_case(const Command& command, const std::vector<std::string>& kernels) {
  Words words;
  state(command, words);
  std::vector<std::string> options = {"--help"};
  std::string values, behind;
  for (const Option& option : words.all()) {
    const std::string choices = joined(choices_of(option, kernels));
    if (option.is_positional()) {
      behind = choices;
      continue;
    }
    options.push_back(option.name());
    if (!choices.empty())
      values += fmt::format("        {}) words='{}' ;;\n", option.name(), choices);
    else if (!option.is_flag())
      values += fmt::format("        {}) words= ;;\n", option.name());
  }
  return fmt::format("    {})\n      case $before in\n{}        *) words='{} {}' ;;\n      esac ;;\n",
                     command.name, values, joined(options), behind);
}

// zsh takes the same script through its bashcompinit.
std::string bash_script(const std::vector<std::string>& kernels) {
  const std::string& program = program_name();
  std::string cases;
  for (const Command& command : commands()) cases += bash_case(command, kernels);
  return fmt::format(
      "_{0}() {{\n  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    words='{1} --help --version'\n  else\n"
      "    case ${{COMP_WORDS[1]}} in\n{2}    esac\n  fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  [ \"$COMP_CWORD\" -eq 1 ] || COMPREPLY+=($(compgen -f -- \"$word\"))\n}}\n"
      "complete -o filenames -F _{0} {0}\n",
      program, joined(names_of(commands())), cases);
}

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += (c == '\'' || c == '\\') ? std::string{'\\', c} : std::string(1, c);
  return out + "'";
}

std::string fish_option(std::string_view command, const Option& option,
                        const std::vector<std::string>& kernels) {
  std::string line =
      fmt::format("complete -c {} -n '__fish_seen_subcommand_from {}'", program_name(), command);
  const std::string choices = joined(choices_of(option, kernels));
  if (option.is_positional())
    return choices.empty() ? "" : fmt::format("{} -a {}\n", line, fish_quoted(choices));
  line += fmt::format(" -l {} -d {}", option.name().substr(2), fish_quoted(option.doc));
  if (option.is_flag()) return line + "\n";
  line += is_file(option.value) || option.value == Value::folder ? " -r -F" : " -x";
  return choices.empty() ? line + "\n" : fmt::format("{} -a {}\n", line, fish_quoted(choices));
}

std::string fish_script(const std::vector<std::string>& kernels) {
  std::string out;
  for (const Command& command : commands()) {
    Words words;
    state(command, words);
    out += fmt::format("complete -c {} -n __fish_use_subcommand -f -a {} -d {}\n", program_name(),
                       command.name, fish_quoted(command.doc));
    for (const Option& option : words.all()) out += fish_option(command.name, option, kernels);
  }
  return out;
}

Outcome<ExitCode> complete_in_shell(const CompletionRequest& request) {
  if (request.shell == Shell::fish)
    write_out(fish_script(request.kernels));
  else
    write_out((request.shell == Shell::zsh ? "autoload -U +X bashcompinit && bashcompinit\n" : "") +
              bash_script(request.kernels));
  return exit_clean;
}

}  // namespace

Command completion_command() {
  return {"completion", "print a script that completes the command line: bash, zsh or fish",
          stated<WordsOfCompletion, complete_in_shell>};
}

}  // namespace palladion::cli
