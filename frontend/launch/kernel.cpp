#include "frontend/launch/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "frontend/core/profile.h"
#include "frontend/core/verbs.h"
#include "frontend/launch/scalars.h"

namespace palladion::plgpu {

using frontend::group_threads;
using frontend::MeshAxes;

namespace {

thread_local const isa::ArchSpec* recorded_for = &isa::default_arch();

std::vector<frontend::Axis> axes(const std::vector<int64_t>& sizes, const std::vector<std::string>& names,
                                 const char* what) {
  if (!names.empty() && names.size() != sizes.size()) {
    fail(Code::bad_mesh,
         fmt::format("{} has {} dimensions, but {} names are given", what, sizes.size(), names.size()),
         "give one name for each dimension");
  }
  std::vector<frontend::Axis> out;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1)
      fail(Code::bad_grid, fmt::format("{} dimension {} is {}, it must be at least 1", what, i, sizes[i]),
           "use 1 for a dimension that is not split");
    out.push_back({names.empty() ? "" : names[i], sizes[i]});
  }
  return out;
}

MeshAxes mesh_of(const KernelOptions& o, const isa::ArchSpec& arch) {
  MeshAxes mesh;
  mesh.grid = axes(o.grid, o.grid_names, "grid");
  mesh.cluster = axes(o.cluster, o.cluster_names, "cluster");
  mesh.thread = {o.thread_name, o.num_threads};
  if (mesh.cluster.size() > 3)
    fail(Code::bad_mesh,
         fmt::format("a cluster of {} dimensions, at most 3 are possible", mesh.cluster.size()),
         "join dimensions of the cluster into one");
  if (mesh.cluster_size() > arch.max_cluster)
    fail(Code::bad_mesh,
         fmt::format("a cluster of {} CTAs, at most {} are possible", mesh.cluster_size(), arch.max_cluster));
  if (o.num_threads < 1)
    fail(Code::bad_mesh, fmt::format("num_threads is {}, it must be at least 1", o.num_threads));
  if (o.num_threads > 1 && o.thread_name.empty()) {
    fail(Code::bad_mesh, "num_threads and thread_name must be both set or neither",
         "name the axis of the threads, e.g. .thread_name = \"wg\"");
  }
  if (int64_t{o.num_threads} * group_threads > arch.max_threads_per_cta) {
    fail(Code::too_many_threads,
         fmt::format(
             "Requested too many CUDA threads per block: {} warpgroups are {} threads, {} are possible",
             o.num_threads, int64_t{o.num_threads} * group_threads, arch.max_threads_per_cta),
         "lower num_threads and give each warpgroup more work, or use more programs in the grid");
  }
  std::set<std::string> seen;
  const auto unique = [&](const std::string& n) {
    if (!n.empty() && !seen.insert(n).second)
      fail(Code::duplicate_name, fmt::format("two axes are named \"{}\"", n),
           "give each axis of the grid, the cluster and the threads its own name");
  };
  for (const auto& a : mesh.grid) unique(a.name);
  for (const auto& a : mesh.cluster) unique(a.name);
  unique(mesh.thread.name);
  return mesh;
}

bool legal_name(const std::string& name) {
  if (name.empty() || (std::isdigit(static_cast<unsigned char>(name[0])) != 0)) return false;
  return std::ranges::all_of(name,
                             [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '$'; });
}

void check_scratch_names(const std::vector<NamedScratch>& scratch, const std::source_location& loc) {
  std::set<std::string_view> seen;
  for (const NamedScratch& s : scratch) {
    if (s.name.empty()) fail(Code::bad_type, "a scratch has no name", loc, "the body finds it by its name");
    if (!seen.insert(s.name).second)
      fail(Code::duplicate_name, fmt::format("two scratches are named \"{}\"", s.name), loc,
           "the body would always get the first one");
  }
}

Ref argument(int array, const pl::ShapeDtype& type, const std::source_location& loc) {
  for (int64_t d : type.shape)
    if (d < 1)
      fail(Code::bad_type,
           fmt::format("argument {} has type {}: a dimension is not positive", array, pl::to_string(type)),
           loc, "give sizes of at least 1; a single number has the shape {}");
  auto a = std::make_shared<Allocation>();
  a->space = MemorySpace::gmem;
  a->name = fmt::format("#{}", array);
  a->dtype = type.dtype;
  a->shape = type.shape;
  a->physical = physical_layout(type, {}, loc);
  a->array = array;
  return Ref(std::move(a));
}

