#pragma once
// Runs tcgen05 instructions on given contents of shared and tensor memory: images in, images out.
#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {

inline constexpr uint32_t image_shared_bytes = 65536, image_lanes = 128, image_columns = 512;

// Of the CTAs of a cluster of two.
struct Tcgen05Image {
  std::array<std::vector<uint8_t>, 2> shared;
  std::array<std::vector<uint32_t>, 2> tensor;  // [lane][column]

  Tcgen05Image() {
    for (auto& s : shared) s.assign(image_shared_bytes, 0);
    for (auto& t : tensor) t.assign(size_t{image_lanes} * image_columns, 0);
  }
  uint32_t& at(int cta, int lane, int column) {
    return tensor.at(static_cast<size_t>(cta))
        .at(static_cast<size_t>(lane) * image_columns + static_cast<size_t>(column));
  }
};

struct Tcgen05Program {
  // Executed by one thread of CTA 0. %v0 to %v7 are the values, %w0 to %w7 their lower halves, %tensor the
  // address of tensor memory, %base that of shared memory in units of 16 bytes, %true a predicate.
  std::string body;
  std::string by_all;  // by all warps, after `body` is complete; %lanes is the address of the warp's lanes
  std::vector<uint64_t> values;
  int ctas = 1;  // of the cluster and of .cta_group
  std::string target = "sm_100a";
};

inline std::string tcgen05_registers(const char* name, int first, int count) {
  std::string s;
  for (int i = 0; i < count; ++i) s += fmt::format("{}%{}{}", i != 0 ? ", " : "", name, first + i);
  return "{" + s + "}";
}

inline std::string move_tensor_image(bool in) {
  std::string s = fmt::format("  mov.u32 %r10, 0;\n  mov.u64 %rd6, %rd5;\n{}:\n", in ? "fill" : "dump");
  if (!in)
    s += "  add.u32 %r11, %lanes, %r10;\n  tcgen05.ld.sync.aligned.32x32b.x32.b32 " +
         tcgen05_registers("x", 0, 32) + ", [%r11];\n  tcgen05.wait::ld.sync.aligned;\n";
  for (int i = 0; i < 32; i += 4)
    s += in ? fmt::format("  ld.global.v4.b32 {}, [%rd6+{}];\n", tcgen05_registers("x", i, 4), 4 * i)
            : fmt::format("  st.global.v4.b32 [%rd6+{}], {};\n", 4 * i, tcgen05_registers("x", i, 4));
  if (in)
    s += "  add.u32 %r11, %lanes, %r10;\n  tcgen05.st.sync.aligned.32x32b.x32.b32 [%r11], " +
         tcgen05_registers("x", 0, 32) + ";\n";
  return s + fmt::format(
                 "  add.u64 %rd6, %rd6, 128;\n  add.u32 %r10, %r10, 32;\n  setp.lt.u32 %p1, %r10, 512;\n  "
                 "@%p1 bra {};\n",
                 in ? "fill" : "dump");
}

