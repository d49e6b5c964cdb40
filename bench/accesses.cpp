// How time and memory of a checked run grow with the accesses of global memory. One kernel a process, so that
// the peak memory is its own; nothing is asserted.
#include <fmt/format.h>
#include <sys/resource.h>

#include <charconv>
#include <cstring>
#include <ctime>

#include "isa/text/parse.h"
#include "isa/verify/verify.h"
#include "sim/check/checker.h"
#include "sim/machine.h"

using namespace palladion;

namespace {

struct Kernel {
  std::string_view name;
  const char* body;              // of the loop
  bool wide;                     // each pass has words of its own
  uint32_t accesses_a_pass = 2;  // of a thread
};

constexpr const char* read_add_write = R"(  ld.global.u32 %r5, [%rd3];
  add.u32 %r5, %r5, 1;
  st.global.u32 [%rd3], %r5;
)";

constexpr Kernel loops[] = {
    {"again", read_add_write, false},
    {"barrier", "  ld.global.u32 %r5, [%rd3];\n  st.global.u32 [%rd3], %r6;\n  bar.sync 0;\n", false},
    {"stream", read_add_write, true},
    {"scatter", R"(  mad.lo.u32 %r8, %r8, 1664525, 1013904223;
  and.b32 %r9, %r8, 1048575;
  mad.wide.u32 %rd5, %r9, 4, %rd1;
  red.relaxed.gpu.global.add.u32 [%rd5], 1;
)",
     false, 1},
};

std::string text_of(const Kernel& k) {
  return fmt::format(R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) {{
  .reg .pred %p<2>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r7, [n];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %ctaid.x;
  mad.lo.u32 %r4, %r3, %r2, %r1;
  mov.u32 %r8, %r4;
  mad.wide.u32 %rd3, %r4, 4, %rd1;
  mov.u32 %r9, %nctaid.x;
  mul.lo.u32 %r9, %r9, %r2;
  mul.wide.u32 %rd4, %r9, {};
  mov.u32 %r6, 0;
loop:
{}  add.s64 %rd3, %rd3, %rd4;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p1, %r6, %r7;
  @%p1 bra loop;
  ret;
}}
)",
                     k.wide ? 4 : 0, k.body);
}

constexpr uint32_t ctas = 1024, threads = 256;

void measure(const Kernel& k, uint32_t passes, bool checked) {
  const auto module = isa::parse(text_of(k));
  if (!module || !isa::verify(*module, isa::default_arch()).empty()) std::exit(1);
  sim::Machine machine(isa::default_arch());
  std::vector<uint8_t> out(size_t{4} * std::max(ctas * threads * (k.wide ? passes : 1), 1U << 20));
  const uint64_t address = machine.memory().bind(out, "out");
  sim::Launch launch;
  launch.module = &*module;
  launch.grid = {ctas, 1, 1};
  launch.block = {threads, 1, 1};
  launch.params.resize(12);
  std::memcpy(launch.params.data(), &address, 8);
  std::memcpy(launch.params.data() + 8, &passes, 4);
  sim::RunOptions options;
  options.threads = 1;
  sim::check::Checker checker;
  if (checked) options.observer = &checker;
  const std::clock_t start = std::clock();
  const sim::RunResult r = machine.run(launch, options);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const bool complete = checker.coverage().incomplete.empty();
  fmt::print("| {} | {:.1f} M | {} | {:.1f} | {} | {} | {} |\n", k.name,
             double(ctas) * threads * passes * k.accesses_a_pass / 1e6, checked ? "yes" : "no", seconds,
             usage.ru_maxrss / 1024, out.size() >> 20,
             r.clean() ? complete ? "clean" : "incomplete" : "findings");
}

}  // namespace

// bench_accesses KERNEL PASSES [unchecked]: 192 passes are 10^8 accesses of lanes, 1920 are 10^9.
int main(int count, char** words) {
  uint32_t passes = 0;
  if (count >= 3) std::from_chars(words[2], words[2] + std::strlen(words[2]), passes);
  for (const Kernel& k : loops)
    if (passes != 0 && k.name == words[1]) {
      fmt::print("| kernel | lane accesses | checked | CPU s | peak MB | of it arrays | verdict |\n");
      fmt::print("|---|---|---|---|---|---|---|\n");
      measure(k, passes, count == 3);
      return 0;
    }
  fmt::print(stderr, "usage: bench_accesses again|barrier|stream|scatter PASSES [unchecked]\n");
  return 2;
}
