#pragma once
// One row a Mutation: where it fits and what it does.
#include <optional>

#include "sim/mutate/edit.h"
#include "sim/mutate/flow.h"
#include "sim/mutate/mutate.h"

namespace palladion::sim::check {

// The index of the changed instruction afterwards; no_id: it was deleted.
struct Edited {
  uint32_t at = isa::no_id;
};

struct OperatorRow {
  MutationOperator words;
  bool (*fits)(const Flow&, uint32_t at);
  // Nothing when PTX has no such instruction.
  std::optional<Edited> (*edit)(Edit&, uint32_t at, uint32_t other);
  // The second instruction of a pair; no_id when there is none, and then no mutant.
  uint32_t (*partner)(const Flow&, uint32_t at) = nullptr;
};

// Questions of the rows' `fits`.
template <class Effect>
bool is(const Flow& flow, uint32_t at) {
  return flow.as<Effect>(at) != nullptr;
}
inline bool is_init(const Flow& flow, uint32_t at) { return flow.footprint(at).sync.initialises; }

// In the order of Mutation: operators_delete.cpp, operators_change.cpp, operators_swap.cpp.
const std::vector<OperatorRow>& operator_rows();
std::vector<OperatorRow> delete_rows(), change_rows(), swap_rows();

}  // namespace palladion::sim::check
