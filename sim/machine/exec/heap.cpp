#include "sim/machine/exec/heap.h"

#include "sim/launch/bookkeeping.h"

namespace palladion::sim {
namespace {

// Blocks follow each other without gaps, each behind its header. The search begins where the last one ended.
struct Header {
  uint64_t bytes = 0;  // of the block, without the header; a multiple of 16
  uint64_t used = 0;
};
struct Start {
  uint64_t made = 0;  // 0: the array is fresh
  uint64_t next = 0;  // the header where a search begins
};
constexpr uint64_t first_block = 16, granule = 16;
static_assert(sizeof(Header) == granule && sizeof(Start) == first_block);
constexpr uint64_t used_mark = 0x7573'6564'626c'6f63ULL;

uint64_t end_of(std::span<const uint8_t> heap) { return heap.size() / granule * granule; }
uint64_t behind(const Header& h, uint64_t at) { return at + granule + h.bytes; }

// The free block at `at` takes in the free blocks that follow it.
Header joined(std::span<uint8_t> heap, uint64_t at, uint64_t& next_search) {
  Header h = value_at<Header>(heap, at);
  if (h.used == used_mark) return h;
  while (behind(h, at) < end_of(heap)) {
    const uint64_t after = behind(h, at);
    const auto other = value_at<Header>(heap, after);
    if (other.used == used_mark) break;
    if (next_search == after) next_search = at;
    h.bytes += granule + other.bytes;
  }
  set_value_at(heap, at, h);
  return h;
}

}  // namespace

uint64_t heap_allocate(std::span<uint8_t> heap, uint64_t size) {
  const uint64_t end = end_of(heap);
  if (end < first_block + 2 * granule || size > end) return 0;
  auto start = value_at<Start>(heap, 0);
  if (start.made == 0) {
    start = {.made = 1, .next = first_block};
    set_value_at(heap, first_block, Header{.bytes = end - first_block - granule});
  }
  const uint64_t wanted = size == 0 ? granule : (size + granule - 1) / granule * granule;
  uint64_t found = 0;
  bool wrapped = false;
  for (uint64_t at = start.next;;) {
    if (at >= end) {
      if (wrapped) break;
      wrapped = true;
      at = first_block;
      continue;
    }
    const Header h = joined(heap, at, start.next);
    if (h.used != used_mark && h.bytes >= wanted) {
      found = at;
      break;
    }
    if (wrapped && at >= start.next) break;
    at = behind(h, at);
  }
  if (found != 0) {
    const auto h = value_at<Header>(heap, found);
    Header taken{.bytes = h.bytes, .used = used_mark};
    if (h.bytes - wanted > granule) {
      taken.bytes = wanted;
      set_value_at(heap, behind(taken, found), Header{.bytes = h.bytes - wanted - granule});
    }
    set_value_at(heap, found, taken);
    start.next = behind(taken, found) < end ? behind(taken, found) : first_block;
  }
  set_value_at(heap, 0, start);
  return found == 0 ? 0 : found + granule;
}

bool heap_release(std::span<uint8_t> heap, uint64_t offset) {
  const uint64_t end = end_of(heap);
  if (offset < first_block + granule || offset % granule != 0 || offset > end) return false;
  const uint64_t at = offset - granule;
  auto h = value_at<Header>(heap, at);
  if (h.used != used_mark || h.bytes > end - offset) return false;
  h.used = 0;
  set_value_at(heap, at, h);
  return true;
}

}  // namespace palladion::sim
