#pragma once
// Records a kernel body as PTX: the module under construction, where the author is, which values are
// known already. One recorder a thread of the host; verbs find it with Recorder::current().
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/core/errors.h"
#include "frontend/core/home.h"
#include "frontend/core/launch.h"
#include "isa/arch/arch.h"
#include "isa/core/builder.h"

namespace palladion::frontend {

using isa::Operand;
using isa::Type;

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

// A wait for, or a copy that arrives at, one of an array of mbarriers, just before an instruction.
struct BarrierUse {
  size_t index;
  const void* barrier;
  bool is_copy;
};

struct Options {
  const isa::ArchSpec* arch = &isa::default_arch();  // the chip that the kernel is for
  bool approx_math = false;
  bool auto_barriers = true;
  int64_t reduction_scratch_bytes = 2048;
  int64_t profile_space = 0;  // events of a warpgroup
};

class Recorder {
 public:
  Recorder(std::string_view kernel_name, MeshAxes mesh, Options options);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // The recorder of the kernel being recorded; an Error at `loc` when no kernel is.
  static Recorder& current();
  static Recorder* current_or_null();

  isa::Builder& builder() { return builder_; }
  isa::Module& module() { return module_; }
  isa::Function& function() { return *function_; }
  const MeshAxes& mesh() const { return mesh_; }
  const Options& options() const { return options_; }
  const isa::ArchSpec& arch() const { return *options_.arch; }

  // --- instructions ---------------------------------------------------------------------------
  isa::Instruction& emit(std::string_view mnemonic, std::vector<Operand> operands, const Operand& guard = {});
  Operand reg(Type type) { return builder_.reg(type); }
  // d = mnemonic(sources) for an instruction without side effects: recorded once in a dominating region.
  Operand pure(std::string_view mnemonic, std::vector<Operand> sources, Type result);
  // {d0, d1} = mnemonic(source)
  std::pair<Operand, Operand> pure_pair(std::string_view mnemonic, const Operand& source, Type result);
  // The same, computed once at the kernel's entry; sources must come from there (or be constants).
  Operand at_entry(std::string_view mnemonic, std::vector<Operand> sources, Type result);
  void in_prologue(const std::function<void()>& record);

  // --- regions --------------------------------------------------------------------------------
  // The kernel's body, a body of control flow, or (`allocates`) of run_scoped: what was made in one is used
  // while it is open.
  struct RegionInfo {
    std::string_view verb;
    Loc loc;  // of the verb
    bool allocates = false;
    bool open = true;
  };
  // `verb` lives as long as the program. Values that are at hand in a region are forgotten at its end.
  void enter_region(std::string_view verb);
  void leave_region();
  // References and barriers taken in it end with it; values do not.
  void enter_scope(std::string_view verb, const Loc& loc);
  void leave_scope();
  RegionId root() const { return id_of(0); }
  bool owns(RegionId id) const { return id >> 32 == serial_; }
  const RegionInfo& region(RegionId id) const { return regions_[static_cast<uint32_t>(id)]; }

  Operand label(std::string_view hint) { return builder_.label(hint); }
  void place(const Operand& label) { builder_.place(label); }

  // Instructions to be added, when the kernel is complete, behind the one just recorded.
  struct Mark {
    size_t index;
  };
  Mark last_instruction() const { return {function_->body.size() - 1}; }
  void insert_after(Mark mark, std::vector<isa::Instruction> instructions);
  // The next instruction follows a wait for one of these mbarriers, or begins a copy that arrives at one:
  // from this the warps' meetings before copies follow (core/meetings.h).
  void waits_for(const void* barrier);
  void begins_copy(const void* barrier);

  // --- places ---------------------------------------------------------------------------------
  const Loc& loc() const { return loc_; }
  bool in_verb() const { return depth_ > 0; }

  // --- shared memory --------------------------------------------------------------------------
  Operand smem_base();  // b32 register: shared address of byte 0 of the dynamic shared memory
  // Offset from smem_base(). Released at the end of the scope that allocates.
  int64_t allocate_smem(int64_t bytes, int64_t align);
  int64_t smem_mark() const { return smem_top_; }
  void release_smem(int64_t mark) { smem_top_ = mark; }
  int64_t allocate_barriers(int64_t count);  // never released: initialised once at entry
  // What findings call the bytes at an offset from smem_base(), or from barrier_base().
  void name_smem(isa::BufferName buffer);
  void name_barriers(isa::BufferName buffer);
  // `name`, with a number where the kernel has bytes of this name already: "scoped (a.cpp:7) #2".
  std::string distinct_name(const std::string& name);
  // --- tensor memory --------------------------------------------------------------------------
  // All of a kernel's columns are one tcgen05.alloc at its entry, freed at its end.
  Operand tensor_base();  // b32 register: the address of the first column
  // Columns from tensor_base() on. `ctas`: 2 when pairs of CTAs work on them. Released at the end of the
  // scope that allocates.
  int64_t allocate_tensor(int64_t columns, int ctas);
  int64_t tensor_mark() const { return tensor_top_; }
  void release_tensor(int64_t mark) { tensor_top_ = mark; }
  int64_t tensor_columns() const;
  int tensor_ctas() const { return tensor_ctas_; }  // .cta_group of the kernel; 0: it has no tensor memory

