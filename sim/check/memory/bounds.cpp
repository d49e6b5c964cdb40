#include "sim/check/memory/bounds.h"

#include <algorithm>
#include <bit>

#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim::check {
namespace {

// The symbol of the instruction's address, when its base is one.
isa::SymbolId address_symbol(const isa::Instruction& i) {
  for (const isa::Operand& o : i.operands)
    if (o.is(isa::Operand::Kind::address) && !o.elements.empty() &&
        o.elements[0].is(isa::Operand::Kind::symbol))
      return o.elements[0].id;
  return isa::no_id;
}

bool overlaps(const SharedObject& o, uint64_t offset) {
  return offset >= o.base && offset < o.base + o.bytes;
}

}  // namespace

ArrayBounds::ArrayBounds(const RunView& run) : objects_(shared_objects(run)) {
  std::erase_if(objects_, &SharedObject::open);
  const Program& p = *run.program;
  for (const MicroOp& op : p.code) {
    int found = -1;
    const isa::SymbolId symbol = op.instruction == nullptr ? isa::no_id : address_symbol(*op.instruction);
    if (symbol != isa::no_id)
      for (size_t k = 0; k < objects_.size(); ++k)
        if (objects_[k].name == p.module->symbols[symbol].name && objects_[k].bytes != 0)
          found = static_cast<int>(k);
    by_pc_.push_back(found);
  }
}

bool ArrayBounds::inside(uint64_t offset, uint64_t bytes) const {
  bool begins = false;
  for (const SharedObject& o : objects_) {
    if (!overlaps(o, offset)) continue;
    if (offset + bytes <= o.base + o.bytes) return true;
    begins = true;
  }
  return !begins;
}

void Bounds::report(const Origin& origin, Code code, SharedAddress address, uint64_t bytes, Statement message,
                    FindingSeverity severity) {
  const FindingKey key{code, origin.pc, ~0U, 0};
  if (context_.reporter.seen(key, origin)) return;
  Finding f;
  f.severity = severity;
  f.message = std::move(message);
  f.object = shared_object(context_.run, context_.cluster, address, bytes);
  f.missing = say<Phrase::bytes_of_another>();
  f.sites.push_back(context_.reporter.site(origin, Does::uses));
  context_.reporter.report(key, std::move(f));
}

// The machine performs a load that ends behind the CTA's shared memory, as the chip does.
bool Bounds::ends_behind_memory(const Access& a) {
  if (a.kind != Access::Kind::read) return false;
  for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
    const uint64_t at = a.addresses[std::countr_zero(m)];
    const auto address = static_cast<uint32_t>(at);
    const uint32_t rank = address >> cta_rank_shift, offset = address & shared_offset_mask;
    if (!is_shared(space_of(a.space, at)) || rank >= context_.cluster.ctas.size()) continue;
    const size_t bytes = context_.cluster.ctas[rank].shared.size();
    if (offset + a.size <= bytes) continue;
    Origin lane = a.origin;
    lane.lanes = m & (0 - m);
    report(lane, Code::access_beyond_array, SharedAddress(address), a.size,
           say<Phrase::load_past_memory>(a.size, offset + a.size - bytes), FindingSeverity::strict);
    return true;
  }
  return false;
}

void Bounds::on(const Access& a) {
  if (ends_behind_memory(a)) return;
  const SharedObject* array = arrays_.named_by(a.origin.pc);
  if (array == nullptr || a.lanes == 0) return;
  for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
    const auto address = static_cast<uint32_t>(a.addresses[std::countr_zero(m)]);
    const uint32_t offset = address & shared_offset_mask;
    if (offset >= array->base && offset + a.size <= array->base + array->bytes) continue;
    Origin lane = a.origin;
    lane.lanes = m & (0 - m);
    return report(lane, Code::access_beyond_array, SharedAddress(address), a.size,
                  say<Phrase::access_past_array>(
                      a.size, static_cast<int64_t>(offset) - static_cast<int64_t>(array->base), array->name,
                      array->bytes));
  }
}

void Bounds::on(const AsyncIssue& e) {
  const Origin& origin = e.origin;
  for (const auto pieces : {e.writes, e.reads}) {
    if (pieces.size() > 16 || e.family == isa::AsyncFamily::wgmma)
      continue;  // other checks judge rows and descriptors
    for (const Piece& p : pieces) {
      if (!p.shared() || arrays_.inside(p.address & shared_offset_mask, p.bytes)) continue;
      return report(origin, Code::copy_beyond_array, SharedAddress(p.address), p.bytes,
                    say<Phrase::copy_past_array>(p.bytes));
    }
  }
  const auto* bulk = std::get_if<isa::BulkCopy>(origin.effect);
  if (bulk == nullptr || bulk->src_space != isa::Space::shared_cta || e.writes.empty() ||
      !e.writes[0].shared())
    return;
  if (e.writes[0].address >> cta_rank_shift != origin.cta_rank) return;
  const FindingKey key{Code::copy_to_own_cta, origin.pc, ~0U, 0};
  if (context_.reporter.seen(key, origin)) return;
  Finding f;
  f.message = say<Phrase::copy_to_itself>();
  f.object =
      shared_object(context_.run, context_.cluster, SharedAddress(e.writes[0].address), e.writes[0].bytes);
  f.sites.push_back(context_.reporter.site(origin, Does::copies));
  context_.reporter.report(key, std::move(f));
}

}  // namespace palladion::sim::check
