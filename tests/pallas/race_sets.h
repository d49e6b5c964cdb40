#pragma once
// The race tests of Pallas' interpreter for Mosaic GPU, every set of parameters as a kernel of ours, with the
// verdict that Pallas' test expects. Source: JAX cec06d1,
// tests/pallas/gpu_pallas_interpret_race_detection_test.py and gpu_pallas_interpret_cluster_barrier_test.py.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "frontend/plgpu.h"
#include "verify/arrays/arrays.h"

namespace palladion::test {

enum class Theirs : uint8_t {
  clean,
  race,
  stops,    // the interpreter raises another error
  skipped,  // Pallas' test gives up: its detector cannot see the race that is there
  not_run,  // the method's name does not begin with test_
};

struct RaceSet {
  std::string name;  // of the test and of its parameters
  Theirs theirs = Theirs::clean;
  std::function<plgpu::Kernel()> make;
  std::vector<Array> inputs;
  std::optional<std::vector<int32_t>> output;  // a row each of the first output, when clean
  // Ours is an error all the same: what is copied was never written. Pallas' interpreter does not look for
  // it.
  bool reads_unwritten = false;
};

// What stands for Pallas' shape (): one element or one row.
extern const pl::Shape one;
// {n...} followed by `one`.
pl::Shape with_one(std::vector<int64_t> leading);
Array filled_with(const pl::Shape& shape, int32_t value);
// Row i is i everywhere.
Array counted(const pl::Shape& leading);
// "a=0 b=1": the bits of `mask` under the letters.
std::string letters(std::string_view names, unsigned mask);

void add_copy_sets(std::vector<RaceSet>& sets);    // one Pallas thread, copies in and out
void add_thread_sets(std::vector<RaceSet>& sets);  // several threads, or warps
void add_group_sets(std::vector<RaceSet>& sets);   // groups of copies out
void add_grid_sets(std::vector<RaceSet>& sets);    // clusters
void add_cluster_barrier_sets(std::vector<RaceSet>& sets);
std::vector<RaceSet> race_sets();

}  // namespace palladion::test
