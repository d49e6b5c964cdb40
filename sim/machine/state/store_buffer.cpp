#include "sim/machine/state/store_buffer.h"

#include <algorithm>
#include <bit>

#include "sim/machine/state/global_memory.h"

namespace palladion::sim {
namespace {

// Bits [begin, end) of a word.
uint64_t bits(uint64_t begin, uint64_t end) {
  return (end >= 64 ? ~0ULL : (1ULL << end) - 1) & ~0ULL << begin;
}

// visit(word, bits of it) for the bytes of a chunk.
void for_each_word(uint64_t offset, uint64_t size, auto visit) {
  for (uint64_t at = offset, end = offset + size; at < end;) {
    const uint64_t word = at / 64, next = std::min(end, (word + 1) * 64);
    visit(word, bits(at % 64, next - word * 64));
    at = next;
  }
}

}  // namespace

void StoreBuffer::Chunk::mark(uint64_t offset, uint64_t size) {
  for_each_word(offset, size, [&](uint64_t word, uint64_t mask) { written[word] |= mask; });
}

uint64_t StoreBuffer::Chunk::count(uint64_t offset, uint64_t size) const {
  uint64_t n = 0;
  for_each_word(offset, size, [&](uint64_t word, uint64_t mask) {
    n += static_cast<uint64_t>(std::popcount(written[word] & mask));
  });
  return n;
}

size_t StoreBuffer::place_of(Address key) const {
  constexpr uint64_t golden = 0x9E3779B97F4A7C15ULL;
  return (key / chunk_bytes * golden) >> (64 - std::countr_zero(table_.size()));
}

// Arrays that are neighbours in the device's addresses, and not in the host's, may share a key.
uint32_t StoreBuffer::find(Address key, const uint8_t* memory) const {
  if (table_.empty()) return none;
  for (size_t at = place_of(key); table_[at] != 0; at = (at + 1) & (table_.size() - 1)) {
    const uint32_t found = table_[at] - 1;
    if (keys_[found] == key && chunk(found).memory == memory) return found;
  }
  return none;
}

void StoreBuffer::rehash(size_t places) {
  table_.assign(places, 0);
  for (uint32_t i = 0; i < keys_.size(); ++i) {
    size_t at = place_of(keys_[i]);
    while (table_[at] != 0) at = (at + 1) & (places - 1);
    table_[at] = i + 1;
  }
}

uint32_t StoreBuffer::add(const GlobalMemory& gmem, Address address, Address key, uint8_t* memory) {
  if (!touches(address)) {
    const Allocation& array = *gmem.lookup(address);
    arrays_.push_back({array.base, array.size});
  }
  if (keys_.size() == Slab::size * slabs_.size()) slabs_.emplace_back();
  keys_.push_back(key);
  Chunk& added = chunk(keys_.size() - 1);
  added.memory = memory;
  std::ranges::fill(added.written, 0);
  if (2 * keys_.size() > table_.size()) {
    rehash(std::max<size_t>(128, 2 * table_.size()));
  } else {
    size_t at = place_of(key);
    while (table_[at] != 0) at = (at + 1) & (table_.size() - 1);
    table_[at] = static_cast<uint32_t>(keys_.size());
  }
  return static_cast<uint32_t>(keys_.size() - 1);
}

uint8_t* StoreBuffer::take(const GlobalMemory& gmem, Address address, uint8_t* memory, uint64_t size) {
  const uint64_t offset = address % chunk_bytes;
  uint8_t* const first = reinterpret_cast<uint8_t*>(reinterpret_cast<uintptr_t>(memory) - offset);
  uint32_t i = keys_.empty() ? none : static_cast<uint32_t>(keys_.size() - 1);
  if (i == none || keys_[i] != address - offset || chunk(i).memory != first)
    i = find(address - offset, first);
  if (i == none) i = add(gmem, address, address - offset, first);
  Chunk& c = chunk(i);
  c.mark(offset, size);
  return c.bytes + offset;
}

void StoreBuffer::write(const GlobalMemory& gmem, Address address, uint8_t* memory, const uint8_t* bytes,
                        uint64_t size) {
  for (uint64_t at = 0; at < size;) {
    const uint64_t n = std::min(size - at, chunk_bytes - (address + at) % chunk_bytes);
    std::memcpy(take(gmem, address + at, memory + at, n), bytes + at, n);
    at += n;
  }
}

void StoreBuffer::see_piece(const Chunk& chunk, uint64_t offset, uint64_t size, uint8_t* to) const {
  for (uint64_t i = 0; i < size; ++i) {
    const uint64_t at = offset + i;
    to[i] = (chunk.written[at / 64] >> at % 64 & 1) != 0 ? chunk.bytes[at] : chunk.memory[at];
  }
}

const uint8_t* StoreBuffer::visible(Address address, const uint8_t* memory, uint64_t size,
                                    uint8_t* copy) const {
  if (!touches(address)) return memory;
  bool copied = false;
  for (uint64_t at = 0; at < size;) {
    const uint64_t offset = (address + at) % chunk_bytes, n = std::min(size - at, chunk_bytes - offset);
    const auto* const first =
        reinterpret_cast<const uint8_t*>(reinterpret_cast<uintptr_t>(memory) + at - offset);
    const uint32_t found = find(address + at - offset, first);
    const uint64_t written = found == none ? 0 : chunk(found).count(offset, n);
    if (written != 0) {
      if (n == size && written == n) return chunk(found).bytes + offset;
      if (copy == nullptr) return nullptr;
      if (!copied) std::memcpy(copy, memory, size);
      copied = true;
      see_piece(chunk(found), offset, n, copy + at);
    }
    at += n;
  }
  return copied ? copy : memory;
}

void StoreBuffer::perform(size_t i) const {
  const Chunk& c = chunk(i);
  for (uint64_t word = 0; word < chunk_bytes / 64; ++word) {
    const uint64_t first = word * 64;
    if (c.written[word] == ~0ULL) {
      std::memcpy(c.memory + first, c.bytes + first, 64);
      continue;
    }
    for (uint64_t left = c.written[word]; left != 0;) {
      const auto begin = static_cast<uint64_t>(std::countr_zero(left));
      const auto n = static_cast<uint64_t>(std::countr_one(left >> begin));
      std::memcpy(c.memory + first + begin, c.bytes + first + begin, n);
      left &= ~bits(begin, begin + n);
    }
  }
}

void StoreBuffer::clear() {
  counted_ = 0;
  if (keys_.empty()) return;
  keys_.clear();
  std::ranges::fill(table_, 0);
  arrays_.clear();
}

const uint8_t* seen(const GlobalMemory& gmem, const StoreBuffer& stores, Address address, uint64_t size,
                    uint8_t* copy) {
  const uint8_t* const memory = gmem.find(address, size);
  return memory == nullptr ? nullptr : stores.visible(address, memory, size, copy);
}

}  // namespace palladion::sim