std::variant<Ref, BarrierRef, UnionRef> allocate(const NamedScratch& s, const std::source_location& loc) {
  struct Visitor {
    const std::string& name;
    const std::source_location& loc;
    using Value = std::variant<Ref, BarrierRef, UnionRef>;
    Value operator()(const SmemType& t) const { return make_smem(t, name, t.loc); }
    Value operator()(const GmemType& t) const { return make_gmem(t, name, t.loc); }
    Value operator()(const TmemType& t) const { return make_tmem(t, name, t.loc); }
    Value operator()(const BarrierType& t) const { return make_barrier(t, name, t.loc); }
    Value operator()(const SemaphoreType& t) const { return make_semaphores(t, name, loc); }
    Value operator()(const RefUnionType& t) const { return make_union(t, name, t.loc); }
    Value operator()(const AccType& t) const {
      if (t.shape.size() != 2)
        fail(Code::bad_accumulator,
             fmt::format("ACC \"{}\" takes a shape (m, n), not {}", name, pl::to_string(t.shape)), t.loc);
      return make_accumulator(t.shape[0], t.shape[1], t.dtype, t.loc);
    }
  };
  return std::visit(Visitor{s.name, loc}, s.type);
}

void fill_geometry(Kernel& kernel, Recorder& r, const KernelOptions& o) {
  const int64_t programs = pl::volume(o.grid);
  Launch& l = kernel.launch;
  l.block = {static_cast<uint32_t>(group_threads * o.num_threads), 1, 1};
  std::array<uint32_t, 3> cluster{1, 1, 1};
  for (size_t i = 0; i < o.cluster.size(); ++i)
    cluster[o.cluster.size() - 1 - i] = static_cast<uint32_t>(o.cluster[i]);
  l.cluster = {cluster[0], cluster[1], cluster[2]};
  if (programs * cluster[0] > r.arch().max_grid_x)
    fail(Code::bad_grid, fmt::format("a grid of {} programs is too large", programs));
  l.grid = {static_cast<uint32_t>(programs) * cluster[0], cluster[1], cluster[2]};
  isa::Function& f = r.function();
  f.reqntid = l.block;
  f.minnctapersm = 1;
  if (!o.cluster.empty()) {
    f.explicitcluster = true;
    f.reqnctapercluster = l.cluster;
  }
}

void check_params(const CompilerParams& p, const isa::ArchSpec& arch) {
  constexpr int64_t most_events = int64_t{1} << 24;
  if (p.profile_space < 0 || p.profile_space > most_events)
    fail(Code::bad_scope,
         fmt::format("profile_space is {}, it can be 0 to {}", p.profile_space, most_events));
  if (p.reduction_scratch_bytes < 0 || p.reduction_scratch_bytes > arch.max_shared_bytes_per_cta)
    fail(Code::no_scratch, fmt::format("reduction_scratch_bytes is {}, it can be 0 to {}",
                                       p.reduction_scratch_bytes, arch.max_shared_bytes_per_cta));
}

void check_aliases(const KernelOptions& o) {
  std::set<int> taken;
  for (const auto& [in, out] : o.input_output_aliases) {
    if (!taken.insert(out).second)
      fail(Code::bad_type,
           fmt::format("input_output_aliases names output {} twice: it starts as one input", out),
           "alias each output to one input, or copy the second input in the body");
    const auto& ins = o.in_types.list();
    const auto& outs = o.out_type.list();
    if (in < 0 || out < 0 || static_cast<size_t>(in) >= ins.size() ||
        static_cast<size_t>(out) >= outs.size()) {
      fail(Code::bad_type,
           fmt::format("input_output_aliases names input {} and output {}, which do not exist", in, out),
           "inputs and outputs count from 0, each for itself");
    }
    if (!(ins[static_cast<size_t>(in)] == outs[static_cast<size_t>(out)])) {
      fail(Code::bad_type, fmt::format("input {} and output {} are aliases of different types: {} and {}", in,
                                       out, pl::to_string(ins[static_cast<size_t>(in)]),
                                       pl::to_string(outs[static_cast<size_t>(out)])));
    }
  }
}

}  // namespace

