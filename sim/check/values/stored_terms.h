#pragma once
// Of what the values are made that threads store at one place without an order: are they copies of one value,
// whatever the data are? A computation has a hash of its instructions and of what it loads. Sums have a
// second one, the same for all orders in which their terms are added: compilers let lanes and warps hold a
// sum each, added in the order of their exchanges, and fuse another product in each; all are roundings of one
// number.
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "sim/launch/finding.h"
#include "sim/launch/observer.h"
#include "sim/launch/per_cluster.h"

namespace palladion::sim::check {

// What a value is made of.
struct Terms {
  uint64_t how = 0;   // of the computation
  uint64_t sum = 0;   // of the sum that it computes, in any order
  bool data = false;  // it is made of loaded values; else `how` is its bits
  Pc cause;           // of data: a load
};

class TermsOfCluster;

class StoredTerms final : public Observer {
 public:
  // How the values are related that different threads store at one place.
  enum class Copies : uint8_t {
    one,        // one value, for all data
    reordered,  // sums of the same terms, for all data: their last bits may differ
    different,
  };
  struct Store {
    Copies copies = Copies::one;
    Pc cause;         // where they are not one value: a load that it is made of; no_id: none
    Site site, load;  // the store, and that load
  };

  // The stores at these places of the source, and at these pcs.
  explicit StoredTerms(std::set<SourcePlace> places, std::set<Pc> pcs = {});
  ~StoredTerms() override;

  void start(const RunView& run) override;
  void observe(ClusterState& cluster, ClusterEvents& events) override;
  bool watches(Pc pc) const override { return watched_[pc]; }
  void retire(ClusterState& cluster) override;
  void finish(std::vector<Finding>& findings) override;

  // After the run: those stores that were executed.
  const std::map<Pc, Store>& stores() const { return stores_; }
  // Of the stores at these places, the worst; `different` where one was not executed.
  Copies of(const std::set<SourcePlace>& places) const;

 private:
  friend class TermsOfCluster;
  // The last store of each byte.
  struct Byte {
    Terms terms;
    uint8_t value = 0;
    Pc pc;
    uint64_t thread = 0, cta = 0, round = 0;  // `round`: barriers of the whole CTA that came before
    bool by_several = false;
  };

  void find_slice();
  void stored(uint64_t address, Byte byte);
  void note(Pc pc, Copies copies, const Terms& terms);

  std::set<SourcePlace> places_;
  std::set<Pc> pcs_;
  RunView run_;
  std::vector<bool> watched_, judged_;  // by pc
  std::vector<uint32_t> index_;         // by register
  std::set<uint32_t> contracted_;       // sums that are the end of an fma, by pc
  uint32_t tracked_ = 0;
  bool rounds_ = true;  // threads pass all barriers of the whole CTA together
  PerCluster<TermsOfCluster> clusters_;
  std::mutex mutex_;
  std::unordered_map<uint64_t, Byte> bytes_;  // by address; of shared memory with the cluster
  std::map<Pc, Store> stores_;
};

}  // namespace palladion::sim::check
