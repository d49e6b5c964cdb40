#include "report/html/memory_probe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <set>

#include "isa/formats/fragments.h"
#include "isa/formats/tcgen05_descriptor.h"
#include "sim/check/core/context.h"
#include "sim/clock/report/where.h"
#include "sim/clock/sm/access.h"
#include "sim/machine/exec/exec.h"
#include "sim/machine/exec/place.h"
#include "sim/machine/state/tensor_memory.h"

namespace palladion::report {
namespace {

constexpr size_t most_tiles = 96, most_rectangles = 512, most_filled = 4096;
constexpr uint32_t chunk_bytes = 16;
constexpr size_t most_instructions = 50'000;  // that the page lists

// As the cluster sees it.
std::optional<isa::TensorMap> map_at(const sim::GlobalMemory& memory, const sim::ClusterState& cluster,
                                     uint64_t address) {
  uint8_t copy[isa::tensor_map_bytes];
  const uint8_t* bytes = sim::seen(memory, cluster.stores, sim::Address(address), sizeof copy, copy);
  if (bytes == nullptr) return std::nullopt;
  const auto map = isa::decode_tensor_map(std::span<const std::byte, isa::tensor_map_bytes>(
      reinterpret_cast<const std::byte*>(bytes), isa::tensor_map_bytes));
  return map ? std::optional(*map) : std::nullopt;
}

// Layouts that follow from box and swizzle alone.
bool is_plain(const isa::TensorMap& map) {
  return !map.is_im2col() && map.interleave == isa::Interleave::none && map.element_bytes() != 0;
}

std::vector<uint32_t> box_of(const isa::TensorMap& map) {
  std::vector<uint32_t> box;
  for (int i = 0; i < map.rank; ++i) box.push_back(map.box_count(i));
  return box;
}

// Where element `i` of the box lies, i counted innermost first.
uint32_t place_in_shared(const MemorySeen::Tile& tile, uint64_t i) {
  const auto address = tile.offset + static_cast<uint32_t>(i * uint64_t(tile.map.element_bytes()));
  return isa::swizzle(address, tile.map.swizzle);
}

json::object tile_json(const MemorySeen::Tile& tile) {
  const isa::SwizzleShape& swizzle = isa::shape(tile.map.swizzle);
  const std::vector<uint32_t> box = box_of(tile.map);
  uint64_t elements = 1;
  for (const uint32_t n : box) elements *= n;
  json::array samples;  // with which the page checks its own arithmetic
  for (const uint64_t i : {uint64_t{0}, elements / 7, elements / 3, elements / 2, elements - 1})
    samples.push_back(json::array{i, place_in_shared(tile, i)});
  return {{"offset", tile.offset},
          {"load", tile.load},
          {"pc", tile.pc},
          {"element", isa::name(tile.map.data_type)},
          {"element_bytes", tile.map.element_bytes()},
          {"box", array_of(box)},
          {"swizzle", isa::name(tile.map.swizzle)},
          {"swizzle_mask", swizzle.mask},
          {"swizzle_shift", swizzle.shift},
          {"chunk_bytes", swizzle.chunk_bytes},
          {"samples", std::move(samples)}};
}

json::object accesses_json(sim::Pc pc, const MemorySeen::Accesses& a) {
  return {{"pc", pc},         {"writes", a.writes}, {"warps", a.warps},
          {"extra", a.extra}, {"passes", a.passes}, {"fewest", a.fewest},
          {"bytes", a.bytes}, {"lanes", a.lanes},   {"offsets", array_of(a.offsets)}};
}

// Columns, one entry a chunk.
json::object filled_json(const MemorySeen& seen) {
  json::array chunks, pcs, warps, lanes, copied;
  for (const auto& [chunk, f] : seen.filled) {
    chunks.push_back(chunk);
    pcs.push_back(uint32_t{f.pc});
    warps.push_back(uint32_t{f.warp});
    lanes.push_back(uint32_t{f.lane});
    copied.push_back(f.copied ? 1 : 0);
  }
  return {{"chunks", std::move(chunks)}, {"pcs", std::move(pcs)},       {"warps", std::move(warps)},
          {"lanes", std::move(lanes)},   {"copied", std::move(copied)}, {"whole", seen.filled_whole}};
}

// Which lane and register hold element (row, column) of columns 0 to 7; each further 8 columns are
// `step` registers on.
json::object fragment_json(const std::string& name, const isa::FragmentLayout& layout, int bits) {
  json::array lanes, registers, parts;
  for (int row = 0; row < layout.rows; ++row)
    for (int column = 0; column < 8; ++column) {
      const isa::FragmentIndex at = layout.holder(row, column);
      lanes.push_back(at.lane);
      registers.push_back(at.reg);
      parts.push_back(at.part);
    }
  const int step = layout.cols > 8 ? layout.holder(0, 8).reg - layout.holder(0, 0).reg : 0;
  return {{"name", name},
          {"rows", layout.rows},
          {"columns", layout.cols},
          {"bits", bits},
          {"lanes", std::move(lanes)},
          {"registers", std::move(registers)},
          {"parts", std::move(parts)},
          {"step", step}};
}

// The accumulators of the matrix instructions of a program, each shape once.
json::array fragments_of(const sim::Program& program) {
  std::map<std::string, std::pair<isa::FragmentLayout, int>> shapes;
  for (const sim::MicroOp& op : program.code) {
    if (op.effect == nullptr) continue;
    if (const auto* w = std::get_if<isa::Wgmma>(op.effect)) {
      const int bits = isa::bits(w->d);
      shapes.try_emplace(fmt::format("wgmma m{}n{}k{} D, {} bits", w->m, w->n, w->k, bits),
                         isa::wgmma_d(w->n, bits), bits);
    } else if (const auto* m = std::get_if<isa::Mma>(op.effect);
               m != nullptr && isa::bits(m->d) <= 32 && m->m == 16) {
      const int bits = isa::bits(m->d);
      shapes.try_emplace(fmt::format("mma m{}n{}k{} D, {} bits", m->m, m->n, m->k, bits),
                         isa::mma_c(m->m, bits), bits);
    }
  }
  json::array out;
  for (const auto& [name, shape] : shapes) out.push_back(fragment_json(name, shape.first, shape.second));
  return out;
}

// [text, file, line, line of the PTX] by pc.
json::array instructions_of(const sim::Program& program) {
  json::array out;
  for (sim::Pc pc{0}; pc < std::min(program.code.size(), most_instructions); ++pc) {
    const sim::Site site = sim::site_at(program, pc, {}, {}, 0);
    out.push_back(json::array{site.instruction, site.source.file, site.source.line, site.ptx_line});
  }
  return out;
}

// Named arrays, with the type that their author gave them where it is known.
json::array objects_of(const sim::RunView& run) {
  json::array out;
  const sim::Program& p = *run.program;
  for (const sim::check::SharedObject& o : sim::check::shared_objects(run)) {
    json::object object = {{"name", o.name}, {"offset", o.base}, {"bytes", o.bytes}};
    const auto same = [&](const isa::BufferName& b) {
      return b.name == o.name && p.symbol_address[b.symbol] + b.offset == o.base;
    };
    if (const auto b = std::ranges::find_if(p.module->buffers, same); b != p.module->buffers.end()) {
      object.emplace("element", b->element);
      object.emplace("shape", array_of(b->shape));
    }
    out.push_back(std::move(object));
  }
  return out;
}

}  // namespace

void MemorySeen::take(const MemorySeen& other) {
  for (const auto& [key, tile] : other.tiles)
    if (tiles.size() < most_tiles) tiles.try_emplace(key, tile);
  other_tiles += other.other_tiles;
  for (const auto& [pc, theirs] : other.accesses) {
    const auto [at, is_new] = accesses.try_emplace(pc, theirs);
    if (is_new) continue;
    const Accesses mine = at->second;
    if (theirs.passes > mine.passes) at->second = theirs;
    at->second.warps = mine.warps + theirs.warps;
    at->second.extra = mine.extra + theirs.extra;
  }
  for (const auto& [chunk, by] : other.filled) fill(chunk, by);
  filled_whole = filled_whole && other.filled_whole;
  for (const auto& [rectangle, count] : other.rectangles)
    if (rectangles.size() < most_rectangles || rectangles.contains(rectangle)) rectangles[rectangle] += count;
}

void MemorySeen::fill(uint32_t chunk, const Filled& by) {
  if (filled.size() < most_filled)
    filled.try_emplace(chunk, by);
  else
    filled_whole = filled_whole && filled.contains(chunk);
}

// The subscriber of a cluster. Tiles, what threads fill, and tensor memory are its first CTA's.
class MemoryProbe::Cluster {
 public:
  Cluster(const sim::RunView& run, const sim::ClusterState& cluster) : run_(run), cluster_(cluster) {}
  const MemorySeen& seen() const { return seen_; }

