#pragma once
// On which data a run depends: branches, predicates, addresses and counts that are made of loaded values.
// Where there are none, other data of the same shape give the same run, with other values.
//
// Not data: parameters, constants, special registers, tensor maps, results of waits. Data: what is loaded
// from GMEM, copied by asynchronous operations or computed by tensor cores, results of atomics, and what is
// made of them, also through shared and local memory.
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "sim/explore/data_slice.h"
#include "sim/launch/observer.h"
#include "sim/launch/per_cluster.h"
#include "sim/launch/site.h"

namespace palladion::sim::check {

struct DataDependence {
  // value: several threads store it at one place, and with other data it may be several values.
  enum class Kind : uint8_t { branch, predicate, address, count, value };
  Kind kind = Kind::address;
  Site load;  // where the data come from
  Site use;   // what they decide
};

struct DataScope {
  // Each load and use once, in the order of the text. Empty: the run is one for all data of this shape.
  std::vector<DataDependence> dependences;
  // Reads of arrays that the kernel does not write, whose place depends on data: the run is one for all data
  // that keep them inside of their arrays.
  std::vector<DataDependence> in_bounds;
  // Whether a CTA can know how many others there are: the run is not that of a smaller grid.
  bool depends_on_grid = true;
  // Whether results can depend on the schedule where all threads execute the same (text_dependence.h).
  bool depends_on_order = true;
  // Whether a lane was elected: PTX leaves open which one.
  bool elects = false;
};

class ClusterData;

class DataObserver final : public Observer {
 public:
  DataObserver();
  ~DataObserver() override;

  void start(const RunView& run) override;
  void observe(ClusterState& cluster, ClusterEvents& events) override;
  bool watches(Pc pc) const override { return !slice_.empty() && slice_.watches(pc); }
  void retire(ClusterState& cluster) override;
  void finish(std::vector<Finding>& findings) override;

  const DataScope& scope() const { return scope_; }  // after the run

 private:
  friend class ClusterData;
  using Kind = DataDependence::Kind;
  using Key = std::tuple<uint32_t, uint32_t, Kind>;  // pcs of load and use
  struct Found {
    std::set<Key> uses;
    std::map<Key, std::set<uint64_t>> reads;  // of GMEM at places that depend on data: the arrays
    std::set<uint64_t> written;               // arrays; by the addresses where they begin
  };
  DataDependence dependence(const Key& key) const;

  RunView run_;
  DataSlice slice_;
  PerCluster<ClusterData> clusters_;
  Found found_;
  DataScope scope_;
};

}  // namespace palladion::sim::check
