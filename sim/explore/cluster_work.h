#pragma once
// Of one cluster: which values are made of the numbers of clusters whose work it does, and what depends on
// them.
#include <array>
#include <bit>
#include <map>
#include <unordered_map>

#include "sim/explore/work_dependence.h"
#include "sim/machine/exec/exec.h"
#include "sim/machine/state/cluster.h"

namespace palladion::sim::check {

// A value of one lane that is made of numbers of clusters.
struct Derived {
  uint64_t how = 0;              // hash of its computation; 0: it is not made of any
  uint32_t of = 0;               // 1 + the number of the cluster
  uint64_t vary = ~uint64_t{0};  // the bits that can differ from cluster to cluster
  static constexpr uint32_t several = ~0U;
};

// What holds an answer that is not decoded, or what many numbers may be part of.
inline constexpr Derived unknown_number{1, Derived::several};

// Adds up what a computation is made of, in its order.
class Mixture {
 public:
  explicit Mixture(uint64_t start = 0) : hash_(scramble(start)) {}
  void value(uint64_t v) { hash_ = scramble(hash_ ^ scramble(v)); }
  void add(const Derived& d) {
    value(d.how);
    of_ = of_ == 0 || of_ == d.of ? d.of : Derived::several;
  }
  uint64_t hash() const { return hash_; }
  Derived derived() const { return of_ == 0 ? Derived{} : Derived{hash_ | 1, of_}; }

 private:
  uint64_t hash_;
  uint32_t of_ = 0;
};

// The operand of an im2col copy that says where it reads in the window of a filter: a part of a place in
// GMEM, as its coordinates are. -1: there is none. (The halo of im2col::w is a size.)
int place_in_window(const MicroOp& op);

class ClusterWork {
 public:
  ClusterWork(const RunView& run, const DataSlice& slice, const ClusterState& cluster)
      : run_(run), slice_(slice), cluster_(cluster) {}

  void on(const ClusterBegan&);
  void on(const Reached&);
  void on(const Executing&);
  void on(const Access&);
  void on(const Executed&);
  void on(const AsyncIssue&);

  struct Range {
    uint64_t address = 0, bytes = 0;
    uint32_t line = 0;  // that writes there
  };
  const std::string& obstacle() const { return obstacle_; }
  const std::map<uint32_t, Work>& work() const { return work_; }
  const std::set<uint64_t>& read() const { return read_; }
  const std::vector<Range>& written() const { return written_; }

 private:
  using Lanes = std::array<Derived, 32>;
  struct Warp {
    std::vector<Lanes> registers;             // by DataSlice::index_of
    std::array<uint64_t, 32> last{}, seen{};  // the answer that a lane saw last, and how many it has seen
  };

  const MicroOp& op_at(const Origin& origin) const { return run_.program->code[origin.pc]; }
  Warp& warp_of(const Origin& origin);
  Lanes* tracked(const Origin& origin, uint32_t reg);
  const WarpState& state_of(const Origin& origin) const;
  uint64_t bits_of(const Origin& origin, const DecodedOperand& o, int lane) const;
  void mix(Mixture& m, const Origin& origin, const isa::Operand& written, const DecodedOperand& decoded,
           int lane);
  void mix_operand(Mixture& m, const Origin& origin, int operand, int lane);
  Derived operand_of(const Origin& origin, int operand, int lane);
  uint64_t vary_in(const Origin& origin, int lane);
  int passed_on(const Origin& origin, int lane);
  bool varies(int dimension) const;
  bool is_number(const isa::Operand& o) const;
  Derived number_in(const Origin& origin, const isa::Operand& special) const;
  uint64_t vary_in_dimension(int dimension) const;
  uint32_t number_of(uint32_t x, uint32_t y, uint32_t z) const;

  uint64_t outcome(const Origin& origin, const isa::Operand& written, const DecodedOperand& decoded,
                   int lane) const;
  void pin_operand(const Origin& origin, int operand, int lane);
  void pin(const Origin& origin, int what, const Derived& value, uint64_t outcome);
  void compute(const Origin& origin);
  void query(const Origin& origin, const isa::QueryCancel& e);
  // `of(lane, result)`: what the result of that number holds then.
  template <class Of>
  void set_results(const Origin& origin, uint32_t lanes, Of&& of) {
    uint64_t result = 0;
    for_each_value(*run_.program, op_at(origin), [&](const RegisterUse& use) {
      if (!use.writes) return;
      ++result;
      Lanes* const to = tracked(origin, use.reg);
      for (uint32_t m = to == nullptr ? 0 : lanes; m != 0; m &= m - 1) {
        const int lane = std::countr_zero(m);
        (*to)[static_cast<size_t>(lane)] = of(lane, result);
      }
    });
  }
  // Memory: cluster_work_memory.cpp.
  Derived of_place(const Origin& origin, bool writes, uint32_t lanes);
  bool touch(const Origin& origin, const Derived& how, bool writes, uint64_t bytes);
  void note(const Range& range, bool writes, const Derived& how);
  void pin_place(const Origin& origin, int lane);
  void pin_values(const Origin& origin, int lane);
  Derived stored_by(const Origin& origin, int lane);
  void store(const Access& a);
  bool store_inside(const Access& a, isa::Space space, uint64_t address, int lane);
  void load(const Access& a);
  Derived in_shared(uint32_t address, uint64_t bytes) const;
  void put(uint32_t address, uint64_t bytes, const Derived& value);
  bool holds(uint32_t address, uint64_t bytes) const;
  void asked(const AsyncIssue& issue);
  static uint32_t line_of(const Origin& origin);
  void stop(const Origin& origin, const char* what);

  RunView run_;
  const DataSlice& slice_;
  const ClusterState& cluster_;
  std::vector<Warp> warps_;
  std::map<uint32_t, Derived> words_;  // of shared memory, by address with rank
  bool accessed_ = false;              // by the instruction that executes now
  uint64_t requests_ = 0;
  uint32_t own_ = 0;  // 1 + its number
  std::string obstacle_;
  std::map<uint32_t, Work> work_;
  std::set<uint64_t> ways_;  // of all places that were written
  std::set<uint64_t> read_;
  std::vector<Range> written_;
};

}  // namespace palladion::sim::check
