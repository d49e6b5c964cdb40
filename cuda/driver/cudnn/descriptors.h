#pragma once
// Descriptors of cuDNN's backend interface: what a program states about a graph of operations, attribute by
// attribute. Their meaning: graph.h.
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "cuda/driver/cudnn/handle.h"

namespace palladion::cuda::cudnn {

enum class Kind : int {  // cudnnBackendDescriptorType_t: those with a meaning here
  pointwise = 0,
  convolution = 1,
  engine = 2,
  engine_config = 3,
  heuristics = 4,
  plan = 5,
  convolve = 10,
  convolve_filter = 11,  // the gradient of the filter
  convolve_image = 12,   // the gradient of the image
  compute_pointwise = 13,
  graph = 15,
  variant_pack = 16,
  tensor = 17
};

// Those whose elements have not four bytes, and numbers.
namespace AttributeType {  // cudnnBackendAttributeType_t
enum : int {
  handle = 0,
  boolean = 2,
  int64 = 3,
  float32 = 4,
  float64 = 5,
  pointer = 6,
  descriptor = 15,
  character = 24,
  fraction = 26
};
}

struct Contents;
using Shared = std::shared_ptr<const Contents>;

struct Attribute {
  int type = 0;       // cudnnBackendAttributeType_t
  int64_t count = 0;  // elements
  std::vector<std::byte> bytes;
  std::vector<Shared> descriptors;  // in place of bytes
};

struct Contents {
  Kind kind{};
  bool is_final = false;
  std::map<int, Attribute> attributes;  // by cudnnBackendAttributeName_t

  const Attribute* find(int name) const;
  // Of numbers of any type; none: empty.
  std::vector<int64_t> integers(int name) const;
  int64_t integer(int name, int64_t otherwise) const;
  double real(int name, double otherwise) const;
  Shared part(int name) const;  // null: none
  void put_integer(int name, int type, int64_t value);
  void put(int name, std::vector<Shared> descriptors);
};

// A program's cudnnBackendDescriptor_t. What it has stated outlives it where another descriptor names it.
struct Descriptor {
  std::shared_ptr<Contents> contents;
};

}  // namespace palladion::cuda::cudnn
