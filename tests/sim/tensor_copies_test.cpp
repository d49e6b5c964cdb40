// TMA tensor copies as kernels use them: tiles against a plain loop over coordinates, swizzles, edges of
// the tensor, multicast, stores, reductions, im2col, edited maps.
#include <array>
#include <bit>
#include <numeric>

#include "isa/formats/tensor_map.h"
#include "sim/machine/async/tensor_copies.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

using isa::Swizzle;
using isa::TensorMap;
using Bytes = std::vector<uint8_t>;

constexpr uint32_t tile_bytes = 16384;

// A packed tensor of `dims` (innermost first) with a box.
TensorMap packed(isa::TensorDataType type, std::vector<uint64_t> dims, std::vector<uint32_t> box,
                 Swizzle swizzle = Swizzle::none) {
  TensorMap m;
  m.data_type = type;
  m.rank = static_cast<int>(dims.size());
  uint64_t stride = static_cast<uint64_t>(m.element_bytes());
  for (size_t i = 0; i < dims.size(); ++i) {
    m.dims[i] = dims[i];
    m.box[i] = box[i];
    stride *= dims[i];
    if (i + 1 < dims.size()) m.strides[i] = stride;
  }
  m.swizzle = swizzle;
  return m;
}

uint64_t tensor_size(const TensorMap& m) {
  return m.rank == 1 ? m.dims[0] * static_cast<uint64_t>(m.element_bytes())
                     : m.strides[m.rank - 2] * m.dims[m.rank - 1];
}

Bytes random_bytes(size_t n, uint32_t seed = 1) {
  Bytes b(n);
  for (uint8_t& v : b) v = static_cast<uint8_t>((seed = seed * 1664525U + 1013904223U) >> 24);
  return b;
}

// Parameters: the map, the coordinates as five s32, the output (16 KiB a CTA). %rd9 the map, %r20.. the
// coordinates; the tile is at a multiple of 1 KiB.
std::string tensor_copy_kernel(const std::string& body) {
  return ptx(R"(
.visible .entry k(.param .align 128 .b8 map[128], .param .align 4 .b8 coordinates[20], .param .u64 out) {
  .shared .align 1024 .b8 tile[16384];
  .shared .align 8 .b64 bar;
  .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<40>; .reg .b64 %rd<12>;
  mov.b64 %rd8, map;
  cvta.param.u64 %rd9, %rd8;
  ld.param.u32 %r20, [coordinates];
  ld.param.u32 %r21, [coordinates+4];
  ld.param.u32 %r22, [coordinates+8];
  ld.param.u32 %r23, [coordinates+12];
  ld.param.u32 %r24, [coordinates+16];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile;
  mov.u32 %r30, bar;
  mov.u32 %r8, %cluster_ctarank;
  setp.eq.u32 %p7, %r1, 0;
  @%p7 mbarrier.init.shared.b64 [%r30], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
)" + body + "\n  ret;\n}");
}

// Fills the tile from out + offset, or the other way round, 16 bytes a lane at a time.
std::string copy_tile(bool to_shared) {
  const std::string move =
      to_shared
          ? "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd4]; st.shared.v4.u32 [%r10], {%r4, %r5, %r6, %r7};"
          : "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r10]; st.global.v4.u32 [%rd4], {%r4, %r5, %r6, %r7};";
  const std::string label = to_shared ? "$in" : "$out";
  return "shl.b32 %r9, %r1, 4;" + label +
         ": add.u32 %r10, %r2, %r9; mad.lo.u32 %r11, %r8, 16384, %r9; cvt.u64.u32 %rd4, %r11;"
         "add.s64 %rd4, %rd4, %rd2;" +
         move + "add.u32 %r9, %r9, 512; setp.lt.u32 %p1, %r9, 16384; @%p1 bra " + label + "; bar.sync 0;";
}

const char* const wait_for_tile = R"(
$wait: mbarrier.try_wait.parity.shared.b64 %p6, [%r30], 0;
  @!%p6 bra $wait;
)";

std::string coordinates(int rank) {
  std::string s = "{%r20";
  for (int i = 1; i < rank; ++i) s += ", %r2" + std::to_string(i);
  return s + "}";
}

struct Outcome {
  Bytes out;
  RunResult result;
};

