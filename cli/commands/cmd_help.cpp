#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/commands.h"
#include "cli/options/command_line.h"
#include "cli/support/output.h"
#include "cli/support/program_name.h"

namespace palladion::cli {
namespace {

struct HelpRequest {
  std::string command;  // empty: the program
  bool man = false;

  void state(Words& words) {
    words.text("COMMAND", command, "of which the help is shown").one_of(names_of(commands()));
    words.flag("--man", man, "print the manual page of the program: help --man > palladion.1");
  }
  Outcome<HelpRequest> request(const Invocation&) const {
    const std::vector<std::string> names = names_of(commands());
    if (command.empty() || std::ranges::find(names, command) != names.end()) return *this;
    return user_error(fmt::format("there is no command `{}`", command), suggestion(command, names));
  }
};

// A text for roff: no line begins with a request, and `\` and `-` are themselves.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((out.empty() || out.back() == '\n') && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string option_page(const Option& option) {
  const std::string value = option.is_flag() ? "" : fmt::format(" \\fI{}\\fR", roff(option.type));
  std::string names = option.names;
  if (const size_t comma = names.find(','); comma != std::string::npos) names.replace(comma, 1, ", ");
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(names), option.is_positional() ? "" : value,
                     roff(option.doc));
}

std::string command_page(const Command& command) {
  Words words;
  state(command, words);
  std::string text = fmt::format(".SS {}\n{}\n", roff(command.name), roff(command.doc));
  for (const Option& option : words.all()) text += option_page(option);
  return text;
}

std::string manual_page() {
  std::string text = fmt::format(
      ".TH PALLADION 1 \"\" \"palladion {}\"\n.SH NAME\npalladion \\- {}\n.SH SYNOPSIS\n.B palladion\n"
      "\\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIWORDS\\fR]\n.SH COMMANDS\n",
      version, roff(about_program));
  for (const Command& command : commands()) text += command_page(command);
  text += ".SH EXIT STATUS\n";
  constexpr std::pair<int, const char*> codes[] = {
      {exit_clean, "clean"},
      {exit_findings, "findings, or outputs that differ"},
      {exit_user_error, "a mistake of the command line or of a file"},
      {exit_unsupported, "not in this version, not on this machine, or not decided"},
      {exit_internal, "an internal error"},
      {exit_not_written, "the report or a file could not be written"},
      {exit_interrupted, "ended by Ctrl-C or SIGTERM"}};
  for (const auto& [code, meaning] : codes) text += fmt::format(".TP\n{}\n{}\n", code, roff(meaning));
  return text;
}

Outcome<ExitCode> help(const HelpRequest& request) {
  write_out(request.man ? manual_page() : help_text(commands(), request.command));
  return exit_clean;
}

}  // namespace

Command help_command() {
  return {"help", "show the help of a command; --man prints the manual page", stated<HelpRequest, help>};
}

}  // namespace palladion::cli
