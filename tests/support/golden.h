// Golden files: the expected text of a test lives in tests/golden/NAME and is rewritten by
// `./dev test --rebase` (PLD_REBASE=1), so that a change of output is reviewed as a diff.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace palladion::golden {

inline std::filesystem::path path_of(std::string_view name) {
  return std::filesystem::path(PLD_SOURCE_DIR) / "tests" / "golden" / name;
}

inline bool rebasing() {
  const char* value = std::getenv("PLD_REBASE");
  return value != nullptr && std::string_view(value) != "" && std::string_view(value) != "0";
}

inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

namespace detail {

struct Edit {
  char mark;  // ' ' kept, '-' only expected, '+' only actual
  std::string_view line;
};

// Longest common subsequence between the common head and tail. Quadratic in what differs, so what is too
// large to align is given as one replaced block.
inline std::vector<Edit> edits_between(const std::vector<std::string_view>& a,
                                       const std::vector<std::string_view>& b) {
  constexpr size_t max_cells = 25'000'000;
  size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
    ++tail;
  }
  const size_t rows = a.size() - head - tail, columns = b.size() - head - tail;
  const bool align = (rows + 1) * (columns + 1) <= max_cells;
  std::vector<uint32_t> common(align ? (rows + 1) * (columns + 1) : 0);
  const auto at = [&](size_t i, size_t j) -> uint32_t& { return common[i * (columns + 1) + j]; };
  for (size_t i = align ? rows : 0; i-- > 0;) {
    for (size_t j = columns; j-- > 0;) {
      at(i, j) = a[head + i] == b[head + j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
    }
  }
  std::vector<Edit> edits;
  for (size_t i = 0; i < head; ++i) edits.push_back({' ', a[i]});
  size_t i = 0, j = 0;
  while (i < rows || j < columns) {
    if (align && i < rows && j < columns && a[head + i] == b[head + j]) {
      edits.push_back({' ', a[head + i]}), ++i, ++j;
    } else if (i < rows && (!align || j == columns || at(i + 1, j) >= at(i, j + 1))) {
      edits.push_back({'-', a[head + i++]});
    } else {
      edits.push_back({'+', b[head + j++]});
    }
  }
  for (size_t t = tail; t > 0; --t) edits.push_back({' ', a[a.size() - t]});
  return edits;
}

}  // namespace detail

// A unified diff with three lines of context; empty when equal.
inline std::string unified_diff(std::string_view expected, std::string_view actual) {
  constexpr size_t context = 3;
  const auto edits = detail::edits_between(lines_of(expected), lines_of(actual));
  std::vector<bool> shown(edits.size());
  for (size_t i = 0; i < edits.size(); ++i) {
    if (edits[i].mark == ' ') continue;
    const size_t end = std::min(edits.size(), i + context + 1);
    for (size_t k = i - std::min(i, context); k < end; ++k) shown[k] = true;
  }
  std::ostringstream out;
  size_t line_a = 1, line_b = 1;
  for (size_t i = 0; i < edits.size(); ++i) {
    if (shown[i] && (i == 0 || !shown[i - 1])) {
      size_t count_a = 0, count_b = 0;
      for (size_t k = i; k < edits.size() && shown[k]; ++k) {
        count_a += edits[k].mark != '+';
        count_b += edits[k].mark != '-';
      }
      out << "@@ -" << line_a << ',' << count_a << " +" << line_b << ',' << count_b << " @@\n";
    }
    if (shown[i]) out << edits[i].mark << edits[i].line << '\n';
    line_a += edits[i].mark != '+';
    line_b += edits[i].mark != '-';
  }
  if (out.str().empty() && expected != actual) out << "(only the newline at the end differs)\n";
  return out.str();
}

// EXPECT_TRUE(golden::compare("isa/print/mov.ptx", text)): equal to tests/golden/NAME, or written there when
// rebasing. A missing golden file is a failure, never a silent pass.
inline testing::AssertionResult compare(std::string_view name, std::string_view text) {
  const auto path = path_of(name);
  if (rebasing()) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return testing::AssertionSuccess();
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return testing::AssertionFailure()
           << "there is no golden file " << path.string() << "; write it with ./dev test --rebase";
  }
  const std::string expected{std::istreambuf_iterator<char>(in), {}};
  if (expected == text) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "differs from tests/golden/" << name
                                     << " (if that is meant: ./dev test --rebase)\n"
                                     << unified_diff(expected, text);
}

}  // namespace palladion::golden