  int64_t reduction_scratch();  // offset of the scratch of thread 0; one a thread follows

  // --- parameters -----------------------------------------------------------------------------
  // Value of a pointer parameter / generic address of a tensor map parameter.
  Operand array_pointer(int array);
  Operand tensor_map(int array, const isa::TensorMap& map);
  Operand scratch_array(int64_t bytes, std::string name);  // of a parameter of its own
  Operand profile_pointer();

  // --- position of the thread
  // -------------------------------------------------------------------------------
  Operand tid();            // 0 .. block size - 1
  Operand lane_in_group();  // 0 .. 127
  Operand thread_index();   // warpgroup, uniform in a warp
  Operand warp_index();     // 0 .. 3 in the warpgroup, uniform in a warp
  Operand elected();        // predicate: one lane of the warpgroup, in warp-level code of the warp
  Operand elected_in_warp();
  Operand named_barrier();   // the number of the warpgroup's bar.sync
  void warpgroup_barrier();  // in warp-level code: of the warp
  int64_t thread_count() const { return mesh_.thread.size; }

  struct BarrierInit {
    int64_t offset;    // of the first one
    int64_t count;     // how many
    int64_t arrivals;  // expected by each
  };
  std::vector<std::function<BarrierInit()>> barrier_inits;  // evaluated when the kernel is complete
  // Profile scopes (frontend/core/profile.cpp): this warpgroup's part of the buffer, where its next event
  // goes and where the part ends; 64-bit registers.
  struct Profile {
    Operand part, next, end;
    std::vector<std::string> scopes;
  };
  std::optional<Profile> profile;
  bool uses_dependency_wait = false;

  // Warp-level code (frontend/sync/warps.h), while it is being recorded.
  struct WarpCode {
    std::string axis;
    Mark fork;                                   // an instruction before it that all warps execute
    std::vector<std::function<void()>> at_join;  // called when the warps have joined
  };
  std::optional<WarpCode> warp;
  // An Error in warp-level code: `what` takes a whole warpgroup.
  void needs_warpgroup(std::string_view what, std::string_view help = {}) const;
  bool in_scoped_thread = false;

  // Ends recording: assembles prologue, barrier initialisation and body.
  void finish(plgpu::Kernel& kernel, const Loc& loc);

 private:
  friend class At;
  friend class UserCode;
  void begin_entry();
  void record_entry();
  void record_barrier_inits();
  void record_tensor_allocation();
  void record_tensor_release();
  void record_end();
  void place_names();
  void meet_before_copies();
  void assemble_body();
  Operand pointer_param(plgpu::Param param);
  void fill_launch(plgpu::Kernel& kernel, const Loc& loc);
  const Operand* find_known(const std::string& key) const;
  RegionId id_of(uint32_t region) const { return serial_ << 32 | region; }
  void open_region(std::string_view verb, const Loc& loc, bool allocates);
  void close_region();

  isa::Module module_;
  isa::Function* function_ = nullptr;
  isa::Builder builder_;
  MeshAxes mesh_;
  Options options_;
  std::vector<isa::Instruction> prologue_;
  // Values at hand: of the prologue, of the body, of each region that is open in it.
  std::vector<std::unordered_map<std::string, Operand>> known_{2};
  std::vector<std::pair<size_t, std::vector<isa::Instruction>>> insertions_;
  std::vector<BarrierUse> barrier_uses_;
  std::vector<std::pair<size_t, isa::Instruction>> meetings_;  // before which instruction
  Operand thread_index_, elected_;
  bool in_prologue_ = false;

  RegionId serial_;  // of this recorder in the process
  std::vector<RegionInfo> regions_;
  std::vector<uint32_t> open_;  // from the kernel's body inwards

  Loc loc_;
  int depth_ = 0;

  isa::SymbolId smem_symbol_ = isa::no_id;
  int64_t smem_top_ = 0, smem_high_ = 0;
  int64_t barriers_ = 0;  // 8-byte slots, placed behind everything else
  int64_t reduction_scratch_ = -1;
  int64_t tensor_top_ = 0, tensor_high_ = 0;
  int64_t tensor_slot_ = 0;  // barrier slot where the address is stored
  int tensor_ctas_ = 0;
  Operand tensor_base_;
  std::vector<isa::BufferName> barrier_names_;
  std::unordered_map<std::string, int> taken_names_;
  Operand barrier_base_;
  std::vector<plgpu::Param> params_;
  std::vector<Operand> param_values_;

 public:
  Operand barrier_base();  // shared address of barrier slot 0
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
class At : Guard {
 public:
  explicit At(const Loc& loc);
  ~At();

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
  Scope(std::string_view verb, const Loc& loc) : recorder_(Recorder::current()) {
    recorder_.enter_scope(verb, loc);
  }
  ~Scope() { recorder_.leave_scope(); }

 private:
  Recorder& recorder_;
};

// The body of a verb, while it is being recorded.
class Region : Guard {
 public:
  explicit Region(Recorder& r, std::string_view verb) : recorder_(r) { recorder_.enter_region(verb); }
  ~Region() { recorder_.leave_region(); }

 private:
  Recorder& recorder_;
};

}  // namespace palladion::frontend
