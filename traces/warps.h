#pragma once
// What each warp executes and why it is stalled, as slices merged by reason and source line.
#include <deque>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "traces/cluster_trace.h"

namespace palladion::traces {

class Warps {
 public:
  // Stalls shorter than this belong to the line that executes.
  static constexpr uint64_t short_stall = 12;

  // The name and the current phase of the mbarrier at a shared address, if there is one.
  using MbarrierAt = std::function<std::optional<std::pair<std::string_view, uint64_t>>(sim::SharedAddress)>;
  static constexpr sim::SharedAddress no_mbarrier{~0U};

  explicit Warps(ClusterTrace& trace);

  // With a clock: an instruction that was held up, with what its warp waited for.
  void stalled(const sim::Stalled& event);
  // A wait that has begun, and that is over; without a clock these alone tell how long it took. `mbarrier`:
  // its shared address with rank.
  void waits(const sim::Origin& origin, std::string_view object, sim::SharedAddress mbarrier = no_mbarrier);
  void goes_on(const sim::Origin& origin, sim::Stall why);
  // The object of the wait that ends now, or of the last one: "`full`[1]".
  void waited_for(const sim::Origin& origin, std::string_view object);
  // A moment of this warp, with arrows to and from it.
  void moment(const sim::Origin& origin, std::string_view what, std::vector<uint64_t> flows,
              std::vector<uint64_t> ends = {}) {
    moment_at(trace_.now(), origin, what, std::move(flows), std::move(ends));
  }
  void moment_at(uint64_t at, const sim::Origin& origin, std::string_view what, std::vector<uint64_t> flows,
                 std::vector<uint64_t> ends);
  void exited(const sim::Origin& origin);
  // Writes what is open. A warp that waits when the run ends has a slice that says so.
  void flush(const MbarrierAt& mbarrier);

  uint32_t warps_per_cta() const { return warps_; }
  ClusterTrace::LocalTrack role(sim::CtaRank rank, uint32_t warpgroup);

 private:
  struct Piece {
    bool issues = false;
    sim::Stall why = sim::Stall::selected;
    sim::Pc pc;
    std::string_view line, object;
    uint64_t from = 0, to = 0;
    bool open = false;              // the wait has not ended
    uint64_t since = 0;             // of an open wait: when it began; tests of the mbarrier may lie between
    std::optional<uint64_t> phase;  // of the mbarrier, for an open wait
    bool same(const Piece& p) const {
      return issues == p.issues && open == p.open && line == p.line &&
             (issues || (why == p.why && object == p.object));
    }
  };
  struct Line {  // of a warp: the piece that grows, and short ones behind it
    std::optional<Piece> open;
    std::deque<Piece> tail;
    std::string_view object;  // of the last wait
    uint64_t object_at = 0, waits_since = 0;
    bool waits = false;
    std::string_view awaited;  // of the wait that has begun
    sim::SharedAddress mbarrier = no_mbarrier;
    // The last instruction that was recorded, the cycle after it, and its pieces: what it waited for may be
    // known only when it executes.
    bool recorded = false;
    sim::Pc pc;
    uint64_t until = 0;
    std::vector<Piece> last;
    bool issues_at(uint64_t now) const { return recorded && until == now + 1; }
  };

  Line& line_of(const sim::Origin& origin) { return lines_[origin.cta_rank * warps_ + origin.warp]; }
  ClusterTrace::LocalTrack track_of(sim::CtaRank rank, sim::WarpOfCta warp);
  void add(uint32_t index, const Piece& piece);
  void add_last(uint32_t index);
  static bool waits_for_others(const Piece& piece);
  uint64_t stalled_since(const Line& line, sim::Pc pc) const;
  std::optional<Piece> last_wait(uint32_t index, const MbarrierAt& mbarrier) const;
  void shift(Line& line, uint32_t index);
  void write(uint32_t index, const Piece& piece);

  ClusterTrace& trace_;
  uint32_t warps_;
  std::vector<Line> lines_;  // by warp of the cluster
};

}  // namespace palladion::traces
