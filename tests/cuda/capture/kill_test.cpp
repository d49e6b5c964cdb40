// A program under capture that is killed at any moment: what has a manifest is whole.
#include <random>

#include "tests/cuda/capture/recorded.h"

namespace palladion::cuda::capture::testing {
namespace {

class Killed : public Recorded {
 protected:
  // All files that its manifest names.
  void expect_whole(const fs::path& folder) {
    const auto read = bundle::read_manifest(folder);
    ASSERT_TRUE(read) << read.error();
    const auto checked = bundle::check_files(folder, *read);
    EXPECT_TRUE(checked) << checked.error();
    whole_ += read->complete ? 1 : 0;
  }
  int whole_ = 0;
};

TEST_F(Killed, ItsBundlesAreNotTorn) {
  std::mt19937 random(1);
  size_t seen = 0;
  for (int round = 0; round < 200 && (seen < 100 || round < 20); ++round) {
    const std::string seconds = "0." + std::to_string(100 + random() % 200);
    capture("timeout -s KILL " + seconds + " " PLD_PROGRAM " proc add_one 1000");
    if (!fs::exists(folder_ / "out")) continue;
    for (const auto& made : fs::directory_iterator(folder_ / "out"))
      if (fs::exists(made.path() / bundle::manifest_file)) ++seen, expect_whole(made.path());
    fs::remove_all(folder_ / "out");
  }
  EXPECT_GT(seen, 30U);
  EXPECT_GT(whole_, 0);
}

}  // namespace
}  // namespace palladion::cuda::capture::testing