// Runs with the tensor's bytes behind the map.
Outcome run(const std::string& body, TensorMap map, Bytes& tensor, std::array<int32_t, 5> at, Bytes out,
            const RunOptions& o = {}, uint32_t ctas = 1) {
  PtxRunner k(tensor_copy_kernel(body));
  map.global_address = k.machine().memory().bind(tensor, "tensor");
  k.launch.params.resize(152);  // up to the pointer, which is aligned to 8
  std::memcpy(k.launch.params.data(), isa::encode(map).bytes.data(), isa::tensor_map_bytes);
  std::memcpy(k.launch.params.data() + isa::tensor_map_bytes, at.data(), sizeof at);
  k.array(out, "out").shape({ctas, 1, 1}, {32, 1, 1}, {ctas, 1, 1});
  RunResult r = k.run(o);
  return {std::move(out), std::move(r)};
}

std::string load(int rank, const std::string& bytes, const std::string& mode = "tile",
                 const std::string& more = "") {
  return "@%p7 mbarrier.arrive.expect_tx.shared.b64 _, [%r30], " + bytes + "; @%p7 cp.async.bulk.tensor." +
         std::to_string(rank) + "d.shared::cluster.global." + mode +
         ".mbarrier::complete_tx::bytes [%r2], [%rd9, " + coordinates(rank) + "], [%r30]" + more + ";" +
         wait_for_tile;
}

// What a load leaves in shared memory: every element of the box at its swizzled place, zeros outside.
Bytes expected_tile(const TensorMap& m, const Bytes& tensor, const std::array<int32_t, 5>& at, Bytes tile) {
  const auto element = static_cast<uint64_t>(m.element_bytes());
  uint64_t count = 1;
  for (int i = 0; i < m.rank; ++i) count *= m.box_count(i);
  const uint64_t inner = m.box_count(0) * element;
  const uint64_t pitch =
      m.swizzle == Swizzle::none ? inner : std::max<uint64_t>(inner, span_bytes(m.swizzle));
  for (uint64_t n = 0; n < count; ++n) {
    uint64_t rest = n, from = 0;
    bool inside = true;
    for (int i = 0; i < m.rank; ++i) {
      const auto step = i == 0 ? 1 : static_cast<int64_t>(m.element_strides[i]);
      const int64_t position = at[i] + static_cast<int64_t>(rest % m.box_count(i)) * step;
      rest /= m.box_count(i);
      inside &= position >= 0 && position < static_cast<int64_t>(m.dims[i]);
      from += static_cast<uint64_t>(position) * (i == 0 ? element : m.strides[i - 1]);
    }
    const uint64_t row = n / m.box_count(0), column = n % m.box_count(0);
    // The tile is aligned to the pattern, so that offsets swizzle as addresses do.
    const uint32_t to = isa::swizzle(static_cast<uint32_t>(row * pitch + column * element), m.swizzle);
    for (uint64_t k = 0; k < element; ++k) tile[to + k] = inside ? tensor[from + k] : 0;
  }
  return tile;
}

uint32_t box_bytes(const TensorMap& m) {
  uint32_t n = static_cast<uint32_t>(m.element_bytes());
  for (int i = 0; i < m.rank; ++i) n *= m.box_count(i);
  return n;
}

void check_load(const TensorMap& m, std::array<int32_t, 5> at, const RunOptions& o = {}) {
  Bytes tensor = random_bytes(tensor_size(m));
  const std::string body = load(m.rank, std::to_string(box_bytes(m))) + copy_tile(false);
  const Outcome r = run(body, m, tensor, at, Bytes(tile_bytes), o);
  EXPECT_TRUE(r.result.clean()) << PtxRunner::describe(r.result);
  const Bytes expected = expected_tile(m, tensor, at, Bytes(tile_bytes));
  EXPECT_TRUE(r.out == expected) << "rank " << m.rank << " swizzle " << name(m.swizzle) << " at " << at[0]
                                 << "," << at[1] << "," << at[2];
}

using D = isa::TensorDataType;

TEST(TensorLoad, EverySwizzleOfATwoDimensionalTile) {
  for (const RunOptions& o : every_schedule())
    check_load(packed(D::f16, {256, 200}, {64, 128}, Swizzle::b128), {64, 32}, o);
  check_load(packed(D::f16, {256, 200}, {64, 128}), {64, 32});
  check_load(packed(D::f16, {256, 200}, {32, 128}, Swizzle::b64), {8, 3});
  check_load(packed(D::f16, {256, 200}, {16, 128}, Swizzle::b32), {8, 3});
  check_load(packed(D::u8, {256, 200}, {64, 100}, Swizzle::b128), {16, 3});  // rows narrower than the span
}

TEST(TensorLoad, CoordinatesOutsideTheTensorGiveZeros) {
  const TensorMap m = packed(D::f32, {100, 60}, {32, 64}, Swizzle::b128);
  for (const std::array<int32_t, 5> at :
       {std::array<int32_t, 5>{-4, -7}, {88, 40}, {-32, 0}, {200, 0}, {0, 60}, {4, -64}})
    check_load(m, at);
}

