// `--ptx` with machine code that carries its PTX.
#include <gmock/gmock.h>

#include "cuda/cubin/carried_ptx.h"
#include "tests/cli/program.h"

namespace palladion::cli {
namespace {

using testing::HasSubstr;

class CubinProgram : public Program {
 protected:
  std::string written(std::string_view name, std::string_view content) const {
    std::ofstream(file(name), std::ios::binary) << content;
    return file(name);
  }
  static std::string saxpy_of(const std::string& path) {
    return "run --ptx " + path +
           " --grid 4 --block 256 --arg u32:1000 --arg f32:2 --arg in:f32[1000]=iota --arg "
           "'inout:f32[1000]=const(1)'";
  }
  // The line of the output array.
  static std::string output_of(const Ran& ran) {
    const size_t at = ran.out.find("  out ");
    return at == std::string::npos ? ran.err : ran.out.substr(at, ran.out.find('\n', at) - at);
  }
};

TEST_F(CubinProgram, RunsAsItsPtxDoes) {
  const std::string text = read(ptx("saxpy"));
  const Ran carried = run(saxpy_of(written("saxpy.cubin", cuda::cubin::carry(text))));
  EXPECT_EQ(carried.status, 0) << carried.err;
  EXPECT_THAT(output_of(carried), HasSubstr("hash"));
  EXPECT_EQ(output_of(carried), output_of(run(saxpy_of(ptx("saxpy")))));
}

TEST_F(CubinProgram, TheChipIsThatOfItsTarget) {
  const std::string text = ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k() { ret; }\n";
  const Ran ran = run("run --grid 1 --block 32 --ptx " + written("k.cubin", cuda::cubin::carry(text)));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("on b200"));
}

TEST_F(CubinProgram, WhatIsCutOrHasNoPtxIsRefused) {
  const std::string whole = cuda::cubin::carry(read(ptx("saxpy")));
  for (const size_t bytes : {size_t{4}, size_t{40}, size_t{64}, whole.size() / 2, whole.size() - 1}) {
    const Ran ran = run(saxpy_of(written("cut.cubin", whole.substr(0, bytes))));
    EXPECT_EQ(ran.status, 2) << bytes;
    EXPECT_THAT(ran.err, HasSubstr("cut.cubin: broken machine code")) << bytes;
  }
  std::string bare = whole;
  bare.replace(bare.find(".nv_debug_ptx_txt"), 17, ".text.saxpy_code.");
  const Ran ran = run(saxpy_of(written("bare.cubin", bare)));
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("machine code without its PTX: `saxpy_code.`"));
  EXPECT_THAT(ran.err, HasSubstr("-lineinfo"));
  EXPECT_THAT(run(saxpy_of(written("cut.fatbin", "P\xED\x55\xBA..."))).err, HasSubstr("fatbin"));
}

}  // namespace
}  // namespace palladion::cli
