#pragma once
// Tensor maps as instructions meet them, and the operations that move tiles.
#include <memory>
#include <string>

#include "isa/formats/tensor_walk.h"
#include "sim/machine/async/async_copies.h"
#include "sim/machine/exec/atomics.h"

namespace palladion::sim {

// A decoded map, or what is wrong with it. Maps are remembered by their 128 bytes, so that a copy does
// not decode and check the same map again; the reference is good until the thread's next call.
struct ReadMap {
  isa::TensorMap map;
  std::string error;
};
const ReadMap& read_tensor_map(const uint8_t* bytes, const isa::ArchSpec& arch);

// One tile on its way. The walk, the map and the shared address were checked at issue.
struct TileMove {
  AsyncOrigin origin;
  isa::TensorWalk walk;
  uint64_t global_address = 0;
  isa::Swizzle swizzle = isa::Swizzle::none;
  isa::TensorDataType type = isa::TensorDataType::u8;
  isa::OobFill fill = isa::OobFill::zero;
  isa::L2Promotion l2_promotion = isa::L2Promotion::none;
  uint32_t shared = 0;      // address of the tile
  uint64_t tensor_map = 0;  // its generic address
  bool moves = true;        // false: the bytes stay where they are, see MicroOp
  // Loads: the CTAs that receive, and the mbarrier's address, the same offset in each.
  uint32_t ctas = 0, mbarrier = 0;
  // Stores: nullptr for a plain copy.
  ReduceFn reduce = nullptr;
  uint32_t element_bytes = 1;
};

// What the move touches, for the clock.
void describe(const TileMove& move, Traffic& traffic);

std::unique_ptr<AsyncOp::Body> make_tensor_load(TileMove move);
std::unique_ptr<AsyncOp::Body> make_tensor_store(TileMove move);

}  // namespace palladion::sim
