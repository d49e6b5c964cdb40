#pragma once
// Mutation: a correct program with one synchronisation instruction broken. A checker without a finding for
// such a program has missed a bug, unless the broken instruction had no effect (equivalence.h).
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/arch/arch.h"
#include "isa/core/module.h"

namespace palladion::sim::check {

// What is done to an instruction; the words are in mutation_operators().
enum class Mutation : uint8_t {
  delete_wait,  // it is always over
  delete_arrive,
  delete_expect_arrive,
  forget_expect,  // the arrival stays, its bytes are not announced
  delete_expect,
  delete_init,
  delete_deferred_arrive,
  delete_fence,
  delete_proxy_fence,
  delete_init_fence,
  delete_barrier,
  delete_warp_sync,
  delete_cluster_barrier,  // an arrive and the wait after it
  delete_cluster_arrive,
  delete_cluster_wait,
  delete_commit,
  delete_wait_group,
  delete_wgmma_fence,
  delete_tensor_wait,  // tcgen05.wait
  delete_tensor_fence,
  delete_tensor_commit,
  delete_setmaxnreg,
  more_init_count,
  less_init_count,
  more_arrive_count,
  more_tx_bytes,
  less_tx_bytes,
  flip_parity,
  more_groups_left,
  only_reads_awaited,
  more_barrier_threads,
  less_barrier_threads,
  next_barrier_id,
  narrower_scope,
  relaxed_release,
  relaxed_acquire,
  other_cta,
  swap_mbarriers,
  swap_barrier_ids,
};

struct MutationOperator {
  Mutation mutation;
  std::string_view name;  // "delete wait"
  std::string_view doc;
};
// In the order of Mutation.
std::span<const MutationOperator> mutation_operators();
std::string_view name(Mutation mutation);

struct Mutant {
  Mutation mutation = Mutation::delete_wait;
  uint32_t function = 0;            // index into Module::functions
  uint32_t instruction = 0;         // index into its body
  uint32_t other = isa::no_id;      // the second instruction of a pair
  std::string before, after;        // PTX; `after` is empty when nothing is left
  uint32_t ptx_line = 0;            // of the text that the module was read from; 0: unknown
  uint32_t source = isa::no_id;     // index into Module::frames
  std::string description() const;  // "delete arrive: `mbarrier.arrive...`"
};

// Every mutant of the entry and of the functions that it may call, in the order of the text. An empty name
// is the only entry. All of them are valid programs of the chip (isa::verify), with the labels where they
// were.
std::vector<Mutant> mutants_of(const isa::Module& module, const isa::ArchSpec& arch,
                               std::string_view entry = {});

// The program with that one change.
isa::Module apply(const isa::Module& module, const isa::ArchSpec& arch, const Mutant& mutant);

// The entry and the functions that it may call: indices into Module::functions, ascending.
std::vector<uint32_t> reachable_functions(const isa::Module& module, const isa::ArchSpec& arch,
                                          const isa::Function& entry);

}  // namespace palladion::sim::check