inline std::string tcgen05_ptx(const Tcgen05Program& p) {
  std::string s = ".version 8.8\n.target " + p.target + R"(
.address_size 64
.extern .shared .align 1024 .b8 tile[];
.visible .entry k(.param .u64 shared_in, .param .u64 tensor_image, .param .u64 values) {
  .shared .align 8 .b64 bar;
  .shared .align 4 .b32 slot;
  .reg .pred %p<8>, %true;
  .reg .b32 %r<40>, %x<32>, %w<8>, %y<130>, %tensor, %lanes;
  .reg .f32 %f<4>;
  .reg .b64 %rd<12>, %v<8>, %base;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %cluster_ctarank;
  shr.u32 %r2, %r0, 5;
  setp.eq.u32 %true, %r0, %r0;
  ld.param.u64 %rd0, [shared_in];
  mul.wide.u32 %rd1, %r1, 65536;
  add.u64 %rd0, %rd0, %rd1;
  mul.wide.u32 %rd1, %r0, 16;
  add.u64 %rd0, %rd0, %rd1;
  mov.u32 %r3, tile;
  shr.u32 %r4, %r3, 4;
  cvt.u64.u32 %base, %r4;
  shl.b32 %r4, %r0, 4;
  add.u32 %r3, %r3, %r4;
  mov.u32 %r4, 0;
copy:
  ld.global.v4.b32 {%x0, %x1, %x2, %x3}, [%rd0];
  st.shared.v4.b32 [%r3], {%x0, %x1, %x2, %x3};
  add.u64 %rd0, %rd0, 2048;
  add.u32 %r3, %r3, 2048;
  add.u32 %r4, %r4, 2048;
  setp.lt.u32 %p1, %r4, 65536;
  @%p1 bra copy;
  fence.proxy.async;
  mov.u32 %r5, bar;
  setp.eq.u32 %p2, %r0, 0;
  @%p2 mbarrier.init.shared.b64 [%r5], 1;
  fence.mbarrier_init.release.cluster;
  mov.u32 %r6, slot;
  setp.ne.u32 %p3, %r2, 0;
  @%p3 bra allocated;
)";
  const std::string group = fmt::format(".cta_group::{}", p.ctas);
  s += "  tcgen05.alloc" + group + ".sync.aligned.shared::cta.b32 [%r6], 512;\nallocated:\n";
  const std::string meet =
      "  tcgen05.fence::before_thread_sync;\n  bar.sync 0;\n  barrier.cluster.arrive;\n  "
      "barrier.cluster.wait;\n"
      "  tcgen05.fence::after_thread_sync;\n";
  s += meet + R"(  ld.shared.b32 %tensor, [%r6];
  shl.b32 %r7, %r2, 21;
  add.u32 %lanes, %tensor, %r7;
  ld.param.u64 %rd4, [tensor_image];
  mad.lo.u32 %r8, %r1, 128, %r0;
  mul.wide.u32 %rd5, %r8, 2048;
  add.u64 %rd5, %rd4, %rd5;
)" + move_tensor_image(true) +
       "  tcgen05.wait::st.sync.aligned;\n" + meet + "  ld.param.u64 %rd7, [values];\n";
  for (size_t i = 0; i < p.values.size(); ++i)
    s += fmt::format("  ld.global.b64 %v{0}, [%rd7+{1}];\n  cvt.u32.u64 %w{0}, %v{0};\n", i, 8 * i);
  s += "  setp.ne.u32 %p4, %r1, 0;\n  @%p4 bra done;\n  @!%p2 bra issued;\n" + p.body + "  tcgen05.commit" +
       group +
       R"(.mbarrier::arrive::one.shared::cluster.b64 [%r5];
issued:
  mbarrier.try_wait.parity.shared.b64 %p5, [%r5], 0;
  @!%p5 bra issued;
done:
)" + meet +
       p.by_all + move_tensor_image(false) + meet + "  @%p3 bra freed;\n  tcgen05.dealloc" + group +
       ".sync.aligned.b32 %tensor, 512;\nfreed:\n  ret;\n}\n";
  return s;
}

// Images are replaced by what the run left.
inline RunResult run_tcgen05(const Tcgen05Program& p, Tcgen05Image& image, const RunOptions& options = {}) {
  const auto n = static_cast<size_t>(p.ctas);
  std::vector<uint8_t> shared;
  std::vector<uint32_t> tensor;
  for (size_t c = 0; c < n; ++c) {
    shared.insert(shared.end(), image.shared[c].begin(), image.shared[c].end());
    tensor.insert(tensor.end(), image.tensor[c].begin(), image.tensor[c].end());
  }
  std::vector<uint64_t> values = p.values;
  values.resize(8);
  PtxRunner runner(tcgen05_ptx(p), *isa::find_arch(p.target == "sm_103a" ? "b300" : "b200"));
  const auto ctas = static_cast<uint32_t>(p.ctas);
  runner.array(shared, "shared")
      .array(tensor, "tensor")
      .array(values, "values")
      .shape({ctas, 1, 1}, {128, 1, 1}, {ctas, 1, 1});
  runner.launch.dynamic_shared = image_shared_bytes;
  const RunResult result = runner.run(options);
  for (size_t c = 0; c < n; ++c) {
    const auto from = tensor.begin() + static_cast<std::ptrdiff_t>(c * image.tensor[c].size());
    std::copy_n(from, image.tensor[c].size(), image.tensor[c].begin());
  }
  return result;
}

// A number for each call, from a seed.
class Tcgen05Random {
 public:
  explicit Tcgen05Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15 + 1) {}
  uint32_t next() {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return static_cast<uint32_t>(state_ >> 33) * 2654435761U;
  }
  int below(int n) { return static_cast<int>((next() >> 8) % static_cast<uint32_t>(n)); }

 private:
  uint64_t state_;
};

}  // namespace palladion::sim::testing
