#pragma once
// PTX for a Blackwell chip.
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {

inline std::string blackwell(const std::string& body) {
  return ".version 8.8\n.target sm_100a\n.address_size 64\n" + body;
}
inline const isa::ArchSpec& b200() { return *isa::find_arch("b200"); }

inline void expect_code(const RunResult& r, std::string_view code) {
  ASSERT_EQ(r.findings.size(), 1U) << PtxRunner::describe(r);
  EXPECT_EQ(r.findings[0].code.name(), code);
}

}  // namespace palladion::sim::testing
