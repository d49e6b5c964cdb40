#include "sim/check/registers/descriptors.h"

#include <algorithm>

#include "isa/formats/matrix_descriptor.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim::check {
namespace {

constexpr const char* operand_names[] = {"A", "B"};

Object descriptor_object(int operand, uint64_t bits) {
  return {.kind = Object::Kind::descriptor, .names = {{.name = operand_names[operand]}}, .number = bits};
}

// The swizzle's pattern repeats after this many bytes.
uint32_t atom_bytes(uint8_t layout) {
  switch (layout) {
    case layout_32b:
      return 256;
    case layout_64b:
      return 512;
    case layout_128b:
      return 1024;
    default:
      return 0;
  }
}

}  // namespace

Descriptors::LaneValues Descriptors::lane_values(const Origin& origin) const {
  const Program& p = *context_.run.program;
  const auto& wgmma = std::get<isa::Wgmma>(*origin.effect);
  const uint8_t* registers = context_.cluster.ctas[origin.cta_rank].warps[origin.warp].registers.data();
  LaneValues values{};
  const auto read = [&](int operand, std::array<uint64_t, 32>& to) {
    if (operand < 0) return;
    const Slot& slot = p.code[origin.pc].operands[operand].slot;
    std::memcpy(to.data(), (slot.constant ? p.constants.data() : registers) + slot.offset, sizeof to);
  };
  read(wgmma.a_desc, values[0]);
  read(wgmma.b_desc, values[1]);
  return values;
}

void Descriptors::on(const AsyncJoined& event) {
  const Origin& origin = event.origin;
  const LaneValues lanes = lane_values(origin);
  const Values mine{lanes[0][0], lanes[1][0]};
  judge_lanes(origin, lanes);
  const auto [at, first] = open_.try_emplace(event.id, Open{mine, origin, 0});
  Open& open = at->second;
  if (first) judge_encoding(origin, mine);
  for (int k = 0; k < 2; ++k)
    if (open.values[k] != mine[k]) report_difference(origin, open.first, k, mine[k], open.values[k]);
  const uint32_t mma_warps = context_.run.program->mma_warps();
  open.warps |= 1U << origin.warp % mma_warps;
  if (open.warps == (1U << mma_warps) - 1) open_.erase(at);
}

void Descriptors::judge_lanes(const Origin& origin, const LaneValues& values) {
  uint64_t differing = 0;
  for (size_t lane = 0; lane < 32; ++lane)
    differing |= (values[0][lane] ^ values[0][0]) | (values[1][lane] ^ values[1][0]);
  for (size_t lane = 1; lane < 32 && differing != 0; ++lane) {
    for (int k = 0; k < 2; ++k) {
      const std::array<uint64_t, 32>& value = values[static_cast<size_t>(k)];
      if (value[lane] == value[0]) continue;
      Origin at = origin;
      at.lanes = 1U << lane;
      report_difference(at, origin, k, value[lane], value[0]);
      return;
    }
  }
}

void Descriptors::report_difference(const Origin& origin, const Origin& other, int operand, uint64_t mine,
                                    uint64_t theirs) {
  const FindingKey key{Code::invalid_descriptor, origin.pc, ~0U, static_cast<uint64_t>(operand)};
  if (context_.reporter.seen(key, origin)) return;
  Finding f;
  f.message = say<Phrase::differing_descriptors>(operand_names[operand]);
  f.sites.push_back(context_.reporter.site(origin, Part{.does = Does::describes, .number = mine}));
  f.sites.push_back(context_.reporter.site(other, Part{.does = Does::describes, .number = theirs}));
  f.object = descriptor_object(operand, theirs);
  f.missing = say<Phrase::one_descriptor>();
  f.help = say<Phrase::uniform_descriptor>();
  context_.reporter.report(key, std::move(f));
}

// Fields that the hardware ignores or that have no meaning: PTX does not call them undefined, hence strict.
void Descriptors::judge_encoding(const Origin& origin, const Values& values) {
  const auto& wgmma = std::get<isa::Wgmma>(*origin.effect);
  for (int k = 0; k < 2; ++k) {
    if (k == 0 && wgmma.a_desc < 0) continue;
    const isa::MatrixDescriptor d = isa::decode_matrix_descriptor(values[k]);
    const bool reserved = (values[k] & isa::matrix_descriptor_reserved) != 0;
    const bool no_pattern = d.base_offset != 0 && d.base_offset != (d.start >> 7 & 7);
    if (!reserved && !no_pattern) continue;
    const FindingKey key{Code::invalid_descriptor, origin.pc, origin.pc, static_cast<uint64_t>(k)};
    if (context_.reporter.seen(key, origin)) continue;
    Finding f;
    f.severity = FindingSeverity::strict;
    f.message = reserved ? say<Phrase::reserved_bits>(operand_names[k])
                         : say<Phrase::wrong_base_offset>(operand_names[k], d.base_offset, d.start >> 7 & 7);
    f.sites.push_back(context_.reporter.site(origin, Does::reads_by_descriptor));
    f.object = descriptor_object(k, values[k]);
    f.missing = reserved ? say<Phrase::bits_of_no_field>(values[k] & isa::matrix_descriptor_reserved)
                         : say<Phrase::what_base_offset_is>();
    f.help = say<Phrase::fields_of_descriptor>();
    context_.reporter.report(key, std::move(f));
  }
}

