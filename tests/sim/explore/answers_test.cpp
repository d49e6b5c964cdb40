// Requests to cancel launches: when do runs with some answers show what all answers do? Right kernels, and
// twins that must stay open. Random ones: answers_random_test.cpp.
#include <set>

#include "tests/sim/explore/asking_kernel.h"

namespace palladion::tests {
namespace {

using namespace sim::check;

std::string reason_open(const std::string& body, const std::string& after_request = "",
                        const std::string& answered = "") {
  return study_of(asking_kernel(body, after_request, answered), 5).open;
}

std::string reason_open_in_pairs(const std::string& body) {
  return study_of(in_pairs(asking_kernel(body)), 5, 2).open;
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

// Where the box of an im2col copy begins in its window is a part of its place, as coordinates are: the tap of
// a filter that CUTLASS' weight gradients load.
TEST(Answers, places_in_windows_of_filters_are_places) {
  const auto copy = [](const std::string& offset, const std::string& row) {
    return "  cvt.u16.u32 %h1, " + offset +
           ";\n  mov.u32 %r30, 0;\n"
           "  @%p0 cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
           "[%r14], [%rd1, {%r30, %r30, " +
           row + "}], [%r15], {%h1};\n" + store_at("%r3");
  };
  EXPECT_EQ(reason_open(copy("%r3", "%r30")), "");
  EXPECT_EQ(reason_open(copy("%r3", "%r3")), "");
  EXPECT_NE(reason_open(copy("%r11", "%r3")), "") << "of two numbers";
  EXPECT_NE(reason_open("  setp.eq.u32 %p5, %r3, 2;\n  selp.u32 %r20, 1, 0, %p5;\n  @%p5 bar.sync 1, 32;\n" +
                        copy("%r20", "%r30")),
            "");
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

}  // namespace
}  // namespace palladion::tests
