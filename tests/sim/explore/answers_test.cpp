// Requests to cancel launches: when do runs with some answers show what all answers do? Right kernels, twins
// that must stay open, and random kernels against an oracle that tries every sequence of answers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "sim/check/checker.h"
#include "sim/check/observers.h"
#include "sim/explore/answers.h"
#include "sim/explore/data_dependence.h"
#include "sim/explore/decide.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::tests {
namespace {

using namespace sim::check;

constexpr uint32_t words_of_cluster = 32;  // of the output, a cluster

// One warp a cluster. `body` does the work of cluster %r3 as the %r10-th one; %r11 is the cluster's own
// number, %r0 the lane, [%r14] a word for each of 64 places in shared memory, [%r15] an mbarrier of 1000
// arrivals.
std::string asking_kernel(const std::string& body, const std::string& after_request = "",
                          const std::string& answered = "") {
  return R"(.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in) {
  .shared .align 16 .b8 answer[16];
  .shared .align 8 .b64 bar;
  .shared .align 8 .b64 more;
  .shared .align 16 .b8 tile[256];
  .reg .pred %p<16>; .reg .b32 %r<64>; .reg .b64 %rd<16>; .reg .b128 %q;
  ld.param.u64 %rd0, [out];
  ld.param.u64 %rd1, [in];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, bar;
  mov.u32 %r2, answer;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, 0;
  mov.u32 %r10, 0;
  mov.u32 %r11, %ctaid.x;
  mov.u32 %r14, tile;
  mov.u32 %r15, more;
  setp.eq.u32 %p0, %r0, 0;
  @%p0 mbarrier.init.shared.b64 [%r1], 1;
  @%p0 mbarrier.init.shared.b64 [%r15], 1000;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
loop:
)" + body +
         R"(
  fence.proxy.async;
  bar.sync 0;
  @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 16;
  @%p0 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r2], [%r1];
)" + after_request +
         R"(
wait:
  mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r4;
  @!%p1 bra wait;
  xor.b32 %r4, %r4, 1;
  add.u32 %r10, %r10, 1;
  ld.shared.b128 %q, [%r2];
)" + answered +
         R"(
  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q;
  @!%p2 bra refused;
  clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r3, %q;
  bra loop;
refused:
  ret;
}
)";
}

std::string store_at(const std::string& place) {
  return fmt::format(
      "  mad.lo.u32 %r60, {}, 32, %r0;\n  mul.wide.u32 %rd8, %r60, 4;\n  add.u64 %rd8, %rd0, %rd8;\n"
      "  st.global.u32 [%rd8], %r0;\n",
      place);
}

struct Observed {
  std::set<std::string> codes;
  std::set<uint64_t> structures;  // of the clusters
  std::string undecided;          // why it does not decide for the answers that it got
  WorkScope work;
};

Observed observed(const std::string& text, uint32_t clusters, const sim::RunOptions& conditions,
                  uint32_t ctas = 1) {
  sim::testing::PtxRunner runner(text, *isa::find_arch("b200"));
  std::vector<uint32_t> out(size_t{4} * words_of_cluster * clusters * ctas),
      in(size_t{4} * words_of_cluster * clusters * ctas);
  runner.array(out, "out").array(in, "in").shape({clusters * ctas, 1, 1}, {32, 1, 1}, {ctas, 1, 1});
  Checker checker;
  SkeletonObserver recorder;
  DataObserver data;
  WorkObserver work;
  Observers all({&checker, &recorder, &data, &work});
  sim::RunOptions options = conditions;
  options.threads = 1;
  options.observer = &all;
  const sim::RunResult result = runner.run(options);
  Observed r;
  for (const sim::Finding& f : result.findings) r.codes.insert(std::string(f.code.name()));
  for (const auto& recorded : recorder.recorded()) r.structures.insert(recorded.skeleton.structural_hash());
  const RunDecision decision = decide_run(recorder.recorded(), checker.coverage());
  if (!decision.under || decision.under->warps_together) r.undecided = "undecided: " + decision.reason;
  if (!data.scope().dependences.empty() || !data.scope().in_bounds.empty()) r.undecided = "data";
  if (!result.completed) r.undecided = "does not end";
  r.work = work.scope();
  return r;
}