  void on(const sim::Access& a) {
    if (a.lanes == 0) return;
    const uint64_t first = a.addresses[std::countr_zero(a.lanes)];
    if (!sim::is_shared(sim::space_of(a.space, first))) return;
    if (a.kind == sim::Access::Kind::write)
      for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
        const int lane = std::countr_zero(m);
        fill(a.addresses[lane], a.size, a.origin, lane, false);
      }
    const bool atomic = a.kind == sim::Access::Kind::atomic;
    const uint32_t passes = atomic ? sim::hardware::atomic_passes(a.addresses, a.lanes, a.size)
                                   : sim::hardware::shared_passes(a.addresses, a.lanes, a.size);
    const uint32_t fewest = std::min(passes, sim::hardware::ideal_passes(a.lanes, a.size));
    MemorySeen::Accesses& seen = seen_.accesses[a.origin.pc];
    ++seen.warps;
    seen.extra += passes - fewest;
    if (passes <= seen.passes) return;
    seen.passes = passes;
    seen.fewest = fewest;
    seen.bytes = a.size;
    seen.lanes = a.lanes;
    seen.writes = a.kind != sim::Access::Kind::read;
    for (uint32_t lane = 0; lane < 32; ++lane)
      seen.offsets[lane] =
          (a.lanes >> lane & 1) != 0 ? static_cast<uint32_t>(a.addresses[lane]) & sim::shared_offset_mask : 0;
  }

