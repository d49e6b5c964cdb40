#include "frontend/memory/scoped.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

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
  Recorder::current().name_smem({.offset = static_cast<uint64_t>(offset),
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
  const At at(loc);
  check_type(type, name, loc);
  return smem_at(type, name, Recorder::current().allocate_smem(size_of(type), smem_alignment), loc);
}

Ref make_gmem(const GmemType& type, const std::string& name, std::source_location loc) {
  const At at(loc);
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
  a->pointer = r.scratch_array(a->physical.bytes, a->name);
  return Ref(std::move(a));
}

namespace {

template <class Type>
using Groups = std::vector<std::vector<Type>>;

// The groups as types of one space; nothing when one is of another.
template <class Type>
std::optional<Groups<Type>> all_of(const Groups<AliasedType>& groups) {
  Groups<Type> out(groups.size());
  for (size_t g = 0; g < groups.size(); ++g)
    for (const AliasedType& t : groups[g]) {
      const Type* type = std::get_if<Type>(&t);
      if (type == nullptr) return std::nullopt;
      out[g].push_back(*type);
    }
  return out;
}

std::string name_in(const std::string& name, size_t group, size_t i) {
  return fmt::format("{}[{}][{}]", name, group, i);
}

UnionRef smem_union(const Groups<SmemType>& groups, const std::string& name,
                    const std::source_location& loc) {
  int64_t bytes = 0;
  for (const auto& group : groups) {
    int64_t sum = 0;
    for (const SmemType& t : group) {
      check_type(t, name, loc);
      sum = pl::align_to(sum, smem_alignment) + size_of(t);
    }
    bytes = std::max(bytes, sum);
  }
  const int64_t base = Recorder::current().allocate_smem(bytes, smem_alignment);
  const std::string distinct = Recorder::current().distinct_name(name);
  UnionRef out;
  for (size_t g = 0; g < groups.size(); ++g) {
    int64_t offset = base;
    std::vector<Ref> refs;
    for (size_t i = 0; i < groups[g].size(); ++i) {
      offset = pl::align_to(offset, smem_alignment);
      refs.push_back(smem_at(groups[g][i], name_in(distinct, g, i), offset, loc));
      offset += size_of(groups[g][i]);
    }
    out.groups.push_back(std::move(refs));
  }
  return out;
}

UnionRef tmem_union(const Groups<TmemType>& groups, const std::string& name) {
  Recorder& r = Recorder::current();
  const std::string distinct = r.distinct_name(name);
  const int64_t base = r.tensor_mark();
  int64_t end = base;
  UnionRef out;
  for (size_t g = 0; g < groups.size(); ++g) {
    r.release_tensor(base);
    std::vector<Ref> refs;
    for (size_t i = 0; i < groups[g].size(); ++i)
      refs.push_back(make_tmem(groups[g][i], name_in(distinct, g, i), groups[g][i].loc));
    end = std::max(end, r.tensor_mark());
    out.groups.push_back(std::move(refs));
  }
  r.release_tensor(end);
  return out;
}

}  // namespace

UnionRef make_union(const RefUnionType& type, const std::string& name, std::source_location loc) {
  const At at(loc);
  if (const auto smem = all_of<SmemType>(type.groups)) return smem_union(*smem, name, loc);
  if (const auto tmem = all_of<TmemType>(type.groups)) return tmem_union(*tmem, name);
  frontend::unsupported("RefUnion of arrays in SMEM and arrays in TMEM");
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
  base->scope = frontend::Recorder::current().root();  // of the whole kernel
  return plgpu::Ref(std::move(base));
}

}  // namespace palladion::pl
