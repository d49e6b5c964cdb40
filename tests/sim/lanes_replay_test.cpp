// What the lanes of a warp do together when some of them are absent, against an H100
// (tests/device/lanes.txt).
#include <fstream>
#include <sstream>

#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

struct Case {
  std::string name, body;
  uint32_t threads = 0;
  std::vector<uint32_t> words;  // of %r10, then of %r11
};

std::vector<Case> recorded() {
  std::ifstream file(PLD_SOURCE_DIR "/tests/device/lanes.txt");
  std::vector<Case> out;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> parts;
    for (size_t at = 0; at != std::string::npos;) {
      const size_t end = line.find(" | ", at);
      parts.push_back(line.substr(at, end - at));
      at = end == std::string::npos ? end : end + 3;
    }
    EXPECT_EQ(parts.size(), 5U) << line;
    Case c{.name = parts[0], .body = parts[2], .threads = static_cast<uint32_t>(std::stoul(parts[1]))};
    std::istringstream words(parts[3] + ' ' + parts[4]);
    for (uint32_t w; words >> std::hex >> w;) c.words.push_back(w);
    out.push_back(std::move(c));
  }
  return out;
}

std::vector<uint32_t> run(const Case& c) {
  std::vector<uint32_t> in(96), out(64, 0xEEEEEEEE);
  for (uint32_t i = 0; i < in.size(); ++i) in[i] = 0x1000 + i;
  PtxRunner runner(ptx(R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.u32 %r2, [%rd4];
  ld.global.u32 %r3, [%rd4+128];
  mov.u32 %r10, 0xdead;
  mov.u32 %r11, 0xdead;
)" + c.body + R"(
  st.global.u32 [%rd5], %r10;
  st.global.u32 [%rd5+128], %r11;
  ret;
})"));
  runner.array(in).array(out).shape({1, 1, 1}, {c.threads, 1, 1}).run_clean();
  return out;
}

TEST(AbsentLanes, GiveWhatAnH100Gives) {
  const std::vector<Case> cases = recorded();
  EXPECT_GT(cases.size(), 300U);
  for (const Case& c : cases) EXPECT_EQ(run(c), c.words) << c.name;
}

}  // namespace
}  // namespace palladion::sim::testing
