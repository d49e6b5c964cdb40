// Any text that is a module: its entries run under all checks, within a small budget, whatever they do wrong.
// They end, by themselves or at the budget; two host threads find what one finds; the report can be written.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "isa/arch/arch.h"
#include "isa/core/hash.h"
#include "isa/text/parse.h"
#include "isa/verify/verify.h"
#include "report/text/finding_text.h"
#include "sim/check/checker.h"
#include "sim/machine.h"

namespace isa = palladion::isa;
namespace report = palladion::report;
namespace sim = palladion::sim;

namespace {

constexpr uint64_t instruction_budget = 20'000;
constexpr uint64_t largest_variable = 1 << 16;  // bytes
constexpr size_t buffer_bytes = 4096;           // behind every 8-byte parameter
constexpr size_t most_params = 16, most_entries = 2;

void require(bool holds, const char* what, const std::string& detail) {
  if (holds) return;
  std::fprintf(stderr, "%s:\n%s\n", what, detail.c_str());
  std::abort();
}

// Of the size that a run within a second can have.
bool small(const isa::Module& module) {
  for (const isa::Symbol& s : module.symbols)
    if (s.kind == isa::Symbol::Kind::variable && s.variable.size() > largest_variable) return false;
  return true;
}

// What varies besides the text: a function of it.
struct Shape {
  isa::Dim3 grid, block, cluster;
  sim::Schedule schedule;
};

Shape shape_of(const std::string& text, const isa::Function& entry) {
  const uint64_t n = isa::Fnv1a().add(text).value();
  Shape s;
  s.grid.x = 1 + (n >> 20) % 2;
  constexpr uint32_t blocks[] = {33, 64, 96, 128};
  s.block = entry.reqntid.value_or(isa::Dim3{blocks[(n >> 24) % 4], 1, 1});
  if (entry.reqnctapercluster) s.grid = s.cluster = *entry.reqnctapercluster;
  s.schedule = {sim::Schedule::Kind((n >> 32) % 4), n >> 40};
  return s;
}

// Parameters of 8 bytes point to arrays, all others are small numbers.
std::vector<uint8_t> params_of(const isa::Module& module, const isa::Function& entry,
                               sim::GlobalMemory& memory) {
  const isa::ParamLayout layout = isa::param_layout(module, entry);
  std::vector<uint8_t> block(layout.size, 0);
  for (size_t i = 0; i < entry.params.size(); ++i) {
    const uint64_t size = module.symbols[entry.params[i]].variable.size();
    const uint64_t value = size == 8 ? uint64_t{memory.allocate(buffer_bytes, "array")} : 64;
    if (size >= 1) std::memcpy(&block[layout.offsets[i]], &value, std::min<uint64_t>(size, 8));
  }
  return block;
}

std::string findings_of(const isa::Module& module, const isa::Function& entry, const Shape& shape,
                        unsigned threads) {
  sim::Machine machine(*isa::find_arch("h200"));
  sim::Launch launch{.module = &module, .entry = entry.name, .grid = shape.grid, .block = shape.block};
  launch.cluster = shape.cluster;
  launch.dynamic_shared = 1024;
  launch.params = params_of(module, entry, machine.memory());
  sim::check::Checker checker;
  sim::RunOptions options;
  options.schedule = shape.schedule;
  options.threads = threads;
  options.max_instructions = instruction_budget;
  options.observer = &checker;
  const sim::RunResult result = machine.run(launch, options);
  require(result.instructions <= 2 * instruction_budget * shape.grid.count(), "ran on beyond its budget",
          entry.name);
  std::string text;
  for (const sim::Finding& f : result.findings) {
    require(f.code != isa::CodeNumber() && !report::message_text(f).empty(), "a finding says nothing",
            report::finding_text(f));
    text += report::finding_text(f);
  }
  return text;
}

void run_entry(const isa::Module& module, const isa::Function& entry, const std::string& text) {
  if (entry.params.size() > most_params) return;
  const Shape shape = shape_of(text, entry);
  if (shape.block.count() > 128 || shape.grid.count() > 4) return;
  const std::string one = findings_of(module, entry, shape, 1);
  require(one == findings_of(module, entry, shape, 2), "two host threads find something else", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto module = isa::parse(text, "fuzz.ptx");
  if (!module || !isa::verify(*module).empty() || !small(*module)) return 0;
  size_t entries = 0;
  for (const isa::Function& f : module->functions)
    if (f.entry && f.defined && entries++ < most_entries) run_entry(*module, f, text);
  return 0;
}
