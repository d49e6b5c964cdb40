#pragma once
// The events of one cluster until they are written: filled by the host thread that runs the cluster,
// emptied between quanta.
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sim/launch/observer.h"
#include "traces/choice.h"
#include "traces/model.h"

namespace palladion::traces {

class ClusterTrace {
 public:
  using LocalTrack = uint32_t;
  static constexpr LocalTrack no_track = ~0U;
  // A track of a CTA of this cluster. `key` is its place below the parent; `parent` is one of these or, for
  // no_track, the CTA's own.
  struct Made {
    sim::CtaRank cta_rank;
    LocalTrack parent = no_track;
    TrackKind kind = TrackKind::group;
    int order = 0;
    std::string key, name;
    uint64_t id = 0;  // once it is written
  };
  struct Kept {
    LocalTrack track = no_track;
    Event event;
  };

  ClusterTrace(const sim::RunView& run, const sim::ClusterState& cluster, TimeUnit unit, Window window);

  uint64_t now() const;
  const sim::RunView& run() const { return run_; }
  const sim::ClusterState& cluster() const { return cluster_; }
  bool clocked() const { return unit_ == TimeUnit::sm_cycles; }

  // The CTA's own track, a group in it, and a track in a group; the same key gives the same track.
  LocalTrack cta(sim::CtaRank rank);
  LocalTrack track(sim::CtaRank rank, LocalTrack parent, TrackKind kind, int order, const std::string& key,
                   const std::string& name);
  LocalTrack group(sim::CtaRank rank, int order, const std::string& name) {
    return track(rank, cta(rank), TrackKind::group, order, name, name);
  }
  std::string& name_of(LocalTrack track) { return tracks_[track].name; }

  // Texts live as long as this.
  std::string_view keep(std::string_view text);
  // "matmul_ws.cpp:130", or "PTX line 40".
  std::string_view line(sim::Pc pc);

  // A slice [from, to) or, with `instant`, a moment. Outside the window it is dropped, at the window's limits
  // it is cut.
  void add(LocalTrack track, Event event);
  // An id for arrows that no other cluster has.
  uint64_t flow() { return uint64_t{flow_base_} << 32 | ++flows_; }

  std::vector<Made>& tracks() { return tracks_; }
  std::vector<Kept>& events() { return events_; }

 private:
  const sim::RunView& run_;
  const sim::ClusterState& cluster_;
  TimeUnit unit_;
  Window window_;
  uint32_t flow_base_;
  uint64_t flows_ = 0;
  std::vector<Made> tracks_;
  std::unordered_map<std::string, LocalTrack> known_;
  std::unordered_set<std::string> texts_;
  std::vector<std::string_view> lines_;  // by pc
  std::vector<Kept> events_;
};

}  // namespace palladion::traces
