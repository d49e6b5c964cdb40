// The table of relaxations names what exists, and gains are ranked.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>

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

// A clock without atomics has other quanta: the run would differ for nothing.
TEST(Relax, AtomicsAndClustersAreRelaxedWhereTheLaunchHasThem) {
  ClockReport report;
  report.busy.fill(0.5);
  LineTime line;
  line.cycles.fill(3);
  report.lines.push_back(line);
  const Relaxation &atomics = relaxation_of("l2.atomic_latency"), &network = relaxation_of("dsm.latency");
  EXPECT_TRUE(can_matter(atomics, report, {.atomics = true, .clusters = false}));
  EXPECT_FALSE(can_matter(network, report, {.atomics = true, .clusters = false}));
  EXPECT_FALSE(can_matter(atomics, report, {.atomics = false, .clusters = true}));
  EXPECT_TRUE(can_matter(network, report, {.atomics = false, .clusters = true}));
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

ClockReport all_used() {
  ClockReport report;
  report.cycles = 1000;
  report.busy.fill(0.5);
  return report;
}

bool is_relaxed(const isa::ClockParameters& p, std::string_view key) {
  isa::ClockParameters before = h200(), after = p;
  return *find_parameter(before, key) != *find_parameter(after, key);
}

// Some parts save so many cycles of 1000; together they save the sum.
struct Chip {
  std::map<std::string_view, uint64_t> saves;  // by a key of the part
  std::atomic<uint64_t> runs = 0;
  RunWith run() {
    return [this](const isa::ClockParameters& p, unsigned) -> std::optional<uint64_t> {
      ++runs;
      uint64_t cycles = 1000;
      for (const auto& [key, saved] : saves)
        if (is_relaxed(p, key)) cycles -= saved;
      return cycles;
    };
  }
};

std::vector<const Relaxation*> untried(const Relaxed& found) {
  std::vector<const Relaxation*> out;
  for (const GroupGain& g : found.groups)
    if (!g.tried_alone) out.insert(out.end(), g.members.begin(), g.members.end());
  return out;
}

TEST(Relax, WhatSavesMostComesFirstForAnyNumberOfThreads) {
  for (const unsigned threads : {1U, 3U, 16U}) {
    Chip chip{{{"hbm.read", 300}, {"l2.bytes_per_cycle", 100}, {"wgmma.macs_per_cycle", 200}}};
    uint64_t last = 0;
    const RelaxOptions options{.threads = threads, .done = [&](uint64_t done) { EXPECT_EQ(done, ++last); }};
    const Relaxed found = try_relaxations(h200(), all_used(), chip.run(), options);
    EXPECT_EQ(found.runs, chip.runs);
    EXPECT_EQ(found.runs, last);
    ASSERT_GE(found.gains.size(), 3u);
    EXPECT_EQ(found.gains[0].relaxation, &relaxation_of("hbm.read"));
    EXPECT_EQ(found.gains[0].cycles, 700u);
    EXPECT_DOUBLE_EQ(found.gains[0].saved, 0.3);
    EXPECT_EQ(found.gains[1].relaxation, &relaxation_of("wgmma.macs_per_cycle"));
    EXPECT_EQ(found.gains[2].relaxation, &relaxation_of("l2.bytes_per_cycle"));
  }
}

TEST(Relax, AGroupThatSavesLittleTogetherIsNotTriedAlone) {
  Chip chip{{{"wgmma.macs_per_cycle", 400}, {"hbm.read", 9}}};  // 0.9 %
  const Relaxed found = try_relaxations(h200(), all_used(), chip.run());
  EXPECT_EQ(found.runs, plan_relaxations(all_used()).least);
  const auto rest = untried(found);
  EXPECT_NE(std::ranges::find(rest, &relaxation_of("hbm.read")), rest.end());
  for (const Gain& g : found.gains)
    EXPECT_NE(g.relaxation->group, RelaxedGroup::rates) << g.relaxation->name << " was tried alone";
}

TEST(Relax, AGroupThatSavesLessThanTheThirdBestIsNotTriedAlone) {
  Chip chip{
      {{"wgmma.macs_per_cycle", 300}, {"wgmma.tail_ss", 200}, {"launch.overhead", 100}, {"hbm.read", 50}}};
  const Relaxed found = try_relaxations(h200(), all_used(), chip.run());
  EXPECT_EQ(found.runs, plan_relaxations(all_used()).least);
  chip.saves["hbm.read"] = 150;
  const Relaxed other = try_relaxations(h200(), all_used(), chip.run());
  EXPECT_GT(other.runs, found.runs);
  EXPECT_EQ(other.gains[2].relaxation, &relaxation_of("hbm.read"));
}

TEST(Relax, AGroupWithoutAnAnswerIsTriedAlone) {
  const RunWith run = [](const isa::ClockParameters& p, unsigned) -> std::optional<uint64_t> {
    if (is_relaxed(p, "l2.atomic_latency")) return std::nullopt;  // one that cannot run
    return is_relaxed(p, "hbm.read") ? 600 : 1000;
  };
  const Relaxed found = try_relaxations(h200(), all_used(), run);
  ASSERT_FALSE(found.gains.empty());
  EXPECT_EQ(found.gains[0].relaxation, &relaxation_of("hbm.read"));
  for (const Gain& g : found.gains) EXPECT_NE(g.relaxation, &relaxation_of("l2.atomic_latency"));
  for (const GroupGain& g : found.groups) EXPECT_NE(g.cycles, 0u);
}

TEST(Relax, ThePlanBoundsTheRuns) {
  const RelaxPlan plan = plan_relaxations(all_used());
  EXPECT_LT(plan.least, plan.most);
  Chip everything{
      {{"hbm.read", 90}, {"hbm.latency", 91}, {"smem.lsu_interval", 92}, {"tma.issue_interval", 93}}};
  EXPECT_LE(try_relaxations(h200(), all_used(), everything.run()).runs, plan.most);
  EXPECT_GE(everything.runs, plan.least);
  EXPECT_EQ(plan_relaxations({}).least, 1u) << "every kernel is launched";
}

}  // namespace
}  // namespace palladion::sim
