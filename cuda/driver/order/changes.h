#pragma once
// Observers of a launch for questions about memory that nothing has written: what the launch reads of it, and
// what the memory was before it.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda/order/ranges.h"
#include "sim/launch/finding.h"
#include "sim/launch/observer.h"
#include "sim/launch/per_cluster.h"
#include "sim/machine/state/global_memory.h"

namespace palladion::cuda::driver {

// Marks what the launch writes, and keeps what it reads before. A lane's access of which a part is written is
// not kept: vectors and structures are loaded with what pads them.
class UnwrittenReads final : public sim::Observer {
 public:
  UnwrittenReads();
  ~UnwrittenReads() override;

  void start(const sim::RunView& run) override { run_ = run; }
  void observe(sim::ClusterState& cluster, sim::ClusterEvents& events) override;
  void retire(sim::ClusterState& cluster) override;

  // When the launch is over.
  const order::Ranges& bytes() {
    bytes_.unite();
    return bytes_;
  }
  // Instructions that read them, by pc: the first execution of each.
  const std::map<uint32_t, sim::Site>& sites() const { return sites_; }

 private:
  class Part;  // of a cluster
  sim::RunView run_;
  sim::PerCluster<Part> parts_;
  order::Ranges bytes_;
  std::map<uint32_t, sim::Site> sites_;
};

// Keeps what pages of global memory held before the launch first wrote to them.
class Changes final : public sim::Observer {
 public:
  using Pages = std::map<sim::Address, std::vector<uint8_t>>;  // by their first byte
  // Beyond `most_pages` nothing is kept, and `complete` is false.
  explicit Changes(sim::GlobalMemory& memory, size_t most_pages = 1 << 16);
  ~Changes() override;

  void observe(sim::ClusterState& cluster, sim::ClusterEvents& events) override;
  void retire(sim::ClusterState& cluster) override;

  bool complete() const { return !full_; }
  const Pages& before() const { return pages_; }
  // The memory is again as it was; the result: what the launch had made of it.
  Pages undo();

 private:
  class Part;  // of a cluster
  void save(sim::Address page, const sim::Allocation& a);

  sim::GlobalMemory& memory_;
  size_t most_pages_;
  sim::PerCluster<Part> parts_;
  std::mutex lock_;  // of `pages_`
  Pages pages_;
  std::atomic<bool> full_ = false;
};
void put(sim::GlobalMemory& memory, const Changes::Pages& pages);

}  // namespace palladion::cuda::driver
