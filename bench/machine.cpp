// Speed of the machine against the targets that the project set itself. One run, medians of a few
// repetitions; nothing is asserted.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "isa/text/parse.h"
#include "isa/text/print.h"
#include "kernels/frame/case.h"
#include "sim/check/checker.h"
#include "verify/launch/runner.h"

using namespace palladion;

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::time_point from) {
  return std::chrono::duration<double, std::milli>(Clock::now() - from).count();
}

template <class F>
double median(int repeats, F&& f) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) times.push_back(f());
  std::ranges::sort(times);
  return times[times.size() / 2];
}

void row(const char* what, double value, const char* unit, double target, bool smaller_is_better) {
  const double ratio = smaller_is_better ? target / value : value / target;
  fmt::print("{:<58} {:>9.2f} {:<8} {} {:<8.4g} {:>6.2f}x  {}\n", what, value, unit,
             smaller_is_better ? "<=" : ">=", target, ratio, ratio >= 1 ? "reached" : "MISSED");
}

double run_ms(const kernels::Case& c, const plgpu::Kernel& kernel, const std::vector<Array>& inputs,
              unsigned threads, bool checked = false) {
  sim::Machine machine(*isa::find_arch("h200"));
  sim::check::Checker checker;
  sim::RunOptions options;
  if (checked) options.observer = &checker;
  options.threads = threads;
  const SimOutcome out = palladion::run(kernel, inputs, machine, options);
  if (!out.result.clean()) {
    fmt::print("{}: the run was not clean\n", c.text);
    std::exit(1);
  }
  return out.seconds * 1e3;
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void matrix_products() {
  const kernels::Case small = kernels::parse_case("matmul_ws m=512 n=512 k=512");
  const plgpu::Kernel small_kernel = small.spec->build(small.choice);
  const auto small_inputs = small.spec->make_inputs(small.choice, 1);
  row("matmul_ws 512^3 f16, bit-exact",
      median(5, [&] { return run_ms(small, small_kernel, small_inputs, 2); }), "ms", 40, true);

  const kernels::Case large = kernels::parse_case("matmul_ws m=2048 n=2048 k=2048");
  const plgpu::Kernel large_kernel = large.spec->build(large.choice);
  const auto large_inputs = large.spec->make_inputs(large.choice, 1);
  const double before = peak_megabytes();
  const double one = median(3, [&] { return run_ms(large, large_kernel, large_inputs, 1); });
  const double two = median(3, [&] { return run_ms(large, large_kernel, large_inputs, 2); });
  row("matmul_ws 2048^3 f16, bit-exact, 2 threads", two * 1e-3, "s", 1.5, true);
  row("  speed-up of 2 threads over 1", one / two, "x", 1.8, false);
  const double unchecked = peak_megabytes() - before;
  row("  memory beyond what was there before", unchecked, "MB", 400, true);
  const double checked = median(3, [&] { return run_ms(large, large_kernel, large_inputs, 1, true); });
  row("  all checks on: time, as a multiple of checks off", checked / one, "x", 2, true);
  row("  all checks on: memory, as a multiple", (peak_megabytes() - before) / unchecked, "x", 3, true);
}

void alu_loop() {
  static const char* const text = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry loop(.param .u64 out, .param .u32 n) {
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<2>; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, 0;
  mov.u32 %r3, %tid.x;
  cvt.rn.f32.u32 %f1, %r3;
  mov.f32 %f2, 0f3F000000;
$again:
  fma.rn.f32 %f1, %f1, %f2, %f2;
  mad.lo.s32 %r3, %r3, %r3, %r2;
  xor.b32 %r4, %r3, %r2;
  shl.b32 %r5, %r4, 3;
  add.s32 %r6, %r5, %r3;
  add.rn.f32 %f3, %f1, %f2;
  add.s32 %r2, %r2, 1;
  setp.lt.s32 %p1, %r2, %r1;
  @%p1 bra $again;
  st.global.u32 [%rd1], %r6;
  ret;
})";
  const auto module = isa::parse(text);
  std::vector<uint8_t> out(4);
  const double rate = median(3, [&] {
    sim::Machine machine(*isa::find_arch("h200"));
    const uint64_t address = machine.memory().bind(out, "out");
    const uint32_t n = 10000;
    sim::Launch launch;
    launch.module = &*module;
    launch.grid = {4, 1, 1};
    launch.block = {1024, 1, 1};
    launch.params.resize(12);
    std::memcpy(launch.params.data(), &address, 8);
    std::memcpy(launch.params.data() + 8, &n, 4);
    sim::RunOptions options;
    options.threads = 1;
    const auto start = Clock::now();
    const sim::RunResult r = machine.run(launch, options);
    return static_cast<double>(r.instructions) / milliseconds(start) * 1e-3;
  });
  row("ALU loop, 128 warps, one core", rate, "M/s", 30, false);
}

