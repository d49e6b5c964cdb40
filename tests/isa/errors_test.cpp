// What a user reads about broken PTX: every file of tests/golden/isa/errors is a text and what is said about
// it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "isa/text/parse.h"
#include "isa/verify/verify.h"
#include "tests/support/golden.h"

namespace palladion::isa {
namespace {

namespace fs = std::filesystem;

TEST(errors, broken_ptx_is_explained) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(golden::path_of("isa/errors")))
    if (entry.path().extension() == ".ptx") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  ASSERT_GE(files.size(), 8u);
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto module = parse(text);
    const Diagnostics d = module ? verify(*module) : module.error();
    EXPECT_FALSE(d.empty()) << file;
    EXPECT_TRUE(golden::compare("isa/errors/" + file.stem().string() + ".txt", render(d, text)));
  }
}

}  // namespace
}  // namespace palladion::isa
