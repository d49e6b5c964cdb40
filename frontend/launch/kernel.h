#pragma once
// plgpu::kernel: runs a body once and gives the program that it recorded.
#include <functional>
#include <initializer_list>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/core/errors.h"
#include "frontend/core/launch.h"
#include "frontend/core/words.h"
#include "frontend/memory/scoped.h"

namespace palladion::plgpu {

// One type, or several.
class Types {
 public:
  Types() = default;
  Types(DType dtype, Shape shape) : types_{{dtype, std::move(shape)}} {}
  Types(pl::ShapeDtype type) : types_{std::move(type)} {}  // NOLINT
  Types(std::initializer_list<pl::ShapeDtype> types) : types_(types) {}
  Types(std::vector<pl::ShapeDtype> types) : types_(std::move(types)) {}  // NOLINT
  // In the order of the arrays.
  const std::vector<pl::ShapeDtype>& list() const { return types_; }

 private:
  std::vector<pl::ShapeDtype> types_;
};

// What scratch_types may hold: memory, accumulators, barriers, semaphores.
using ScratchType =
    std::variant<SmemType, GmemType, TmemType, AccType, BarrierType, SemaphoreType, RefUnionType>;
struct NamedScratch {  // one entry of scratch_types
  std::string name;    // by which the body asks for it
  ScratchType type;    // what is allocated
};

struct CompilerParams {  // the compiler_params of plgpu::kernel, with Pallas' names and defaults
  // exp, log, tanh, ... may use the chip's approximate instructions alone.
  bool approx_math = false;
  // Leaves out the warpgroup barriers around stores to SMEM and GMEM.
  bool unsafe_no_auto_barriers = false;
  // SMEM of each thread for reductions across warps.
  int64_t reduction_scratch_bytes = 2048;
  // Events (entries and exits) of profile_scope for which each warpgroup has room; 0: none are recorded.
  int64_t profile_space = 0;
  TraceScope profile_trace_scope = TraceScope::WARPGROUP;
  LoweringSemantics lowering_semantics = LoweringSemantics::Lane;
};

// A number given at launch, such as alpha, beta or a length. The program is the same for all its values.
struct NamedScalar {
  std::string name;          // by which the body asks for it: plgpu::launch_scalar(name)
  DType dtype = DType::f32;  // f16, bf16, f32, f64, or an integer of 32 or 64 bits
  Scalar value = 0;          // of a launch that gives no other: a number that the host knows
};

// Kernels that this thread records while a ForArch lives are for its chip. Without one they are for
// isa::default_arch(); KernelOptions::arch overrides both.
class ForArch {
 public:
  explicit ForArch(const isa::ArchSpec& arch);
  ~ForArch();
  ForArch(const ForArch&) = delete;
  ForArch& operator=(const ForArch&) = delete;

 private:
  const isa::ArchSpec* outer_;
};
// Older names, which do not compile: the messages say what they are today.
struct OlderOutShape {
  OlderOutShape() = default;
  template <class T = int>
  OlderOutShape(const Types& /*types*/) {  // NOLINT: implicit, as an option is
    static_assert(frontend::never<T>, ".out_shape is .out_type today");
  }
};
// An older name, which does not compile.
struct OlderScratchShapes {
  OlderScratchShapes() = default;
  template <class T = int>
  OlderScratchShapes(std::initializer_list<NamedScratch> /*types*/) {
    static_assert(frontend::never<T>, ".scratch_shapes is .scratch_types today");
  }
};

// The arguments of plgpu::kernel beside the body.
struct KernelOptions {
  Types in_types;                           // of the input arrays, in GMEM
  Types out_type;                           // of the output arrays, in GMEM
  OlderOutShape out_shape = {};             // an older name, which does not compile
  std::vector<NamedScalar> scalars = {};    // numbers given at launch
  OlderScratchShapes scratch_shapes = {};   // an older name, which does not compile
  std::vector<NamedScratch> scratch_types;  // allocated for each CTA (GMEM: for the grid)
  CompilerParams compiler_params;           // options of the recording
  std::vector<int64_t> grid;                // sizes of its axes, in clusters; the last one varies fastest
  std::vector<std::string> grid_names;      // axes by name, for pl::axis_index
  std::vector<int64_t> cluster;             // CTAs of a cluster along its axes
  std::vector<std::string> cluster_names;   // axes of the cluster by name
  int num_threads = 1;                      // Pallas threads: warpgroups
  std::string thread_name;                  // the axis of Pallas threads by name
  std::string name = "kernel";              // of the .entry and in messages
  // (input, output): the output starts as the input's values.
  std::vector<std::pair<int, int>> input_output_aliases;
  const isa::ArchSpec* arch = nullptr;  // the chip that the kernel is for; null: see ForArch
};

// The scratch of a kernel by name.
class Scratch {
 public:
  using Name = frontend::TextAt;  // a name with the author's line
  const Ref& operator[](const Name& name) const { return ref(name.text, name.loc); }
  // Memory by name; Error when there is none, or when it is a barrier.
  const Ref& ref(const std::string& name, std::source_location loc = std::source_location::current()) const;
  // A barrier by name; Error when there is none.
  const BarrierRef& barrier(const std::string& name,
                            std::source_location loc = std::source_location::current()) const;
  // A union by name; Error when there is none.
  const UnionRef& ref_union(const std::string& name,
                            std::source_location loc = std::source_location::current()) const;

