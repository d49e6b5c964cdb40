// Random command lines of the program: a grammar of all its commands and options, with values that are right,
// nearly right and absurd, and files that are whole, mutated or of the wrong kind.
#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace palladion::fuzz {

using Words = std::vector<std::string>;

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  size_t below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(engine_() % n); }
  bool one_in(size_t n) { return below(n) == 0; }
  const std::string& of(const Words& all) { return all[below(all.size())]; }

 private:
  std::mt19937_64 engine_;
};

// The files that command lines name, in a folder of their own.
class Files {
 public:
  // `sources`: the root of the repository, whose PTX files serve.
  Files(const std::filesystem::path& sources, const std::filesystem::path& folder);

  // The path of a file: of this kind ("ptx", "npy", "clock", "suppress", "state", "scopes"), or, now and
  // then, of another one, a folder, a device, a name that does not exist; often a new mutation of one.
  std::string any(const std::string& kind, Random& random);
  // A path to write to.
  std::string output(const std::string& ending, Random& random);
  const std::filesystem::path& folder() const { return folder_; }

 private:
  struct Seed {
    std::string kind, content;
    std::filesystem::path path;
  };
  void add(const std::string& kind, const std::string& name, std::string content);
  std::string mutated(const Seed& seed, Random& random);

  std::filesystem::path folder_;
  std::vector<Seed> seeds_;
};

// The words behind the program's name.
Words command_line(Files& files, Random& random);

}  // namespace palladion::fuzz
