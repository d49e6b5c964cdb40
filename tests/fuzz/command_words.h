// Random command lines of the program: a grammar of its commands and options with small subjects. Three in
// five are right as a whole; the others have one or two mistakes: an option or a value that does not fit, a
// damaged word, a file that is mutated or of the wrong kind.
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

  // The path of a file; `what`: its name ("saxpy.ptx") or its kind ("ptx", "npy", "clock", "suppress",
  // "state", "scopes").
  std::string whole(const std::string& what, Random& random);
  // The path of a new mutation of it.
  std::string mutation(const std::string& what, Random& random);
  // One of the two, or another file, a folder, a device, a name that does not exist.
  std::string any(const std::string& what, Random& random);
  // "wgmma-no-fence:good"
  std::string zoo_kernel(Random& random);
  // A path to write to.
  std::string output(const std::string& ending, Random& random);
  const std::filesystem::path& folder() const { return folder_; }

 private:
  struct Seed {
    std::string kind, content;
    std::filesystem::path path;
  };
  void add(const std::string& kind, const std::string& name, std::string content);
  const Seed& seed(const std::string& what, Random& random) const;
  std::string mutated(const Seed& seed, Random& random);

  std::filesystem::path folder_;
  std::vector<Seed> seeds_;
};

// The words behind the program's name.
Words command_line(Files& files, Random& random);

}  // namespace palladion::fuzz
