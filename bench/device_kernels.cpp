// Runs cases of the kernels on the device and in the machine, compares every bit, and records the
// hashes of what the device gave, for tests/device. With --time: medians of event-timed launches.
//   bench_device_kernels CASES.txt RECORD.csv          (simulate and compare)
//   bench_device_kernels --time CASES.txt RECORD.csv   (time only)
#include <fmt/format.h>

#include <cstdio>
#include <fstream>

#include "bench/open_device.h"
#include "kernels/frame/case.h"
#include "report/text/finding_text.h"
#include "verify/launch/runner.h"

using namespace palladion;

namespace {

double giga_flops(const kernels::Case& c) {
  if (c.text.find("matmul") == std::string::npos) return 0;
  return 2e-9 * static_cast<double>(c.choice.size("m")) * static_cast<double>(c.choice.size("n")) *
         static_cast<double>(c.choice.size("k"));
}

double giga_bytes(const plgpu::Kernel& k) {
  double bytes = 0;
  for (const auto& t : k.launch.inputs) bytes += static_cast<double>(t.bytes());
  for (const auto& t : k.launch.outputs) bytes += static_cast<double>(t.bytes());
  return bytes * 1e-9;
}

// Returns whether all bits agree.
bool compare_case(const kernels::Case& c, const cuda::native::Device& device, std::ofstream& record) {
  const plgpu::Kernel kernel = c.spec->build(c.choice);
  const std::vector<Array> inputs = c.spec->make_inputs(c.choice, c.seed);
  DeviceOptions options;
  options.repeats = 0;
  const DeviceOutcome d = palladion::run(kernel, inputs, device, options);
  if (!d.errors.empty()) {
    fmt::print("FAIL {}\n{}", c.text, isa::render(d.errors));
    return false;
  }
  sim::Machine machine(*isa::find_arch("h200"));
  const SimOutcome s = palladion::run(kernel, inputs, machine);
  std::string hashes;
  bool same = s.result.clean();
  for (size_t i = 0; i < d.outputs.size(); ++i) {
    hashes += fmt::format("{}{:016x}", i == 0 ? "" : "+", palladion::hash(d.outputs[i]));
    if (i >= s.outputs.size()) {
      same = false;
      continue;
    }
    const Comparison bits = palladion::compare(s.outputs[i], d.outputs[i]);
    same &= bits.bits_equal;
    if (!bits.bits_equal && bits.first)
      fmt::print("  output {}: {} of {} elements differ, max {} ulps; first: sim {} device {}\n", i,
                 bits.differing, bits.elements, bits.max_ulps, bits.first->got, bits.first->wanted);
  }
  for (const sim::Finding& f : s.result.findings) fmt::print("{}", report::finding_text(f));
  fmt::print("{} {} regs {} spill {} sim {:.1f} ms\n", same ? "same" : "DIFF", c.text, d.attributes.registers,
             d.attributes.local_bytes, s.seconds * 1e3);
  record << c.text << ';' << hashes << '\n';
  return same;
}

void time_case(const kernels::Case& c, const cuda::native::Device& device, std::ofstream& record) {
  const plgpu::Kernel kernel = c.spec->build(c.choice);
  const DeviceOutcome d =
      palladion::run(kernel, c.spec->make_inputs(c.choice, c.seed), device, {.repeats = 30});
  if (!d.errors.empty() || !d.timing) {
    fmt::print("FAIL {}\n{}", c.text, isa::render(d.errors));
    return;
  }
  const double us = d.timing->median_us;
  const double flops = giga_flops(c);
  fmt::print("{:9.1f} us  {:7.1f} {}  regs {} {}\n", us,
             flops > 0 ? flops / us * 1e3 : giga_bytes(kernel) / us * 1e6, flops > 0 ? "TFLOP/s" : "GB/s",
             d.attributes.registers, c.text);
  record << c.text << ';' << us << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  const bool timing = argc > 1 && std::string_view(argv[1]) == "--time";
  if (argc != (timing ? 4 : 3)) {
    fmt::print(stderr, "usage: bench_device_kernels [--time] CASES.txt RECORD.csv\n");
    return 2;
  }
  const cuda::native::Device device = bench::open_device();
  std::ofstream record(argv[argc - 1]);
  int different = 0, all = 0;
  for (const kernels::Case& c : kernels::read_cases(argv[argc - 2])) {
    ++all;
    try {
      if (timing)
        time_case(c, device, record);
      else
        different += !compare_case(c, device, record);
    } catch (const isa::Error& e) {
      fmt::print("FAIL {}\n{}", c.text, isa::render(e.diagnostics()));
      ++different;
    }
    std::fflush(stdout);
  }
  if (!timing) fmt::print("{} of {} cases equal bit by bit\n", all - different, all);
  return different == 0 ? 0 : 1;
}
