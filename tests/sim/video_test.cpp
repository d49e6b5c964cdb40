// Video instructions against what an H200 gave (tests/device/video.txt).
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

struct VideoRow {
  std::string instruction;
  uint64_t hash = 0;
};

std::vector<uint32_t> video_sources;
std::vector<VideoRow> recorded_video() {
  std::ifstream file(PLD_SOURCE_DIR "/tests/device/video.txt");
  std::vector<VideoRow> rows;
  video_sources.clear();
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (video_sources.empty()) {
      std::istringstream words(line);
      for (std::string w; words >> w;)
        video_sources.push_back(static_cast<uint32_t>(std::stoul(w, nullptr, 16)));
      continue;
    }
    const size_t at = line.rfind(' ');
    rows.push_back({line.substr(0, at), std::stoull(line.substr(at + 1), nullptr, 16)});
  }
  return rows;
}

// %0 to %3 as registers.
std::string with_registers(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '%') out += 'r';
  }
  return out;
}

uint64_t video_hash(const uint32_t* words) {
  uint64_t h = 0xcbf29ce484222325ULL;
  for (int i = 0; i < 32; ++i)
    for (int b = 0; b < 4; ++b) h = (h ^ (words[i] >> (8 * b) & 255)) * 0x100000001b3ULL;
  return h;
}

TEST(Video, ResultsAreThoseOfAnH200) {
  const std::vector<VideoRow> rows = recorded_video();
  ASSERT_EQ(video_sources.size(), 96U);
  ASSERT_GT(rows.size(), 1000U);
  std::string text = R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
  mov.u32 %r4, %tid.x; mul.wide.u32 %rd3, %r4, 12; add.s64 %rd1, %rd1, %rd3;
  ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd1+4]; ld.global.u32 %r3, [%rd1+8];
  mul.wide.u32 %rd3, %r4, 4; add.s64 %rd2, %rd2, %rd3;
)";
  for (size_t i = 0; i < rows.size(); ++i)
    text += fmt::format("{}\nst.global.u32 [%rd2+{}], %r0;\n", with_registers(rows[i].instruction), 128 * i);
  std::vector<uint32_t> out(32 * rows.size());
  PtxRunner(ptx(text + "ret;\n}\n")).array(video_sources).array(out).run_clean();
  for (size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(video_hash(&out[32 * i]), rows[i].hash) << rows[i].instruction;
}

TEST(Video, WhatTheChipDoesAnotherWayIsUnsupportedByName) {
  const RunResult r = PtxRunner(ptx(R"(
.visible .entry k() { .reg .b32 %r<4>; vadd.u32.u32.u32.sat %r1, %r2, %r3; ret; })"))
                          .run();
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].severity, FindingSeverity::unsupported);
  EXPECT_EQ(r.findings[0].message.phrase, Phrase::stated_reason);
  EXPECT_NE(reason_of(r.findings[0]).find("vadd"), std::string::npos) << reason_of(r.findings[0]);
}

}  // namespace
}  // namespace palladion::sim::testing
