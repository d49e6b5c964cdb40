#include "isa/core/cfg.h"

#include <gmock/gmock.h>

#include "isa/core/op.h"
#include "isa/text/parse.h"

namespace palladion::isa {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Graph {
  Module module;
  Cfg cfg;
  const Function& f() const { return *module.find_function("k"); }
  uint32_t at(std::string_view label) const {
    for (const Label& l : f().labels)
      if (l.name == label) return cfg.block_of[l.target];
    ADD_FAILURE() << label;
    return 0;
  }
  uint32_t meets(std::string_view label) const { return cfg.blocks[at(label)].reconverge; }
};

Graph graph(const std::string& body, bool entry = true) {
  const std::string text = std::string(".version 8.7\n.target sm_90a\n.address_size 64\n.visible ") +
                           (entry ? ".entry" : ".func") + " k() {\n.reg .pred %p<9>; .reg .b32 %r<9>;\n" +
                           body + "\n}\n";
  auto module = parse(text);
  EXPECT_TRUE(module) << render(module ? Diagnostics{} : module.error(), text);
  Graph g{std::move(*module), {}};
  g.cfg = build_cfg(g.f());
  return g;
}

TEST(cfg, a_straight_line_is_one_block) {
  const Graph g = graph("mov.u32 %r1, 0;\nadd.s32 %r1, %r1, 1;\nret;");
  ASSERT_EQ(g.cfg.blocks.size(), 1u);
  EXPECT_EQ(g.cfg.blocks[0].last, 3u);
  EXPECT_THAT(g.cfg.blocks[0].successors, IsEmpty());
  EXPECT_EQ(g.cfg.blocks[0].reconverge, no_id);
}

TEST(cfg, both_ways_of_an_if_meet_behind_it) {
  const Graph g = graph(
      "start: @%p1 bra other;\nmov.u32 %r1, 0;\nbra join;\nother: mov.u32 %r1, 1;\njoin: mov.u32 %r2, "
      "%r1;\nret;");
  EXPECT_EQ(g.cfg.blocks.size(), 4u);
  EXPECT_EQ(g.meets("start"), g.at("join"));
  EXPECT_EQ(g.meets("other"), g.at("join"));
  EXPECT_THAT(g.cfg.blocks[g.at("join")].predecessors, ElementsAre(1, 2));
}

TEST(cfg, a_loop_meets_at_its_exit) {
  const Graph g = graph(
      "mov.u32 %r1, 0;\nloop: add.s32 %r1, %r1, 1;\n@%p2 bra skip;\nadd.s32 %r2, %r2, 1;\nskip: @%p1 bra "
      "loop;\nafter: mov.u32 %r3, 0;\nret;");
  EXPECT_EQ(g.meets("loop"), g.at("skip"));
  EXPECT_EQ(g.meets("skip"), g.at("after"));
}

TEST(cfg, an_early_return_does_not_keep_the_others_from_meeting) {
  const Graph g = graph(
      "start: @%p1 bra join;\ninner: @%p2 bra done;\nmov.u32 %r1, 0;\njoin: mov.u32 %r2, 0;\nmov.u32 %r3, "
      "0;\ndone: ret;");
  EXPECT_EQ(g.meets("start"), g.at("join"));
  const Graph guarded =
      graph("start: @%p1 bra join;\n@%p2 ret;\nmov.u32 %r1, 0;\njoin: mov.u32 %r2, 0;\nret;");
  EXPECT_EQ(guarded.meets("start"), guarded.at("join"));
}

TEST(cfg, roles_that_never_meet_have_points_of_their_own) {
  // Producer and consumer each end on their own; within each, ways meet.
  const Graph g = graph(
      "start: @%p1 bra consumer;\nproducer: @%p2 bra p_join;\nmov.u32 %r1, 0;\np_join: mov.u32 %r2, "
      "0;\nret;\n"
      "consumer: @%p3 bra c_join;\nmov.u32 %r3, 0;\nc_join: mov.u32 %r4, 0;\nret;");
  EXPECT_EQ(g.meets("start"), no_id);
  EXPECT_EQ(g.meets("producer"), g.at("p_join"));
  EXPECT_EQ(g.meets("consumer"), g.at("c_join"));
}

TEST(cfg, a_trap_is_no_way_out) {
  const Graph g = graph(
      "start: @%p1 bra bad;\nmov.u32 %r1, 0;\nbra good;\nbad: @%p2 bra good;\ntrap;\ngood: mov.u32 %r2, "
      "0;\nret;");
  EXPECT_EQ(g.meets("start"), g.at("good"));
}

TEST(cfg, a_loop_without_an_end_still_has_meeting_points) {
  const Graph g = graph("loop: @%p1 bra skip;\nmov.u32 %r1, 0;\nskip: mov.u32 %r2, 0;\nbra loop;");
  EXPECT_EQ(g.meets("loop"), g.at("skip"));
}

TEST(cfg, a_device_function_meets_where_it_returns) {
  const Graph g = graph("start: @%p1 bra done;\nmov.u32 %r1, 0;\ndone: ret;", false);
  EXPECT_EQ(g.meets("start"), g.at("done"));
}

TEST(cfg, brx_reaches_every_label_of_its_list) {
  const Graph g = graph(
      "ts: .branchtargets A, B, A;\nbrx.idx %r1, ts;\nA: mov.u32 %r1, 0;\nbra C;\nB: mov.u32 %r1, 1;\nC: "
      "mov.u32 %r2, 0;\nret;");
  EXPECT_THAT(g.cfg.blocks[0].successors, ElementsAre(g.at("A"), g.at("B")));
  EXPECT_EQ(g.cfg.blocks[0].reconverge, g.at("C"));
}

TEST(cfg, large_functions_take_no_quadratic_memory_or_recursion) {
  std::string body;
  for (int i = 0; i < 20000; ++i)
    body += "@%p1 bra L" + std::to_string(i) + ";\nmov.u32 %r1, 0;\nL" + std::to_string(i) + ":\n";
  const Graph g = graph(body + "mov.u32 %r2, 0;\nret;");
  ASSERT_EQ(g.cfg.blocks.size(), 40001u);
  for (uint32_t b = 0; b + 2 < 40000; b += 2) EXPECT_EQ(g.cfg.blocks[b].reconverge, b + 2);
}

TEST(cfg, an_empty_body_has_no_blocks) { EXPECT_TRUE(graph("").cfg.blocks.empty()); }

}  // namespace
}  // namespace palladion::isa
