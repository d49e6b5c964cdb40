#pragma once
// What profile scopes record (core/profile.h): the entry and the exit of each, once a warpgroup.
#include <string>
#include <vector>

#include "isa/core/instruction.h"

namespace palladion::frontend {

class Recorder;

class ProfileEvents {
 public:
  void begin(Recorder& r);  // at the kernel's entry; nothing when there is no room for events
  void end(Recorder& r);
  void scope(Recorder& r, const std::string& name, bool exit);

  bool recorded() const { return part_.is(isa::Operand::Kind::reg); }
  const std::vector<std::string>& scopes() const { return scopes_; }  // by the numbers that events hold

 private:
  void store_times(Recorder& r, int64_t offset);

  // This warpgroup's part of the buffer, where its next event goes, and where the part ends: 64-bit
  // registers.
  isa::Operand part_, next_, end_;
  std::vector<std::string> scopes_;
};

}  // namespace palladion::frontend