TEST(TensorLoad, OneToFiveDimensions) {
  check_load(packed(D::u32, {1000}, {256}), {900});
  check_load(packed(D::u16, {40, 30, 20}, {24, 5, 7}), {8, 2, 15});
  check_load(packed(D::u8, {48, 9, 8, 7}, {32, 3, 4, 5}), {-16, 1, 6, 5});
  check_load(packed(D::u64, {6, 5, 4, 3, 8}, {4, 3, 2, 2, 3}), {2, 3, 3, 1, -1});
  TensorMap strided = packed(D::u16, {64, 40, 20}, {32, 9, 6});
  strided.element_strides = {1, 2, 3, 1, 1};
  check_load(strided, {8, 1, 4});
}

TEST(TensorLoad, MulticastAndMbarrierOfEveryDestination) {
  const TensorMap m = packed(D::f16, {256, 200}, {64, 64}, Swizzle::b128);
  Bytes tensor = random_bytes(tensor_size(m));
  // Both CTAs load one half of a 128-row tile into both.
  const std::string body = R"(
  @%p7 mbarrier.arrive.expect_tx.shared.b64 _, [%r30], 16384;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mad.lo.u32 %r12, %r8, 8192, %r2;
  mad.lo.u32 %r21, %r8, 64, %r21;
  mov.u16 %h1, 3;
  @%p7 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r12], [%rd9, {%r20, %r21}], [%r30], %h1;
)" + std::string(wait_for_tile) +
                           copy_tile(false) + "barrier.cluster.arrive; barrier.cluster.wait;";
  TensorMap whole = m;
  whole.box[1] = 128;
  const Bytes tile = expected_tile(whole, tensor, {64, 10}, Bytes(tile_bytes));
  for (const RunOptions& o : every_schedule()) {
    const Outcome r = run(body, m, tensor, {64, 10}, Bytes(2 * tile_bytes), o, 2);
    EXPECT_TRUE(r.result.clean()) << PtxRunner::describe(r.result);
    EXPECT_TRUE(Bytes(r.out.begin(), r.out.begin() + tile_bytes) == tile) << name(o.schedule);
    EXPECT_TRUE(Bytes(r.out.begin() + tile_bytes, r.out.end()) == tile) << name(o.schedule);
  }
}

// Under `latest` nothing is there before the wait.
TEST(TensorLoad, LandsAtItsCompletionNotAtItsIssue) {
  const TensorMap m = packed(D::f16, {64, 128}, {64, 128});
  Bytes tensor(tensor_size(m), 0x55);
  RunOptions o;
  o.schedule = *schedule_named("latest");
  const std::string issue =
      "@%p7 mbarrier.arrive.expect_tx.shared.b64 _, [%r30], 16384; @%p7 "
      "cp.async.bulk.tensor.2d.shared::cluster.global"
      ".mbarrier::complete_tx::bytes [%r2], [%rd9, {%r20, %r21}], [%r30];";
  const Outcome early = run(issue + copy_tile(false) + wait_for_tile, m, tensor, {}, Bytes(tile_bytes), o);
  EXPECT_TRUE(early.out == Bytes(tile_bytes)) << "the copy landed before any thread waited";
  const Outcome late = run(issue + wait_for_tile + copy_tile(false), m, tensor, {}, Bytes(tile_bytes), o);
  EXPECT_TRUE(late.out == tensor);
}

// --- stores ---------------------------------------------------------------------------------------
std::string store(int rank, const std::string& words = "cp.async.bulk.tensor") {
  const size_t dot = words.find(".op:");
  const std::string op = dot == std::string::npos ? "" : "." + words.substr(dot + 4);
  return copy_tile(true) + "fence.proxy.async.shared::cta; bar.sync 0; @!%p7 bra $end;" +
         words.substr(0, dot) + "." + std::to_string(rank) + "d.global.shared::cta" + op +
         ".bulk_group [%rd9, " + coordinates(rank) +
         "], [%r2]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; $end:";
}

