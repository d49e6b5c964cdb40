// Stands in for libFuzzer where a build has none: runs every file of the corpus folder, then mutations of
// them in a fixed order, so that a plain `ctest` meets broken input too.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;

constexpr size_t mutations_per_seed = 400;

std::vector<std::string> seeds_of(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> seeds;
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return seeds;
}

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

// Cuts, repeats, swaps in a piece of another seed, or changes a byte.
std::string mutate(std::string text, const std::vector<std::string>& seeds, std::mt19937& random) {
  const auto below = [&](size_t n) { return n == 0 ? 0 : size_t(random() % n); };
  for (size_t rounds = 1 + below(4); rounds-- > 0;) {
    const size_t at = below(text.size()), length = std::min(below(32), text.size() - at);
    const std::string& other = seeds[below(seeds.size())];
    switch (below(5)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(at, length));
        break;
      case 2:
        text.replace(at, length, other.substr(below(other.size()), below(32)));
        break;
      case 3:
        text.resize(at);
        break;
      default:
        if (!text.empty()) text[at] = char(random());
    }
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const auto seeds = seeds_of(argc > 1 ? argv[1] : ".");
  if (seeds.empty()) {
    std::fprintf(stderr, "no corpus\n");
    return 2;
  }
  std::mt19937 random(1);
  for (const auto& seed : seeds) run(seed);
  for (const auto& seed : seeds) {
    for (size_t i = 0; i < mutations_per_seed; ++i) run(mutate(seed, seeds, random));
  }
  std::printf("%zu inputs and %zu mutations survived\n", seeds.size(), seeds.size() * mutations_per_seed);
}
