// What the author calls the bytes that a finding is about.
#include <algorithm>
#include <optional>
#include <tuple>

#include "sim/check/core/context.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim::check {
namespace {

// A name of a range of shared memory, with the size of one of its leading elements.
struct Symbolic {
  std::string name;
  uint64_t base = 0, bytes = 0;
  uint64_t slice = 0;  // bytes of name[i]; 0: it has no parts
};

bool is_shared_array(const isa::Symbol& s) {
  return s.kind == isa::Symbol::Kind::variable && is_shared(s.variable.space);
}

uint64_t slice_of(uint64_t bytes, uint64_t leading) {
  return leading > 1 && bytes % leading == 0 ? bytes / leading : 0;
}

Symbolic of_symbol(const Program& p, isa::SymbolId id, uint64_t dynamic_bytes) {
  const isa::Symbol& s = p.module->symbols[id];
  const bool sized = s.variable.size() != 0;
  Symbolic n{
      .name = s.name, .base = p.symbol_address[id], .bytes = sized ? s.variable.size() : dynamic_bytes};
  // An array of bytes is memory of any use: its elements are not named.
  const bool bytes_only = s.variable.dims.size() == 1 && n.bytes == s.variable.dims[0];
  if (sized && !s.variable.dims.empty() && !bytes_only) n.slice = slice_of(n.bytes, s.variable.dims[0]);
  return n;
}

bool has_named_parts(const Program& p, isa::SymbolId id) {
  return std::ranges::any_of(p.module->buffers, [&](const auto& b) { return b.symbol == id; });
}

// All names of the range: the author's own, else those of symbols that the author gave no names.
std::vector<Symbolic> names_of(const RunView& run, uint64_t offset, uint64_t bytes) {
  const Program& p = *run.program;
  std::vector<Symbolic> out;
  const auto add = [&](Symbolic n) {
    if (n.base < offset + bytes && offset < n.base + n.bytes) out.push_back(std::move(n));
  };
  for (const isa::BufferName& b : p.module->buffers)
    add({.name = b.name,
         .base = p.symbol_address[b.symbol] + b.offset,
         .bytes = b.bytes,
         .slice = b.shape.empty() ? 0 : slice_of(b.bytes, static_cast<uint64_t>(b.shape[0]))});
  if (!out.empty()) return out;
  for (isa::SymbolId id = 0; id < p.module->symbols.size(); ++id)
    if (is_shared_array(p.module->symbols[id]) && !has_named_parts(p, id))
      add(of_symbol(p, id, run.launch->dynamic_shared));
  return out;
}

// The array that ends last before the offset, for bytes between or behind arrays.
std::optional<Symbolic> ends_before(const RunView& run, uint64_t offset) {
  const Program& p = *run.program;
  std::optional<Symbolic> out;
  for (const isa::BufferName& b : p.module->buffers) {
    const Symbolic n{.name = b.name, .base = p.symbol_address[b.symbol] + b.offset, .bytes = b.bytes};
    if (n.base + n.bytes <= offset && (!out || n.base + n.bytes > out->base + out->bytes)) out = n;
  }
  return out;
}

// Which part of `n` the bytes are.
Named part_of(const Symbolic& n, uint64_t offset, uint64_t bytes) {
  const uint64_t from = offset - std::min(offset, n.base);
  const uint64_t to = std::min(offset + bytes - n.base, n.bytes);
  Named out{.name = n.name, .index = {}, .bytes = {}};
  uint64_t base = 0, size = n.bytes;
  if (n.slice != 0 && from / n.slice == (to - 1) / n.slice) {
    out.index = from / n.slice;
    base = *out.index * n.slice;
    size = n.slice;
  }
  if (from != base || to != base + size || bytes > size) out.bytes = {{from - base, to - base}};
  return out;
}

// What lies at the offset, of whichever CTA.
Object named_object(const RunView& run, Object::Kind kind, uint64_t offset, uint64_t bytes) {
  Object out{.kind = kind};
  for (const Symbolic& n : names_of(run, offset, bytes)) {
    Named part = part_of(n, offset, bytes);
    if (std::ranges::find(out.names, part) == out.names.end()) out.names.push_back(std::move(part));
  }
  std::ranges::sort(out.names, {}, [](const Named& n) { return std::tie(n.name, n.index); });
  if (const auto before = ends_before(run, offset); out.names.empty() && before) {
    const uint64_t from = offset - before->base;
    out.names = {{.name = before->name, .index = {}, .bytes = {{from, from + bytes}}}};
    out.past_end = true;
  }
  if (out.names.empty()) out.ranges = {{offset, offset + bytes}};
  return out;
}

Object named_object(const RunView& run, const ClusterState& cluster, Object::Kind kind, SharedAddress address,
                    uint64_t bytes) {
  const uint32_t rank = address >> cta_rank_shift;
  Object out = named_object(run, kind, address & shared_offset_mask, bytes);
  if (run.launch->cluster.count() > 1 && rank < cluster.ctas.size()) out.cta = cluster.ctas[rank].id;
  return out;
}

void add_names(const RunView& run, Statement& statement) {
  for (PhraseValue& value : statement.values) {
    if (auto* const inner = std::get_if<Statement>(&value)) add_names(run, *inner);
    auto* const o = std::get_if<Object>(&value);
    if (o == nullptr || o->kind != Object::Kind::mbarrier || !o->names.empty() || o->ranges.size() != 1)
      continue;
    const std::optional<isa::Dim3> cta = o->cta;
    *o = named_object(run, o->kind, o->ranges[0].from, o->ranges[0].to - o->ranges[0].from);
    o->cta = cta;
  }
}

}  // namespace

void add_names(const RunView& run, Finding& finding) { add_names(run, finding.message); }

Object shared_object(const RunView& run, const ClusterState& cluster, SharedAddress address, uint64_t bytes) {
  return named_object(run, cluster, Object::Kind::shared_memory, address, bytes);
}

Object mbarrier_object(const RunView& run, const ClusterState& cluster, SharedAddress address) {
  return named_object(run, cluster, Object::Kind::mbarrier, address, sizeof(uint64_t));
}

Object global_object(const RunView& run, uint64_t address, uint64_t bytes) {
  Object out{.kind = Object::Kind::global_memory};
  if (const Allocation* a = run.memory->lookup(Address(address)))
    out.names = {{.name = a->name, .index = {}, .bytes = {{address - a->base, address - a->base + bytes}}}};
  else
    out.ranges = {{address, address + bytes}};
  return out;
}

std::vector<SharedObject> shared_objects(const RunView& run) {
  const Program& p = *run.program;
  std::vector<SharedObject> out;
  out.reserve(p.module->buffers.size());
  for (const isa::BufferName& b : p.module->buffers)
    out.push_back({b.name, p.symbol_address[b.symbol] + b.offset, b.bytes});
  for (isa::SymbolId id = 0; id < p.module->symbols.size(); ++id) {
    if (!is_shared_array(p.module->symbols[id])) continue;
    if (has_named_parts(p, id)) continue;
    const Symbolic n = of_symbol(p, id, run.launch->dynamic_shared);
    const isa::Variable& v = p.module->symbols[id].variable;
    out.push_back({n.name, n.base, n.bytes, v.dims.empty() && v.size() == 1});
  }
  return out;
}

}  // namespace palladion::sim::check
