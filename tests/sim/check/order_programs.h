#pragma once
// Random programs of one CTA whose threads access shared memory and synchronise, lane by lane, as PTX that
// runs in the machine, and an oracle that knows happens-before thread by thread, from the text alone.
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace palladion::tests::order {

constexpr uint32_t warps = 2, threads = 32 * warps;
constexpr uint32_t slots = threads;  // of 16 bytes

struct Step {
  enum class Kind : uint8_t {
    store,        // a word of slot thread ^ flip
    load,         // the same
    barrier,      // bar.sync, of all threads
    warp_sync,    // of the lanes of one warp
    arrive,       // at an mbarrier
    wait,         // for its only phase
    fence,        // fence.proxy.async
    copy,         // cp.async of `bytes` to slot thread ^ flip
    commit,       // cp.async.commit_group
    wait_group,   // cp.async.wait_group `groups`
    copy_arrive,  // cp.async.mbarrier.arrive.noinc
    bulk,         // cp.async.bulk by one thread to `count` slots from `first` on
    store_async,  // st.async of a word; lanes 0 to 15 signal this mbarrier, 16 to 31 the next one
  };
  Kind kind = Kind::barrier;
  std::array<uint32_t, warps> lanes = {~0U, ~0U};
  uint32_t flip = 0, word = 0, bytes = 16, groups = 0, mbarrier = 0, first = 0, count = 1;

  bool executes(uint32_t thread) const { return (lanes[thread / 32] >> thread % 32 & 1) != 0; }
};

struct Program {
  std::vector<Step> steps;
  std::vector<uint32_t> expected;  // arrivals, by mbarrier
};

Program random_program(uint64_t seed);

// The body of a kernel whose array is in %rd1.
std::string ptx_of(const Program& program);
std::string text_of(const Program& program);

// Two accesses that overlap, one of them a write, that nothing orders.
bool has_race(const Program& program);

}  // namespace palladion::tests::order
