#pragma once
// Tensors of cuDNN: in memory as the program states them, and their values, dense and outermost dimension
// first.
#include <cstdint>
#include <vector>

#include "cuda/driver/stand_in.h"

namespace palladion::cuda::cudnn {

enum class ElementType : int { f32 = 0, f64 = 1, f16 = 2, i8 = 3, i32 = 4, u8 = 6, bf16 = 9, i64 = 10 };
bool is_known(ElementType type);

using Values = std::vector<double>;

struct Tensor {
  int64_t id = 0;
  ElementType type{};
  std::vector<int64_t> sizes, strides;  // in elements
  bool is_virtual = false;              // between two operations, in no memory
  bool of_host = false;                 // a number that the call takes from the host

  int64_t elements() const;
  size_t bytes() const;  // from the first element to the last one
  Piece piece(const void* at, bool reads, bool writes) const;
  Values read(const void* memory) const;
  void write(const Values& values, void* memory) const;
  // As they are when they are stored.
  void round(Values& values) const;
};

// Offsets of elements that lie so, in the order of the values. A dimension of one element that is asked for
// more often has the same one again.
std::vector<int64_t> offsets(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides);
std::vector<int64_t> dense_strides(const std::vector<int64_t>& sizes);

}  // namespace palladion::cuda::cudnn
