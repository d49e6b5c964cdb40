// The examples in the machine, three or more configurations each, under every schedule; and in ptxas.
#include "tests/kernels/run_kernel.h"

namespace palladion::kernels::test {
namespace {

using Words = std::map<std::string, std::string>;

void add_example(std::vector<Case>& all, const std::string& kernel,
                 std::vector<std::pair<Words, Words>> configurations) {
  for (auto& [sizes, settings] : configurations)
    all.push_back({kernel, std::move(sizes), std::move(settings)});
}

void add_elementwise(std::vector<Case>& all) {
  const Words none;
  add_example(all, "ref_add",
              {{none, none}, {{{"n", "384"}}, {{"dtype", "f32"}}}, {{{"n", "1024"}}, {{"dtype", "bf16"}}}});
  add_example(all, "ref_indexing",
              {{none, none}, {{{"n", "256"}}, {{"plane", "1"}}}, {{{"n", "384"}}, {{"plane", "3"}}}});
  add_example(all, "ref_dynamic_slice",
              {{none, none}, {{{"rows", "3"}, {"n", "256"}}, none}, {{{"rows", "1"}, {"n", "512"}}, none}});
  add_example(
      all, "ref_masked",
      {{none, none}, {{{"n", "256"}, {"valid", "200"}}, none}, {{{"n", "128"}, {"valid", "128"}}, none}});
  add_example(all, "ref_exp",
              {{none, none}, {{{"rows", "2"}, {"n", "384"}}, none}, {none, {{"approx_math", "1"}}}});
  add_example(all, "ref_eltwise", {{none, none}, {none, {{"f", "exp"}}}, {{{"n", "128"}}, none}});

  const Words wide{{"m", "256"}, {"n", "128"}, {"k", "64"}};
  add_example(all, "ref_add_blocks",
              {{none, none}, {{{"n", "1024"}, {"block", "256"}}, none}, {{{"n", "128"}}, none}});
  add_example(all, "ref_increment_blocks",
              {{none, none}, {{{"n", "128"}}, none}, {{{"n", "640"}}, {{"steps", "sequential"}}}});
  add_example(all, "ref_matmul_2x2",
              {{none, none}, {wide, {{"activation", "relu"}}}, {none, {{"activation", "gelu"}}}});
  add_example(all, "ref_matmul_templated",
              {{none, none},
               {wide, {{"activation", "gelu"}, {"block_m", "128"}}},
               {none, {{"activation", "relu"}, {"block_k", "128"}}}});
  add_example(all, "ref_matmul_vmap",
              {{none, none},
               {{{"batch", "2"}, {"k", "64"}}, {{"activation", "none"}}},
               {{{"batch", "3"}, {"m", "256"}}, {{"activation", "gelu"}}}});
}

void add_meshes(std::vector<Case>& all) {
  const Words none;
  add_example(all, "ref_increment", {{none, none}, {{{"n", "128"}}, none}, {{{"n", "1024"}}, none}});
  add_example(all, "ref_core_map", {{none, none}, {{{"n", "128"}}, none}, {{{"n", "1024"}}, none}});
  add_example(all, "ref_warp_map",
              {{none, none},
               {{{"rows", "5"}, {"n", "64"}}, {{"slots", "4"}}},
               {{{"rows", "3"}, {"n", "256"}}, {{"slots", "1"}}}});
  add_example(all, "ref_two_threads", {{none, none}, {{{"n", "256"}}, none}, {{{"n", "1024"}}, none}});
  add_example(all, "ref_scoped_collective", {{none, none}, {{{"n", "256"}}, none}, {{{"n", "512"}}, none}});
  add_example(all, "ref_multicast",
              {{none, none},
               {{{"n", "256"}}, none},
               {none, {{"cluster", "4"}}},
               {{{"n", "256"}}, {{"cluster", "8"}}}});
  add_example(all, "ref_global_semaphore", {{none, none}, {{{"n", "256"}}, none}, {{{"n", "1024"}}, none}});
  add_example(all, "ref_exchange_shards",
              {{none, none}, {{{"n", "256"}}, none}, {none, {{"decrement", "0"}}}});
  add_example(all, "ref_grid_bands",
              {{none, none},
               {{{"m", "6"}, {"n", "2"}}, {{"band", "3"}}},
               {{{"m", "2"}, {"n", "5"}}, {{"band", "1"}}}});
}

void add_copies(std::vector<Case>& all) {
  const Words none;
  for (const char* kernel : {"ref_copy", "ref_copy_two_arrivals", "ref_copy_out", "ref_commit_before_copy",
                             "ref_commit_before_reuse"})
    add_example(all, kernel, {{none, none}, {{{"rows", "1"}, {"n", "256"}}, none}, {{{"rows", "5"}}, none}});
  add_example(all, "ref_collective_copy", {{none, none}, {{{"n", "128"}}, none}, {none, {{"cluster", "4"}}}});
  add_example(all, "ref_commit_group",
              {{none, none}, {none, {{"commit", "explicit"}}}, {{{"rows", "3"}, {"n", "256"}}, none}});
  add_example(all, "ref_commit_before_wgmma", {{none, none}, {{{"n", "128"}}, none}, {{{"k", "64"}}, none}});
  add_example(all, "ref_queue",
              {{none, none},
               {none, {{"fill", "copy"}}},
               {{{"rows", "2"}, {"n", "256"}}, {{"fill", "copy"}}},
               {{{"rows", "7"}}, {{"slots", "2"}}},
               {{{"rows", "5"}}, {{"slots", "1"}, {"fill", "copy"}}}});
  add_example(all, "ref_cluster_barrier", {{none, none}, {{{"n", "256"}}, none}, {none, {{"cluster", "4"}}}});

  add_example(all, "ref_gather_rows",
              {{none, none},
               {{{"rows", "5"}, {"picked", "48"}, {"n", "64"}}, none},
               {{{"rows", "300"}, {"picked", "16"}, {"n", "256"}}, none}});

  add_example(all, "ref_layout_reduce",
              {{none, none},
               {none, {{"over", "column"}}},
               {{{"m", "128"}, {"n", "64"}}, none},
               {{{"m", "128"}, {"n", "24"}}, {{"over", "column"}}}});
  add_example(all, "ref_layout_change",
              {{none, none}, {{{"m", "128"}, {"n", "64"}}, none}, {{{"m", "64"}, {"n", "40"}}, none}});
}

void add_products(std::vector<Case>& all) {
  const Words none;
  const Words small{{"n", "64"}, {"k", "64"}}, tall{{"m", "128"}, {"n", "64"}, {"k", "192"}},
      bf16{{"dtype", "bf16"}};
  add_example(all, "ref_wgmma",
              {{none, none},
               {tall, bf16},
               {small, {{"swizzle", "64"}}},
               {{{"n", "32"}, {"k", "32"}}, {{"swizzle", "32"}}}});
  add_example(all, "ref_wgmma_init", {{none, none}, {tall, bf16}, {small, none}});
  add_example(all, "ref_wgmma_transposed",
              {{none, none}, {none, {{"transpose", "b"}}}, {tall, {{"transpose", "ab"}, {"dtype", "bf16"}}}});
  add_example(all, "ref_wgmma_registers", {{none, none}, {tall, bf16}, {small, none}});
  add_example(all, "ref_wgmma_buffers",
              {{none, none},
               {{{"k", "320"}}, {{"dtype", "bf16"}, {"buffers", "2"}}},
               {{{"k", "512"}}, {{"buffers", "2"}, {"tile_k", "128"}}}});

  for (const char* kernel : {"ref_tmem", "ref_tmem_handover"})
    add_example(all, kernel, {{none, none}, {{{"n", "8"}}, none}, {{{"n", "200"}}, none}});
  add_example(all, "ref_tmem_reuse",
              {{none, none}, {{{"rounds", "1"}, {"n", "64"}}, none}, {{{"rounds", "5"}, {"n", "96"}}, none}});
  for (const char* kernel : {"ref_tcgen05", "ref_tcgen05_left_in_tmem"})
    add_example(all, kernel, {{none, none}, {small, bf16}, {{{"n", "256"}, {"k", "192"}}, none}});
  add_example(all, "ref_tcgen05_commit",
              {{none, none}, {{{"n", "64"}}, bf16}, {{{"n", "192"}, {"k", "256"}}, none}});
  for (const char* kernel : {"ref_tcgen05_collective", "ref_collective_tmem_reuse"})
    add_example(all, kernel,
                {{none, none}, {{{"n", "256"}, {"k", "64"}}, bf16}, {{{"n", "128"}, {"k", "320"}}, none}});
}

std::vector<Case> example_cases() {
  std::vector<Case> all;
  add_elementwise(all);
  add_meshes(all);
  add_copies(all);
  add_products(all);
  return all;
}

class ReferenceExample : public testing::TestWithParam<Case> {};
TEST_P(ReferenceExample, AgreesWithItsReferenceUnderEverySchedule) { run_everywhere(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Examples, ReferenceExample, testing::ValuesIn(example_cases()), name_of_param);

std::vector<Case> every_example() {
  std::vector<Case> all;
  for (const KernelSpec& spec : all_kernels())
    if (spec.name.starts_with("ref_")) all.push_back({spec.name, {}, {}});
  return all;
}
class ReferenceExampleAssembly : public testing::TestWithParam<Case> {};
TEST_P(ReferenceExampleAssembly, NeedsNoSpills) { assemble_without_spills(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Examples, ReferenceExampleAssembly, testing::ValuesIn(every_example()),
                         name_of_param);

// A new kernel needs its configurations here.
TEST(ReferenceExamples, EachHasThreeConfigurations) {
  std::map<std::string, int> counted;
  for (const Case& c : example_cases()) ++counted[c.kernel];
  for (const Case& c : every_example()) EXPECT_GE(counted[c.kernel], 3) << c.kernel;
}

}  // namespace
}  // namespace palladion::kernels::test
