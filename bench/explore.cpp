// How long it takes to know all schedules: the usual ring of a warp-specialised kernel, by the proof, by the
// explorer with and without its reduction. Nothing is asserted.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "sim/explore/forced.h"

using namespace palladion::sim::check;

namespace {

struct Shape {
  uint32_t stages, consumers, width, steps;  // width: threads of the skeleton a consumer has
};

// A producer fills `stages` buffers by two copies each; every consumer's threads wait, read and release.
Skeleton ring(const Shape& r) {
  SkeletonBuilder b(1 + r.consumers * r.width);
  std::vector<uint32_t> full, empty;
  for (uint32_t i = 0; i < r.stages; ++i) full.push_back(b.mbarrier(1));
  for (uint32_t i = 0; i < r.stages; ++i) empty.push_back(b.mbarrier(r.consumers * r.width));
  for (uint32_t k = 0; k < r.steps; ++k) {
    const uint32_t slot = k % r.stages;
    const bool parity = (k / r.stages & 1) != 0;
    b.wait(0, empty[slot], !parity);
    b.arrive(0, full[slot], 1, 32);
    for (int copy = 0; copy < 2; ++copy) b.copy(0, full[slot], 16);
    for (uint32_t t = 1; t <= r.consumers * r.width; ++t) {
      b.wait(t, full[slot], parity);
      b.arrive(t, empty[slot]);
    }
  }
  return b.build();
}

// Milliseconds, the median of a few repetitions.
template <class F>
double median(F&& work) {
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

void row(const Shape& r) {
  const Skeleton s = ring(r);
  Exploration few, all;
  const double proof = median([&] { (void)decide_forced(s); });
  const double search = median([&] { few = explore(s); });
  const double plain = median([&] { all = explore(s, {.budget = 300'000, .reduce = false}); });
  fmt::print("{:>6} {:>9} x {} {:>6} {:>11} | {:>9.3f} ms | {:>8} {:>9.2f} ms | {:>8}{} {:>9.1f} ms\n",
             r.stages, r.consumers, r.width, r.steps, s.operations(), proof, few.states, search, all.states,
             all.complete ? " " : "+", plain);
}

}  // namespace

int main() {
  fmt::print(
      "stages consumers      steps  operations |      proof   |   explored, reduced    |   every "
      "interleaving\n");
  for (const Shape& r :
       {Shape{2, 1, 1, 8}, Shape{2, 2, 1, 4}, Shape{4, 2, 1, 32}, Shape{4, 2, 4, 32}, Shape{4, 2, 4, 256}})
    row(r);
  fmt::print("(+: given up after that many states)\n");
}