struct Study {
  std::string open;  // why not all answers are known
  std::set<std::string> codes;
  std::set<uint64_t> structures;
};

Study study_of(const std::string& text, uint32_t clusters, uint32_t ctas = 1) {
  Study s;
  AnswerProof proof(clusters);
  for (const Answers& answers : all_answers(clusters)) {
    sim::RunOptions options;
    conditions_of(answers).apply(options);
    const Observed r = observed(text, clusters, options, ctas);
    if (s.open.empty()) s.open = r.undecided;
    proof.add(r.work);
    s.codes.insert(r.codes.begin(), r.codes.end());
    s.structures.insert(r.structures.begin(), r.structures.end());
  }
  if (s.open.empty()) s.open = proof.missing();
  return s;
}

std::string reason_open(const std::string& body, const std::string& after_request = "",
                        const std::string& answered = "") {
  return study_of(asking_kernel(body, after_request, answered), 5).open;
}

// In clusters of two, of which the first CTA works: numbers are even.
std::string reason_open_in_pairs(const std::string& body) {
  std::string text = asking_kernel(body);
  const std::string begin = "  mov.u32 %r0, %tid.x;\n";
  text.insert(text.find(begin),
              "  mov.u32 %r50, %cluster_ctarank;\n  setp.ne.u32 %p9, %r50, 0;\n  @%p9 ret;\n");
  return study_of(text, 5, 2).open;
}

TEST(Answers, runs_have_each_number_of_launches) {
  for (uint32_t clusters = 1; clusters < 12; ++clusters) {
    std::set<uint32_t> lengths;
    for (const Answers& a : all_answers(clusters)) {
      lengths.insert(a.cancels + 1);
      if (clusters % (a.cancels + 1) != 0) lengths.insert(clusters % (a.cancels + 1));
    }
    EXPECT_EQ(lengths.size(), clusters) << clusters;
    EXPECT_LE(all_answers(clusters).size(), clusters / 2 + 4);
  }
}

TEST(Answers, a_grid_whose_clusters_do_the_same_is_known) {
  EXPECT_EQ(reason_open(store_at("%r3")), "");
  // The number in another register, through shared memory, and with what is the same in all clusters.
  EXPECT_EQ(reason_open("  xor.b32 %r20, %r3, 1;\n  xor.b32 %r21, %r20, 1;\n" + store_at("%r21")), "");
  EXPECT_EQ(reason_open("  @%p0 st.shared.u32 [%r14], %r3;\n  bar.sync 0;\n  ld.shared.u32 %r20, [%r14];\n" +
                        store_at("%r20")),
            "");
  EXPECT_EQ(reason_open("  shfl.sync.idx.b32 %r20, %r3, 0, 31, -1;\n" + store_at("%r20")), "");
}

// What is selected by whether it is the first work in a row is one cluster's number all the same.
TEST(Answers, numbers_that_are_moved_or_selected_are_known) {
  EXPECT_EQ(
      reason_open(
          "  setp.eq.u32 %p5, %r10, 0;\n  selp.u32 %r20, %r3, %r21, %p5;\n  selp.u32 %r20, %r20, %r3, %p5;\n"
          "  mov.u32 %r21, %r3;\n" +
          store_at("%r20")),
      "");
  EXPECT_NE(reason_open("  setp.eq.u32 %p5, %r3, 0;\n  selp.u32 %r20, %r3, %r11, %p5;\n" + store_at("%r20")),
            "");
}

// A decision that comes out the same for all numbers is none.
TEST(Answers, a_branch_that_no_number_takes_is_known) {
  EXPECT_EQ(reason_open("  setp.ge.u32 %p5, %r3, 100;\n  @%p5 bar.sync 1, 32;\n" + store_at("%r3")), "");
  EXPECT_EQ(
      reason_open("  and.b32 %r20, %r3, 64;\n  add.u32 %r20, %r20, %r14;\n  st.shared.u32 [%r20], %r0;\n" +
                  store_at("%r3")),
      "");
}

