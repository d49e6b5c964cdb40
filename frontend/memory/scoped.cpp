#include "frontend/memory/scoped.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/core/verbs.h"

namespace palladion::plgpu {

namespace {

// Every SMEM array starts at a multiple of the largest swizzle pattern.
constexpr int64_t smem_alignment = 1024;

void check_type(const SmemType& type, const std::string& name, const std::source_location& loc) {
  for (int64_t d : type.shape) {
    if (d < 1)
      fail(Code::bad_type,
           fmt::format("SMEM \"{}\": a shape {} has no elements", name, pl::to_string(type.shape)), loc,
           "give sizes of at least 1, or leave the allocation away");
  }
}

int64_t size_of(const SmemType& type) { return pl::ShapeDtype{type.dtype, type.shape}.bytes(); }

Ref smem_at(const SmemType& type, const std::string& name, int64_t offset, const std::source_location& loc) {
  auto a = std::make_shared<Allocation>();
  a->space = MemorySpace::smem;
  a->name = Recorder::current().distinct_name(name);
  a->dtype = type.dtype;
  a->shape = type.shape;
  a->physical = physical_layout({type.dtype, type.shape}, type.options.transforms, loc);
  a->smem_offset = offset;
  Recorder::current().smem.name({.offset = static_cast<uint64_t>(offset),
                                 .bytes = static_cast<uint64_t>(size_of(type)),
                                 .name = a->name,
                                 .element = std::string(pl::name(type.dtype)),
                                 .shape = type.shape});
  return Ref(std::move(a));
}

}  // namespace

const std::vector<Ref>& UnionRef::operator[](const frontend::IndexAt& i) const {
  if (i.index >= groups.size())
    fail(Code::bad_index, fmt::format("group {} of a RefUnion of {}", i.index, groups.size()),
         frontend::author_line(i.loc), "groups count from 0, in the order in which RefUnion names them");
  return groups[i.index];
}

Ref make_smem(const SmemType& type, const std::string& name, std::source_location loc) {
  const VerbScope at(loc);
  check_type(type, name, loc);
  return smem_at(type, name, Recorder::current().smem.allocate(size_of(type), smem_alignment), loc);
}

Ref make_gmem(const GmemType& type, const std::string& name, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  const int64_t n = pl::volume(type.shape);
  if (n < 1)
    fail(Code::bad_type,
         fmt::format("GMEM \"{}\": a shape {} has no elements", name, pl::to_string(type.shape)), loc,
         "give sizes of at least 1, or leave the allocation away");
  auto a = std::make_shared<Allocation>();
  a->space = MemorySpace::gmem;
  a->name = r.distinct_name(name);
  a->dtype = type.dtype;
  a->shape = type.shape;
  a->physical = physical_layout({type.dtype, type.shape}, {}, loc);
  a->pointer = r.params.scratch_array(a->physical.bytes, a->name);
  return Ref(std::move(a));
}

namespace {

// What a group takes, while its arrays are placed one behind the other.
struct Extent {
  int64_t bytes = 0, columns = 0, alignment = 1;  // of the columns

  // Where this array is.
  int64_t add(const SmemType& type) {
    const int64_t at = pl::align_to(bytes, smem_alignment);
    bytes = at + size_of(type);
    return at;
  }
  int64_t add(const TmemType& type) {
    const int64_t at = pl::align_to(columns, tensor_alignment(type));
    columns = at + tensor_columns(type);
    alignment = std::max(alignment, tensor_alignment(type));
    return at;
  }
};

bool is_tmem(const RefUnionGroup::value_type& t) { return std::holds_alternative<TmemType>(t); }

// .cta_group of the union's tensor memory; 0: it has none.
int check_union(const RefUnionType& type, const std::string& name) {
  int ctas = 0;
  for (const auto& group : type.groups)
    for (const auto& array : group) {
      if (!is_tmem(array)) {
        const auto& smem = std::get<SmemType>(array);
        check_type(smem, name, smem.loc);
        continue;
      }
      const auto& tmem = std::get<TmemType>(array);
      check_tmem(tmem, name, tmem.loc);
      const int wanted = tmem.options.collective ? 2 : 1;
      if (ctas != 0 && ctas != wanted)
        fail(Code::bad_collective, fmt::format("RefUnion \"{}\": some TMEM is collective, some is not", name),
             tmem.loc, "give all of its TMEM the same .collective");
      ctas = wanted;
    }
  return ctas;
}

}  // namespace

UnionRef make_union(const RefUnionType& type, const std::string& name, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  const int ctas = check_union(type, name);
  Extent most;
  for (const auto& group : type.groups) {
    Extent extent;
    for (const auto& array : group) std::visit([&](const auto& t) { extent.add(t); }, array);
    most = {std::max(most.bytes, extent.bytes), std::max(most.columns, extent.columns),
            std::max(most.alignment, extent.alignment)};
  }
  const int64_t bytes_at = most.bytes == 0 ? 0 : r.smem.allocate(most.bytes, smem_alignment);
  const int64_t columns_at =
      ctas == 0 ? 0 : take_tensor_columns(most.columns, most.alignment, ctas, name, loc);
  const std::string distinct = r.distinct_name(name);
  UnionRef out;
  for (size_t g = 0; g < type.groups.size(); ++g) {
    Extent extent;
    std::vector<Ref> refs;
    for (size_t i = 0; i < type.groups[g].size(); ++i) {
      const std::string element = fmt::format("{}[{}][{}]", distinct, g, i);
      const auto& array = type.groups[g][i];
      if (is_tmem(array)) {
        const auto& tmem = std::get<TmemType>(array);
        refs.push_back(tmem_at(tmem, element, columns_at + extent.add(tmem)));
      } else {
        const auto& smem = std::get<SmemType>(array);
        refs.push_back(smem_at(smem, element, bytes_at + extent.add(smem), loc));
      }
    }
    out.groups.push_back(std::move(refs));
  }
  return out;
}

}  // namespace palladion::plgpu

