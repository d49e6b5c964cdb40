// A graph that is executed: an operation of the stream, computed on the host.
#include <algorithm>
#include <map>
#include <utility>

#include "cuda/driver/cudnn/graph.h"

namespace palladion::cuda::cudnn {
namespace {

using Memory = std::map<int64_t, void*>;  // by the tensors' numbers

Memory memory_of(const Contents& pack) {
  Memory out;
  const auto ids = pack.integers(attribute::unique_ids), pointers = pack.integers(attribute::data_pointers);
  for (size_t i = 0; i < std::min(ids.size(), pointers.size()); ++i)
    out[ids[i]] = reinterpret_cast<void*>(pointers[i]);  // NOLINT: an attribute of pointers
  return out;
}

// Values of all tensors of a graph, as they come to be.
class Computed {
 public:
  explicit Computed(std::map<int64_t, Values> known) : values_(std::move(known)) {}

  void compute(const Operation& operation) {
    Values out = std::holds_alternative<Convolve>(operation) ? of(std::get<Convolve>(operation))
                                                             : of(std::get<Pointwise>(operation));
    const Tensor& result = result_of(operation);
    result.round(out);
    values_[result.id] = std::move(out);
  }
  const Values& at(const Tensor& t) const { return values_.at(t.id); }

 private:
  Values of(const Convolve& c) {
    Values result(static_cast<size_t>(c.result().elements()), 0);
    const auto pick = [&](const Tensor& t) -> Values& {
      return &t == &c.result() ? result : values_.at(t.id);
    };
    convolve(c.shape, c.image, c.filter, c.response, pick(c.image), pick(c.filter), pick(c.response));
    for (size_t i = 0; i < result.size(); ++i) {
      result[i] *= c.alpha;
      if (c.beta != 0) result[i] += c.beta * values_.at(c.result().id)[i];
    }
    return result;
  }
  Values of(const Pointwise& p) {
    static const Values none;
    return pointwise(p.function, p.x, at(p.x), p.b, p.function.has_two() ? at(p.b) : none, p.y);
  }

  std::map<int64_t, Values> values_;
};

bool is_in(const std::vector<const Tensor*>& all, const Tensor& t) {
  return std::ranges::any_of(all, [&](const Tensor* other) { return other->id == t.id; });
}

// A tensor in memory, and what the graph does with it.
struct Used {
  Tensor tensor;
  bool reads = false, writes = false;
};

std::vector<Used> uses_of(const Graph& graph) {
  std::vector<Used> out;
  for (Tensor& t : graph.tensors()) {
    Used use{std::move(t)};
    for (const Operation& operation : graph.operations) {
      use.reads |= !use.writes && is_in(arguments_of(operation), use.tensor);
      use.writes |= result_of(operation).id == use.tensor.id;
    }
    out.push_back(std::move(use));
  }
  return out;
}

void compute(const Graph& graph, const std::vector<Used>& uses, std::map<int64_t, Values> of_host,
             void* const* views) {
  for (size_t i = 0; i < uses.size(); ++i)
    if (uses[i].reads && !uses[i].tensor.of_host) of_host[uses[i].tensor.id] = uses[i].tensor.read(views[i]);
  Computed computed(std::move(of_host));
  for (const Operation& operation : graph.operations) computed.compute(operation);
  for (size_t i = 0; i < uses.size(); ++i)
    if (uses[i].writes) uses[i].tensor.write(computed.at(uses[i].tensor), views[i]);
}

Status execute(void* stream, const Graph& graph, const Memory& memory) {
  const std::vector<Used> uses = uses_of(graph);
  std::vector<Piece> pieces;
  std::map<int64_t, Values> of_host;
  for (const auto& [tensor, reads, writes] : uses) {
    const auto at = memory.find(tensor.id);
    if (at == memory.end() || at->second == nullptr) return bad_param;
    if (tensor.of_host) of_host[tensor.id] = tensor.read(at->second);
    pieces.push_back(tensor.of_host ? Piece{} : tensor.piece(at->second, reads, writes));
  }
  const int done = compute_on_host("cudnnBackendExecute", stream, pieces,
                                   [graph, uses, of_host = std::move(of_host)](void* const* views) {
                                     compute(graph, uses, of_host, views);
                                   });
  return done == 0 ? success : execution_failed;
}

}  // namespace
}  // namespace palladion::cuda::cudnn

using namespace palladion::cuda::cudnn;

PLD_STAND_IN Status cudnnBackendExecute(const Handle* handle, const Descriptor* plan,
                                        const Descriptor* pack) {
  if (handle == nullptr || plan == nullptr || pack == nullptr) return null_pointer;
  if (!plan->contents->is_final || !pack->contents->is_final) return not_finalized;
  if (plan->contents->kind != Kind::plan || pack->contents->kind != Kind::variant_pack) return bad_param;
  const Shared config = plan->contents->part(attribute::config_of_plan);
  const Shared engine = config == nullptr ? nullptr : config->part(attribute::engine_of_config);
  const Shared graph = engine == nullptr ? nullptr : engine->part(attribute::graph_of_engine);
  if (graph == nullptr) return bad_param;
  return execute(handle->stream, graph_of(*graph), memory_of(*pack->contents));
}

PLD_STAND_IN Status cudnnGetExecutionPlanWorkspaceSize(const Handle*, const Descriptor* plan,
                                                       const Descriptor*, size_t* size) {
  if (plan == nullptr || size == nullptr) return null_pointer;
  *size = 0;
  return success;
}
