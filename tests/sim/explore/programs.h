#pragma once
// Small synchronisation programs made at random: correct rings and barrier chains, the same with one or
// two mutations, and soups of operations.
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "sim/explore/skeleton.h"

namespace palladion::tests {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(next() % n); }
  uint32_t between(uint32_t low, uint32_t high) { return low + below(high - low + 1); }
  bool one_in(uint32_t n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

struct Op {
  enum class Kind : uint8_t {
    init,
    inval,
    arrive,
    wait,
    copy,
    commit,
    deferred,
    sync,
    bar_arrive,
    dec,
    inc,
    follow
  };
  Kind kind = Kind::arrive;
  uint32_t object = 0;
  uint32_t count = 1;   // arrivals, threads, registers; follow: position of the other thread
  uint32_t needed = 0;  // threads of a barrier; follow: the other thread
  int64_t tx = 0;       // bytes
  bool flag = false;    // parity; deferred: .noinc; arrive: drop
};

struct Program {
  enum class Kind : uint8_t { ring, mutated_ring, chain, mutated_chain, pool, commits, soup };
  Kind kind = Kind::ring;
  std::vector<uint32_t> mbarriers;  // counts; 0: an init must make it
  uint32_t barriers = 0;
  uint32_t pool = 0;  // free registers
  std::vector<std::vector<Op>> threads;

  sim::check::Skeleton skeleton() const;
  std::string text() const;
};

inline const char* name_of(Program::Kind kind) {
  constexpr const char* names[] = {"ring", "mutated_ring", "chain", "mutated_chain",
                                   "pool", "commits",      "soup"};
  return names[static_cast<int>(kind)];
}
inline void PrintTo(Program::Kind kind, std::ostream* os) { *os << name_of(kind); }

Program random_program(Program::Kind kind, Random& random);

// A producer that fills `stages` buffers by `copies` asynchronous copies each (0: by its own writes), and
// consumers of `width` threads that wait, read and release.
Program ring(uint32_t stages, uint32_t consumers, uint32_t steps, uint32_t copies, uint32_t width = 1);

}  // namespace palladion::tests