namespace palladion::pl::detail {

std::string name_at(std::string_view what, const std::source_location& loc) {
  return fmt::format("{} ({})", what, frontend::short_place(loc));
}

plgpu::Ref materialize(const plgpu::SemaphoreType&) {
  frontend::fail(frontend::Code::bad_semaphore, "semaphores cannot be allocated by run_scoped",
                 "To allocate global semaphores, use pl::get_global.");
}

void check_scope(bool allocates_smem, bool allocates_acc, const Collective& collective,
                 std::source_location loc) {
  const frontend::Recorder& r = frontend::Recorder::current();
  r.needs_warpgroup("run_scoped", "allocate before the warps fork, and use the reference there");
  const std::string& thread = r.mesh().thread.name;
  for (const std::string& axis : collective.axes) {
    const bool of_cluster =
        std::ranges::any_of(r.mesh().cluster, [&](const auto& a) { return a.name == axis; });
    // GMEM alone is shared along the grid.
    const bool of_grid = !allocates_smem && !allocates_acc &&
                         std::ranges::any_of(r.mesh().grid, [&](const auto& a) { return a.name == axis; });
    if (axis.empty() || (axis != thread && !of_cluster && !of_grid))
      frontend::fail(
          frontend::Code::unknown_axis,
          fmt::format("run_scoped: neither the threads nor the cluster have an axis named \"{}\"", axis), loc,
          "name the thread_name of the kernel or an axis of cluster_names");
  }
  const bool shared = std::ranges::find(collective.axes, thread) != collective.axes.end();
  if (allocates_smem && r.thread_count() > 1 && !shared) {
    frontend::fail(frontend::Code::bad_scope,
                   "run_scoped: a kernel with several threads can only allocate SMEM and barriers that all "
                   "of them share",
                   loc,
                   fmt::format("give pl::collective(\"{}\") first, and call it from every thread", thread));
  }
  if (allocates_acc && !collective.axes.empty()) {
    frontend::fail(frontend::Code::bad_scope,
                   "run_scoped: an accumulator belongs to one thread, it cannot be allocated collectively",
                   loc, "call run_scoped without pl::collective: each thread gets its own");
  }
}

void check_global_scope(const Collective& collective, std::source_location loc) {
  const frontend::MeshAxes& mesh = frontend::Recorder::current().mesh();
  std::vector<std::string> all;
  for (const auto* axes : {&mesh.grid, &mesh.cluster})
    for (const frontend::Axis& a : *axes) all.push_back(a.name);
  if (mesh.thread.size > 1) all.push_back(mesh.thread.name);
  for (const std::string& name : all) {
    if (name.empty())
      frontend::fail(frontend::Code::bad_scope,
                     "run_scoped: GMEM is shared by the whole mesh, and an axis of it has no name", loc,
                     "give .grid_names and .cluster_names, or allocate it in .scratch_types");
    if (std::ranges::find(collective.axes, name) != collective.axes.end()) continue;
    frontend::fail(frontend::Code::bad_scope,
                   fmt::format("run_scoped: GMEM is shared by the whole mesh, also along \"{}\"", name), loc,
                   "name every axis in pl::collective; for one array a program give it the mesh's dimensions "
                   "and index it with pl::axis_index");
  }
}

}  // namespace palladion::pl::detail

namespace palladion::pl {

plgpu::Ref get_global(const plgpu::GmemType& type, std::source_location loc) {
  const plgpu::Ref made = plgpu::make_gmem(type, detail::name_at("global", type.loc), loc);
  auto base = std::make_shared<plgpu::Allocation>(made.base());
  base->scope = frontend::Recorder::current().regions.root();  // of the whole kernel
  return plgpu::Ref(std::move(base));
}

}  // namespace palladion::pl
