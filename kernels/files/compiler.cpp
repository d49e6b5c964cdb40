#include "kernels/files/compiler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>

#include "isa/host/cache.h"
#include "isa/host/files.h"
#include "isa/host/process.h"
#include "verify/arrays/arrays.h"
#include "verify/arrays/words.h"

namespace palladion::kernels {

using namespace host;

namespace {

namespace fs = std::filesystem;

std::vector<std::string> words_of(const char* text) {
  std::vector<std::string> words;
  for (const std::string_view word : split(text != nullptr ? text : "", " "))
    if (!word.empty()) words.emplace_back(word);
  return words;
}

// "#define __VERSION__ "12.2.0"" -> "12.2.0"
std::string macro(std::string_view all, std::string_view name) {
  const size_t at = all.find(fmt::format("#define {} ", name));
  if (at == std::string_view::npos) return {};
  std::string value(all.substr(at + 9 + name.size(), all.find('\n', at) - at - 9 - name.size()));
  std::erase(value, '"');
  return value;
}

// What it says of itself: "g++ 12.2.0", or "-" and why it cannot be used.
std::string ask(const std::vector<std::string>& command) {
  std::vector<std::string> words = command;
  for (const char* const word :
       {"-std=c++20", "-dM", "-E", "-x", "c++", "-include", "source_location", "/dev/null"})
    words.emplace_back(word);
  const Ended said = run_quietly(words);
  if (said.code != 0) return "-it does not know -std=c++20 and <source_location>";
  if (macro(said.output, "__cpp_lib_source_location").empty()) return "-it has no std::source_location";
  const std::string version = macro(said.output, "__VERSION__");
  if (!macro(said.output, "__clang__").empty()) return "clang++ " + macro(said.output, "__clang_version__");
  return "g++ " + version.substr(0, version.find(' '));
}

// The answer is kept: asking takes as long as starting the program.
std::string ask_once(const std::vector<std::string>& command, const std::string& identity) {
  const auto folder = private_cache("compilers");
  if (!folder) return ask(command);
  const fs::path file =
      *folder / fmt::format("{:016x}.txt", palladion::hash(std::as_bytes(std::span(identity))));
  if (auto known = read_text(file, most_of_settings); known && !known->empty()) return *known;
  std::string answer = ask(command);
  if (!answer.starts_with("-")) (void)write_text(file, answer);
  return answer;
}

// The compiler, or why not.
tl::expected<Compiler, std::string> try_compiler(std::vector<std::string> command) {
  std::string identity = fmt::format("{}", fmt::join(command, " "));
  for (const std::string& word : command) {  // "ccache g++": both
    if (word.starts_with("-")) continue;
    const auto file = on_path(word);
    if (!file) return tl::make_unexpected(fmt::format("{}: not found", word));
    identity += "\n" + identity_of(*file);
  }
  const std::string answer = ask_once(command, identity);
  if (answer.starts_with("-"))
    return tl::make_unexpected(fmt::format("{}: {}", fmt::join(command, " "), answer.substr(1)));
  return Compiler{std::move(command), std::move(identity), answer, answer.starts_with("clang")};
}

bool is_header(const fs::path& path) { return path.extension() == ".h" || path.extension() == ".inc"; }

constexpr const char* header_folders[] = {"isa", "frontend", "verify/arrays", "kernels/frame"};

std::string stamp_of(const fs::path& folder) {
  std::vector<std::string> stamps;
  std::error_code none;
  for (const char* const name : header_folders)
    for (const auto& entry : fs::recursive_directory_iterator(folder / name, none))
      if (is_header(entry.path())) stamps.push_back(identity_of(entry.path()));
  std::ranges::sort(stamps);
  return fmt::format("{}\n{}", identity_of(folder / "program.h"), fmt::join(stamps, "\n"));
}

}  // namespace

std::optional<fs::path> on_path(const std::string& name) {
  if (name.find('/') != std::string::npos)
    return ::access(name.c_str(), X_OK) == 0 ? std::optional<fs::path>(name) : std::nullopt;
  const char* const path = std::getenv("PATH");
  for (const std::string_view folder : split(path != nullptr ? path : "", ":"))
    if (const fs::path file = fs::path(folder) / name; ::access(file.c_str(), X_OK) == 0) return file;
  return std::nullopt;
}

Outcome<Compiler> find_compiler() {
  std::vector<std::vector<std::string>> candidates;
  const std::vector<std::string> named = words_of(std::getenv("CXX"));
  if (!named.empty()) {
    candidates.push_back(named);
  } else {
    candidates = {{"g++"}, {"clang++"}, {"c++"}};
  }
  std::vector<std::string> reasons;
  for (auto& candidate : candidates) {
    auto compiler = try_compiler(std::move(candidate));
    if (compiler) return *compiler;
    reasons.push_back(compiler.error());
  }
  return unsupported(
      fmt::format("a file of kernels needs a C++20 compiler; tried {}", fmt::join(reasons, "; ")),
      "install g++ 11 or clang++ 16, or a later one, or set CXX");
}

Outcome<Headers> find_headers() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  std::vector<std::string> tried;
  for (const char* const folder : {"../include", "include"}) {
    const fs::path include = (program.parent_path() / folder).lexically_normal();
    if (fs::exists(include / "palladion" / "program.h", failed))
      return Headers{include, stamp_of(include / "palladion")};
    tried.push_back((include / "palladion" / "program.h").string());
  }
  return unsupported(
      fmt::format("a file of kernels needs palladion's headers; there is no {}", fmt::join(tried, ", no ")),
      "run the installed program, or the one in its build folder");
}

std::vector<fs::path> header_places(const Headers& headers) {
  std::vector<fs::path> out;
  std::error_code none;
  const fs::path root = fs::canonical(headers.include / "palladion", none);
  for (const char* const name : header_folders) out.push_back(root / name);
  out.push_back(root / "program.h");
  return out;
}

std::vector<std::string> compile_command(const Compiler& compiler, const Headers& headers) {
  std::vector<std::string> command = compiler.command;
  for (const char* const word : {"-std=c++20", "-O1", "-fPIC", "-Wall"}) command.emplace_back(word);
#ifdef PLD_KERNEL_FILE_FLAGS  // a program with sanitizers
  command.emplace_back(PLD_KERNEL_FILE_FLAGS);
#endif
  for (const fs::path& folder : {headers.include, headers.include / "palladion"}) {
    command.emplace_back("-isystem");
    command.push_back(folder.string());
  }
  for (std::string& word : words_of(std::getenv("CXXFLAGS"))) command.push_back(std::move(word));
  return command;
}

}  // namespace palladion::kernels
