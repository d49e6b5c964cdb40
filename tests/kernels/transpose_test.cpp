// What the three steps of the transpose are for: each takes fewer passes through the banks of shared memory.
#include <algorithm>
#include <array>
#include <set>

#include "kernels/examples/transpose.h"
#include "tests/kernels/run_kernel.h"

namespace palladion::kernels::test {
namespace {

// Shared memory gives one 4-byte word of each of its 32 banks a pass; 8-byte accesses are served by half
// warps, 16-byte ones by quarters.
class BankCounter : public sim::Observer {
 public:
  struct Count {
    uint64_t passes = 0, least = 0;
    double ratio() const { return double(passes) / double(least); }
  };
  Count loads, stores;

  void observe(sim::ClusterState&, sim::ClusterEvents& events) override { events.add(*this); }
  void on(const sim::Access& a) { add(a); }

 private:
  void add(const sim::Access& e) {
    if (e.space != isa::Space::shared_cta || e.size < 4) return;
    const unsigned group = 128 / e.size;
    Count& count = e.kind == sim::Access::Kind::write ? stores : loads;
    for (unsigned first = 0; first < 32; first += group) {
      std::array<std::set<uint64_t>, 32> words;
      for (unsigned lane = first; lane < first + group; ++lane) {
        if ((e.lanes >> lane & 1) == 0) continue;
        for (uint64_t word = e.addresses[lane] / 4; word < (e.addresses[lane] + e.size) / 4; ++word)
          words[word % 32].insert(word);
      }
      size_t worst = 0;
      for (const auto& bank : words) worst = std::max(worst, bank.size());
      count.passes += worst;
      count.least += worst > 0;
    }
  }
};

BankCounter count(Transpose::Variant variant) {
  const plgpu::Kernel kernel = transpose({.m = 64, .n = 128, .variant = variant});
  sim::Machine machine(*isa::find_arch("h200"));
  BankCounter counter;
  sim::RunOptions options;
  options.observer = &counter;
  options.threads = 1;  // one counter for all clusters
  const SimOutcome outcome =
      run(kernel, {filled({pl::f32, {64, 128}}, {.kind = Fill::Kind::iota})}, machine, options);
  EXPECT_TRUE(outcome.result.clean()) << text_of(outcome.result);
  return counter;
}

TEST(Transpose, PlainTilesStoreEveryLaneToTheSameBank) {
  const BankCounter banks = count(Transpose::Variant::plain);
  EXPECT_EQ(banks.loads.ratio(), 1);
  EXPECT_EQ(banks.stores.ratio(), 32);
}

TEST(Transpose, SwizzledTilesSpreadThemOverAllPiecesOfARow) {
  const BankCounter banks = count(Transpose::Variant::swizzled);
  EXPECT_EQ(banks.loads.ratio(), 1);
  EXPECT_EQ(banks.stores.ratio(), 4);
}

TEST(Transpose, ColumnsHaveNoBankConflicts) {
  const BankCounter banks = count(Transpose::Variant::columns);
  EXPECT_EQ(banks.loads.ratio(), 1);
  EXPECT_EQ(banks.stores.ratio(), 1);
  // 64 x 128 elements of 4 bytes, 128 bytes a pass.
  EXPECT_EQ(banks.loads.passes, 256u);
  EXPECT_EQ(banks.stores.passes, 256u);
}

std::string refusal(const std::string& kernel, const std::map<std::string, std::string>& sizes,
                    const std::map<std::string, std::string>& settings) {
  const KernelSpec* spec = find_kernel(kernel);
  try {
    spec->build(choose(*spec, sizes, settings));
  } catch (const isa::Error& error) {
    return error.what();
  }
  return "";
}

TEST(Kernels, SayWhichSizesTheyCannotTake) {
  EXPECT_THAT(refusal("transpose", {{"m", "100"}}, {}), testing::HasSubstr("m=100"));
  EXPECT_THAT(refusal("transpose", {}, {{"tile_n", "48"}}),
              testing::HasSubstr("a tile of 48 must be a multiple of 32"));
  EXPECT_THAT(refusal("iota", {{"n", "1000"}}, {}), testing::HasSubstr("tile=1024 does not divide n=1000"));
  EXPECT_THAT(refusal("matmul_pipelined", {{"k", "100"}}, {}),
              testing::HasSubstr("k=100 must be a multiple of tile_k=64"));
  EXPECT_THAT(refusal("matmul_pipelined", {}, {{"stages", "1"}}),
              testing::HasSubstr("stages must be at least 2"));
  EXPECT_THAT(refusal("matmul_blockspec", {{"n", "192"}}, {}),
              testing::HasSubstr("n=192 must be a multiple of tile_n=128"));
  EXPECT_THAT(refusal("matmul_pipelined", {}, {{"stages", "8"}}), testing::HasSubstr("shared memory"));
  EXPECT_THAT(refusal("softmax", {{"n", "8193"}}, {}), testing::HasSubstr("n=8193 must be 1 to 8192"));
  EXPECT_THAT(refusal("rms_norm", {{"n", "8193"}}, {}), testing::HasSubstr("n=8193 must be 1 to 8192"));
  EXPECT_THAT(refusal("rms_norm", {{"n", "257"}}, {{"ctas", "3"}}),
              testing::HasSubstr("n=257 must be a multiple of 128 for bulk copies"));
  EXPECT_THAT(refusal("ref_queue", {}, {{"slots", "0"}}), testing::HasSubstr("slots must be at least 1"));
}

}  // namespace
}  // namespace palladion::kernels::test
