#include "sim/schedule/state_hash.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "sim/program/deciding.h"
#include "sim/program/reach.h"

namespace palladion::sim {
namespace {

uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9E3779B97F4A7C15ULL;
  return h ^ h >> 32;
}

uint64_t mix_bytes(uint64_t h, const uint8_t* bytes, size_t size) {
  size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes + i, 8);
    h = mix(h, word);
  }
  for (; i < size; ++i) h = mix(h, bytes[i]);
  return h;
}

// A predicate has a bit a lane.
uint32_t bytes_of_lanes(isa::Type type) {
  return type == isa::Type::pred ? 4 : static_cast<uint32_t>(isa::bits(type)) / 8 * 32;
}

uint64_t mix_place(uint64_t h, const LaneGroup& g) {
  h = mix(mix(h, uint64_t{g.pc} << 32 | g.mask),
          static_cast<uint64_t>(g.wait.kind) << 1 | (g.resumed ? 1 : 0));
  for (const Pc pc : g.calls) h = mix(h, pc);
  return h;
}

uint64_t mix_stacks(uint64_t h, const WarpState& warp) {
  h = mix_bytes(h, warp.local.data(), warp.local.size());
  for (const WarpState::LaneStack& stack : warp.stacks)
    h = mix_bytes(mix(mix(h, stack.used), stack.frame), stack.bytes.data(), stack.bytes.size());
  return mix(mix(mix(h, warp.bulk.size()), warp.cp_async.size()), warp.wgmma.size());
}

uint64_t mix_barrier(uint64_t h, const NamedBarrier& b) {
  h = mix(mix(h, uint64_t{b.arrived} << 32 | b.expected), uint64_t{b.popc} << 2 | b.all << 1 | b.any);
  return mix(h, uint64_t{b.last_popc} << 2 | b.last_all << 1 | b.last_any);
}

// What a group waits for; its generation relative to the barrier's.
uint64_t mix_wait(uint64_t h, const ClusterState& cluster, const CtaState& cta, const Wait& wait) {
  uint64_t value = wait.value;
  if (wait.kind == Wait::Kind::cta_barrier) value = cta.barriers[wait.object].generation - value;
  if (wait.kind == Wait::Kind::cluster_barrier) value = cluster.barrier.generation - value;
  return mix(mix(h, wait.object), value);
}

}  // namespace

uint64_t StateHash::of(const WarpState& warp) {
  uint64_t h = warp.alive;
  for (const LaneGroup& g : warp.groups) h = mix(mix(mix_place(h, g), g.wait.object), g.wait.value);
  return mix_stacks(registers(h, warp), warp);
}

uint64_t StateHash::of(const ClusterState& cluster) {
  uint64_t h = mix(places(cluster), cluster.barrier.arrived);
  for (const CtaState& cta : cluster.ctas) {
    h = mix_bytes(mix(h, cta.free_registers), cta.shared.data(), cta.shared.size());
    const auto& words = cta.tensor.words;
    h = mix_bytes(h, reinterpret_cast<const uint8_t*>(words.data()), words.size() * sizeof(words[0]));
    for (const NamedBarrier& b : cta.barriers) h = mix_barrier(h, b);
    for (const WarpState& warp : cta.warps) {
      for (const LaneGroup& g : warp.groups) {
        h = mix_wait(h, cluster, cta, g.wait);
        h = mix(h, cluster.barrier.generation - g.cluster_generation);
      }
      h = mix_stacks(registers(h, warp), warp);
    }
  }
  return h;
}

uint64_t StateHash::places(const ClusterState& cluster) {
  uint64_t h = cluster.pending.size();
  for (const CtaState& cta : cluster.ctas)
    for (const WarpState& warp : cta.warps) {
      h = mix(h, warp.alive);
      for (const LaneGroup& g : warp.groups) h = mix_place(h, g);
    }
  return h;
}

uint64_t StateHash::registers(uint64_t h, const WarpState& warp) {
  for (const LaneGroup& g : warp.groups)
    for (const Bytes& b : deciding(g.pc)) h = mix_bytes(h, warp.registers.data() + b.begin, b.end - b.begin);
  return h;
}

const std::vector<StateHash::Bytes>& StateHash::deciding(Pc pc) {
  const auto [at, is_new] = deciding_.try_emplace(pc);
  if (!is_new) return at->second;
  const std::vector<bool> loop = loop_through(program_, pc);
  bool all = std::ranges::count(loop, true) < 2;  // it waits, or goes on to another place
  bool looks = false;  // at what another thread may change; a loop that does not waits for nothing
  for (size_t i = 0; i < loop.size(); ++i) {
    if (!loop[i]) continue;
    const isa::Footprint& f = program_.footprints[i];
    all |= f.next == isa::Control::calls;  // arguments may be in registers
    looks |= !f.registers_only();
  }
  all |= !looks;
  if (all) {
    at->second = {{0, program_.register_bytes}};
    return at->second;
  }
  const std::vector<bool> decides = deciding_registers(program_, loop, true);
  if (decides.back()) at->second.push_back({program_.carry_offset, program_.carry_offset + 4});
  for (uint32_t f = 0; f < program_.function_start.size(); ++f) {
    if (program_.function_start[f] == isa::no_id) continue;
    const auto& registers = program_.module->functions[f].registers;
    for (size_t r = 0; r < registers.size(); ++r) {
      const size_t reg = program_.register_offsets_base[f] + r;
      const uint32_t begin = program_.register_offsets[reg];
      if (decides[reg]) at->second.push_back({begin, begin + bytes_of_lanes(registers[r].type)});
    }
  }
  return at->second;
}

}  // namespace palladion::sim