  void on(const sim::AsyncIssue& e) {
    take_rectangle(e.writes, e.origin.pc, "written");
    take_rectangle(e.reads, e.origin.pc, "read");
    if (e.family == isa::AsyncFamily::cp_async) take_copies(e);
    if (e.tensor_map == 0) return;
    const auto map = map_at(*run_.memory, cluster_, e.tensor_map);
    if (!map || !is_plain(*map)) {
      ++seen_.other_tiles;
      return;
    }
    const bool load = std::ranges::any_of(e.writes, &sim::Piece::shared);
    uint32_t offset = ~0U;
    for (const sim::Piece& p : load ? e.writes : e.reads)
      if (p.shared()) offset = std::min(offset, static_cast<uint32_t>(p.address) & sim::shared_offset_mask);
    if (offset == ~0U || seen_.tiles.size() >= most_tiles) return;
    const std::string layout = fmt::format("{} {} {}", isa::name(map->data_type),
                                           fmt::join(box_of(*map), "x"), isa::name(map->swizzle));
    seen_.tiles.try_emplace({offset, load, layout}, MemorySeen::Tile{*map, offset, load, e.origin.pc});
  }

  void on(const sim::TensorAccess& a) {
    if (a.origin.cta_rank == 0)
      add({a.lane, a.lanes, a.column, a.columns, a.origin.pc,
           a.writes ? "stored by threads" : "loaded by threads"});
  }
  void on(const sim::TensorAllocated& a) {
    if (a.origin.cta_rank == 0 && !a.freed && a.columns != 0)
      add({0, sim::TensorMemory::lanes, a.column, a.columns, a.origin.pc, "allocated"});
  }