ForArch::ForArch(const isa::ArchSpec& arch) : outer_(std::exchange(recorded_for, &arch)) {}
ForArch::~ForArch() { recorded_for = outer_; }

const std::variant<Ref, BarrierRef, UnionRef>& Scratch::find(const std::string& name,
                                                             const std::source_location& loc) const {
  std::string known;
  for (const auto& [n, value] : values_) {
    if (n == name) return value;
    known += (known.empty() ? "" : ", ") + n;
  }
  fail(Code::unknown_name, fmt::format("the kernel has no scratch named \"{}\"", name), loc,
       known.empty() ? "declare it in .scratch_types" : "its scratch is: " + known);
}

const Ref& Scratch::ref(const std::string& name, std::source_location loc) const {
  const auto& v = find(name, loc);
  if (const Ref* r = std::get_if<Ref>(&v)) return *r;
  fail(Code::unknown_name, fmt::format("scratch \"{}\" is not an array", name), loc,
       "use .barrier(name) or .ref_union(name)");
}

const BarrierRef& Scratch::barrier(const std::string& name, std::source_location loc) const {
  const auto& v = find(name, loc);
  if (const BarrierRef* b = std::get_if<BarrierRef>(&v)) return *b;
  fail(Code::unknown_name, fmt::format("scratch \"{}\" is not a barrier", name), loc);
}

const UnionRef& Scratch::ref_union(const std::string& name, std::source_location loc) const {
  const auto& v = find(name, loc);
  if (const UnionRef* u = std::get_if<UnionRef>(&v)) return *u;
  fail(Code::unknown_name, fmt::format("scratch \"{}\" is not a RefUnion", name), loc);
}

namespace detail {
void wrong_arity(size_t refs, std::source_location loc) {
  fail(Code::bad_type,
       fmt::format(
           "the kernel body does not take {} references (inputs, then outputs) followed by plgpu::Scratch&",
           refs),
       loc,
       "the body takes a const Ref& for each input and each output, then plgpu::Scratch& if it has scratch");
}
}  // namespace detail

Kernel record_kernel(const KernelBody& body, const KernelOptions& options, std::source_location loc) {
  const VerbScope outer(loc);
  if (!legal_name(options.name))
    fail(Code::bad_type, fmt::format("\"{}\" is not a kernel name: letters, digits and _", options.name),
         "choose a name such as my_kernel, which starts with a letter or _");
  check_aliases(options);
  const isa::ArchSpec& arch = options.arch != nullptr ? *options.arch : *recorded_for;
  Recorder r(options.name, mesh_of(options, arch),
             {&arch, options.compiler_params.approx_math, !options.compiler_params.unsafe_no_auto_barriers,
              options.compiler_params.reduction_scratch_bytes, options.compiler_params.profile_space});
  check_params(options.compiler_params, arch);
  if (options.compiler_params.profile_trace_scope == TraceScope::WARP)
    frontend::unsupported("profile_trace_scope = plgpu::TraceScope::WARP: warpgroups record, not warps");
  r.profile.begin(r);
  declare_scalars(options.scalars, loc);
  Kernel kernel;
  kernel.launch.inputs = options.in_types.list();
  kernel.launch.outputs = options.out_type.list();
  kernel.launch.aliases = options.input_output_aliases;
  {
    const VerbScope at(loc);
    std::vector<Ref> refs;
    for (const auto* list : {&options.in_types, &options.out_type})
      for (const auto& type : list->list())
        refs.push_back(argument(static_cast<int>(refs.size()), type, loc));
    Scratch scratch;
    check_scratch_names(options.scratch_types, loc);
    const frontend::UserCode user;
    for (const NamedScratch& s : options.scratch_types) scratch.add(s.name, allocate(s, loc));
    body(refs, scratch);
  }
  const VerbScope at(loc);
  fill_geometry(kernel, r, options);
  r.finish(kernel, loc);
  return kernel;
}

}  // namespace palladion::plgpu