// The lowest bit of a number is the rank in the cluster, whichever cluster it is: CUTLASS computes which half
// of a pair's tile a CTA loads from its own number, and adds it to the places of all works.
TEST(Answers, bits_of_a_number_that_are_a_rank_are_no_number) {
  EXPECT_EQ(reason_open_in_pairs(store_at("%r3")), "");
  EXPECT_EQ(reason_open_in_pairs(
                "  shl.b32 %r20, %r11, 7;\n  and.b32 %r20, %r20, 128;\n  add.u32 %r20, %r20, %r3;\n" +
                store_at("%r20")),
            "");
  EXPECT_EQ(reason_open_in_pairs("  and.b32 %r20, %r11, 1;\n  setp.eq.u32 %p5, %r20, 1;\n"
                                 "  @%p5 bar.sync 1, 32;\n" +
                                 store_at("%r3")),
            "");
  EXPECT_NE(reason_open_in_pairs("  and.b32 %r20, %r11, 2;\n  add.u32 %r20, %r20, %r3;\n" + store_at("%r20")),
            "");
  EXPECT_NE(reason_open("  and.b32 %r20, %r11, 1;\n  add.u32 %r20, %r20, %r3;\n" + store_at("%r20")), "")
      << "without clusters";
}

TEST(Answers, decisions_by_a_number_stay_open) {
  // One cluster's work has a barrier more: another place in the sequence may have it.
  EXPECT_NE(reason_open("  setp.eq.u32 %p5, %r3, 2;\n  @%p5 bar.sync 1, 32;\n" + store_at("%r3")), "");
  // The cluster that this one is, and not the work that it does.
  EXPECT_NE(reason_open("  setp.eq.u32 %p5, %r11, 0;\n  @%p5 bar.sync 1, 32;\n" + store_at("%r3")), "");
  // A place in shared memory, a count, a parity.
  EXPECT_NE(reason_open("  mad.lo.u32 %r20, %r3, 4, %r14;\n  st.shared.u32 [%r20], %r0;\n" + store_at("%r3")),
            "");
  EXPECT_NE(reason_open("  add.u32 %r20, %r3, 1;\n  @%p0 mbarrier.arrive.shared.b64 _, [%r15], %r20;\n" +
                        store_at("%r3")),
            "");
  // A guard of a store: some clusters write nothing.
  EXPECT_NE(
      reason_open(
          "  setp.ne.u32 %p5, %r3, 3;\n  selp.u32 %r20, %r3, 9, %p5;\n  @%p5 bra on;\n  bra.uni off;\non:\n" +
          store_at("%r20") + "off:\n"),
      "");
}

TEST(Answers, places_in_gmem_that_depend_on_who_does_the_work_stay_open) {
  EXPECT_NE(reason_open(store_at("%r11")), "") << "of its own number: each later store is to the same place";
  EXPECT_NE(reason_open("  add.u32 %r20, %r3, %r11;\n" + store_at("%r20")), "") << "of two numbers";
  EXPECT_NE(reason_open("  mad.lo.u32 %r20, %r10, 5, %r3;\n" + store_at("%r20")), "")
      << "of its place in the sequence";
  EXPECT_NE(reason_open(store_at("%r10")), "") << "of no number";
  EXPECT_NE(
      reason_open(store_at("%r3") + "  mov.u32 %r20, %smid;\n  add.u32 %r20, %r20, 8;\n" + store_at("%r20")),
      "");
}

