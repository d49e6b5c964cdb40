#pragma once
// A graph of operations as its descriptors state it.
#include <string>
#include <variant>

#include "cuda/driver/cudnn/convolution.h"
#include "cuda/driver/cudnn/descriptors.h"
#include "cuda/driver/cudnn/pointwise.h"
#include "cuda/driver/cudnn/tensor.h"

namespace palladion::cuda::cudnn {

struct Convolve {
  Convolution shape;
  double alpha = 1, beta = 0;  // of the result, and of what was there
  Tensor image, filter, response;
  const Tensor& result() const;
};
struct Pointwise {
  Function function;
  Tensor x, b, y;  // b: of functions of two arguments
};
using Operation = std::variant<Convolve, Pointwise>;

const Tensor& result_of(const Operation& operation);
std::vector<const Tensor*> arguments_of(const Operation& operation);

struct Graph {
  std::vector<Operation> operations;  // each behind those whose results it takes
  std::string missing;                // what it has that is not computed here; empty: nothing

  std::vector<Tensor> tensors() const;  // in memory, each once
};

// Of the descriptor of a graph.
Graph graph_of(const Contents& contents);
// What finalization adds to a descriptor: the one engine that there is, without knobs and workspace.
Status finish(Contents& contents);

namespace attribute {  // cudnnBackendAttributeName_t
constexpr int engine_of_config = 300, config_of_plan = 401, workspace_size = 402, graph_of_engine = 1300,
              unique_ids = 1000, data_pointers = 1001;
}

}  // namespace palladion::cuda::cudnn
