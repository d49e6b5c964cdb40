#pragma once
// Programs of this folder under the capture library, in a folder of their own.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "cuda/bundle/read.h"

namespace palladion::cuda::capture::testing {

namespace fs = std::filesystem;

inline std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Recorded : public ::testing::Test {
 protected:
  Recorded() {
    std::string name = (fs::temp_directory_path() / "palladion_recorded_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Recorded() override { fs::remove_all(folder_); }

  // What it wrote to both streams.
  std::string run(const std::string& command) {
    const std::string log = (folder_ / "log").string();
    code_ = WEXITSTATUS(std::system(("env " + command + " >" + log + " 2>&1").c_str()));
    return text_of(log);
  }
  std::string capture(const std::string& program, const std::string& settings = {}) {
    return run("LD_LIBRARY_PATH=" PLD_DRIVER_FOLDER " LD_PRELOAD=" PLD_CAPTURE_LIBRARY
               " PALLADION_CAPTURE_DIR=" +
               (folder_ / "out").string() + " " + settings + " " + program);
  }
  std::string compare(const std::string& bundle) {
    return run(PLD_PALLADION " compare " + (folder_ / "out" / bundle).string());
  }
  bundle::Manifest manifest(const std::string& bundle) {
    auto read = bundle::read_manifest(folder_ / "out" / bundle);
    EXPECT_TRUE(read) << read.error();
    return read.value_or(bundle::Manifest());
  }
  // The first 32-bit word of a buffer.
  uint32_t word(const std::string& bundle, const bundle::Contents& contents, uint64_t bytes) {
    const auto read = bundle::read_contents(folder_ / "out" / bundle, contents, bytes);
    EXPECT_TRUE(read) << read.error();
    uint32_t value = 0;
    if (read && read->size() >= 4) std::memcpy(&value, read->data(), 4);
    return value;
  }
  size_t bundles() const {
    if (!fs::exists(folder_ / "out")) return 0;
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_ / "out"), {}));
  }

  fs::path folder_;
  int code_ = -1;
};

}  // namespace palladion::cuda::capture::testing
