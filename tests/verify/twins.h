#pragma once
// Launches that the tests check: twins of the zoo, and a kernel of tests/cli/ptx.
#include <fstream>
#include <iterator>
#include <string>

#include "isa/text/parse.h"
#include "kernels/zoo/zoo.h"
#include "verify/check.h"

namespace palladion::verify {

inline constexpr const char* store = "async-store-no-proxy-fence";  // out = 2 in + 1

inline const kernels::zoo::Pair& twins(const char* name) { return *kernels::zoo::find_pair(name); }

inline tl::expected<CheckReport, isa::Diagnostics> check_twin(const kernels::zoo::Specimen& twin,
                                                              const CheckRequest& request = {},
                                                              const Progress<CheckReport>& progress = {}) {
  return check(twin.job, kernels::zoo::chip_of(twin), request, progress);
}

// Lane 31 reads a neighbour that nobody has written, and drops it unless it is to `keep` it.
struct Halo {
  isa::Module module;
  Job job;

  explicit Halo(bool keep) {
    std::ifstream in(PLD_SOURCE_DIR "/tests/cli/ptx/dropped.ptx");
    module = isa::parse(std::string(std::istreambuf_iterator<char>(in), {})).value();
    job.module = &module;
    job.entry = "halo";
    job.grid = job.cluster = {1, 1, 1};
    job.block = {32, 1, 1};
    job.buffers = {
        {.name = "out", .role = Role::out, .type = {pl::u32, {32}}, .initial = {}, .variable = {}}};
    job.params = {PointerValue{0}, BytesValue{{uint8_t(keep), 0, 0, 0}}};
  }
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;
};

}  // namespace palladion::verify
