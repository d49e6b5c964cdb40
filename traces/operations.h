#pragma once
// Asynchronous operations from issue to landing, with arrows from their issuers and to the warps that waited
// for them; and when the TMA unit and the tensor core executed them.
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "traces/stages.h"
#include "traces/warps.h"

namespace palladion::traces {

class Operations {
 public:
  Operations(ClusterTrace& trace, Warps& warps, Stages& stages)
      : trace_(trace), warps_(warps), stages_(stages) {}

  void on(const sim::AsyncIssue& e);
  void on(const sim::AsyncJoined& event);
  void read(uint64_t id);
  void on(const sim::AsyncLanded& event);
  void on(const sim::UnitWorked& event);
  void on(const sim::GroupCommitted& event);
  void on(const sim::GroupWaited& event);
  // A new arrow that starts at an operation in flight, for the mbarrier that it signals; 0: it is not in
  // flight, or already has one to there.
  uint64_t arrow_from(uint64_t id, sim::SharedAddress mbarrier);
  // Operations that have not landed are written up to the current time.
  void flush();

 private:
  struct Operation {
    sim::Origin origin;
    isa::AsyncGroup group = isa::AsyncGroup::none;
    std::string_view name;
    uint64_t from = 0, bytes = 0;
    uint32_t lane = 0;
    bool reads = false;
    std::vector<Stages::Place> filled, read;
    std::vector<uint64_t> flows, ends;
    std::vector<sim::SharedAddress> mbarriers;  // that arrows lead to
  };
  struct Groups {  // of a warp: operations since the last commit, and committed ones
    std::vector<uint64_t> open;
    std::deque<std::vector<uint64_t>> closed;
  };

  std::string name_of(const sim::AsyncIssue& e, const Operation& op) const;
  Groups& groups_of(const sim::Origin& origin, isa::AsyncGroup kind);
  std::vector<bool>& lanes_of(const Operation& op);
  ClusterTrace::LocalTrack track_of(const Operation& op);
  ClusterTrace::LocalTrack unit_track(sim::CtaRank rank, sim::Resource unit);
  void end_reads(Operation& op);
  void write(Operation& op);

  ClusterTrace& trace_;
  Warps& warps_;
  Stages& stages_;
  std::map<uint64_t, Operation> pending_;
  std::unordered_map<uint64_t, uint64_t> arrows_;  // of operations in groups, until a wait sees them
  std::map<std::pair<uint32_t, isa::AsyncGroup>, Groups> groups_;
  std::map<std::pair<sim::CtaRank, isa::AsyncGroup>, std::vector<bool>> lanes_;
  std::map<std::pair<sim::CtaRank, sim::Resource>, uint64_t> busy_until_;
};

}  // namespace palladion::traces
