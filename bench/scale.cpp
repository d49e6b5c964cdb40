// How the time of each stage grows with the size of a kernel's text: many branches, functions, instructions,
// deep nesting. One CTA of two warps; CPU seconds; nothing is asserted.
#include <fmt/format.h>

#include <cstring>
#include <ctime>
#include <functional>

#include "isa/text/parse.h"
#include "isa/text/print.h"
#include "isa/verify/verify.h"
#include "sim/check/checker.h"
#include "sim/machine.h"
#include "sim/program/compile/compile.h"
#include "sim/sass/lowered.h"

using namespace palladion;

namespace {

constexpr const char* head = ".version 8.0\n.target sm_90a\n.address_size 64\n";

// An entry that computes %r2 from %r1, the thread's number, and stores it.
std::string entry(const std::string& body, int registers = 8, int predicates = 4) {
  return fmt::format(R"(.visible .entry k(.param .u64 out) {{
  .reg .pred %p<{}>; .reg .b32 %r<{}>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 1;
{}  mad.wide.u32 %rd2, %r1, 4, %rd1;
  st.global.u32 [%rd2], %r2;
  ret;
}}
)",
                     predicates, registers, body);
}

std::string straight(int n) {
  std::string body;
  for (int i = 0; i < n; ++i) body += fmt::format("  mad.lo.u32 %r2, %r2, {}, %r1;\n", i % 97 + 3);
  return head + entry(body);
}

std::string branches(int n) {
  std::string body;
  for (int i = 0; i < n; ++i)
    body += fmt::format(
        "  and.b32 %r3, %r2, {0};\n  setp.ne.u32 %p1, %r3, 0;\n  @%p1 bra L{1};\n  add.u32 %r2, %r2, %r1;\n"
        "L{1}:\n  xor.b32 %r2, %r2, {2};\n",
        1 << i % 5, i, 7 * i + 1);
  return head + entry(body);
}

// As LLVM writes it: each value and predicate has a register of its own.
std::string single_assignment(int n) {
  std::string body = "  mov.u32 %r7, 1;\n";
  for (int i = 0; i < n; ++i)
    body += fmt::format(
        "  and.b32 %r{1}, %r{0}, {6};\n  setp.ne.u32 %p{4}, %r{1}, 0;\n  add.u32 %r{3}, %r{0}, {7};\n"
        "  @%p{4} bra L{5};\n  add.u32 %r{2}, %r{0}, %r1;\n  mov.u32 %r{3}, %r{2};\nL{5}:\n",
        3 * i + 7, 3 * i + 8, 3 * i + 9, 3 * i + 10, i + 4, i, 1 << i % 5, i + 1);
  body += fmt::format("  mov.u32 %r2, %r{};\n", 3 * n + 7);
  return head + entry(body, 3 * n + 8, n + 4);
}

std::string loops(int n) {
  std::string body;
  for (int i = 0; i < n; ++i)
    body += fmt::format(
        "  mov.u32 %r4, 0;\nL{0}:\n  add.u32 %r4, %r4, 1;\n  add.u32 %r2, %r2, %r4;\n  setp.lt.u32 %p1, %r4, "
        "2;\n"
        "  @%p1 bra L{0};\n",
        i);
  return head + entry(body);
}

std::string nested_branches(int n) {
  std::string body;
  for (int i = 0; i < n; ++i)
    body += fmt::format("  setp.eq.u32 %p1, %r2, {};\n  @%p1 bra L{};\n  add.u32 %r2, %r2, %r1;\n",
                        3 * i + 1000000, i);
  for (int i = n; i-- > 0;) body += fmt::format("L{}:\n  xor.b32 %r2, %r2, {};\n", i, 7 * i + 1);
  return head + entry(body);
}

// Every counter lives in all loops inside: values times blocks grow with the square.
std::string nested_loops(int n) {
  std::string body;
  for (int i = 0; i < n; ++i) body += fmt::format("  mov.u32 %r{}, 0;\nL{}:\n", i + 8, i);
  for (int i = n; i-- > 0;)
    body +=
        fmt::format("  add.u32 %r{0}, %r{0}, 1;\n  setp.lt.u32 %p1, %r{0}, 1;\n  @%p1 bra L{1};\n", i + 8, i);
  return head + entry(body, n + 8);
}