void Descriptors::on(const AsyncIssue& e) {
  if (e.family == isa::AsyncFamily::wgmma) {
    judge_range(e);
    return;
  }
  if (!std::holds_alternative<isa::TensorCopy>(*e.origin.effect)) return;
  judge_tile(e, e.writes);
  judge_tile(e, e.reads);
}

void Descriptors::judge_range(const AsyncIssue& e) {
  const Origin& origin = e.origin;
  const uint64_t reserved = context_.run.program->reserved_shared;
  const uint64_t size = context_.cluster.ctas[origin.cta_rank].shared.size();
  uint64_t lowest = reserved, end = size;
  for (const Piece& p : e.reads) {
    lowest = std::min(lowest, p.address & shared_offset_mask);
    end = std::max(end, (p.address & shared_offset_mask) + p.bytes);
  }
  if (lowest == reserved && end == size) return;
  uint64_t outside = 0, at = 0;
  for (const Piece& p : e.reads) {
    const uint64_t from = p.address & shared_offset_mask, to = from + p.bytes;
    const uint64_t below = std::min(to, reserved) - std::min(from, reserved);
    const uint64_t above = to > size ? to - std::max(from, size) : 0;
    if (outside == 0 && below + above != 0) at = below != 0 ? from : std::max(from, size);
    outside += below + above;
  }
  const FindingKey key{Code::descriptor_beyond_buffer, origin.pc, ~0U, 0};
  if (context_.reporter.seen(key, origin)) return;
  const LaneValues v = lane_values(origin);
  const bool a_too = std::get<isa::Wgmma>(*origin.effect).a_desc >= 0;
  Finding f;
  f.message = say<Phrase::wgmma_reads_outside>(outside, reserved, size);
  f.sites.push_back(context_.reporter.site(origin, Does::reads_by_descriptor));
  f.object = {.kind = Object::Kind::shared_memory, .ranges = {{at, at + outside}}};
  if (a_too) f.notes.push_back(say<Phrase::by_descriptor>(descriptor_object(0, v[0][0])));
  f.notes.push_back(say<Phrase::by_descriptor>(descriptor_object(1, v[1][0])));
  context_.reporter.report(key, std::move(f));
}

// The chip swizzles by address bits, so a tile may start anywhere as long as all its readers use the same
// start; parts of an atom that are copied one by one do.
void Descriptors::judge_tile(const AsyncIssue& e, std::span<const Piece> tile) {
  const uint32_t atom = atom_bytes(e.layout);
  if (atom == 0 || tile.empty() || !tile.front().shared()) return;
  uint64_t base = ~0ULL, bytes = 0;
  const uint64_t rank = tile.front().address >> cta_rank_shift;
  for (const Piece& p : tile) {
    if (p.address >> cta_rank_shift != rank) continue;
    base = std::min(base, p.address);
    bytes += p.bytes;
  }

  const uint64_t end = base + bytes;
  tiles_.insert({e.layout, base, end});
  const bool fits = base % atom == 0 || bytes < atom;
  if (fits || std::ranges::any_of(off_pattern_, [&](const OffPattern& o) {
        return o.key.pc_a == e.origin.pc && o.base == base;
      }))
    return;
  const FindingKey key{Code::misaligned_swizzled_tile, e.origin.pc, ~0U, 0};
  const auto address = static_cast<uint32_t>(base);
  Finding f;
  f.message = say<Phrase::tile_within_pattern>(base % atom, atom);
  f.sites.push_back(context_.reporter.site(e.origin, Does::copies));
  f.object = shared_object(context_.run, context_.cluster, SharedAddress(address), bytes);
  f.missing = say<Phrase::address_of_tile>(base & shared_offset_mask, atom, base % atom);
  f.help = say<Phrase::align_to_pattern>(atom);
  off_pattern_.push_back({key, std::move(f), e.origin, base, e.layout});
}

// Rows of a larger tile that begins with its pattern: all its users swizzle by the same address bits. Which
// tiles adjoin is known at the end.
bool Descriptors::is_window(const OffPattern& o) const {
  uint64_t begin = o.base;
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& [layout, from, to] : tiles_)
      if (layout == o.layout && from < begin && to >= begin) begin = from, grown = true;
  }
  return begin % atom_bytes(o.layout) == 0 && o.base % (atom_bytes(o.layout) / 8) == 0;
}

void Descriptors::on(const ClusterEnded&) {
  for (OffPattern& o : off_pattern_)
    if (!is_window(o) && !context_.reporter.seen(o.key, o.origin))
      context_.reporter.report(o.key, std::move(o.finding));
  off_pattern_.clear();
}

}  // namespace palladion::sim::check
