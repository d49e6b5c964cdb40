// What is in memory, and who stores it where others do.
#include <bit>

#include "sim/check/values/terms_of_cluster.h"
#include "sim/machine/state/local_address.h"

namespace palladion::sim::check {
namespace {

constexpr uint64_t page_bits = 10, word_bytes = 4;

}  // namespace

uint64_t TermsOfCluster::key(const Origin& origin, isa::Space space, uint64_t address, int lane) const {
  if (is_shared(space)) return uint64_t{Exec::shared_address(address)} | uint64_t{1} << 62;
  if (space == isa::Space::global) return address;
  const uint64_t thread = (origin.cta_rank * all_.run_.launch->warps_per_cta() + origin.warp) * 32ULL +
                          static_cast<uint64_t>(lane) + 1;
  return uint64_t{1} << 63 | thread << 32 | (address & 0xFFFF'FFFF);
}

// What nothing has written in this run is known by its place.
Terms& TermsOfCluster::word(uint64_t key, Pc cause) {
  Page& page = pages_[key >> page_bits];
  const auto [at, fresh] = page.words.try_emplace(key / word_bytes);
  if (fresh) {
    const uint64_t how = mixed(mixed(key / word_bytes, page.version), 0x6d656d);
    at->second = {.how = how, .sum = how, .data = true, .cause = cause};
  }
  return at->second;
}

Terms TermsOfCluster::read(uint64_t key, uint32_t size, Pc cause) {
  if (size == word_bytes && key % word_bytes == 0) return word(key, cause);
  Terms all{.how = size, .sum = size};
  for (uint64_t at = key / word_bytes * word_bytes; at < key + size; at += word_bytes) {
    const Terms& one = word(at, cause);
    all.how = mixed(all.how, one.how);
    all.sum = mixed(all.sum, one.sum);
    if (one.data) all.data = true, all.cause = one.cause;
  }
  if (size < word_bytes)
    all.how = mixed(all.how, key % word_bytes), all.sum = mixed(all.sum, key % word_bytes);
  return all;
}

void TermsOfCluster::write(uint64_t key, uint32_t size, const Terms& terms) {
  if (size == word_bytes && key % word_bytes == 0) {
    word(key, terms.cause) = terms;
    return;
  }
  for (uint64_t at = key / word_bytes * word_bytes; at < key + size; at += word_bytes) {
    Terms& one = word(at, terms.cause);
    const bool whole = at >= key && at + word_bytes <= key + size;
    const uint64_t part = at - key, data_how = mixed(terms.how, part), data_sum = mixed(terms.sum, part);
    const bool data = terms.data || (!whole && one.data);
    one = {.how = whole ? data_how : mixed(one.how, data_how),
           .sum = whole ? data_sum : mixed(one.sum, data_sum),
           .data = data,
           .cause = terms.data ? terms.cause : one.cause};
  }
}

// Another thread may write at any time what a strong load reads.
void TermsOfCluster::load(const Access& a, const isa::Load& e) {
  const isa::Operand& to = op_at(a.origin).instruction->operands[static_cast<size_t>(e.dst)];
  const auto size = static_cast<uint32_t>(isa::bytes(e.type));
  for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const isa::Space space = space_of(a.space, a.addresses[lane]);
    const Terms place = operand(a.origin, e.address, lane);
    const bool launched = space == isa::Space::param && a.addresses[lane] < local_window;
    for (int k = 0; k < e.elements; ++k) {
      const bool vector = to.is(isa::Operand::Kind::vector);
      if (vector && static_cast<size_t>(k) >= to.elements.size()) break;
      const uint64_t at =
          key(a.origin, space, a.addresses[lane] + uint64_t{size} * static_cast<uint64_t>(k), lane);
      Terms value = a.order != isa::Order::weak || space == isa::Space::param ? unknown(a.origin.pc)
                                                                              : read(at, size, a.origin.pc);
      if (space == isa::Space::const_ || launched) value = {};
      if (place.data) {
        value.how = mixed(value.how, place.how), value.sum = mixed(value.sum, place.how);
        if (!value.data) value.data = true, value.cause = place.cause;
      }
      set(a.origin, vector ? to.elements[static_cast<size_t>(k)] : to, lane, value);
    }
  }
}

void TermsOfCluster::store(const Access& a, const isa::Store& e) {
  const MicroOp& op = op_at(a.origin);
  const isa::Operand& from = op.instruction->operands[static_cast<size_t>(e.src)];
  const auto size = static_cast<uint32_t>(isa::bytes(e.type));
  const uint64_t first_thread = warp_of(a.origin).barriers.size() *
                                (a.origin.cta_rank * all_.run_.launch->warps_per_cta() + a.origin.warp);
  for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const isa::Space space = space_of(a.space, a.addresses[lane]);
    for (int k = 0; k < e.elements; ++k) {
      const bool vector = from.is(isa::Operand::Kind::vector);
      const isa::Operand& written = vector ? from.elements[static_cast<size_t>(k)] : from;
      const DecodedOperand& o = op.operands[e.src].element(k);
      const Terms terms = here(a.origin, lane, terms_of(a.origin, written, o, lane));
      const uint64_t at =
          key(a.origin, space, a.addresses[lane] + uint64_t{size} * static_cast<uint64_t>(k), lane);
      write(at, size, terms);
      if (!all_.judged_[a.origin.pc] || (space != isa::Space::global && !is_shared(space))) continue;
      const uint64_t bits = bits_of(a.origin, o, lane);
      StoredTerms::Byte byte{.terms = terms, .pc = a.origin.pc};
      byte.cta = uint64_t{cluster_.index} << 32 | a.origin.cta_rank;
      byte.thread = uint64_t{cluster_.index} << 32 | (first_thread + static_cast<uint64_t>(lane));
      byte.round = warp_of(a.origin).barriers[static_cast<size_t>(lane)];
      const uint64_t owner = is_shared(space) ? uint64_t{cluster_.index} << 32 : 0;
      for (uint32_t b = 0; b < size; ++b) {
        byte.terms.how = mixed(terms.how, b * 16 + size);
        byte.terms.sum = mixed(terms.sum, b * 16 + size);
        byte.value = static_cast<uint8_t>(bits >> 8 * (b % 8));
        all_.stored((at + b) ^ owner, byte);
      }
    }
  }
}

void TermsOfCluster::on(const Access& a) {
  if (a.origin.effect == nullptr) return;
  if (const auto* e = std::get_if<isa::Store>(a.origin.effect)) return store(a, *e);
  if (const auto* e = std::get_if<isa::Load>(a.origin.effect)) {
    if (all_.watched_[a.origin.pc]) load(a, *e);
    return;
  }
  if (a.kind == Access::Kind::read) return;
  for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    write(key(a.origin, space_of(a.space, a.addresses[lane]), a.addresses[lane], lane), a.size,
          unknown(a.origin.pc));
  }
}

// Whatever it writes, and when, is another value than before.
void TermsOfCluster::on(const AsyncIssue& e) {
  for (const Piece& piece : e.writes) {
    if (piece.space == isa::Space::tensor) continue;
    const uint64_t begin = key(e.origin, piece.space, piece.address, 0), end = begin + piece.bytes;
    for (uint64_t page = begin >> page_bits; page <= (end - 1) >> page_bits; ++page) {
      pages_[page].words.clear();
      pages_[page].version = ++unknowns_;
    }
  }
}

}  // namespace palladion::sim::check
