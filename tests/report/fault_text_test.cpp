// The words of what the machine itself reports: tests of the machine compare values.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/text/finding_text.h"
#include "sim/launch/fault.h"
#include "sim/launch/phrases/phrase.h"
#include "tests/support/golden.h"

namespace palladion::report {
namespace {

using sim::Code, sim::Phrase, sim::say, sim::Statement;

std::string words_of(const sim::Finding& f) {
  const std::string help = help_text(f);
  return fmt::format("{}: {}\n{}", f.code.name(), message_text(f),
                     help.empty() ? "" : fmt::format("  help: {}\n", help));
}

TEST(FaultText, Golden) {
  const std::pair<Code, Statement> faults[] = {
      {Code::no_grid_barrier, {}},
      {Code::call_signature, say<Phrase::call_of_another_signature>("f")},
      {Code::stack_full, say<Phrase::stack_too_small>(~uint64_t{0}, 1024)},
      {Code::shared_bounds, say<Phrase::outside_shared>("read", 4, 4096, 1024, 2048)},
      {Code::global_bounds,
       say<Phrase::outside_global>("write", 4, say<Phrase::past_array>(0x7F0000000200, 0, "out", 512))},
      {Code::global_bounds,
       say<Phrase::outside_global>("tensor copy's read", 16, say<Phrase::null_address>())},
      {Code::misaligned_access, say<Phrase::misaligned>("read", 16, 0xFFFF'FFFF'FFFF'FFF4, 16)},
      {Code::surface_bounds, say<Phrase::outside_surface>(-4, 0, 0, 128, 2, 1)},
      {Code::member_mask, say<Phrase::mask_leaves_out>(0xFFFF, 0x80000000)},
      {Code::member_mask, say<Phrase::masks_leave_out>(0x80000000, 31, 0x7FFFFFFF)},
      {Code::mbarrier_bytes,
       say<Phrase::copy_not_counted>(4096, say<Phrase::bytes_beyond_range>(-1'052'672, 1'048'575))},
      {Code::tcgen05_matrix_descriptor,
       say<Phrase::no_matrix_descriptor>("tcgen05.mma", 0x4000'4000'0000, "A")},
      {Code::partial_warpgroup, {}}};
  std::string text;
  for (const auto& [code, message] : faults) text += words_of(sim::fault(code, message));
  text += words_of(
      sim::fault(Code::barrier_count, say<Phrase::arrival_without_count>(3), say<Phrase::state_the_count>()));
  sim::Finding unsupported =
      sim::fault(Code::not_modelled, say<Phrase::product_of_k96>(), {}, sim::FindingSeverity::unsupported);
  unsupported.what = sim::Unsupported{};
  text += words_of(unsupported);
  EXPECT_TRUE(golden::compare("cli/faults.txt", text));
}

}  // namespace
}  // namespace palladion::report
