// What is written for Perfetto is read back by another reader and held against its rules.
#include "traces/perfetto.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "kernels/frame/case.h"
#include "tests/traces/decode.h"
#include "tests/traces/files.h"
#include "traces/open.h"
#include "traces/recorder.h"
#include "verify/launch/runner.h"

namespace palladion::traces {
namespace {

using testing::contents;
using testing::decode;
using testing::Fields;
using testing::one;
using testing::temporary;

// A matmul with four stages, all of its CTAs.
void record_matmul(const std::string& path, uint64_t limit = usual_limit, unsigned threads = 1) {
  const kernels::Case c = kernels::parse_case("matmul_ws m=256 n=256 k=512 tile_m=128 sms=2");
  const plgpu::Kernel kernel = c.spec->build(c.choice);
  sim::Machine machine(*isa::find_arch("h200"));
  auto sink = open(path, {.title = c.text, .unit = TimeUnit::warp_instructions}, limit);
  ASSERT_TRUE(sink) << sink.error();
  Recorder recorder(**sink, {.ctas = *cta_choice("all"), .unit = TimeUnit::warp_instructions});
  sim::RunOptions options;
  options.observer = &recorder;
  options.threads = threads;
  const auto outcome = palladion::run(kernel, c.spec->make_inputs(c.choice, 0), machine, options);
  EXPECT_TRUE(outcome.result.clean());
  (*sink)->finish(recorder.ended_at() ? "cut" : "", recorder.ended_at().value_or(0));
}

// A trace, checked packet by packet.
class Reader {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {
    const auto trace = decode(bytes_);
    EXPECT_TRUE(trace);
    if (!trace) return;
    for (const auto& [field, packet] : *trace) {
      EXPECT_EQ(field, 1U);
      read(packet.bytes);
    }
  }

  struct Event {
    uint64_t time = 0, type = 0, track = 0;
    std::string name;
    std::vector<uint64_t> flows, ends;
  };
  std::vector<Event> events;
  std::map<uint64_t, uint64_t> parents;  // of tracks
  std::map<uint64_t, std::string> names;

 private:
  void read(std::string_view packet) {
    const auto p = decode(packet);
    ASSERT_TRUE(p);
    ASSERT_TRUE(one(*p, 10));
    EXPECT_EQ(one(*p, 10)->number, 1U) << "one sequence of packets";
    if (const auto track = one(*p, 60)) return read_track(track->bytes);
    const auto flags = one(*p, 13);
    ASSERT_TRUE(flags);
    EXPECT_EQ((flags->number & 1) != 0, events.empty()) << "names are numbered anew at the first event alone";
    if (const auto interned = one(*p, 12)) read_names(*decode(interned->bytes));
    ASSERT_TRUE(one(*p, 11));
    ASSERT_TRUE(one(*p, 8));
    read_event(*decode(one(*p, 11)->bytes), one(*p, 8)->number);
  }
  void read_track(std::string_view bytes) {
    const auto t = decode(bytes);
    const uint64_t id = one(*t, 1)->number;
    EXPECT_TRUE(parents.try_emplace(id, one(*t, 5) ? one(*t, 5)->number : 0).second) << "each track once";
    if (one(*t, 2)) names[id] = one(*t, 2)->bytes;
  }
  void read_names(const Fields& interned) {
    for (const auto& [kind, entry] : interned) {
      const auto e = decode(entry.bytes);
      EXPECT_TRUE(texts_[kind].try_emplace(one(*e, 1)->number, one(*e, 2)->bytes).second);
    }
  }
  void read_event(const Fields& e, uint64_t time) {
    Event event{time, one(e, 9)->number, one(e, 11)->number, {}, {}, {}};
    EXPECT_TRUE(parents.contains(event.track)) << "a track is described before its events";
    if (event.type != 2) {
      ASSERT_TRUE(one(e, 10));
      ASSERT_TRUE(texts_[2].contains(one(e, 10)->number));
      EXPECT_TRUE(texts_[1].contains(one(e, 3)->number));
      event.name = texts_[2][one(e, 10)->number];
      for (auto [at, last] = e.equal_range(4); at != last; ++at) {
        const auto annotation = decode(at->second.bytes);
        EXPECT_TRUE(texts_[3].contains(one(*annotation, 1)->number));
        if (const auto text = one(*annotation, 17)) {
          EXPECT_TRUE(texts_[29].contains(text->number));
        }
      }
    }
    for (auto [at, last] = e.equal_range(47); at != last; ++at) event.flows.push_back(at->second.number);
    for (auto [at, last] = e.equal_range(48); at != last; ++at) event.ends.push_back(at->second.number);
    events.push_back(std::move(event));
  }

