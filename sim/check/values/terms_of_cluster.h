#pragma once
// Follows through a cluster's registers and memory of what values are made (stored_terms.h).
#include <array>

#include "sim/check/values/stored_terms.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim::check {

inline uint64_t mixed(uint64_t a, uint64_t b) { return scramble(a ^ scramble(b)); }

class TermsOfCluster {
 public:
  TermsOfCluster(StoredTerms& all, const ClusterState& cluster);

  void on(const Reached& e);
  void on(const Executing& e);
  void on(const Executed& e);
  void on(const Access& a);
  void on(const AsyncIssue& e);
  void on(const CtaBarrierEvent& e);

 private:
  using Lanes = std::array<Terms, 32>;
  struct Warp {
    std::vector<Lanes> registers;     // by StoredTerms::index_
    std::array<uint64_t, 32> path{};  // of a lane: the decisions made of data that brought it here; 0: none
    std::array<uint32_t, 32> barriers{};  // of the whole CTA that it has passed
  };
  // A KiB of memory.
  struct Page {
    uint64_t version = 0;                       // counts the asynchronous operations that wrote there
    std::unordered_map<uint64_t, Terms> words;  // of 4 bytes, by address / 4, that threads have written
  };

  const MicroOp& op_at(const Origin& origin) const;
  Warp& warp_of(const Origin& origin);
  Lanes* tracked(const Origin& origin, uint32_t reg);
  const WarpState& state_of(const Origin& origin) const;
  uint64_t bits_of(const Origin& origin, const DecodedOperand& o, int lane) const;
  Terms terms_of(const Origin& origin, const isa::Operand& written, const DecodedOperand& o, int lane);
  Terms operand(const Origin& origin, int operand, int lane);
  Terms computed(const Origin& origin, int lane);
  Terms of_all_lanes(const Origin& origin);
  void shuffle(const Origin& origin, const isa::Shuffle& e);
  void load(const Access& a, const isa::Load& e);
  void store(const Access& a, const isa::Store& e);
  // Of a result that nothing else is equal to.
  Terms unknown(Pc cause);
  // As the lane's way to here makes it.
  Terms here(const Origin& origin, int lane, Terms terms);
  void set(const Origin& origin, const isa::Operand& to, int lane, const Terms& terms);
  template <class Of>
  void set_results(const Origin& origin, Of&& of);

  uint64_t key(const Origin& origin, isa::Space space, uint64_t address, int lane) const;
  Terms read(uint64_t key, uint32_t size, Pc cause);
  void write(uint64_t key, uint32_t size, const Terms& terms);
  Terms& word(uint64_t key, Pc cause);

  StoredTerms& all_;
  const ClusterState& cluster_;
  std::vector<Warp> warps_;
  std::unordered_map<uint64_t, Page> pages_;  // by key / 1024
  uint64_t unknowns_ = 0;
};

}  // namespace palladion::sim::check
