#pragma once
// The machine: runs an entry of an isa::Module on simulated SMs. Two machines can live in one process.
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "isa/arch/arch.h"
#include "sim/launch/launch.h"
#include "sim/machine/state/global_memory.h"
#include "sim/machine/state/textures.h"
#include "sim/run.h"

namespace palladion::sim {

struct LaunchState;
struct Program;

// Variables of a module whose memory the caller has bound.
using Placed = std::map<std::string, Address, std::less<>>;

class Machine {  // a simulated GPU: its memory, and the execution of launches on it
 public:
  explicit Machine(const isa::ArchSpec& arch) : arch_(&arch) {}

  // The chip.
  const isa::ArchSpec& arch() const { return *arch_; }
  // Global memory, which outlives launches.
  GlobalMemory& memory() { return memory_; }
  // Objects that a kernel names by handles; none may be created or destroyed while a run goes on.
  TextureTable& textures() { return textures_; }

  // Allocates the module's global and constant variables and writes their initial values; done by
  // run() when it has not been. The module must outlive the machine's use of it.
  void load(const isa::Module& module);
  void load(const isa::Module& module, const Placed& placed);
  // Device address of a global variable; 0 when there is none of that name.
  Address symbol(const isa::Module& module, std::string_view name);

  // A launch that stands before its first instruction. The machine and what the options name must outlive it.
  Run start(const Launch& launch, const RunOptions& options = {});
  // From the first to the last instruction.
  RunResult run(const Launch& launch, const RunOptions& options = {});

 private:
  LaunchState state_of(const Launch& launch, const RunOptions& options, const Program& program,
                       const isa::ClockParameters* clock);

  const isa::ArchSpec* arch_;
  GlobalMemory memory_;
  TextureTable textures_;
  std::map<const isa::Module*, std::vector<uint64_t>> loaded_;
  Address heap_;  // of device malloc: its blocks outlive a launch
  uint64_t heap_bytes_ = 0;
};

}  // namespace palladion::sim
