#pragma once
// Runs PTX text in a machine: arrays in, arrays out.
#include <gtest/gtest.h>

#include <cstring>
#include <ostream>
#include <string>
#include <vector>

#include "isa/text/parse.h"
#include "isa/verify/verify.h"
#include "report/text/finding_text.h"
#include "report/text/words.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine.h"

namespace palladion::sim {

inline void PrintTo(const Statement& statement, std::ostream* out) { *out << report::text_of(statement); }

}  // namespace palladion::sim

namespace palladion::sim::testing {

// Why isa refuses a descriptor, a tensor map or a form: the last text among the values of the message.
inline std::string reason_of(const Finding& f) {
  for (auto v = f.message.values.rbegin(); v != f.message.values.rend(); ++v)
    if (const auto* const text = std::get_if<std::string>(&*v)) return *text;
  return {};
}

class PtxRunner {
 public:
  explicit PtxRunner(const std::string& ptx, const isa::ArchSpec& arch = isa::default_arch())
      : machine_(arch) {
    auto parsed = isa::parse(ptx);
    if (!parsed) {
      ADD_FAILURE() << isa::render(parsed.error(), ptx);
      return;
    }
    module_ = std::make_unique<isa::Module>(std::move(*parsed));
    const isa::Diagnostics wrong = isa::verify(*module_);
    EXPECT_TRUE(wrong.empty()) << isa::render(wrong, ptx);
    launch.module = module_.get();
    launch.grid = {1, 1, 1};
    launch.block = {32, 1, 1};
  }

  template <class T>
  PtxRunner& array(std::vector<T>& values, const char* name = "array") {
    return scalar<uint64_t>(
        machine_.memory().bind({reinterpret_cast<uint8_t*>(values.data()), values.size() * sizeof(T)}, name));
  }

  template <class T>
  PtxRunner& scalar(T value) {
    auto& p = launch.params;
    p.resize((p.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    p.insert(p.end(), bytes, bytes + sizeof(T));
    return *this;
  }

  PtxRunner& shape(isa::Dim3 grid, isa::Dim3 block, isa::Dim3 cluster = {}) {
    launch.grid = grid;
    launch.block = block;
    launch.cluster = cluster;
    return *this;
  }

  RunResult run(const RunOptions& options = {}) { return machine_.run(launch, options); }

  // Runs and expects no findings.
  RunResult run_clean(const RunOptions& options = {}) {
    RunResult r = run(options);
    EXPECT_TRUE(r.clean()) << describe(r);
    return r;
  }

  static std::string describe(const RunResult& r) {
    std::string out = isa::render(r.errors);
    for (const Finding& f : r.findings) out += report::finding_text(f);
    return out;
  }

  Machine& machine() { return machine_; }

  Launch launch;

 private:
  Machine machine_;
  std::unique_ptr<isa::Module> module_;
};

// All schedules that a correct kernel must survive.
inline std::vector<RunOptions> every_schedule() {
  std::vector<RunOptions> all;
  for (const char* name : {"functional", "latest", "earliest", "seeded:1", "seeded:2", "seeded:3"}) {
    RunOptions o;
    o.schedule = *schedule_named(name);
    all.push_back(o);
  }
  return all;
}

inline std::string ptx(const std::string& body) {
  return ".version 8.3\n.target sm_90a\n.address_size 64\n" + body;
}

}  // namespace palladion::sim::testing
