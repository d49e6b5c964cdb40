// Tensor maps in the machine: fields that a kernel replaces, maps that do not fit, how values are converted.
#include <bit>
#include <numeric>

#include "tests/sim/tensor_copies.h"

namespace palladion::sim::testing::tiles {
namespace {

// --- maps -----------------------------------------------------------------------------------------
TEST(TensorMaps, FieldsReplacedInSharedMemoryAreUsed) {
  const TensorMap m = packed(D::f16, {256, 200}, {64, 16});
  TensorMap edited = packed(D::f16, {256, 100}, {32, 128}, Swizzle::b64);
  Bytes tensor = random_bytes(tensor_size(m));
  // The map is copied to global memory behind the tile's output, edited there, and used there.
  const std::string body = R"(
  add.s64 %rd5, %rd2, 16384;
  mov.u32 %r9, 0;
$copy:
  cvt.u64.u32 %rd4, %r9;
  add.s64 %rd6, %rd9, %rd4;
  add.s64 %rd7, %rd5, %rd4;
  ld.global.u64 %rd10, [%rd6];
  st.global.u64 [%rd7], %rd10;
  add.u32 %r9, %r9, 8;
  setp.lt.u32 %p1, %r9, 128;
  @%p1 bra $copy;
  mov.u32 %r12, 100;
  mov.u32 %r13, 32;
  mov.u32 %r14, 128;
  @!%p7 bra $replaced;
  tensormap.replace.tile.global_dim.global.b1024.b32 [%rd5], 1, %r12;
  tensormap.replace.tile.box_dim.global.b1024.b32 [%rd5], 0, %r13;
  tensormap.replace.tile.box_dim.global.b1024.b32 [%rd5], 1, %r14;
  tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%rd5], 2;
  fence.proxy.tensormap::generic.release.gpu;
$replaced:
  bar.sync 0;
  fence.proxy.tensormap::generic.acquire.gpu [%rd5], 128;
  mov.b64 %rd9, %rd5;
)" + load(2, "8192") + copy_tile(false);
  const Outcome r = run(body, m, tensor, {64, 30}, Bytes(tile_bytes + 128));
  EXPECT_TRUE(r.result.clean()) << PtxRunner::describe(r.result);
  const Bytes expected = expected_tile(edited, tensor, {64, 30}, Bytes(tile_bytes));
  EXPECT_TRUE(Bytes(r.out.begin(), r.out.begin() + tile_bytes) == expected);
}

std::string tensor_copy_fault(const TensorMap& m, const std::string& body, size_t tensor_bytes = 1 << 20) {
  Bytes tensor(tensor_bytes);
  const Outcome r = run(body, m, tensor, {}, Bytes(tile_bytes));
  return r.result.findings.empty()
             ? "none"
             : r.result.findings[0].code.name() + ": " + reason_of(r.result.findings[0]);
}

TEST(TensorMaps, WhatDoesNotFitIsAFault) {
  const TensorMap good = packed(D::f16, {256, 200}, {64, 16});
  const auto starts = [](const std::string& text, const char* code) { return text.rfind(code, 0) == 0; };
  TensorMap wide = good;
  wide.swizzle = Swizzle::b32;
  EXPECT_TRUE(starts(tensor_copy_fault(wide, load(2, "2048")), "PLD3092"))
      << tensor_copy_fault(wide, load(2, "2048"));
  EXPECT_NE(tensor_copy_fault(wide, load(2, "2048")).find("box dimension 0"), std::string::npos);
  EXPECT_TRUE(starts(tensor_copy_fault(good, load(3, "2048")), "PLD3095"))
      << tensor_copy_fault(good, load(3, "2048"));
  EXPECT_TRUE(starts(tensor_copy_fault(good, "mov.b64 %rd9, %rd2;" + load(2, "2048")), "PLD3092"));
  EXPECT_TRUE(starts(tensor_copy_fault(good, "add.s64 %rd9, %rd9, 16;" + load(2, "2048")), "PLD3024"));
  EXPECT_TRUE(starts(tensor_copy_fault(good, "add.u32 %r2, %r2, 64;" + load(2, "2048")), "PLD3093"));
  EXPECT_TRUE(starts(tensor_copy_fault(good, load(2, "2048"), 4096), "PLD3022"))
      << tensor_copy_fault(good, load(2, "2048"), 4096);
  EXPECT_TRUE(starts(tensor_copy_fault(good, "mov.u32 %r20, 4;" + load(2, "2048")), "PLD3095"));
  EXPECT_TRUE(starts(tensor_copy_fault(good, "mov.u32 %r21, -1;" + store(2)), "PLD3095"));
}