  std::string bytes_;
  std::map<uint32_t, std::map<uint64_t, std::string>> texts_;
};

// As Perfetto reads it: by time, and where times are equal in the order of the file.
std::vector<Reader::Event> by_time(const Reader& r) {
  std::vector<Reader::Event> events = r.events;
  std::ranges::stable_sort(events, {}, &Reader::Event::time);
  return events;
}

void expect_slices_close(const Reader& r) {
  std::map<uint64_t, int> depth;
  for (const auto& e : by_time(r)) {
    if (e.type == 3) continue;
    const int now = depth[e.track] += e.type == 1 ? 1 : -1;
    EXPECT_EQ(now, e.type == 1 ? 1 : 0) << r.names.at(e.track) << ": slices overlap at " << e.time;
  }
  for (const auto& [track, open] : depth) EXPECT_EQ(open, 0);
}

TEST(Perfetto, ARecordedKernelIsWellFormed) {
  const std::string path = temporary("matmul.pftrace");
  record_matmul(path);
  const Reader r(contents(path));
  EXPECT_GT(r.events.size(), 500U);
  expect_slices_close(r);
  for (const auto& [track, parent] : r.parents) EXPECT_TRUE(parent == 0 || r.parents.contains(parent));
  std::set<std::string> names;
  for (const auto& [id, name] : r.names) names.insert(name);
  for (const char* name : {"SM 0", "SM 1", "CTA slot 0", "warpgroup 2, issues bulk loads", "`full`[3]",
                           "`a_smem`[3]", "`out_smem`[1][1]", "copies in flight 0", "wgmma in flight 0"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(Perfetto, FlowsGoOnInTimeAndEnd) {
  const std::string path = temporary("flows.pftrace");
  record_matmul(path);
  const Reader r(contents(path));
  std::map<uint64_t, std::vector<const Reader::Event*>> flows;
  const std::vector<Reader::Event> sorted = by_time(r);
  for (const auto& e : sorted)
    for (const auto* ids : {&e.flows, &e.ends})
      for (const uint64_t id : *ids) flows[id].push_back(&e);
  EXPECT_GT(flows.size(), 100U);
  size_t loads_seen = 0;
  for (const auto& [id, events] : flows) {
    ASSERT_GE(events.size(), 2U) << "an arrow has two ends: " << events.front()->name;
    EXPECT_TRUE(std::ranges::find(events.front()->flows, id) != events.front()->flows.end())
        << events.front()->name << " -> " << events.back()->name;
    EXPECT_TRUE(std::ranges::find(events.back()->ends, id) != events.back()->ends.end());
    loads_seen +=
        static_cast<size_t>(events.front()->name == "load `a_smem`[0]" && events.back()->name == "complete");
  }
  EXPECT_GT(loads_seen, 2U);
}

TEST(Perfetto, TheFileDoesNotDependOnHostThreads) {
  record_matmul(temporary("one.pftrace"), usual_limit, 1);
  record_matmul(temporary("two.pftrace"), usual_limit, 2);
  EXPECT_EQ(contents(temporary("one.pftrace")), contents(temporary("two.pftrace")));
}

TEST(Perfetto, ATraceThatDoesNotFitIsWholeAsFarAsItGoes) {
  const std::string whole = temporary("whole.pftrace"), cut = temporary("cut.pftrace");
  record_matmul(whole);
  const uint64_t limit = std::filesystem::file_size(whole) / 2;
  record_matmul(cut, limit);
  EXPECT_LE(std::filesystem::file_size(cut), limit);
  EXPECT_GT(std::filesystem::file_size(cut), limit / 2);
  const Reader r(contents(cut));
  expect_slices_close(r);
  EXPECT_EQ(r.events.back().name, "cut");
}

}  // namespace
}  // namespace palladion::traces