TEST(TensorStore, WritesTheBoxAndDropsWhatIsOutside) {
  for (const auto& [m, at] : {std::pair<TensorMap, std::array<int32_t, 5>>{
                                  packed(D::f16, {256, 200}, {64, 128}, Swizzle::b128), {64, 100}},
                              {packed(D::f32, {100, 60}, {32, 64}, Swizzle::b128), {88, 3}},
                              {packed(D::u8, {48, 9, 8, 7}, {32, 3, 4, 5}), {32, 1, 6, 5}}}) {
    const Bytes before = random_bytes(tensor_size(m), 5), tile = random_bytes(tile_bytes, 9);
    for (const RunOptions& o : every_schedule()) {
      Bytes tensor = before;
      const Outcome r = run(store(m.rank), m, tensor, at, tile, o);
      EXPECT_TRUE(r.result.clean()) << PtxRunner::describe(r.result);
      // A load of the same box finds the tile where the tensor is, and nothing else has changed.
      const Bytes loaded = expected_tile(m, tensor, at, Bytes(tile_bytes));
      const Bytes inside = expected_tile(m, Bytes(tensor.size(), 0xFF), at, Bytes(tile_bytes));
      uint64_t touched = 0, changed = 0;
      for (size_t i = 0; i < tile_bytes; ++i) {
        EXPECT_EQ(loaded[i], inside[i] != 0 ? tile[i] : 0) << i;
        touched += inside[i] != 0;
      }
      for (size_t i = 0; i < tensor.size(); ++i) changed += tensor[i] != before[i];
      EXPECT_LE(changed, touched);
    }
  }
}

TEST(TensorStore, Reductions) {
  const TensorMap m = packed(D::f32, {64, 64}, {32, 64}, Swizzle::b128);
  std::vector<float> values(tile_bytes / 4);
  std::iota(values.begin(), values.end(), 0.0F);
  Bytes tile(tile_bytes), tensor(tensor_size(m));
  std::memcpy(tile.data(), values.data(), 8192);
  std::vector<float> before(tensor.size() / 4, 0.5F);
  std::memcpy(tensor.data(), before.data(), tensor.size());
  const Outcome r = run(store(2, "cp.reduce.async.bulk.tensor.op:add"), m, tensor, {32, 16}, tile);
  EXPECT_TRUE(r.result.clean()) << PtxRunner::describe(r.result);
  for (uint32_t y = 0; y < 64; ++y) {
    for (uint32_t x = 0; x < 64; ++x) {
      float got;
      std::memcpy(&got, &tensor[(y * 64 + x) * 4], 4);
      float expected = 0.5F;
      if (x >= 32 && y >= 16) {
        const uint32_t at = isa::swizzle(((y - 16) * 32 + x - 32) * 4, Swizzle::b128);
        float add;
        std::memcpy(&add, &tile[at], 4);
        expected += add;
      }
      EXPECT_EQ(got, expected) << x << "," << y;
    }
  }
  const Outcome wrong = run(store(2, "cp.reduce.async.bulk.tensor.op:xor"), m, tensor, {}, tile);
  ASSERT_EQ(wrong.result.findings.size(), 1U);
  EXPECT_EQ(wrong.result.findings[0].code, "PLD3094");
}

// --- im2col ---------------------------------------------------------------------------------------
TEST(TensorLoad, Im2colColumnOfAConvolution) {
  // NHWC 2 x 6 x 7 x 16 channels of f16, a 3x3 filter with padding 1: pixels start at -1.
  TensorMap m = packed(D::f16, {16, 7, 6, 2}, {1, 1, 1, 1});
  m.mode = isa::TensorMapMode::im2col;
  m.box = {};
  m.lower_corner = {-1, -1, 0};
  m.upper_corner = {-1, -1, 0};
  m.channels_per_pixel = 16;
  m.pixels_per_column = 50;
  Bytes tensor = random_bytes(tensor_size(m));
  for (int s = 0; s < 3; ++s) {
    for (int t = 0; t < 3; ++t) {
      const std::string taps =
          "mov.u16 %h1, " + std::to_string(s) + "; mov.u16 %h2, " + std::to_string(t) + ";";
      const Outcome r =
          run(taps + load(4, std::to_string(50 * 32), "im2col", ", {%h1, %h2}") + copy_tile(false), m, tensor,
              {0, -1, -1, 0}, Bytes(tile_bytes));
      EXPECT_TRUE(r.result.clean()) << PtxRunner::describe(r.result);
      for (int p = 0; p < 50; ++p) {
        const int w = p % 7 - 1 + s, h = p / 7 % 6 - 1 + t, n = p / 42;
        const bool inside = w >= 0 && w < 7 && h >= 0 && h < 6;
        for (int k = 0; k < 32; ++k)
          EXPECT_EQ(r.out[p * 32 + k], inside ? tensor[((n * 6 + h) * 7 + w) * 32 + k] : 0)
              << "pixel " << p << " tap " << s << "," << t;
      }
    }
  }
}

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
             : r.result.findings[0].code.name() + ": " + fault_text(r.result.findings[0]);
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
}  // namespace palladion::sim::testing