TEST(Answers, gmem_that_is_shared_by_clusters_stays_open) {
  EXPECT_NE(reason_open(store_at("%r3") + "  red.global.add.u32 [%rd1], 1;\n"), "");
  EXPECT_NE(reason_open("  shr.u32 %r20, %r3, 1;\n" + store_at("%r20")), "")
      << "two clusters write one place";
  EXPECT_NE(reason_open(store_at("%r3") + "  add.u32 %r20, %r3, 0;\n" + store_at("%r20")), "")
      << "written in two ways";
  EXPECT_EQ(
      reason_open(
          "  mul.wide.u32 %rd8, %r3, 128;\n  add.u64 %rd8, %rd0, %rd8;\n  st.global.u32 [%rd8], %r10;\n"),
      "")
      << "by all lanes in one way";
  EXPECT_NE(reason_open("  ld.global.u32 %r21, [%rd0];\n" + store_at("%r3")), "") << "written and read";
  EXPECT_EQ(reason_open("  ld.global.u32 %r21, [%rd1];\n" + store_at("%r3")), "");
}

// The first word of an answer is the cluster's number in this machine; PTX does not say so.
TEST(Answers, bytes_of_an_answer_stay_open_where_something_depends_on_them) {
  const std::string raw = "  ld.shared.u32 %r22, [%r2];\n";
  EXPECT_EQ(reason_open(store_at("%r3"), "", raw), "");
  EXPECT_NE(reason_open("  setp.eq.u32 %p5, %r22, 77;\n  @%p5 bar.sync 1, 32;\n" + store_at("%r3"), "", raw),
            "");
  const std::string parts = "  mov.b128 {%rd6, %rd7}, %q;\n  cvt.u32.u64 %r22, %rd6;\n";
  EXPECT_NE(
      reason_open("  setp.eq.u32 %p5, %r22, 77;\n  @%p5 bar.sync 1, 32;\n" + store_at("%r3"), "", parts), "");
}

// A second request before the first is answered: which of them is refused depends on time.
TEST(Answers, requests_that_compete_stay_open) {
  EXPECT_NE(reason_open(
                store_at("%r3"),
                "  @%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 16;\n"
                "  @%p0 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
                "[%r14], [%r1];\n"),
            "");
}

// A mistake of the third work in a row: no run that cancels fewer launches shows it, so one must.
TEST(Answers, a_mistake_behind_many_answers_is_found) {
  const Study s = study_of(
      asking_kernel("  setp.eq.u32 %p5, %r10, 3;\n  @%p5 st.shared.u32 [%r14], %r0;\n" + store_at("%r3")), 5);
  EXPECT_EQ(s.open, "");
  EXPECT_TRUE(s.codes.contains("PLD4612")) << fmt::format("{}", fmt::join(s.codes, ", "));
}

// --- random kernels ---------------------------------------------------------------------------------------

class KernelGenerator {
 public:
  explicit KernelGenerator(uint64_t seed) : random_(seed) {}

  std::string body() {
    std::string text =
        "  mov.u32 %r20, %r3;\n  mov.u32 %r21, %r10;\n  mov.u32 %r22, %r11;\n  mov.u32 %r23, 5;\n";
    for (uint32_t i = pick(4); i > 0; --i) text += compute();
    bool stored = false;
    for (uint32_t i = 1 + pick(3); i > 0; --i) text += statement(stored);
    return stored && pick(4) == 0 ? text : text + store_at(pick(5) == 0 ? value() : "%r3");
  }

