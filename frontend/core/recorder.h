#pragma once
// Records a kernel body as PTX. One recorder a thread of the host; verbs find it with Recorder::current().
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/core/emitter.h"
#include "frontend/core/errors.h"
#include "frontend/core/launch.h"
#include "frontend/core/parameters.h"
#include "frontend/core/profile_events.h"
#include "frontend/core/regions.h"
#include "frontend/core/shared_memory.h"
#include "frontend/core/tensor_columns.h"
#include "frontend/core/thread_position.h"
#include "isa/arch/arch.h"

namespace palladion::frontend {

// Of a warpgroup: PTX's, whatever the chip.
inline constexpr int group_threads = 128, warps_per_group = 4, warp_threads = 32;

struct Axis {
  std::string name;
  int64_t size = 1;
};

// Grid axes are numbered row-major (last fastest) into %clusterid.x / %ctaid.x; the last cluster axis
// is %cluster_ctaid.x, the one before .y, the first of three .z.
struct MeshAxes {
  std::vector<Axis> grid, cluster;
  Axis thread;  // size 1 and empty name when the kernel has one unnamed warpgroup
  int64_t cluster_size() const;
};

// What is done with one of an array of mbarriers, just before an instruction.
struct BarrierUse {
  enum class Kind : uint8_t { wait, arrival, copy };  // arrival: by each warp; copy: by one lane for all
  size_t index;
  const void* barrier;
  Kind kind;
};

struct Options {
  const isa::ArchSpec* arch = &isa::default_arch();  // the chip that the kernel is for
  bool approx_math = false;
  bool auto_barriers = true;
  int64_t reduction_scratch_bytes = 2048;
  int64_t profile_space = 0;  // events of a warpgroup
};

// Emits instructions; the kernel's resources are parts of it.
class Recorder : public Emitter {
 public:
  Recorder(std::string_view kernel_name, MeshAxes mesh, Options options);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // The recorder of the kernel being recorded; an Error at `loc` when no kernel is.
  static Recorder& current();
  static Recorder* current_or_null();

  const MeshAxes& mesh() const { return mesh_; }
  int64_t thread_count() const { return mesh_.thread.size; }
  const Options& options() const { return options_; }
  const isa::ArchSpec& arch() const { return *options_.arch; }

 private:
  MeshAxes mesh_;
  Options options_;

 public:
  Regions regions;
  SharedMemory smem;
  KernelSlots slots;
  TensorColumns tensor;
  Parameters params;
  ThreadPosition thread;
  ProfileEvents profile;

  // The verb that is being recorded.
  const Loc& loc() const { return loc_; }
  bool in_verb() const { return depth_ > 0; }
  // `name`, with a number where the kernel has bytes of this name already: "scoped (a.cpp:7) #2".
  std::string distinct_name(const std::string& name);

  // --- warps of a thread ----------------------------------------------------------------------
  // Warp-level code (frontend/sync/warps.h), while it is being recorded.
  struct WarpCode {
    std::string axis;
    Mark fork;                                   // an instruction before it that all warps execute
    std::vector<std::function<void()>> at_join;  // called when the warps have joined
  };
  std::optional<WarpCode> warp;
  // An Error in warp-level code: `what` takes a whole warpgroup.
  void needs_warpgroup(std::string_view what, std::string_view help = {}) const;
  Operand elected();         // predicate: one lane of the warpgroup, in warp-level code of the warp
  void warpgroup_barrier();  // in warp-level code: of the warp
  // The next instruction follows a wait for one of these mbarriers, an arrival of all warps at one, or begins
  // a copy that arrives at one: from this the warps' meetings before copies follow (core/meetings.h).
  void uses(const void* barrier, BarrierUse::Kind kind);

  bool uses_dependency_wait = false;
  bool in_scoped_thread = false;

  // Ends recording: assembles prologue, barrier initialisation and body.
  void finish(plgpu::Kernel& kernel, const Loc& loc);

 private:
  friend class VerbScope;
  friend class UserCode;
  void record_entry();
  void record_end();
  void meet_before_copies();
  void fill_launch(plgpu::Kernel& kernel, const Loc& loc);

  std::vector<BarrierUse> barrier_uses_;
  std::unordered_map<std::string, int> taken_names_;
  Loc loc_;
  int depth_ = 0;
};

// An Error where an axis is named twice.
void check_distinct(const std::vector<std::string>& axes, std::string_view what);

// What ends with a scope: neither copied nor moved.
class Guard {
 public:
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 protected:
  Guard() = default;
  ~Guard() = default;
};

// A verb at the author's line. Verbs called by verbs keep the outermost line.
class VerbScope : Guard {
 public:
  explicit VerbScope(const Loc& loc);
  ~VerbScope();

 private:
  Recorder* recorder_;
  Loc saved_;
};

// The author's own code called back by a verb: its verbs have their own lines again.
class UserCode : Guard {
 public:
  UserCode();
  ~UserCode();

 private:
  Recorder* recorder_;
  int depth_;
  Loc saved_;
};

// The body of run_scoped, while it is being recorded.
class Scope : Guard {
 public:
  Scope(std::string_view verb, const Loc& loc) : regions_(Recorder::current().regions) {
    regions_.open(verb, loc, true);
  }
  ~Scope() { regions_.close(); }

 private:
  Regions& regions_;
};

// The body of a verb, while it is being recorded. `verb` lives as long as the program.
class Region : Guard {
 public:
  explicit Region(Recorder& r, std::string_view verb) : recorder_(r) {
    r.regions.open(verb, last_verb(), false);
    r.begin_block();
  }
  ~Region() {
    recorder_.end_block();
    recorder_.regions.close();
  }

 private:
  Recorder& recorder_;
};

}  // namespace palladion::frontend
