#pragma once
// The regions of a recording: the kernel's body, the bodies of control flow, and the scopes of run_scoped.
// What was made in one is used while it is open (core/lifetime.h).
#include <cstdint>
#include <string_view>
#include <vector>

#include "frontend/core/errors.h"
#include "frontend/core/lifetime.h"

namespace palladion::frontend {

struct RegionInfo {
  std::string_view verb;   // lives as long as the program
  Loc loc;                 // of the verb
  bool allocates = false;  // run_scoped: references and barriers taken in it end with it, values do not
  bool open = true;
};

class Regions {
 public:
  Regions();  // with a number of its own in the process

  void open(std::string_view verb, const Loc& loc, bool allocates);
  void close();  // the innermost

  RegionId root() const { return id_of(0); }
  bool owns(RegionId id) const { return id >> 32 == serial_; }
  const RegionInfo& info(RegionId id) const { return regions_[static_cast<uint32_t>(id)]; }

 private:
  RegionId id_of(uint32_t region) const { return serial_ << 32 | region; }

  RegionId serial_;
  std::vector<RegionInfo> regions_;
  std::vector<uint32_t> open_;  // from the kernel's body inwards
};

}  // namespace palladion::frontend
