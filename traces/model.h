#pragma once
// The events of a run: tracks, and on them slices and instants. Times are counted in one
// unit from the kernel's start. A recorder passes tracks and events to a Sink, which writes them.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sim/launch/index.h"

namespace palladion::traces {

// `warp_instructions`: the schedule had no clock; times count the warp instructions of the cluster.
enum class TimeUnit : uint8_t { sm_cycles, warp_instructions };
// "SM cycles"
std::string_view name(TimeUnit unit);

// What a row shows.
enum class TrackKind : uint8_t {
  process,  // the simulator, a device
  sm,
  cta,          // one of those that an SM holds at a time; its slices are the CTAs that were resident there
  role,         // a warpgroup; its slices are the author's scopes (plgpu::profile_scope)
  warp,         // what it executes, why it is stalled
  tma,          // the TMA unit: when it is busy
  tensor_core,  // when it works
  in_flight,    // asynchronous operations from issue to landing; as many tracks as overlap
  group,        // holds others together
  mbarrier,     // its phases
  stage,        // an array of shared memory, or a part of it, and its owner
};
// "tensor_core"
std::string_view name(TrackKind kind);

// The kind of an event; decides its colour and its letter.
enum class Category : uint8_t {
  life,   // of a CTA
  issue,  // the warp executes instructions
  stall,  // the warp is stalled; the name is the reason
  event,  // the warp issued, saw or completed something
  copy,
  tensor,
  phase,    // of an mbarrier
  filling,  // of a stage: copies or threads write it,
  full,     // not read yet
  reading,
  free,
  scope,  // the author's
};
inline constexpr size_t category_count = 12;  // categories of events
// "stall"
std::string_view name(Category category);
// A row of the timeline; rows form a tree.
struct Track {
  uint64_t id = 0;                      // never 0, the same in every run
  uint64_t parent = 0;                  // 0: none
  TrackKind kind = TrackKind::process;  // what the row shows
  int order = 0;                        // among its siblings
  std::string name;                     // of the row
};
// One detail of an event.
struct Arg {
  std::string_view key;                            // what is said
  std::variant<uint64_t, std::string_view> value;  // a number or a text
};

// Texts and lists are valid during a call of a Sink. An event whose `to` equals `from` may be an instant.
struct Event {
  uint64_t track = 0;                   // the row
  uint64_t from = 0, to = 0;            // cycles
  bool instant = false;                 // no duration
  Category category = Category::event;  // which gives the colour
  std::string_view name;                // of the slice
  std::vector<Arg> args;                // shown when it is selected
  // Arrows: events with the same id follow one another in time. `ends` are flows that end here.
  std::vector<uint64_t> flows, ends;
  // The instruction (index in sim::Program::code) that executes, or that waits.
  static constexpr sim::Pc no_pc{~0U};
  sim::Pc pc = no_pc;
};
// What is said once of a trace.
struct Header {
  std::string title;                    // "matmul_ws m=512 n=512 k=512, h200, hardware"
  TimeUnit unit = TimeUnit::sm_cycles;  // of all times
  double sm_clock_mhz = 0;              // 0: unknown
  uint64_t from = 0;                    // nothing before it was recorded
};

// The destination of a trace. Called from one thread at a time. Slices of a track come in the order of their
// ends and do not overlap, except scopes, which may be nested.
class Sink {
 public:
  virtual ~Sink() = default;
  // False: it is full; the written part is complete, and nothing more is accepted.
  virtual bool add(const Track& track) = 0;
  virtual bool add(const Event& event) = 0;
  // The last call. A note, where there is one, is about what is missing, from time `at` on.
  virtual void finish(const std::string& note, uint64_t at) = 0;
  // Why it is full: "the limit of 2 GiB", "No space left on device".
  virtual std::string why_full() const = 0;
  virtual uint64_t bytes() const = 0;
};

// A stable id of a track from its place: "sim/SM 0/CTA 0/warp 3".
uint64_t track_id(std::string_view place);

}  // namespace palladion::traces
