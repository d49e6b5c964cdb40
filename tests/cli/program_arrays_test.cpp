// Arrays, tensor maps and textures of foreign PTX, from files and into files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/floats.h"
#include "tests/cli/program.h"
#include "verify/arrays/arrays.h"

namespace palladion::cli {
namespace {

using testing::HasSubstr;

TEST_F(Program, ForeignPtxTakesItsArraysFromFiles) {
  std::vector<float> x(1000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = float(i % 7);
  ASSERT_TRUE(npy::write_npy(file("x.npy"), "f32", npy::Shape{1000}, std::as_bytes(std::span(x))));
  const Ran ran =
      run("run --ptx tests/cli/ptx/saxpy.ptx --grid 4 --block 256 --arg u32:1000 --arg f32:-1 --arg "
          "in:f32[1000]=" +
          file("x.npy") + " --arg inout:f32[1000]=" + file("x.npy") + " --out arg3=" + file("y.npy"));
  EXPECT_EQ(ran.status, 0) << ran.err;
  const auto y = npy::read_npy(file("y.npy"));
  ASSERT_TRUE(y) << y.error();
  EXPECT_THAT(floats_of(*y), testing::Each(0.0f));
}

TEST_F(Program, ATensorMapFetchesItsTileAndZerosBeyondTheArray) {
  const Ran ran =
      run("run --ptx tests/cli/ptx/tile.ptx --grid 1 --block 32 --arg "
          "'tmap:in:f16[64,64]=const(3),box=16x16' --arg out:f16[16,16]=" +
          file("tile.npy") + " --arg u32:56 --arg u32:8");
  EXPECT_EQ(ran.status, 0) << ran.err;
  const auto tile = npy::read_npy(file("tile.npy"), {.dtype = "f16", .shape = npy::Shape{16, 16}});
  ASSERT_TRUE(tile) << tile.error();
  for (size_t i = 0; i < 256; ++i) {
    uint16_t bits = 0;
    std::memcpy(&bits, tile->data.data() + 2 * i, 2);
    ASSERT_EQ(bits, i < 128 ? 0x4200 : 0) << "row " << i / 16;  // rows 56 to 63 exist
  }
}

TEST_F(Program, TheArrayOfATensorMapMayBeAnotherArgument) {
  const std::string arguments =
      "run --ptx tests/cli/ptx/tile.ptx --grid 1 --block 32 --arg 'tmap:f16[16,16]@1,box=16x16' --arg "
      "'inout:f16[16,16]=const(3)' --arg u32:0 --arg u32:0";
  EXPECT_EQ(run(arguments).status, 0);
}

TEST_F(Program, ATextureComesFromAFileAndASurfaceGoesToOne) {
  std::vector<uint8_t> texels(32 * 4);
  for (size_t i = 0; i < texels.size(); ++i) texels[i] = uint8_t(7 * i);
  ASSERT_TRUE(npy::write_npy(file("t.npy"), "u8", npy::Shape{4, 8, 4}, std::as_bytes(std::span(texels))));
  const std::string launch = "run --ptx docs/howto/texture.ptx --grid 1 --block 8,4 --arg ";
  const Ran ran =
      run(launch + "'tex:u8[4,8,4]=" + file("t.npy") +
          ",channels=4,read=normalized' --arg 'out:f32[4,8]' --arg 'surf:out:f32[4,8]=" + file("s.npy") +
          "' --check all");
  EXPECT_EQ(ran.status, 0) << ran.err;
  const auto s = npy::read_npy(file("s.npy"), {.dtype = "f32", .shape = npy::Shape{4, 8}});
  ASSERT_TRUE(s) << s.error();
  const auto red = floats_of(*s);
  for (size_t i = 0; i < red.size(); ++i) EXPECT_NEAR(red[i], float(texels[4 * i]) / 255, 1e-4) << i;
  EXPECT_THAT(run(launch + "'tex:f32[9,9]@1' --arg 'out:f32[4,8]' --arg 'surf:f32[4,8]@1'").err,
              HasSubstr("the texture covers 324 bytes, f32[4,8] has 128"));
  EXPECT_THAT(run(launch + "'tex:f32[4,8]@7' --arg 'out:f32[4,8]' --arg 'surf:f32[4,8]@1'").err,
              HasSubstr("a texture over argument 7, which is no array"));
  const Ran device =
      run(launch + "'tex:f32[4,8]=iota' --arg 'out:f32[4,8]' --arg 'surf:f32[4,8]@1' --on device");
  EXPECT_EQ(device.status, 3);
  EXPECT_THAT(device.err, HasSubstr("unsupported: texture and surface objects"));
}

TEST_F(Program, ATextureReferenceIsBoundByName) {
  const std::string launch =
      "run --ptx tests/cli/ptx/texref.ptx --grid 1 --block 8 --arg 'out:f32[8]=" + file("y.npy") + "' ";
  const Ran ran = run(launch + "--bind 't=tex:f32[8]=iota'");
  EXPECT_EQ(ran.status, 0) << ran.err;
  const auto y = npy::read_npy(file("y.npy"), {.dtype = "f32", .shape = npy::Shape{8}});
  ASSERT_TRUE(y) << y.error();
  EXPECT_THAT(floats_of(*y), testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(run(launch).err, HasSubstr("no .texref variable that holds one"));
  EXPECT_THAT(run(launch).err, HasSubstr("`--bind NAME=tex:...`"));
  EXPECT_THAT(run(launch + "--bind 'x=tex:f32[8]=iota'").err,
              HasSubstr("no .texref, .surfref or .samplerref `x`"));
  EXPECT_THAT(run(launch + "--bind 't=f32:1'").err, HasSubstr("a .texref takes `t=tex:...`"));
  EXPECT_THAT(run(launch + "--bind 't=tex:f32[9]@0'").err,
              HasSubstr("--bind t: the texture covers 36 bytes, f32[8] has 32"));
}

// `u[x]` is what the sampler `s` looks up in `t` at x.
TEST_F(Program, TexturesSamplersAndSurfacesAreBoundByName) {
  const std::string launch =
      "run --ptx tests/cli/ptx/sampler.ptx --grid 1 --block 8 --bind 't=tex:f32[8]=iota,coords=normalized' ";
  const std::string surface = "--bind 'u=surf:out:f32[8]=" + file("u.npy") + "' ";
  const auto looked_up = [&](const std::string& sampler) {
    const Ran ran = run(launch + surface + "--bind s=" + sampler);
    EXPECT_EQ(ran.status, 0) << ran.err;
    const auto u = npy::read_npy(file("u.npy"), {.dtype = "f32", .shape = npy::Shape{8}});
    EXPECT_TRUE(u) << u.error();
    return u ? floats_of(*u) : std::vector<float>();
  };
  EXPECT_THAT(looked_up("sampler:coords=texels"), testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(looked_up("sampler:coords=texels,filter=linear"),
              testing::ElementsAre(0, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5));
  EXPECT_THAT(looked_up("sampler:"), testing::ElementsAre(0, 7, 7, 7, 7, 7, 7, 7));
  EXPECT_THAT(looked_up("sampler:address=border"), testing::ElementsAre(0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(run(launch + surface).err, HasSubstr("`--bind NAME=sampler:...`"));
  EXPECT_THAT(run(launch + "--bind s=sampler:").err,
              HasSubstr("no .surfref variable that holds one; `--bind NAME=surf:...`"));
  EXPECT_THAT(run(launch + "--bind s=f32:1").err, HasSubstr("a .samplerref takes `s=sampler:...`"));
  EXPECT_THAT(run(launch + "--bind u=tex:f32[8]=iota").err, HasSubstr("a .surfref takes `u=surf:...`"));
  EXPECT_THAT(run(launch + "--bind s=sampler:read=element").err, HasSubstr("a sampler has no option `read`"));
}

// CUDA C++ with TMA and wgmma, as nvcc compiled it (tests/isa/cuda/hopper_tile.cu).

}  // namespace
}  // namespace palladion::cli