// Products of one CTA, each committed with the next eight: reading operands, decoding, multiplying, landing.
constexpr uint32_t tcgen05_products = 512;
std::string tcgen05_text() {
  std::string body = R"(.version 8.8
.target sm_100a
.address_size 64
.extern .shared .align 1024 .b8 tile[];
.visible .entry products(.param .u32 n) {
  .shared .align 8 .b64 bar;
  .shared .align 4 .b32 slot;
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
  ld.param.u32 %r1, [n];
  mov.u32 %r2, slot;
  mov.u32 %r3, bar;
  mov.u32 %r4, %tid.x;
  setp.eq.u32 %p0, %r4, 0;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 256;
  ld.shared.b32 %r5, [%r2];
  @%p0 mbarrier.init.shared.b64 [%r3], 1;
  mov.u32 %r6, tile;
  shr.u32 %r6, %r6, 4;
  cvt.u64.u32 %rd1, %r6;
  add.u64 %rd2, %rd1, 0x4000404000010000;
  add.u64 %rd3, %rd2, 1024;
  mov.u32 %r10, tile;
  mad.lo.u32 %r10, %r4, 4, %r10;
  mov.u32 %r7, %r4;
$fill:
  mul.lo.u32 %r9, %r7, 0x9E3779B1;
  and.b32 %r9, %r9, 0x83FF83FF;
  or.b32 %r9, %r9, 0x38003800;
  st.shared.b32 [%r10], %r9;
  add.u32 %r10, %r10, 128;
  add.u32 %r7, %r7, 32;
  setp.lt.u32 %p3, %r7, 12288;
  @%p3 bra $fill;
  fence.proxy.async;
  bar.warp.sync 0xFFFFFFFF;
  mov.u32 %r7, 0;
  mov.u32 %r8, 0;
  setp.ne.u32 %p1, %r1, 0;
$again:
)";
  for (int i = 0; i < 8; ++i)
    body += "  @%p0 tcgen05.mma.cta_group::1.kind::f16 [%r5], %rd2, %rd3, 0x8400010, %p1;\n";
  return body + R"(  @%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r3];
$wait:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r3], %r8;
  @!%p2 bra $wait;
  xor.b32 %r8, %r8, 1;
  add.u32 %r7, %r7, 8;
  setp.lt.u32 %p3, %r7, %r1;
  @%p3 bra $again;
  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 256;
  ret;
})";
}

void tensor_core_of_blackwell() {
  const auto module = isa::parse(tcgen05_text());
  const double rate = median(3, [&] {
    sim::Machine machine(*isa::find_arch("b200"));
    sim::Launch launch;
    launch.module = &*module;
    launch.block = {32, 1, 1};
    launch.dynamic_shared = 65536;
    launch.params.resize(4);
    std::memcpy(launch.params.data(), &tcgen05_products, 4);
    sim::RunOptions options;
    options.threads = 1;
    const auto start = Clock::now();
    const sim::RunResult r = machine.run(launch, options);
    const double ms = milliseconds(start);
    return r.clean() ? 128.0 * 256 * 16 * tcgen05_products / ms * 1e-6 : 0;
  });
  row("tcgen05.mma f16 128x256x16 through the machine, one core", rate, "G/s", 5, false);
}

void recording() {
  const kernels::Case c = kernels::parse_case("matmul_ws m=4096 n=4096 k=4096");
  const double ms = median(5, [&] {
    const auto start = Clock::now();
    const plgpu::Kernel kernel = c.spec->build(c.choice);
    const auto module = isa::parse(isa::print(kernel.module));
    return module ? milliseconds(start) : 1e9;
  });
  row("recording + printing + parsing matmul_ws", ms, "ms", 50, true);
}

}  // namespace

int main() {
  fmt::print("{} host threads; tensor core arithmetic alone: bench_tensor_core\n\n",
             std::thread::hardware_concurrency());
  recording();
  matrix_products();
  alu_loop();
  tensor_core_of_blackwell();
  return 0;
}
