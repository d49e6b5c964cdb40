#include "sim/mutate/quiet.h"

namespace palladion::sim::check {
namespace {

template <class... Effects>
bool is(const isa::Effect& effect) {
  return (std::holds_alternative<Effects>(effect) || ...);
}

}  // namespace

bool is_call(const isa::Effect& effect) { return is<isa::Call>(effect); }

bool only_registers(const isa::Effect& effect) {
  if (const auto* load = std::get_if<isa::Load>(&effect))
    return load->space == isa::Space::param || load->space == isa::Space::const_;
  return is<isa::Pure, isa::Approx, isa::Branch, isa::BranchIndexed, isa::Exit, isa::Nanosleep, isa::Prefetch,
            isa::ConvertAddress, isa::IsSpace, isa::MapShared, isa::GetCtaRank, isa::Shuffle, isa::Vote,
            isa::Match, isa::Redux, isa::Elect, isa::ActiveMask, isa::MoveMatrix, isa::SetMaxRegisters,
            isa::Mma, isa::GridDependency>(effect) ||
         is<isa::Return>(effect);
}

bool only_fences(const isa::Effect& effect) {
  const auto* fence = std::get_if<isa::Fence>(&effect);
  return only_registers(effect) || (fence != nullptr && fence->copy_from < 0);
}

bool only_issues(const isa::Effect& effect) {
  return is<isa::CpAsync, isa::BulkCopy, isa::TensorCopy, isa::Wgmma, isa::CpAsyncCommit, isa::BulkCommit,
            isa::WgmmaCommit, isa::WgmmaFence>(effect);
}

}  // namespace palladion::sim::check