  // The recorder fills it.
  void add(std::string name, std::variant<Ref, BarrierRef, UnionRef> value) {
    values_.emplace_back(std::move(name), std::move(value));
  }

 private:
  const std::variant<Ref, BarrierRef, UnionRef>& find(const std::string& name,
                                                      const std::source_location& loc) const;
  std::vector<std::pair<std::string, std::variant<Ref, BarrierRef, UnionRef>>> values_;
};

// A number of KernelOptions::scalars, in a register of each lane: an operand of arithmetic, a loop's bound,
// an index, a predicate. Error PLD2507 where the kernel has none of this name.
Scalar launch_scalar(const std::string& name, std::source_location loc = std::source_location::current());
// Its value for the launches of this kernel from now on. Errors: PLD2507 no scalar of this name, PLD2006 a
// value that its dtype does not hold.
void set_scalar(Launch& launch, const std::string& name, const Scalar& value,
                std::source_location loc = std::source_location::current());

// A body that takes its references as a list.
using KernelBody = std::function<void(const std::vector<Ref>&, Scratch&)>;

// Records; Errors carry the author's line.
Kernel record_kernel(const KernelBody& body, const KernelOptions& options, std::source_location loc);

namespace detail {

template <size_t>
using AsRef = const Ref&;

template <class Body, size_t... i>
bool try_call(Body& body, const std::vector<Ref>& refs, Scratch& scratch, std::index_sequence<i...>) {
  if (refs.size() != sizeof...(i)) return false;
  if constexpr (std::is_invocable_v<Body&, AsRef<i>..., Scratch&>) {
    body(refs[i]..., scratch);
    return true;
  } else if constexpr (std::is_invocable_v<Body&, AsRef<i>...>) {
    body(refs[i]...);
    return true;
  } else {
    return false;
  }
}

template <class Body, size_t... n>
bool call_with_refs(Body& body, const std::vector<Ref>& refs, Scratch& scratch, std::index_sequence<n...>) {
  return (try_call(body, refs, scratch, std::make_index_sequence<n>{}) || ...);
}

[[noreturn]] void wrong_arity(size_t refs, std::source_location loc);

}  // namespace detail

// body(input refs..., output refs..., scratch), or body(refs..., ) without scratch, or body(vector of
// refs, scratch).
template <class Body>
Kernel kernel(Body body, const KernelOptions& options,
              std::source_location loc = std::source_location::current()) {
  return record_kernel(
      [&](const std::vector<Ref>& refs, Scratch& scratch) {
        if constexpr (std::is_invocable_v<Body&, const std::vector<Ref>&, Scratch&>) {
          body(refs, scratch);
        } else if (!detail::call_with_refs(body, refs, scratch, std::make_index_sequence<13>{})) {
          detail::wrong_arity(refs.size(), loc);
        }
      },
      options, loc);
}

}  // namespace palladion::plgpu
