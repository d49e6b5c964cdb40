// Runs random programs on the device and in the machine, compares every bit of every step, prints the
// instructions whose results differ though what they read is equal, and records what the device gave.
//   bench_device_random FORMS.txt FIRST LAST RECORD.csv [STEPS.csv]
// STEPS.csv gets a hash of each step's results ("seed;step;hash"), to find a difference later without a
// device.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <map>

#include "bench/open_device.h"
#include "cuda/native/device.h"
#include "tests/property/random/random_run.h"

using namespace palladion;
using namespace palladion::random_program;

namespace {

cuda::native::Result<std::vector<uint8_t>> run_on_device(const Program& program,
                                                         const cuda::native::Device& device) {
  auto module = device.load(program.ptx);
  if (!module) return tl::unexpected(module.error());
  auto function = module->function("random_program");
  auto input = device.allocate(program.input.size()), output = device.allocate(program.output_bytes);
  if (!function) return tl::unexpected(function.error());
  if (!input) return tl::unexpected(input.error());
  if (!output) return tl::unexpected(output.error());
  if (auto r = input->upload(std::as_bytes(std::span(program.input))); !r) return tl::unexpected(r.error());
  if (auto r = output->fill(0); !r) return tl::unexpected(r.error());
  cuda::native::Arguments arguments;
  arguments.add(input->address()).add(output->address());
  cuda::native::LaunchShape shape;
  shape.grid = {program.ctas};
  shape.block = {program.threads};
  if (auto r = function->launch(shape, arguments); !r) return tl::unexpected(r.error());
  if (auto r = device.wait({.limit = std::chrono::milliseconds(20'000)}); !r)
    return tl::unexpected(r.error());
  std::vector<uint8_t> bytes(program.output_bytes);
  if (auto r = output->download(std::as_writable_bytes(std::span(bytes))); !r)
    return tl::unexpected(r.error());
  return bytes;
}

// "cvt.rn.f16.f32" of "  @%p1 cvt.rn.f16.f32 %h1, %r2;", the last line of the step.
std::string words_of(const Step& step) {
  std::string line = step.text.substr(step.text.rfind('\n') + 1);
  line.erase(0, line.find_first_not_of(' '));
  if (line[0] == '@') line.erase(0, line.find(' ') + 1);
  return line.substr(0, line.find(' '));
}

struct Tally {
  int steps = 0;
  uint64_t threads = 0;
};

class DeviceComparison {
 public:
  DeviceComparison(const Catalogue& catalogue, const cuda::native::Device& device)
      : catalogue_(catalogue), device_(device) {}

  bool one(uint64_t seed, std::ofstream& record, std::ofstream& steps) {
    const Program program = generate(catalogue_, seed);
    const auto there = run_on_device(program, device_);
    if (!there) {
      fmt::print("seed {}: {}\n", seed, isa::render(there.error()));
      return false;
    }
    record << fmt::format("{};{:016x};{:016x}\n", seed, program_hash(program),
                          hash(there->data(), there->size()));
    if (steps.is_open()) record_steps(program, seed, *there, steps);
    const SimRun here = run_in_machine(program);
    if (!here.problem.empty()) {
      fmt::print("seed {}: {}\n", seed, here.problem);
      return false;
    }
    for (const Difference& d : differences(program, here.output, *there)) print(program, seed, d);
    return here.output == *there;
  }

  void print_tallies() const {
    for (const auto& [words, t] : tallies_)
      fmt::print("differs: {} in {} steps, {} threads\n", words, t.steps, t.threads);
  }

 private:
  void print(const Program& program, uint64_t seed, const Difference& d) {
    Tally& t = tallies_[words_of(program.steps[d.step])];
    t.threads += d.threads;
    if (t.steps++ < 3)
      fmt::print("seed {} step {} thread {} ({} threads), machine and device:\n{}\n", seed, d.step, d.thread,
                 d.threads, d.text);
  }

  static void record_steps(const Program& program, uint64_t seed, const std::vector<uint8_t>& out,
                           std::ofstream& to) {
    for (size_t i = 0; i < program.steps.size(); ++i) {
      uint64_t h = 0;
      for (const Write& w : program.steps[i].writes)
        h = h * 31 + hash(&out[w.offset], w.bytes * program.all_threads());
      to << fmt::format("{};{};{:08x}\n", seed, i, static_cast<uint32_t>(h >> 32));
    }
  }

  const Catalogue& catalogue_;
  const cuda::native::Device& device_;
  std::map<std::string, Tally> tallies_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    fmt::print(stderr, "usage: bench_device_random FORMS.txt FIRST LAST RECORD.csv [STEPS.csv]\n");
    return 2;
  }
  const cuda::native::Device device = bench::open_device();
  const Catalogue catalogue(read_forms(argv[1]));
  std::ofstream record(argv[4]), steps;
  if (argc > 5) steps.open(argv[5]);
  DeviceComparison comparison(catalogue, device);
  uint64_t equal = 0, all = 0;
  for (uint64_t seed = std::stoull(argv[2]); seed < std::stoull(argv[3]); ++seed, ++all) {
    equal += comparison.one(seed, record, steps);
    std::fflush(stdout);
  }
  comparison.print_tallies();
  fmt::print("{} of {} programs equal bit by bit\n", equal, all);
  return equal == all ? 0 : 1;
}
