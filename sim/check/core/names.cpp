// What the author calls the bytes that a finding is about.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "sim/check/core/context.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim::check {
namespace {

// A name of a range of shared memory, with the size of one of its leading elements.
struct Named {
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

Named of_symbol(const Program& p, isa::SymbolId id, uint64_t dynamic_bytes) {
  const isa::Symbol& s = p.module->symbols[id];
  const bool sized = s.variable.size() != 0;
  Named n{.name = s.name, .base = p.symbol_address[id], .bytes = sized ? s.variable.size() : dynamic_bytes};
  // An array of bytes is memory of any use: its elements are not named.
  const bool bytes_only = s.variable.dims.size() == 1 && n.bytes == s.variable.dims[0];
  if (sized && !s.variable.dims.empty() && !bytes_only) n.slice = slice_of(n.bytes, s.variable.dims[0]);
  return n;
}

bool has_named_parts(const Program& p, isa::SymbolId id) {
  return std::ranges::any_of(p.module->buffers, [&](const auto& b) { return b.symbol == id; });
}

// All names of the range: the author's own, else those of symbols that the author gave no names.
std::vector<Named> names_of(const RunView& run, uint64_t offset, uint64_t bytes) {
  const Program& p = *run.program;
  std::vector<Named> out;
  const auto add = [&](Named n) {
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
std::optional<Named> ends_before(const RunView& run, uint64_t offset) {
  const Program& p = *run.program;
  std::optional<Named> out;
  for (const isa::BufferName& b : p.module->buffers) {
    const Named n{.name = b.name, .base = p.symbol_address[b.symbol] + b.offset, .bytes = b.bytes};
    if (n.base + n.bytes <= offset && (!out || n.base + n.bytes > out->base + out->bytes)) out = n;
  }
  return out;
}

// "`a`[1]" and the range within it.
std::string describe(const Named& n, uint64_t offset, uint64_t bytes, bool with_range) {
  const uint64_t from = offset - std::min(offset, n.base);
  const uint64_t to = std::min(offset + bytes - n.base, n.bytes);
  std::string out = fmt::format("`{}`", n.name);
  uint64_t base = 0, size = n.bytes;
  if (n.slice != 0 && from / n.slice == (to - 1) / n.slice) {
    base = from / n.slice * n.slice;
    size = n.slice;
    out += fmt::format("[{}]", from / n.slice);
  }
  if (with_range && (from != base || to != base + size || bytes > size))
    out += fmt::format(" bytes [{}, {})", from - base, to - base);
  return out;
}

std::string of_cta(const RunView& run, const ClusterState& cluster, uint32_t rank) {
  if (run.launch->cluster.count() == 1 || rank >= cluster.ctas.size()) return {};
  const isa::Dim3& id = cluster.ctas[rank].id;
  return fmt::format(" of CTA ({},{},{})", id.x, id.y, id.z);
}

}  // namespace

std::string shared_name(const RunView& run, const ClusterState& cluster, uint32_t address, uint64_t bytes) {
  const uint32_t rank = address >> cta_rank_shift, offset = address & shared_offset_mask;
  std::set<std::string> names;
  for (const Named& n : names_of(run, offset, bytes)) names.insert(describe(n, offset, bytes, true));
  std::string out = fmt::format("{}", fmt::join(names, " / "));
  if (const auto before = ends_before(run, offset); out.empty() && before)
    out = fmt::format("`{}` bytes [{}, {}), past its end", before->name, offset - before->base,
                      offset - before->base + bytes);
  if (out.empty()) out = fmt::format("shared memory [0x{:x}, 0x{:x})", offset, offset + bytes);
  return out + of_cta(run, cluster, rank);
}

std::string mbarrier_name(const RunView& run, const ClusterState& cluster, uint32_t address) {
  const uint32_t rank = address >> cta_rank_shift, offset = address & shared_offset_mask;
  std::set<std::string> names;
  for (const Named& n : names_of(run, offset, 8)) {
    const bool whole = n.bytes == 8 || n.slice == 8;
    names.insert(whole ? describe(n, offset, 8, false) : fmt::format("`{}`+{}", n.name, offset - n.base));
  }
  std::string out = fmt::format("{}", fmt::join(names, " / "));
  if (const auto before = ends_before(run, offset); out.empty() && before)
    out = fmt::format("`{}`+{}, past its end", before->name, offset - before->base);
  out = out.empty() ? fmt::format("mbarrier at shared address 0x{:x}", offset) : "mbarrier " + out;
  return out + of_cta(run, cluster, rank);
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
    const Named n = of_symbol(p, id, run.launch->dynamic_shared);
    const isa::Variable& v = p.module->symbols[id].variable;
    out.push_back({n.name, n.base, n.bytes, v.dims.empty() && v.size() == 1});
  }
  return out;
}

std::string global_name(const RunView& run, uint64_t address, uint64_t bytes) {
  const Allocation* a = run.memory->lookup(address);
  if (a == nullptr) return run.memory->describe(address);
  return fmt::format("`{}` bytes [{}, {})", a->name, address - a->base, address - a->base + bytes);
}

}  // namespace palladion::sim::check
