#pragma once
// Kernels that copy a tile between a tensor and shared memory, and what the tile must be.
#include <array>
#include <bit>
#include <cstring>

#include "isa/formats/tensor_map.h"
#include "sim/machine/async/tensor_copies.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing::tiles {

using isa::Swizzle;
using isa::TensorMap;
using Bytes = std::vector<uint8_t>;

inline constexpr uint32_t tile_bytes = 16384;

// A packed tensor of `dims` (innermost first) with a box.
inline TensorMap packed(isa::TensorDataType type, std::vector<uint64_t> dims, std::vector<uint32_t> box,
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

inline uint64_t tensor_size(const TensorMap& m) {
  return m.rank == 1 ? m.dims[0] * static_cast<uint64_t>(m.element_bytes())
                     : m.strides[m.rank - 2] * m.dims[m.rank - 1];
}

inline Bytes random_bytes(size_t n, uint32_t seed = 1) {
  Bytes b(n);
  for (uint8_t& v : b) v = static_cast<uint8_t>((seed = seed * 1664525U + 1013904223U) >> 24);
  return b;
}

// Parameters: the map, the coordinates as five s32, the output (16 KiB a CTA). %rd9 the map, %r20.. the
// coordinates; the tile is at a multiple of 1 KiB.
inline std::string tensor_copy_kernel(const std::string& body) {
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
inline std::string copy_tile(bool to_shared) {
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

inline constexpr const char* wait_for_tile = R"(
$wait: mbarrier.try_wait.parity.shared.b64 %p6, [%r30], 0;
  @!%p6 bra $wait;
)";

inline std::string coordinates(int rank) {
  std::string s = "{%r20";
  for (int i = 1; i < rank; ++i) s += ", %r2" + std::to_string(i);
  return s + "}";
}

struct Outcome {
  Bytes out;
  RunResult result;
};

// Runs with the tensor's bytes behind the map.
inline Outcome run(const std::string& body, TensorMap map, Bytes& tensor, std::array<int32_t, 5> at,
                   Bytes out, const RunOptions& o = {}, uint32_t ctas = 1) {
  PtxRunner k(tensor_copy_kernel(body));
  map.global_address = k.machine().memory().bind(tensor, "tensor");
  k.launch.params.resize(152);  // up to the pointer, which is aligned to 8
  std::memcpy(k.launch.params.data(), isa::encode(map).bytes.data(), isa::tensor_map_bytes);
  std::memcpy(k.launch.params.data() + isa::tensor_map_bytes, at.data(), sizeof at);
  k.array(out, "out").shape({ctas, 1, 1}, {32, 1, 1}, {ctas, 1, 1});
  RunResult r = k.run(o);
  return {std::move(out), std::move(r)};
}

inline std::string load(int rank, const std::string& bytes, const std::string& mode = "tile",
                        const std::string& more = "") {
  return "@%p7 mbarrier.arrive.expect_tx.shared.b64 _, [%r30], " + bytes + "; @%p7 cp.async.bulk.tensor." +
         std::to_string(rank) + "d.shared::cluster.global." + mode +
         ".mbarrier::complete_tx::bytes [%r2], [%rd9, " + coordinates(rank) + "], [%r30]" + more + ";" +
         wait_for_tile;
}

// What a load leaves in shared memory: every element of the box at its swizzled place, zeros outside.
inline Bytes expected_tile(const TensorMap& m, const Bytes& tensor, const std::array<int32_t, 5>& at,
                           Bytes tile) {
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

inline uint32_t box_bytes(const TensorMap& m) {
  uint32_t n = static_cast<uint32_t>(m.element_bytes());
  for (int i = 0; i < m.rank; ++i) n *= m.box_count(i);
  return n;
}

inline void check_load(const TensorMap& m, std::array<int32_t, 5> at, const RunOptions& o = {}) {
  Bytes tensor = random_bytes(tensor_size(m));
  const std::string body = load(m.rank, std::to_string(box_bytes(m))) + copy_tile(false);
  const Outcome r = run(body, m, tensor, at, Bytes(tile_bytes), o);
  EXPECT_TRUE(r.result.clean()) << PtxRunner::describe(r.result);
  const Bytes expected = expected_tile(m, tensor, at, Bytes(tile_bytes));
  EXPECT_TRUE(r.out == expected) << "rank " << m.rank << " swizzle " << name(m.swizzle) << " at " << at[0]
                                 << "," << at[1] << "," << at[2];
}

using D = isa::TensorDataType;

inline std::string store(int rank, const std::string& words = "cp.async.bulk.tensor") {
  const size_t dot = words.find(".op:");
  const std::string op = dot == std::string::npos ? "" : "." + words.substr(dot + 4);
  return copy_tile(true) + "fence.proxy.async.shared::cta; bar.sync 0; @!%p7 bra $end;" +
         words.substr(0, dot) + "." + std::to_string(rank) + "d.global.shared::cta" + op +
         ".bulk_group [%rd9, " + coordinates(rank) +
         "], [%r2]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; $end:";
}

}  // namespace palladion::sim::testing::tiles