// Each calls the one before it.
std::string functions(int n) {
  const auto call = [](int f, const char* argument, const char* result) {
    return fmt::format(
        "  {{ .param .b32 x; .param .b32 y; st.param.b32 [x], {}; call.uni (y), f{}, (x); ld.param.b32 {}, "
        "[y]; }}\n",
        argument, f, result);
  };
  std::string text = head;
  for (int i = 0; i < n; ++i)
    text += fmt::format(
        ".func (.param .b32 r) f{}(.param .b32 a) {{\n  .reg .b32 %r<4>;\n  ld.param.u32 %r1, [a];\n{}"
        "  add.u32 %r2, %r1, 1;\n  st.param.b32 [r], %r2;\n  ret;\n}}\n",
        i, i == 0 ? "" : call(i - 1, "%r1", "%r1"));
  return text + entry(call(n - 1, "%r1", "%r2"));
}

struct Stages {
  double load = 0, decode = 0, lower = 0, run = 0, check = 0, clock = 0, clock_alone = 0;
};

double seconds(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

void launch(const isa::Module& module, const sim::RunOptions& options) {
  sim::Machine machine(isa::default_arch());
  std::vector<uint8_t> out(256);
  const uint64_t address = machine.memory().bind(out, "out");
  sim::Launch launch;
  launch.module = &module;
  launch.grid = {1, 1, 1};
  launch.block = {64, 1, 1};
  launch.params.resize(8);
  std::memcpy(launch.params.data(), &address, 8);
  const sim::RunResult r = machine.run(launch, options);
  if (r.clean()) return;
  fmt::print("the run was not clean\n");
  std::exit(1);
}

Stages measure(const std::string& text) {
  Stages s;
  tl::expected<isa::Module, isa::Diagnostics> module;
  s.load = seconds([&] {
    module = isa::parse(text);
    if (!module || !isa::verify(*module, isa::default_arch()).empty()) std::exit(1);
  });
  std::unique_ptr<sim::Program> program;
  s.decode = seconds([&] {
    program = sim::compile(*module, *module->find_entry("k"), isa::default_arch(),
                           std::vector<uint64_t>(module->symbols.size()));
  });
  s.lower = seconds([&] { sim::sass::lower(*program, *isa::find_clock("h200")); });
  program.reset();
  sim::RunOptions options;
  options.threads = 1;
  s.run = seconds([&] { launch(*module, options); });
  sim::check::Checker checker;
  options.observer = &checker;
  s.check = seconds([&] { launch(*module, options); });
  options.observer = nullptr;
  options.schedule.kind = sim::Schedule::Kind::hardware;
  s.clock = seconds([&] { launch(*module, options); });
  options.values = sim::Values::none;
  s.clock_alone = seconds([&] { launch(*module, options); });
  return s;
}

void rows(std::string_view wanted, std::string_view what, int count, std::string (*text)(int)) {
  if (!wanted.empty() && what != wanted) return;
  double before = 0;
  for (const int n : {count / 4, count / 2, count}) {
    const Stages s = measure(text(n));
    const double all = s.load + s.decode + s.lower + s.run + s.check + s.clock + s.clock_alone;
    fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {} |\n", what, n,
               s.load, s.decode, s.lower, s.run, s.check, s.clock, s.clock_alone,
               before == 0 ? std::string() : fmt::format("{:.1f}", all / before));
    std::fflush(stdout);
    before = all;
  }
}

}  // namespace

// bench_scale [KERNEL]: one of the table's, else all.
int main(int count, char** words) {
  const std::string_view wanted = count > 1 ? words[1] : "";
  fmt::print(
      "| kernel | of them | load | decode | lower | run | checked | clock | clock, no values | twice as many "
      "|\n");
  fmt::print("|---|---|---|---|---|---|---|---|---|---|\n");
  rows(wanted, "instructions in a row", 1000000, straight);
  rows(wanted, "branches", 100000, branches);
  rows(wanted, "branches, single assignment", 100000, single_assignment);
  rows(wanted, "loops", 100000, loops);
  rows(wanted, "branches, nested", 100000, nested_branches);
  rows(wanted, "loops, nested", 4000, nested_loops);
  rows(wanted, "functions, a chain", 50000, functions);
}
