// What must not compile says why: tests/frontend/compile/must_not_compile.cpp, compiled once.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

namespace palladion::test {
namespace {

const std::string compiled_source =
    std::string(PLD_SOURCE_DIR) + "/tests/frontend/compile/must_not_compile.cpp";

struct Expected {
  int round = 1;
  std::string sentence;
};

// The marked lines.
std::map<int, Expected> expected_sentences() {
  constexpr std::string_view mark = "// expect ";
  std::map<int, Expected> expected;
  std::ifstream file(compiled_source);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const size_t at = line.find(mark);
    if (at == std::string::npos) continue;
    const size_t sentence = line.find(": ", at) + 2;
    expected[number] = {std::atoi(line.c_str() + at + mark.size()), line.substr(sentence)};
  }
  return expected;
}

// What the compiler says of the file with the marked lines of one round alone.
std::string compiler_output(const std::map<int, Expected>& expected, int round) {
  const auto base =
      std::filesystem::temp_directory_path() / fmt::format("palladion_compile_{}_{}", ::getpid(), round);
  const std::string source = base.string() + ".cpp", log = base.string() + ".log";
  {
    std::ifstream in(compiled_source);
    std::ofstream out(source);
    out << "#line 1 \"" << compiled_source << "\"\n";
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
      const auto it = expected.find(number);
      out << (it == expected.end() || it->second.round == round ? line : "") << "\n";
    }
  }
  const std::string command =
      fmt::format("LC_ALL=C {} -std=c++20 -fsyntax-only -fmax-errors=0 -I{} -I{}/include {} > {} 2>&1",
                  PLD_CXX, PLD_SOURCE_DIR, PLD_BINARY_DIR, source, log);
  EXPECT_NE(std::system(command.c_str()), 0) << "it compiled";
  std::ifstream file(log);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(source);
  std::filesystem::remove(log);
  return text;
}

// The errors by the line of the source that caused them: the first that an error, or the instantiations that
// led to it, names.
std::map<int, std::string> errors_by_line(const std::string& output) {
  std::map<int, std::string> errors;
  const std::string place = compiled_source + ":";
  std::istringstream lines(output);
  std::string line, pending;
  int at = 0;
  const auto flush = [&] {
    if (at != 0) errors[at] += pending;
    pending.clear();
  };
  // An instantiation's lines come before the error that they led to.
  for (bool after_error = false; std::getline(lines, line);) {
    const bool error = line.find(": error: ") != std::string::npos;
    const bool names_source = line.starts_with(place);
    if (names_source) {
      const int number = std::atoi(line.c_str() + place.size());
      if (number != 0 && (after_error || error)) flush();
      if (number != 0) at = number;
      after_error = false;
    }
    if (error) after_error = true;
    pending += line + "\n";
  }
  flush();
  return errors;
}

TEST(MustNotCompile, EachLineGetsItsSentence) {
  const std::map<int, Expected> expected = expected_sentences();
  EXPECT_GE(expected.size(), 50u);
  std::set<int> rounds;
  for (const auto& [line, e] : expected) rounds.insert(e.round);
  for (const int round : rounds) {
    const std::map<int, std::string> errors = errors_by_line(compiler_output(expected, round));
    for (const auto& [line, e] : expected) {
      if (e.round != round) continue;
      const auto found = errors.find(line);
      if (found == errors.end())
        ADD_FAILURE() << "line " << line << " compiles: " << e.sentence;
      else
        EXPECT_NE(found->second.find(e.sentence), std::string::npos)
            << "line " << line << ": " << e.sentence << "\n"
            << found->second;
    }
  }
}

}  // namespace
}  // namespace palladion::test