 private:
  uint32_t pick(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  // Mostly the work's number.
  std::string value() { return fmt::format("%r{}", pick(2) == 0 ? 20 : 20 + pick(4)); }
  std::string constant() { return fmt::format("{}", pick(5)); }

  std::string compute() {
    static const char* const ops[] = {"add.u32", "mul.lo.u32", "and.b32", "xor.b32",
                                      "min.u32", "sub.u32",    "rem.u32"};
    const std::string to = fmt::format("%r{}", 20 + pick(4)), from = value();
    const char* const op = ops[pick(7)];
    if (std::string_view(op) == "rem.u32")
      return fmt::format("  rem.u32 {}, {}, {};\n", to, from, 1 + pick(4));
    return fmt::format("  {} {}, {}, {};\n", op, to, from, pick(2) == 0 ? value() : constant());
  }

  std::string guard() {
    static const char* const compare[] = {"eq", "ne", "lt", "ge"};
    return fmt::format("  setp.{}.u32 %p5, {}, {};\n", compare[pick(4)], value(), constant());
  }

  std::string statement(bool& stored) {
    const std::string label = fmt::format("L{}", labels_++);
    switch (pick(8)) {
      case 0:
        return guard() + "  @%p5 bar.sync 1, 32;\n";
      case 1:
        return guard() + "  @%p5 bra " + label + ";\n  @%p0 mbarrier.arrive.shared.b64 _, [%r15];\n" + label +
               ":\n";
      case 2:
        return fmt::format(
            "  and.b32 %r30, {}, 31;\n  mad.lo.u32 %r30, %r30, 4, %r14;\n  {}st.shared.u32 [%r30], %r0;\n",
            value(), pick(2) == 0 ? "@%p0 " : "");
      case 3:
        return guard() + fmt::format("  selp.u32 %r20, {}, {}, %p5;\n", value(), value());
      case 4:
        return guard() + "  @%p5 bra " + label + ";\n" + compute() + label + ":\n";
      case 5:
        return fmt::format(
            "  @%p0 st.shared.u32 [%r14+128], {};\n  bar.sync 0;\n  ld.shared.u32 %r{}, [%r14+128];\n  "
            "bar.sync 0;\n",
            value(), 20 + pick(4));
      case 6:
        return fmt::format(
            "  and.b32 %r31, {}, 7;\n  mul.wide.u32 %rd9, %r31, 4;\n  add.u64 %rd9, %rd1, %rd9;\n"
            "  ld.global.u32 %r32, [%rd9];\n",
            value());
      default:
        stored = true;
        return fmt::format("  and.b32 %r33, {}, 7;\n", value()) + store_at("%r33");
    }
  }

  std::mt19937_64 random_;
  uint32_t labels_ = 0;
};

// Orders of the clusters, and all numbers of answers: every sequence of answers that a cluster can get.
std::vector<sim::RunOptions> all_sequences(uint32_t clusters, uint32_t orders) {
  std::vector<sim::RunOptions> out;
  for (uint32_t cancels = 0; cancels < clusters; ++cancels)
    for (uint64_t seed = 1; seed <= orders; ++seed) {
      sim::RunOptions options;
      conditions_of({.cancels = cancels}).apply(options);
      options.order = {sim::StartOrder::Kind::random, seed};
      out.push_back(options);
    }
  return out;
}

TEST(Answers, random_kernels_that_are_known_do_nothing_else_in_any_order) {
  constexpr uint32_t clusters = 3, orders = 24;  // the 6 orders of three clusters are among them
  const char* const given = std::getenv("PLD_EXPLORE_PROGRAMS");
  const uint64_t programs = given == nullptr ? 200 : std::strtoull(given, nullptr, 10);
  uint64_t known = 0, differ = 0;
  for (uint64_t seed = 1; seed <= programs; ++seed) {
    const std::string text = asking_kernel(KernelGenerator(seed).body());
    const Study s = study_of(text, clusters);
    const bool open = !s.open.empty();
    if (open && seed % 4 != 0) continue;  // of these, some: to see that the oracle can tell
    known += open ? 0 : 1;
    bool same = true;
    for (const sim::RunOptions& options : all_sequences(clusters, orders)) {
      const Observed r = observed(text, clusters, options);
      same &= std::ranges::includes(s.codes, r.codes) && std::ranges::includes(s.structures, r.structures);
      if (same || open) continue;
      FAIL() << "seed " << seed << ", order " << options.order.seed << ", cancels " << options.cancels << ": "
             << fmt::format("{} against {}", fmt::join(r.codes, " "), fmt::join(s.codes, " ")) << "\n"
             << text;
    }
    differ += open && !same ? 1 : 0;
  }
  EXPECT_GT(known, programs / 20);
  EXPECT_GT(differ, 0U);
}

}  // namespace
}  // namespace palladion::tests
