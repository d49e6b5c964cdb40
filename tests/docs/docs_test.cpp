// The handbook says what is so: its commands run, its code is part of files that compile, its names exist.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <set>
#include <sstream>

#include "tests/cli/program.h"

namespace palladion::docs {
namespace {

namespace fs = std::filesystem;
const fs::path root = PLD_SOURCE_DIR;

struct Block {
  std::string place, info, text;  // page:line; what stands behind the fence
};

// Of the handbook, and the README of the repository.
std::vector<fs::path> pages() {
  std::vector<fs::path> found = {root / "README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<Block> blocks_of(const fs::path& page) {
  std::vector<Block> blocks;
  std::istringstream in(cli::read(page));
  bool open = false;
  size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.starts_with("```")) {
      if (!open)
        blocks.push_back(
            {fs::relative(page, root).string() + ":" + std::to_string(number), line.substr(3), {}});
      open = !open;
    } else if (open) {
      blocks.back().text += line + "\n";
    }
  }
  EXPECT_FALSE(open) << page << ": a block has no end";
  return blocks;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// `...` in a wanted line stands for any text; a line of `...` for any lines.
bool matches(const std::string& line, const std::string& wanted) {
  size_t at = 0, from = 0;
  bool first = true;
  for (size_t dots; (dots = wanted.find("...", from)) != std::string::npos; from = dots + 3, first = false) {
    const std::string part = wanted.substr(from, dots - from);
    const size_t found = line.find(part, at);
    if (found == std::string::npos || (first && found != 0)) return false;
    at = found + part.size();
  }
  const std::string rest = wanted.substr(from);
  if (first) return line == wanted;
  return line.size() >= at + rest.size() && line.ends_with(rest);
}

// The lines of `wanted` in this order; those after `...` may come later.
std::string first_missing(const std::vector<std::string>& lines, const std::vector<std::string>& wanted) {
  size_t at = 0;
  bool anywhere = false;
  for (const std::string& w : wanted) {
    if (w == "...") {
      anywhere = true;
      continue;
    }
    while (anywhere && at < lines.size() && !matches(lines[at], w)) ++at;
    if (at == lines.size() || !matches(lines[at], w)) return w;
    ++at;
    anywhere = false;
  }
  return {};
}

class Handbook : public cli::Program {
 protected:
  void SetUp() override {
    cli::Program::SetUp();
    ::setenv("XDG_DATA_HOME", file("data").c_str(), 1);  // progress of labs
    for (const char* name : {"tutorial", "howto"})
      fs::create_directory_symlink(root / "docs" / name, file(name));
    for (const char* name : {"saxpy.ptx", "texture.ptx"})
      fs::create_symlink(root / "docs/howto" / name, file(name));
  }
  // A line of a console block, as a reader would type it: the program from the PATH.
  cli::Ran typed(const std::string& line) const {
    std::string command = line;
    if (command.starts_with("build/")) command.erase(0, 6);
    if (command.starts_with("palladion ")) command = program() + command.substr(9);
    command = std::regex_replace(command, std::regex(R"( ([^ ']*[\[(][^ ']*))"), " '$1'");
    cli::Ran ran;
    command = "cd " + file("") + " && NO_COLOR=1 " + command + " 2>&1 </dev/null";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    char buffer[4096];
    while (const size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) ran.out.append(buffer, got);
    const int status = ::pclose(pipe);
    if (WIFEXITED(status)) ran.status = WEXITSTATUS(status);
    return ran;
  }
  void try_block(const Block& block) const;
  void look_up(const Block& block) const;
  void look_up_words(const std::string& place, const std::string& command) const;
};

void Handbook::try_block(const Block& block) const {
  const size_t said = block.info.find("exit=");
  const int exit_code = said == std::string::npos ? 0 : std::stoi(block.info.substr(said + 5));
  const std::vector<std::string> lines = lines_of(block.text);
  for (size_t i = 0; i < lines.size();) {
    ASSERT_TRUE(lines[i].starts_with("$ ")) << block.place << ": " << lines[i];
    const std::string command = lines[i].substr(2);
    std::vector<std::string> wanted;
    for (++i; i < lines.size() && !lines[i].starts_with("$ "); ++i) wanted.push_back(lines[i]);
    const cli::Ran ran = typed(command);
    EXPECT_EQ(ran.status, exit_code) << block.place << ": " << command << "\n" << ran.out;
    EXPECT_EQ(first_missing(lines_of(ran.out), wanted), "") << block.place << ": " << command << "\n"
                                                            << ran.out;
  }
}

// What a block of commands needs that a test has not: they are looked up, not run.
constexpr const char* needs[] = {"needs=build",   "needs=install", "needs=gpu",
                                 "needs=project", "needs=python",  "needs=docker"};

bool is_run(const Block& block) {
  return block.info.starts_with("console") && block.info.find("needs=") == std::string::npos;
}

bool is_looked_up(const Block& block) {
  return std::any_of(std::begin(needs), std::end(needs), [&](const char* n) {
    return (block.info + " ").starts_with(std::string("console ") + n + " ");
  });
}

// The command exists and has these options.
void Handbook::look_up_words(const std::string& place, const std::string& command) const {
  std::istringstream in(command);
  std::string name, verb;
  in >> name;
  if (name == "pip" || name == "python" || name == "pytest") return;  // run by tests/python/test_docs.py
  if (name == "docker") return;                                       // read by tests/python/test_ci.py
  if (name == "git" || name == "cmake" || name == "cd" || name == "export" || name == "$EDITOR") return;
  in >> verb;
  if (name == "./dev") {
    EXPECT_NE(typed((root / "dev").string() + " help").out.find("\n  " + verb + " "), std::string::npos)
        << place << ": " << command;
    return;
  }
  ASSERT_TRUE(name == "palladion" || name == "build/palladion") << place << ": " << command;
  const cli::Ran help = run(verb + " --help");
  EXPECT_EQ(help.status, 0) << place << ": " << command;
  for (std::string word; in >> word && word != "--" && word != "#";)
    if (word.starts_with("-")) {
      EXPECT_NE(help.out.find(word), std::string::npos) << place << ": " << command;
    }
}

void Handbook::look_up(const Block& block) const {
  for (const std::string& line : lines_of(block.text)) {
    if (!line.starts_with("$ ")) continue;
    std::string rest = line.substr(2);
    for (size_t end; (end = rest.find(" && ")) != std::string::npos; rest.erase(0, end + 4))
      look_up_words(block.place, rest.substr(0, end));
    look_up_words(block.place, rest);
  }
}

TEST_F(Handbook, CommandsDoWhatThePagesShow) {
  size_t ran = 0, looked_up = 0;
  for (const fs::path& page : pages())
    for (const Block& block : blocks_of(page)) {
      if (is_run(block)) try_block(block), ++ran;
      if (is_looked_up(block)) look_up(block), ++looked_up;
    }
  std::cout << ran << " blocks of commands were run, of " << looked_up << " the words were looked up\n";
  EXPECT_GE(ran, 20U);
  EXPECT_GE(looked_up, 5U);
}

// A block of another kind would be read by no test. `text` is for pictures: no command hides there. Sphinx
// resolves the directives, and ends with an error where it cannot.
TEST(HandbookText, EveryBlockIsOfAKindThatIsTested) {
  const std::regex command(R"((^|\n)(\$ |palladion |build/palladion |\./dev ))");
  for (const fs::path& page : pages())
    for (const Block& block : blocks_of(page)) {
      const std::string kind = block.info.substr(0, block.info.find(' '));
      const bool known = is_run(block) || is_looked_up(block) || kind == "cpp" || kind == "text" ||
                         kind == "{toctree}" || kind == "{literalinclude}";
      EXPECT_TRUE(known) << block.place << ": `" << block.info << "`";
      if (kind == "text") {
        EXPECT_FALSE(std::regex_search(block.text, command)) << block.place;
      }
    }
}

// Code is an excerpt of a file that is compiled: by this build or, in docs, by the commands above.
TEST(HandbookText, CodeIsPartOfFilesThatCompile) {
  std::vector<std::string> sources;
  for (const char* folder : {"docs", "kernels"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.path().extension() == ".cpp" || entry.path().extension() == ".h")
        sources.push_back(cli::read(entry.path()));
  size_t blocks = 0;
  for (const fs::path& page : pages())
    for (const Block& block : blocks_of(page)) {
      if (!block.info.starts_with("cpp")) continue;
      ++blocks;
      EXPECT_TRUE(std::any_of(sources.begin(), sources.end(),
                              [&](const std::string& s) { return s.find(block.text) != std::string::npos; }))
          << block.place << ": this code is in no file of docs or kernels\n"
          << block.text;
    }
  EXPECT_GE(blocks, 5U);
}

std::set<std::string> all_matches(const std::regex& wanted) {
  std::set<std::string> found;
  for (const fs::path& page : pages()) {
    const std::string text = cli::read(page);
    for (std::sregex_iterator i(text.begin(), text.end(), wanted), end; i != end; ++i) found.insert((*i)[1]);
  }
  return found;
}

// Every word behind `pl::` or `plgpu::` is one of the frontend's headers or of the arrays'.
TEST(HandbookText, NamesExist) {
  std::string headers;
  for (const char* folder : {"frontend", "verify/arrays", "kernels"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.path().extension() == ".h") headers += cli::read(entry.path());
  std::set<std::string> words;
  const std::regex word(R"(\w+)");
  for (std::sregex_iterator i(headers.begin(), headers.end(), word), end; i != end; ++i)
    words.insert(i->str());
  const std::set<std::string> named = all_matches(std::regex(R"(\b(?:pl|plgpu)::(\w+))"));
  EXPECT_GE(named.size(), 30U);
  for (const std::string& name : named) EXPECT_TRUE(words.contains(name)) << name;
}

TEST_F(Handbook, CodesAndPairsExist) {
  const std::set<std::string> codes = all_matches(std::regex(R"(\b(PLD\d{4})\b)"));
  EXPECT_GE(codes.size(), 8U);
  for (const std::string& code : codes) EXPECT_EQ(run("explain " + code).status, 0) << code;
  const std::string zoo = run("list zoo").out;
  const std::set<std::string> pairs = all_matches(std::regex(R"(\bzoo/([a-z][a-z0-9-]+)\b(?!/|\.))"));
  EXPECT_GE(pairs.size(), 5U);
  for (const std::string& pair : pairs) EXPECT_NE(zoo.find("zoo/" + pair + " "), std::string::npos) << pair;
}

// Public types and members of a header that have no comment, as docs/generate.py counts them.
std::string undocumented(const fs::path& folder, const std::string& header) {
  fs::create_directories(folder / "frontend");
  std::ofstream(folder / "frontend/names.h") << header;
  const std::string at = folder.string();
  const std::string doxygen = "cd " + at + " && (grep -v ^INPUT.= " + (root / "docs/Doxyfile").string() +
                              "; echo 'INPUT = frontend') | doxygen - >doxygen.log 2>&1";
  EXPECT_EQ(std::system(doxygen.c_str()), 0) << cli::read(folder / "doxygen.log");
  const std::string count = "cd " + at +
                            " && PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=" + (root / "docs").string() +
                            " python3 -c \"import generate, pathlib; generate.ROOT = pathlib.Path('" + at +
                            "'); a = generate.Api('xml'); a.page('', ['frontend'], lambda n: True); "
                            "print(a.count, *a.undocumented)\" "
                            ">count.txt 2>&1";
  EXPECT_EQ(std::system(count.c_str()), 0) << cli::read(folder / "count.txt");
  return cli::read(folder / "count.txt");
}

// docs.handbook fails when a public name has no comment; what it counts is seen here.
TEST_F(Handbook, NamesWithoutACommentAreCounted) {
  if (std::system("command -v doxygen >/dev/null") != 0)
    GTEST_SKIP() << "doxygen is missing: NOTHING was counted";
  const std::string documented =
      "namespace palladion::pl {\n"
      "// A pair.\nstruct Pair {\n  int a = 0, b = 0;  // both\n  // Their sum.\n  int sum() const { return "
      "a + b; }\n};\n"
      "// Makes one.\nPair make(int a);\nPair make(int a, int b);\n}\n";
  EXPECT_EQ(undocumented(file("all"), documented), "6\n");
  std::string bare = std::regex_replace(documented, std::regex("// A pair.\n|  // both"), "");
  bare = std::regex_replace(bare, std::regex("  // Their sum.\n"), "");
  EXPECT_EQ(undocumented(file("some"), bare),
            "6 palladion::pl::Pair (frontend/names.h) palladion::pl::Pair::a (frontend/names.h) "
            "palladion::pl::Pair::b (frontend/names.h) palladion::pl::Pair::sum (frontend/names.h)\n");
}

TEST(HandbookText, DotsStandForAnyText) {
  EXPECT_TRUE(matches("a b c", "a b c"));
  EXPECT_FALSE(matches("a b c", "a b"));
  EXPECT_TRUE(matches("a b c", "a ... c"));
  EXPECT_TRUE(matches("a b c", "a ..."));
  EXPECT_FALSE(matches("x b c", "a ..."));
  EXPECT_EQ(first_missing({"1", "2", "3"}, {"1", "...", "3"}), "");
  EXPECT_EQ(first_missing({"1", "2", "3"}, {"2"}), "2");
  EXPECT_EQ(first_missing({"1", "2", "3"}, {"...", "4"}), "4");
}

}  // namespace
}  // namespace palladion::docs
