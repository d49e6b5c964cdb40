// Who defines and who reads each register of a program, for the passes that look at instructions together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "isa/core/op.h"
#include "sim/sass/lowered.h"

namespace palladion::sim::sass {

struct Use {
  uint32_t pc = 0;
  bool address = false;
};
struct Register {
  std::vector<uint32_t> definitions;  // ascending
  std::vector<Use> uses;
  bool accumulates = false;  // a wgmma reads it
};

class RegisterUses {
 public:
  explicit RegisterUses(const Program& program);

  uint32_t size() const { return static_cast<uint32_t>(program_.code.size()); }
  const MicroOp& at(uint32_t pc) const { return program_.code[pc]; }
  const isa::Footprint& footprint(uint32_t pc) const { return program_.footprint(at(pc)); }
  isa::Operation does(uint32_t pc) const;
  isa::Type type(uint32_t pc) const;
  bool is_wgmma(const Use& u) const { return footprint(u.pc).issues(isa::AsyncFamily::wgmma); }

  // By the register's place in the warp's file; nullptr: nothing names it.
  const Register* find(uint32_t slot) const;
  // The register that an instruction alone defines; nullptr when there is none, or several.
  const Register* result(uint32_t pc) const;
  template <class F>
  bool all_uses(uint32_t pc, const F& f) const {
    const Register* r = result(pc);
    return r != nullptr && std::ranges::all_of(r->uses, f);
  }
  bool once(uint32_t pc) const;
  bool constant(uint32_t pc, size_t operand) const;
  // Where the operand's register is defined; size() when that is not one place.
  uint32_t definition(uint32_t pc, size_t operand) const;
  // Where a branch goes; size() when it is none.
  uint32_t target(uint32_t branch) const;

 private:
  void collect(uint32_t pc);
  void collect(uint32_t pc, const DecodedOperand& o, bool writes, bool reads);

  const Program& program_;
  std::unordered_map<uint32_t, Register> registers_;
};

}  // namespace palladion::sim::sass
