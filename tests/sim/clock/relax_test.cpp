// The table of relaxations names what exists, and gains are ranked.
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/clock/report/relax.h"

namespace palladion::sim {
namespace {

const isa::ClockParameters& h200() { return *isa::find_clock("h200"); }

const Relaxation& relaxation_of(std::string_view key) {
  for (const Relaxation& r : relaxations())
    if (std::ranges::find(r.keys, key, &RelaxedKey::key) != r.keys.end()) return r;
  throw std::runtime_error("nothing relaxes " + std::string(key));
}

TEST(Relax, EveryKeyIsAParameterOfTheClock) {
  isa::ClockParameters p = h200();
  for (const Relaxation& r : relaxations()) {
    EXPECT_FALSE(r.name.empty() || r.advice.empty());
    EXPECT_TRUE(!r.keys.empty() || !r.ops.keys.empty() || r.no_bank_conflicts) << r.name;
    for (const RelaxedKey& k : r.keys)
      EXPECT_NE(find_parameter(p, k.key), nullptr) << r.name << ": " << k.key;
    for (const std::string_view key : r.ops.keys) EXPECT_GE(isa::op_key(key), 0) << r.name << ": " << key;
  }
}

TEST(Relax, ParametersAreFoundByTheirKeysInFiles) {
  isa::ClockParameters p = h200();
  EXPECT_EQ(find_parameter(p, "hbm.read"), &p.hbm_read);
  EXPECT_EQ(find_parameter(p, "op.ffma.interval"), &p.ops[size_t(isa::op_key("ffma"))].interval);
  for (const char* key : {"hbm.reed", "op.ffma", "op.ffma.speed", "op..latency", "op.nothing.latency", ""})
    EXPECT_EQ(find_parameter(p, key), nullptr) << key;
}

TEST(Relax, ARelaxationChangesItsKeysAndNothingElse) {
  for (const Relaxation& r : relaxations()) {
    isa::ClockParameters before = h200(), after = relaxed(before, r);
    for (const isa::ClockField& f : isa::clock_fields()) {
      const auto key = std::ranges::find(r.keys, f.key, &RelaxedKey::key);
      EXPECT_EQ(after.*f.member, before.*f.member * (key == r.keys.end() ? 1 : key->factor))
          << r.name << f.key;
    }
    for (const std::string_view op : isa::op_keys()) {
      const bool named = std::ranges::find(r.ops.keys, op) != r.ops.keys.end();
      const size_t i = size_t(isa::op_key(op));
      EXPECT_EQ(after.ops[i].latency, before.ops[i].latency * (named ? r.ops.latency : 1)) << r.name << op;
      EXPECT_EQ(after.ops[i].interval, before.ops[i].interval * (named ? r.ops.interval : 1)) << r.name << op;
    }
  }
}

TEST(Relax, OnlyWhatWasUsedIsTried) {
  ClockReport report;
  report.cycles = 1000;
  EXPECT_FALSE(can_matter(relaxation_of("hbm.read"), report));
  EXPECT_TRUE(can_matter(relaxation_of("launch.overhead"), report)) << "every kernel is launched";
  report.busy[size_t(Resource::hbm)] = 0.01;
  EXPECT_TRUE(can_matter(relaxation_of("hbm.read"), report));
  EXPECT_FALSE(can_matter(relaxation_of("mbarrier.wake"), report));
  LineTime line;
  line.cycles[size_t(Stall::mbarrier)] = 3;
  report.lines.push_back(line);
  EXPECT_TRUE(can_matter(relaxation_of("mbarrier.wake"), report));
}

TEST(Relax, BankConflictsAreTakenAwayWhereThereAreSome) {
  const auto table = relaxations();
  const auto without = std::ranges::find_if(table, &Relaxation::no_bank_conflicts);
  ASSERT_NE(without, table.end());
  ClockReport report;
  EXPECT_FALSE(can_matter(*without, report));
  report.counters.smem_bank_conflicts = 1;
  EXPECT_TRUE(can_matter(*without, report));
  EXPECT_TRUE(h200().bank_conflicts);
  EXPECT_FALSE(relaxed(h200(), *without).bank_conflicts);
}

TEST(Relax, WhatSavesMostComesFirstForAnyNumberOfThreads) {
  ClockReport report;
  report.cycles = 1000;
  report.busy.fill(0.5);
  const RunWith run = [](const isa::ClockParameters& p) -> std::optional<uint64_t> {
    if (p.launch_overhead == 0) return std::nullopt;  // one that cannot run
    return p.hbm_read > h200().hbm_read                           ? 400
           : p.wgmma_macs_per_cycle > h200().wgmma_macs_per_cycle ? 700
                                                                  : 1000;
  };
  for (const unsigned threads : {1U, 3U}) {
    uint64_t calls = 0, last = 0;
    const auto gains = try_relaxations(h200(), report, run, {threads, [&](uint64_t done, uint64_t all) {
                                                               EXPECT_EQ(done, ++calls);
                                                               last = all;
                                                             }});
    EXPECT_EQ(calls, last);
    ASSERT_GT(gains.size(), 3u);
    EXPECT_EQ(gains.size(), last - 1) << "what could not run is left out";
    EXPECT_EQ(gains[0].relaxation, &relaxation_of("hbm.read"));
    EXPECT_EQ(gains[0].cycles, 400u);
    EXPECT_DOUBLE_EQ(gains[0].saved, 0.6);
    EXPECT_EQ(gains[1].relaxation, &relaxation_of("wgmma.macs_per_cycle"));
    EXPECT_DOUBLE_EQ(gains[2].saved, 0);
  }
}

}  // namespace
}  // namespace palladion::sim
