// Damaged bundles under the program's commands: a clear answer, and nothing is touched.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <vector>

#include "tests/cuda/capture/recorded.h"

namespace palladion::cuda::capture::testing {
namespace {

using Random = std::mt19937_64;

size_t up_to(Random& random, size_t n) { return random() % n; }

// Where `text` has a value that `is_of` takes, one of these is put.
template <class IsOf>
void replace_one(std::string& text, Random& random, IsOf is_of, const std::vector<std::string>& values) {
  std::vector<std::pair<size_t, size_t>> places;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find_first_of(" ,:[]{}\n", at);
    const size_t n = (end == std::string::npos ? text.size() : end) - at;
    if (n != 0 && is_of(text.substr(at, n))) places.emplace_back(at, n);
    at += n + 1;
  }
  if (places.empty()) return;
  const auto [at, n] = places[up_to(random, places.size())];
  text.replace(at, n, values[up_to(random, values.size())]);
}

void damage_text(std::string& text, Random& random) {
  const std::vector<std::string> numbers = {
      "0",          "1",          "-1",  "255",  "65536", "2147483648", "4294967295", "18446744073709551615",
      "1000000000", "4294967296", "1.5", "null", "\"x\"", "[]",         "{}",         "true"};
  const std::vector<std::string> words = {"\"0x0\"",
                                          "\"0xffffffffffffffff\"",
                                          "\"0x800000000000\"",
                                          "\"0x1000000\"",
                                          "\"0x10000000000000000\"",
                                          "\"../x\"",
                                          "\"/etc/passwd\"",
                                          "\"..\"",
                                          "\"\"",
                                          "\"bundle.json\"",
                                          "\"\\u0000\"",
                                          "\"surface\"",
                                          "\"f32\"",
                                          "\"same\""};
  switch (up_to(random, 4)) {
    case 0:
      return replace_one(
          text, random, [](const std::string& s) { return s[0] >= '0' && s[0] <= '9'; }, numbers);
    case 1:
      return replace_one(text, random, [](const std::string& s) { return s[0] == '"'; }, words);
    case 2:
      text.erase(up_to(random, text.size()), 1 + up_to(random, 40));
      return;
    default:
      text.insert(up_to(random, text.size()), text.substr(up_to(random, text.size()), up_to(random, 100)));
  }
}

void damage_file(const fs::path& path, Random& random) {
  std::string bytes = text_of(path);
  switch (up_to(random, 4)) {
    case 0:
      bytes.resize(up_to(random, bytes.size() + 1));
      break;
    case 1:
      if (!bytes.empty()) bytes[up_to(random, bytes.size())] ^= static_cast<char>(1 << up_to(random, 8));
      break;
    case 2:
      fs::remove(path);
      fs::create_symlink("/etc/passwd", path);
      return;
    default:
      fs::remove(path);
      return;
  }
  std::ofstream(path, std::ios::binary) << bytes;
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) out.insert(entry.path().string());
  return out;
}

class Hostile : public Recorded, public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Bundles, Hostile, ::testing::Values("sample", "gather", "view", "linked"),
                         [](const auto& seed) { return std::string(seed.param); });

TEST_P(Hostile, GetAnAnswerAndTouchNothing) {
  capture(std::string(PLD_OBJECT_PROGRAM " ") + GetParam());
  const fs::path recorded = fs::directory_iterator(folder_ / "out")->path(), damaged = folder_ / "damaged";
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(recorded))
    files.push_back(entry.path().filename().string());
  std::ranges::sort(files);
  const std::array commands = {"compare", "run", "ptx", "compare"};
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    fs::remove_all(damaged);
    fs::create_directory(damaged);
    fs::copy(recorded, damaged / "b", fs::copy_options::recursive);
    if (seed % 4 != 0) {
      std::string text = text_of(damaged / "b/bundle.json");
      // A larger grid is no mistake of the file, and takes its time.
      const size_t grid = text.find("  \"grid\""), after = text.find("  \"cluster\"");
      std::string head = text.substr(0, grid), tail = text.substr(after);
      damage_text(seed % 4 == 1 ? head : tail, random);
      std::ofstream(damaged / "b/bundle.json") << head << text.substr(grid, after - grid) << tail;
    } else {
      damage_file(damaged / "b" / files[up_to(random, files.size())], random);
    }
    const auto before = names_in(damaged);
    const std::string said = run("timeout 60 " PLD_PALLADION " " + std::string(commands[seed % 4]) + " " +
                                 (damaged / "b").string());
    EXPECT_LE(code_, 3) << said;
    EXPECT_FALSE(said.empty());
    EXPECT_EQ(names_in(damaged), before);
  }
}

}  // namespace
}  // namespace palladion::cuda::capture::testing
