#pragma once
// Kernels that ask for the work of clusters that have not started, and what runs with some answers show of
// all.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "isa/formats/tensor_map.h"
#include "sim/check/checker.h"
#include "sim/check/observers.h"
#include "sim/explore/answers.h"
#include "sim/explore/data_dependence.h"
#include "sim/explore/decide.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::tests {

inline constexpr uint32_t words_of_cluster = 32;  // of the output, a cluster

// One warp a cluster. `body` does the work of cluster %r3 as the %r10-th one; %r11 is the cluster's own
// number, %r0 the lane, [%rd1] the map of a tensor for im2col copies, [%r14] a word for each of 64 places in
// shared memory, [%r15] an mbarrier of 1000 arrivals.
inline std::string asking_kernel(const std::string& body, const std::string& after_request = "",
                                 const std::string& answered = "") {
  return R"(.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in) {
  .shared .align 16 .b8 answer[16];
  .shared .align 8 .b64 bar;
  .shared .align 8 .b64 more;
  .shared .align 128 .b8 tile[256];
  .reg .pred %p<16>; .reg .b16 %h<4>; .reg .b32 %r<64>; .reg .b64 %rd<16>; .reg .b128 %q;
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

inline std::string store_at(const std::string& place) {
  return fmt::format(
      "  mad.lo.u32 %r60, {}, 32, %r0;\n  mul.wide.u32 %rd8, %r60, 4;\n  add.u64 %rd8, %rd0, %rd8;\n"
      "  st.global.u32 [%rd8], %r0;\n",
      place);
}

// Pixels of 16 bytes, 8 in a row: a window of a filter may begin at each of them.
inline isa::TensorMap im2col_map(uint64_t tensor) {
  isa::TensorMap m;
  m.data_type = isa::TensorDataType::u32;
  m.mode = isa::TensorMapMode::im2col;
  m.rank = 3;
  m.dims = {4, 8, 4};
  m.strides = {16, 128};
  m.channels_per_pixel = 4;
  m.pixels_per_column = 2;
  m.global_address = tensor;
  return m;
}

struct Observed {
  std::set<std::string> codes;
  std::set<uint64_t> structures;  // of the clusters
  std::string undecided;          // why it does not decide for the answers that it got
  sim::check::WorkScope work;
};

inline Observed observed(const std::string& text, uint32_t clusters, const sim::RunOptions& conditions,
                         uint32_t ctas = 1) {
  sim::testing::PtxRunner runner(text, *isa::find_arch("b200"));
  std::vector<uint32_t> out(size_t{4} * words_of_cluster * clusters * ctas),
      in(std::max<size_t>(128, size_t{4} * words_of_cluster * clusters * ctas));
  runner.array(out, "out").array(in, "in");
  uint64_t tensor = 0;
  std::memcpy(&tensor, runner.launch.params.data() + sizeof tensor, sizeof tensor);
  const auto map = isa::encode(im2col_map(tensor)).bytes;
  std::memcpy(in.data(), map.data(), map.size());
  runner.shape({clusters * ctas, 1, 1}, {32, 1, 1}, {ctas, 1, 1});
  sim::check::Checker checker;
  sim::check::SkeletonObserver recorder;
  sim::check::DataObserver data;
  sim::check::WorkObserver work;
  sim::check::Observers all({&checker, &recorder, &data, &work});
  sim::RunOptions options = conditions;
  options.threads = 1;
  options.observer = &all;
  const sim::RunResult result = runner.run(options);
  Observed r;
  for (const sim::Finding& f : result.findings) r.codes.insert(std::string(f.code.name()));
  for (const auto& recorded : recorder.recorded()) r.structures.insert(recorded.skeleton.structural_hash());
  const sim::check::RunDecision decision = sim::check::decide_run(recorder.recorded(), checker.coverage());
  if (!decision.under || decision.under->warps_together) r.undecided = "undecided: " + decision.reason;
  if (!data.scope().dependences.empty() || !data.scope().in_bounds.empty()) r.undecided = "data";
  if (!result.completed) r.undecided = "does not end: " + fmt::format("{}", fmt::join(r.codes, ", "));
  r.work = work.scope();
  return r;
}

struct Study {
  std::string open;  // why not all answers are known
  std::set<std::string> codes;
  std::set<uint64_t> structures;
};

inline Study study_of(const std::string& text, uint32_t clusters, uint32_t ctas = 1) {
  Study s;
  sim::check::AnswerProof proof(clusters);
  for (const sim::check::Answers& answers : sim::check::all_answers(clusters)) {
    sim::RunOptions options;
    sim::check::conditions_of(answers).apply(options);
    const Observed r = observed(text, clusters, options, ctas);
    if (s.open.empty()) s.open = r.undecided;
    proof.add(r.work);
    s.codes.insert(r.codes.begin(), r.codes.end());
    s.structures.insert(r.structures.begin(), r.structures.end());
  }
  if (s.open.empty()) s.open = proof.missing();
  return s;
}

// The same in clusters of two, of which the first CTA works: numbers are even.
inline std::string in_pairs(std::string text) {
  const std::string begin = "  mov.u32 %r0, %tid.x;\n";
  text.insert(text.find(begin),
              "  mov.u32 %r50, %cluster_ctarank;\n  setp.ne.u32 %p9, %r50, 0;\n  @%p9 ret;\n");
  return text;
}

}  // namespace palladion::tests
