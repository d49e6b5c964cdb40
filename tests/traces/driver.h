#pragma once
// A cluster without a machine: tests say what happens at which cycle.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "isa/text/parse.h"
#include "sim/machine/exec/exec.h"
#include "sim/machine/exec/place.h"
#include "sim/machine/state/mbarrier.h"
#include "sim/program/compile/compile.h"
#include "traces/recorder.h"

namespace palladion::traces::testing {

// A sink that keeps what it receives, with its texts.
class Recording final : public Sink {
 public:
  struct Kept : Event {
    std::string text, line, reason, open;
  };
  bool add(const Track& track) override {
    tracks.push_back(track);
    return true;
  }
  bool add(const Event& e) override {
    if (events.size() >= room) return false;
    Kept kept{e, std::string(e.name), text_of(e, "line"), text_of(e, "reason"), text_of(e, "open")};
    events.push_back(std::move(kept));
    return true;
  }
  void finish(const std::string&, uint64_t) override {}
  std::string why_full() const override { return "no room"; }
  uint64_t bytes() const override { return 0; }

  // Slices and instants of the track with this name, "a 3..7" or "a @3".
  std::vector<std::string> on(const std::string& track) const {
    std::vector<std::string> out;
    for (const Kept& e : events)
      if (name_of(e.track) == track)
        out.push_back(e.text + (e.instant ? " @" + std::to_string(e.from)
                                          : " " + std::to_string(e.from) + ".." + std::to_string(e.to)));
    return out;
  }
  std::string name_of(uint64_t id) const {
    for (const Track& t : tracks)
      if (t.id == id) return t.name;
    return "?";
  }

  std::vector<Track> tracks;
  std::vector<Kept> events;
  size_t room = ~size_t{0};

 private:
  static std::string text_of(const Event& e, std::string_view key) {
    for (const Arg& a : e.args)
      if (const auto* text = std::get_if<std::string_view>(&a.value); text != nullptr && a.key == key)
        return std::string(*text);
    return {};
  }
};

// PTX of an entry whose n-th instruction tests name by pc; its lines are those of the text.
class Driver {
 public:
  Driver(const std::string& body, Sink& sink, RecorderOptions options = {}, uint32_t warps = 4)
      : recorder(sink, options) {
    auto parsed = isa::parse(".version 8.3\n.target sm_90a\n.address_size 64\n" + body);
    EXPECT_TRUE(parsed) << (parsed ? "" : isa::render(parsed.error()));
    module = std::make_unique<isa::Module>(std::move(*parsed));
    program = sim::compile(*module, *module->find_entry(""), isa::default_arch(),
                           std::vector<uint64_t>(module->symbols.size()));
    launch.arch = &isa::default_arch();
    launch.grid = launch.cluster = {1, 1, 1};
    launch.block = {32 * warps, 1, 1};
    recorder.start({program.get(), &launch, &memory});
    cluster.ctas.resize(1);
    recorder.observe(cluster, events);
    events.emit(sim::ClusterBegan{});
  }

  sim::Origin at(uint32_t pc, uint16_t warp = 0, uint32_t lanes = ~0U) const {
    return sim::origin_at(*program, sim::CtaRank(0), sim::WarpOfCta(warp), lanes, sim::Pc(pc));
  }
  void mbarrier(uint32_t pc, uint16_t warp, sim::MbarrierEvent e) {
    e.origin = at(pc, warp);
    events.emit(e);
  }
  void end() {
    events.emit(sim::ClusterEnded{});
    recorder.retire(cluster);
  }

  std::unique_ptr<isa::Module> module;
  std::unique_ptr<sim::Program> program;
  sim::LaunchState launch;
  sim::GlobalMemory memory;
  sim::ClusterState cluster;
  Recorder recorder;
  sim::ClusterEvents events;
};

}  // namespace palladion::traces::testing