 private:
  // Bytes of the first CTA's shared memory.
  void fill(uint64_t address, uint32_t bytes, const sim::Origin& by, int lane, bool copied) {
    const auto at = static_cast<uint32_t>(address);
    if (at >> sim::cta_rank_shift != 0) return;
    for (uint32_t chunk = at / chunk_bytes; chunk <= (at + bytes - 1) / chunk_bytes; ++chunk)
      seen_.fill(chunk, {by.pc, by.warp, sim::Lane(lane), copied});
  }

  // cp.async: a piece a lane, in the order of the lanes.
  void take_copies(const sim::AsyncIssue& e) {
    uint32_t m = e.origin.lanes;
    for (const sim::Piece& p : e.writes) {
      if (m == 0) return;
      fill(p.address, p.bytes, e.origin, std::countr_zero(m), true);
      m &= m - 1;
    }
  }

  void add(const MemorySeen::Rectangle& r) {
    if (seen_.rectangles.size() < most_rectangles || seen_.rectangles.contains(r)) ++seen_.rectangles[r];
  }

  // The smallest rectangle around the pieces in the first CTA's tensor memory.
  void take_rectangle(std::span<const sim::Piece> pieces, sim::Pc pc, std::string_view what) {
    uint32_t lane = ~0U, end_lane = 0, column = ~0U, end_column = 0;
    for (const sim::Piece& p : pieces) {
      if (p.space != isa::Space::tensor || p.address >> 24 != 0 || p.bytes == 0) continue;
      constexpr uint32_t column_bytes = sim::TensorMemory::lanes * 4;
      const auto first = static_cast<uint32_t>(p.address), last = first + p.bytes - 1;
      const uint32_t c0 = first / column_bytes, c1 = last / column_bytes;
      const bool whole = c0 != c1;
      column = std::min(column, c0);
      end_column = std::max(end_column, c1 + 1);
      lane = std::min(lane, whole ? 0 : first % column_bytes / 4);
      end_lane = std::max(end_lane, whole ? uint32_t{sim::TensorMemory::lanes} : last % column_bytes / 4 + 1);
    }
    if (column < end_column) add({lane, end_lane - lane, column, end_column - column, pc, what});
  }

  const sim::RunView& run_;
  const sim::ClusterState& cluster_;
  MemorySeen seen_;
};

MemoryProbe::MemoryProbe(traces::CtaChoice ctas) : ctas_(ctas) {}
MemoryProbe::~MemoryProbe() = default;

void MemoryProbe::start(const sim::RunView& run) {
  run_ = run;
  instructions_ = instructions_of(*run.program);
  objects_ = objects_of(run);
  fragments_ = fragments_of(*run.program);
  operand_bits_ = sim::operand_bits_of(*run.program);
}

void MemoryProbe::observe(sim::ClusterState& cluster, sim::ClusterEvents& events) {
  if (ctas_.holds(cluster, run_.launch->grid))
    events.add(alive_.add(cluster, std::make_unique<Cluster>(run_, cluster)));
}

void MemoryProbe::retire(sim::ClusterState& cluster) {
  if (const auto mine = alive_.take(cluster)) seen_.take(mine->seen());
}

json::object MemoryProbe::json() const {
  if (instructions_.empty()) return {};
  json::array tiles, accesses, rectangles;
  for (const auto& [key, tile] : seen_.tiles) tiles.push_back(tile_json(tile));
  for (const auto& [pc, a] : seen_.accesses) accesses.push_back(accesses_json(pc, a));
  for (const auto& [r, count] : seen_.rectangles)
    rectangles.push_back(json::object{{"what", r.what},
                                      {"lane", r.lane},
                                      {"lanes", r.lanes},
                                      {"column", r.column},
                                      {"columns", r.columns},
                                      {"pc", r.pc},
                                      {"count", count}});
  return {{"instructions", instructions_},   {"objects", objects_},
          {"tiles", std::move(tiles)},       {"tiles_not_shown", seen_.other_tiles},
          {"accesses", std::move(accesses)}, {"tensor_memory", std::move(rectangles)},
          {"fragments", fragments_},         {"operand_bits", operand_bits_},
          {"filled", filled_json(seen_)}};
}

}  // namespace palladion::report
