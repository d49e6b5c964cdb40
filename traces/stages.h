#pragma once
// The owner of each stage of shared memory: an array that asynchronous copies fill or read, or the part of it
// that one copy moves. A stage is filled, is full until it is read, and after the reads is free until it is
// filled again.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "traces/cluster_trace.h"

namespace palladion::traces {

class Stages {
 public:
  // A stage of a CTA.
  struct Place {
    sim::CtaRank rank;
    uint32_t array = 0, part = 0;
    auto operator<=>(const Place&) const = default;
  };

  explicit Stages(ClusterTrace& trace);

  // The stages that an operation's pieces touch, each once. Arrays become stages when a copy touches them;
  // `copies` is false for a wgmma.
  std::vector<Place> touched(std::span<const sim::Piece> pieces, bool copies);
  // "`a_smem`[1]"
  std::string name(const Place& place) const;

  void fill_begins(const Place& place, std::string_view by);
  void fill_ends(const Place& place);
  void read_begins(const Place& place, std::string_view by);
  void read_ends(const Place& place);
  // Threads read or write.
  void accessed(const sim::Access& access, std::string_view by);
  void flush();

 private:
  struct Array {
    std::string name;
    uint64_t base = 0, bytes = 0;
    std::vector<int64_t> shape;
    uint64_t stage = 0;          // bytes of one; 0: no copy has touched it yet
    std::vector<int64_t> parts;  // leading sizes that number the stages
  };
  struct Use {  // since the fill began
    uint64_t fill_from = 0, fill_to = 0, read_from = 0, read_to = 0;
    uint32_t filling = 0, reading = 0;
    bool filled = false, read = false;
    std::string_view filler, reader;
  };

  const Array* array_at(sim::SharedAddress address) const;
  std::optional<Place> place_of(sim::SharedAddress address) const;
  static void cut(Array& array, uint64_t moved);
  static uint64_t moved_in(const Array& array, sim::SharedAddress address,
                           std::span<const sim::Piece> pieces);
  void settle(const Place& place, Use& use, uint64_t until);
  ClusterTrace::LocalTrack track_of(const Place& place);

  ClusterTrace& trace_;
  std::vector<Array> arrays_;
  std::map<Place, Use> uses_;
};

}  // namespace palladion::traces
