#include "cli/options/command_line.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <deque>

#include "cli/options/paths.h"
#include "cli/support/program_name.h"
#include "cli/support/term.h"
#include "report/json/document.h"

namespace palladion::cli {
namespace {

// A command with its options, and the texts that were given for them.
struct Stated {
  Words words;
  Run run;
  std::deque<std::vector<std::string>> given;  // of each option
};

void add_option(CLI::App& app, const Option& option, std::vector<std::string>& given) {
  if (option.is_flag()) {
    app.add_flag_callback(option.names, [&given] { given.assign(1, ""); }, option.doc);
    return;
  }
  CLI::Option* const added =
      app.add_option(option.names, CLI::callback_t([&given](const CLI::results_t& texts) {
                       given = texts;
                       return true;
                     }),
                     option.doc);
  added->type_name(option.type);
  if (!option.many) return;
  added->expected(1, CLI::detail::expected_max_vector_size);
  added->allow_extra_args(option.is_positional());
}

// The commands as CLI11 has them.
class Parser {
 public:
  explicit Parser(std::span<const Command> commands)
      : app_(about_program, program_name()), commands_(commands) {
    app_.set_version_flag("-V,--version", std::string("palladion ") + version);
    app_.require_subcommand(1);
    for (const Command& command : commands) {
      Stated& stated = stated_.emplace_back();
      stated.run = state(command, stated.words);
      CLI::App& sub = *app_.add_subcommand(command.name, command.doc);
      for (const Option& option : stated.words.all()) add_option(sub, option, stated.given.emplace_back());
      sub.allow_extras();  // named by refuse_extras, with what exists
    }
  }

  CLI::App& app() { return app_; }
  const CLI::App& chosen() const { return *app_.get_subcommands().front(); }
  Stated& stated() {
    const auto at = std::ranges::find(commands_, chosen().get_name(), &Command::name);
    return stated_[static_cast<size_t>(at - commands_.begin())];
  }
  std::string help(std::string_view command) {
    const auto at = std::ranges::find(commands_, command, &Command::name);
    return at == commands_.end() ? app_.help() : app_.get_subcommand(at->name)->help(program_name());
  }

 private:
  CLI::App app_;
  std::span<const Command> commands_;
  std::deque<Stated> stated_;
};

Outcome<void> refuse_extras(const CLI::App& app, const Words& words) {
  const auto extras = app.remaining();
  if (extras.empty()) return {};
  const std::string& word = extras.front();
  if (!word.starts_with("-"))
    return user_error(fmt::format("{}: unexpected argument `{}`", app.get_name(), word));
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> known = {"--help"};
  for (const Option& option : words.all())
    if (!option.is_positional()) known.push_back(option.name());
  return user_error(fmt::format("{} has no option `{}`", app.get_name(), name), suggestion(name, known));
}

Outcome<void> check_command_word(std::span<const Command> commands, int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return {};
  const std::vector<std::string> names = names_of(commands);
  if (std::ranges::find(names, argv[1]) != names.end()) return {};
  return user_error(fmt::format("there is no command `{}`", argv[1]), suggestion(argv[1], names));
}

bool takes_program(std::span<const Command> commands, std::string_view name) {
  return std::ranges::any_of(commands, [&](const Command& c) { return c.takes_program && c.name == name; });
}

Outcome<void> take_all(Stated& stated) {
  auto texts = stated.given.begin();
  for (const Option& option : stated.words.all())
    for (const std::string& text : *texts++)
      if (const auto taken = option.take(text); !taken) return taken;
  std::vector<GivenOption> given;
  texts = stated.given.begin();
  for (const Option& option : stated.words.all()) given.push_back({&option, &*texts++});
  return check_paths(given);
}

tl::unexpected<Failure> not_parsed(const std::string& message, int argc) {
  if (argc < 2)
    return user_error("a command is needed", fmt::format("`{} --help` names them", program_name()));
  if (const size_t at = message.find("At Most 1"); at != std::string::npos)
    return user_error(fmt::format("{} is given more than once", message.substr(0, message.find(':'))));
  return user_error(message, fmt::format("`{0} --help`, `{0} COMMAND --help`", program_name()));
}

}  // namespace

Run state(const Command& command, Words& words) {
  Run run = command.state(words);
  words.word(
      "--color", color_choice(),
      {{"auto", ColorChoice::automatic}, {"always", ColorChoice::always}, {"never", ColorChoice::never}},
      "colours of the output: auto (on a terminal), always, never");
  return run;
}

Outcome<ParsedLine> parse_line(std::span<const Command> commands, int argc, const char* const* argv) {
  if (const auto known = check_command_word(commands, argc, argv); !known)
    return tl::make_unexpected(known.error());
  ParsedLine line;
  if (argc > 1 && takes_program(commands, argv[1])) {
    const auto* const end = argv + argc;
    const auto* const dashes = std::find(argv, end, std::string_view("--"));
    line.invocation.program.assign(std::min(dashes + 1, end), end);
    argc = static_cast<int>(dashes - argv);
  }
  Parser parser(commands);
  try {
    parser.app().parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = parser.app().get_subcommands();
    line.text = parser.help(chosen.empty() ? "" : chosen.front()->get_name());
    return line;
  } catch (const CLI::CallForVersion& e) {
    line.text = std::string(e.what()) + "\n";
    return line;
  } catch (const CLI::ParseError& e) {
    return not_parsed(e.what(), argc);
  }
  line.invocation.words.assign(argv + 2, argv + argc);
  Stated& stated = parser.stated();
  if (const auto clean = refuse_extras(parser.chosen(), stated.words); !clean)
    return tl::make_unexpected(clean.error());
  if (const auto taken = take_all(stated); !taken) return tl::make_unexpected(taken.error());
  line.run = std::move(stated.run);
  return line;
}

std::string help_text(std::span<const Command> commands, std::string_view command) {
  return Parser(commands).help(command);
}

}  // namespace palladion::cli
