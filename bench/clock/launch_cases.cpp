#include "bench/clock/launch_cases.h"

#include <fmt/format.h>

#include <cstdio>
#include <deque>
#include <fstream>
#include <future>

#include "kernels/frame/case.h"
#include "verify/launch/runner.h"

namespace palladion::bench {
namespace {

using kernels::Case;

// Random inputs take longer to make than a kernel takes to run: some cases ahead are made meanwhile.
class Inputs {
 public:
  explicit Inputs(const std::vector<Case>& cases) : cases_(cases) {}

  std::vector<Array> next() {
    while (made_ < cases_.size() && ahead_.size() < max_ahead) start();
    std::vector<Array> inputs = ahead_.front().get();
    ahead_.pop_front();
    return inputs;
  }

 private:
  static constexpr size_t max_ahead = 12;

  void start() {
    const Case& c = cases_[made_++];
    ahead_.push_back(std::async(std::launch::async, [&c] { return c.spec->make_inputs(c.choice, c.seed); }));
  }

  const std::vector<Case>& cases_;
  size_t made_ = 0;
  std::deque<std::future<std::vector<Array>>> ahead_;
};

// The first launch counts as one of the repeats.
bool launch(const Case& c, std::vector<Array> inputs, const cuda::native::Device& device, int repeat,
            std::ofstream& launches, int& number) {
  const plgpu::Kernel kernel = c.spec->build(c.choice);
  const DeviceOutcome outcome =
      palladion::run(kernel, std::move(inputs), device, {.repeats = repeat - 1, .warmups = 0});
  if (!outcome.errors.empty()) {
    fmt::print(stderr, "FAIL {}\n{}", c.text, isa::render(outcome.errors));
    return false;
  }
  const isa::Function* entry = kernel.module.find_entry("");
  for (int i = 0; i < repeat; ++i)
    launches << number++ << ';' << entry->name << ';' << c.text << ';' << outcome.attributes.registers << ';'
             << outcome.attributes.local_bytes << '\n';
  launches.flush();
  return true;
}

}  // namespace

int launch_cases(const LaunchOptions& options) {
  auto device = cuda::native::Device::open(0);
  if (!device) {
    fmt::print(stderr, "{}", isa::render({device.error()}));
    return 1;
  }
  const std::vector<Case> cases = kernels::read_cases(options.cases);
  std::ofstream launches(options.launches);
  Inputs inputs(cases);
  int failed = 0, number = 0;
  for (const Case& c : cases) {
    try {
      failed += !launch(c, inputs.next(), *device, options.repeat, launches, number);
    } catch (const isa::Error& e) {
      fmt::print(stderr, "FAIL {}\n{}", c.text, isa::render(e.diagnostics()));
      ++failed;
    }
  }
  return failed;
}

}  // namespace palladion::bench