// --- values ---------------------------------------------------------------------------------------
template <class T>
std::vector<T> words_of(const Bytes& bytes) {
  std::vector<T> words(bytes.size() / sizeof(T));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}
Bytes bytes_of(const std::vector<uint32_t>& words) {
  Bytes bytes(words.size() * 4);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

TEST(TensorLoad, NanFillAsAnH200Makes) {
  TensorMap m = packed(D::f16, {24, 16}, {32, 16});
  m.oob_fill = isa::OobFill::nan_request_zero_fma;
  Bytes tensor(tensor_size(m), 0x11);
  const Outcome r = run(load(2, "1024") + copy_tile(false), m, tensor, {}, Bytes(tile_bytes));
  EXPECT_TRUE(r.result.clean()) << PtxRunner::describe(r.result);
  const auto tile = words_of<uint16_t>(r.out);
  for (size_t i = 0; i < 512; ++i) EXPECT_EQ(tile[i], i % 32 < 24 ? 0x1111 : 0x7FF7) << i;
}

TEST(TensorLoad, Tf32RoundsOnItsWayToSharedMemoryOnly) {
  const TensorMap m = packed(D::tf32, {32, 4}, {32, 4});
  const std::vector<uint32_t> values(128, 0x3F801001);
  Bytes tensor = bytes_of(values);
  const Outcome loaded = run(load(2, "512") + copy_tile(false), m, tensor, {}, Bytes(tile_bytes));
  EXPECT_TRUE(loaded.result.clean()) << PtxRunner::describe(loaded.result);
  EXPECT_EQ(words_of<uint32_t>(loaded.out)[0], 0x3F802000U);
  Bytes target(512);
  run(store(2), m, target, {}, bytes_of(std::vector<uint32_t>(4096, 0x3F801001)));
  EXPECT_EQ(words_of<uint32_t>(target), values);
}

// 2^-149 + 2^-149.
TEST(TensorStore, OnlyFtzTypesFlushInReductions) {
  for (const auto& [type, expected] :
       {std::pair{D::f32, 2U}, {D::tf32, 2U}, {D::f32_ftz, 0U}, {D::tf32_ftz, 0U}}) {
    const TensorMap m = packed(type, {32, 4}, {32, 4});
    Bytes tensor = bytes_of(std::vector<uint32_t>(128, 1));
    const Outcome r = run(store(2, "cp.reduce.async.bulk.tensor.op:add"), m, tensor, {},
                          bytes_of(std::vector<uint32_t>(4096, 1)));
    EXPECT_TRUE(r.result.clean()) << PtxRunner::describe(r.result);
    EXPECT_EQ(words_of<uint32_t>(tensor)[0], expected) << name(type);
  }
}

// A wrong byte count in expect_tx is a wait that never ends.
TEST(TensorLoad, TheWholeBoxIsCountedOnTheMbarrier) {
  const TensorMap m = packed(D::f16, {256, 200}, {64, 16});
  EXPECT_EQ(tensor_copy_fault(m, load(2, "2048")), "none");
  EXPECT_EQ(tensor_copy_fault(m, load(2, "4096")).substr(0, 7), "PLD3080");
}

// Decoded maps are cached by their bytes and by what the chip allows, not by where its description lies.
TEST(TensorMaps, AreJudgedAgainForAnotherChip) {
  const isa::EncodedTensorMap bytes = isa::encode(packed(isa::TensorDataType::f32, {100, 60}, {32, 64}));
  const auto* const at = reinterpret_cast<const uint8_t*>(bytes.bytes.data());
  isa::ArchSpec chip = isa::default_arch();
  EXPECT_EQ(read_tensor_map(at, chip).error, "");
  chip.max_box = 32;
  EXPECT_EQ(read_tensor_map(at, chip).error, "box dimension 1 is 64, it must be 1 to 32");
}

}  // namespace
}  // namespace palladion::sim::testing::tiles
