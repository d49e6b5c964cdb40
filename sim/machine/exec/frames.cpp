#include "sim/machine/exec/frames.h"

#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/state/local_address.h"

namespace palladion::sim {
namespace {

// The lane's stack reaches up to `to`, which takes `charge` more bytes on a chip; false after a fault.
bool grow(Exec& x, int lane, uint64_t to, uint64_t charge) {
  WarpState::LaneStack& stack = x.warp->stacks[static_cast<size_t>(lane)];
  stack.charge += charge;
  constexpr uint64_t window = uint64_t{1} << (local_offset_bits - 1);
  const bool reachable = x.program.local_bytes + to <= window;
  if (stack.charge > x.launch.stack_bytes || !reachable) {
    x.fault(Code::stack_full, reachable ? say<Phrase::stack_too_small>(stack.charge, x.launch.stack_bytes)
                                        : say<Phrase::stack_too_small>(x.program.local_bytes + to, window));
    return false;
  }
  if (stack.bytes.size() < to) stack.bytes.resize(align_up(to, 1024));
  stack.used = to;
  return true;
}

// One lane's value of a register, a predicate as a byte.
void save(const Exec& x, const Frame::Saved& r, int lane, uint8_t* to) {
  const uint8_t* block = x.registers + r.offset;
  if (r.width == 1) {
    uint32_t mask;
    std::memcpy(&mask, block, 4);
    *to = static_cast<uint8_t>(mask >> lane & 1);
    return;
  }
  const size_t bytes = r.width / 8U;
  std::memcpy(to, block + bytes * static_cast<size_t>(lane), bytes);
}

void restore(const Exec& x, const Frame::Saved& r, int lane, const uint8_t* from) {
  uint8_t* block = x.registers + r.offset;
  if (r.width == 1) {
    uint32_t mask;
    std::memcpy(&mask, block, 4);
    mask = (mask & ~(1U << lane)) | static_cast<uint32_t>(*from) << lane;
    std::memcpy(block, &mask, 4);
    return;
  }
  const size_t bytes = r.width / 8U;
  std::memcpy(block + bytes * static_cast<size_t>(lane), from, bytes);
}

size_t saved_bytes(const Frame::Saved& r) { return r.width == 1 ? 1 : r.width / 8U; }

}  // namespace

uint8_t* local_bytes_at(const Exec& x, int lane, uint64_t offset) {
  const uint64_t fixed = x.program.local_bytes;
  if (offset < fixed) return x.warp->local.data() + static_cast<uint64_t>(lane) * fixed + offset;
  return x.warp->stacks[static_cast<size_t>(lane)].bytes.data() + (offset - fixed);
}

uint8_t* find_local(const Exec& x, int lane, uint64_t offset, uint64_t size) {
  const uint64_t fixed = x.program.local_bytes;
  const auto within = [&](uint64_t at, uint64_t all) { return at <= all && size <= all - at; };
  const bool inside = offset < fixed
                          ? within(offset, fixed)
                          : within(offset - fixed, x.warp->stacks[static_cast<size_t>(lane)].bytes.size());
  return inside ? local_bytes_at(x, lane, offset) : nullptr;
}

bool push_frames(Exec& x, uint32_t function) {
  const Frame& frame = x.program.frames[function];
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    WarpState::LaneStack& stack = x.warp->stacks[static_cast<size_t>(lane)];
    const uint64_t links[] = {stack.used, stack.frame, stack.charge};
    static_assert(sizeof links == Frame::links);
    const uint64_t start = align_up(stack.used, 16);
    if (!grow(x, lane, start + frame.bytes, frame.charge)) return false;
    uint8_t* at = stack.bytes.data() + start;
    std::memcpy(at, links, sizeof links);
    at += Frame::links;
    for (const Frame::Saved& r : frame.registers) {
      save(x, r, lane, at);
      at += saved_bytes(r);
    }
    stack.frame = x.program.local_bytes + start;
    for (const Frame::Place& p : frame.places) {
      const uint64_t address = stack.frame + p.value;
      const size_t bytes = p.width / 8U;
      std::memcpy(x.registers + p.offset + bytes * static_cast<size_t>(lane), &address, bytes);
    }
  }
  return true;
}

void pop_frames(const Exec& x, uint32_t function) {
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    WarpState::LaneStack& stack = x.warp->stacks[static_cast<size_t>(lane)];
    const uint8_t* at = local_bytes_at(x, lane, stack.frame);
    uint64_t links[3];
    std::memcpy(links, at, sizeof links);
    at += Frame::links;
    for (const Frame::Saved& r : x.program.frames[function].registers) {
      restore(x, r, lane, at);
      at += saved_bytes(r);
    }
    stack.used = links[0];
    stack.frame = links[1];
    stack.charge = links[2];
  }
}

// Pointers are offsets in local memory.
Step exec(Exec& x, const MicroOp& op, const isa::Stack& e) {
  const uint64_t fixed = x.program.local_bytes;
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    WarpState::LaneStack& stack = x.warp->stacks[static_cast<size_t>(lane)];
    uint64_t result = fixed + stack.used;
    if (e.action == isa::StackAction::allocate) {
      const uint64_t size = x.lane_value(op.operands[e.value], lane);
      const uint64_t start = align_up(result, e.align) - fixed;
      if (size > x.launch.stack_bytes) return grow(x, lane, 0, size), Step::fault;
      if (!grow(x, lane, start + size, start + size - stack.used)) return Step::fault;
      result = fixed + start;
    } else if (e.action == isa::StackAction::restore) {
      const uint64_t top = x.lane_value(op.operands[e.value], lane) - fixed;
      if (top > stack.used) return x.fault(Code::local_bounds, say<Phrase::stack_not_saved>());
      stack.charge -= stack.used - top;
      stack.used = top;
      continue;
    }
    const DecodedOperand& d = op.operands[e.dst];
    if (d.width == 64)
      x.lanes<uint64_t>(d)[lane] = result;
    else
      x.lanes<uint32_t>(d)[lane] = static_cast<uint32_t>(result);
  }
  return Step::next;
}

}  // namespace palladion::sim
