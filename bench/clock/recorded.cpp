#include "bench/clock/recorded.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "isa/core/whole_error.h"

namespace palladion::bench {
namespace {

using Row = std::map<std::string, std::string>;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw isa::WholeError(isa::Diagnostic{.code = "PLD5002", .message = fmt::format("{}: {}", path, what)});
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; std::getline(stream, word, ';');) words.push_back(word);
  return words;
}

// Takes the column out of the row.
std::string take(Row& row, const std::string& column, const std::string& path) {
  auto node = row.extract(column);
  if (node.empty()) fail(path, fmt::format("a line has no `{}`", column));
  return node.mapped();
}

double take_number(Row& row, const std::string& column, const std::string& path) {
  const std::string text = take(row, column, path);
  try {
    return std::stod(text);
  } catch (const std::exception&) {
    fail(path, fmt::format("`{}` is no number: `{}`", column, text));
  }
}

Measured take_measured(Row& row, const std::string& cache, const std::string& path) {
  return {take_number(row, cache + "_cycles", path), take_number(row, cache + "_spread", path),
          take_number(row, cache + "_mhz", path)};
}

Recorded to_recorded(Row row, const std::string& path) {
  Recorded r;
  r.text = take(row, "case", path);
  r.cold = take_measured(row, "cold", path);
  r.warm = take_measured(row, "warm", path);
  r.registers = static_cast<int>(take_number(row, "registers", path));
  r.local_bytes = static_cast<int>(take_number(row, "local_bytes", path));
  while (!row.empty()) {
    const std::string name = row.begin()->first;
    if (row.begin()->second.empty())
      row.erase(row.begin());
    else
      r.counters[name] = take_number(row, name, path);
  }
  return r;
}

}  // namespace

std::map<std::string, Recorded> read_recorded(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail(path, "cannot be read");
  std::map<std::string, Recorded> cases;
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> words = split(line);
    if (names.empty()) {
      names = words;
      continue;
    }
    Row row;
    for (size_t i = 0; i < words.size() && i < names.size(); ++i) row[names[i]] = words[i];
    Recorded r = to_recorded(std::move(row), path);
    cases[r.text] = r;
  }
  return cases;
}

}  // namespace palladion::bench
