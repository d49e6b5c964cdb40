#pragma once
// PLD3xxx: what the machine itself reports of a launch and its run.
#include <cstdint>
#include <span>

#include "isa/core/code_text.h"

namespace palladion::sim {

// The finding that a fault, a refusal or a deadlock of the machine is.
enum class Code : uint16_t {
  not_modelled = 3001,
  gave_up = 3002,
  branch_index = 3010,
  trap = 3011,
  failed_assertion = 3012,
  stack_full = 3013,
  bad_free = 3014,
  no_function = 3015,
  call_signature = 3016,
  no_graph_condition = 3017,
  no_grid_barrier = 3018,
  shared_bounds = 3020,
  no_such_cta = 3021,
  global_bounds = 3022,
  local_bounds = 3023,
  misaligned_access = 3024,
  cta_rank = 3025,
  parameter_bounds = 3026,
  no_texture_object = 3027,
  surface_bounds = 3028,
  remote_as_own = 3029,
  no_such_barrier = 3030,
  barrier_counts_differ = 3031,
  barrier_overrun = 3032,
  barrier_count = 3033,
  misaligned_mbarrier = 3040,
  mbarrier_space = 3041,
  mbarrier_init_count = 3042,
  arrive_drop_at_zero = 3043,
  mbarrier_range = 3044,
  mbarrier_not_initialised = 3045,
  setmaxnreg_count = 3050,
  setmaxnreg_direction = 3051,
  partial_warpgroup = 3060,
  partial_warp = 3061,
  misaligned_matrix_row = 3062,
  matrix_space = 3063,
  member_mask = 3065,
  sparse_metadata = 3066,
  misaligned_copy = 3070,
  bulk_copy_size = 3071,
  cp_async_size = 3072,
  multicast_mask = 3073,
  copy_mbarrier = 3074,
  mbarrier_bytes = 3076,
  deadlock = 3080,
  wait_for_host = 3081,
  tensor_map_address = 3091,
  bad_tensor_map = 3092,
  misaligned_tile = 3093,
  tensor_reduction_type = 3094,
  tensor_map_mismatch = 3095,
  bad_tensormap_replace = 3096,
  no_entry = 3100,
  too_many_threads = 3101,
  empty_grid = 3102,
  grid_of_no_clusters = 3103,
  cluster_too_large = 3104,
  reqntid_differs = 3105,
  maxntid_exceeded = 3106,
  reqnctapercluster_differs = 3107,
  too_much_shared = 3108,
  cta_fits_no_sm = 3109,
  parameter_size = 3110,
  values_needed = 3120,
  no_clock = 3121,
  missing_unit = 3122,
  tensor_memory_columns = 3130,
  tensor_memory_lanes = 3131,
  bad_tcgen05_alloc = 3132,
  bad_tcgen05_dealloc = 3133,
  tcgen05_instruction_descriptor = 3134,
  tcgen05_matrix_descriptor = 3135,
  no_peer_cta = 3136,
  several_issuers = 3137,
  copies_differ = 3139,
  bad_try_cancel = 3140,
  request_after_refusal = 3141,
  differing_operand = 3143,
};

// Of a launch that the machine does not start, or cannot run as it is.
constexpr bool is_refusal(isa::CodeNumber code) { return code.number() / 100 == 31; }

std::span<const isa::CodeText> run_codes();  // the texts, by code
// Title, meaning, wrong and right example, fix: what `palladion explain` shows of the code.
const isa::CodeText& text_of(Code code);

}  // namespace palladion::sim
