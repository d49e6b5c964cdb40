#include "cuda/driver/cudnn/graph.h"

#include <algorithm>
#include <map>
#include <optional>

namespace palladion::cuda::cudnn {
namespace attribute {
constexpr int mode_of_convolution = 101, dilations = 102, strides = 103, before = 105;
constexpr int results = 202, graph_of_heuristics = 201;
constexpr int function = 750, x = 751, b = 752, y = 753;
constexpr int operations = 801, engines_of_graph = 802;
constexpr int element_type = 901, sizes = 902, tensor_strides = 903, vector_count = 904, id = 906,
              is_virtual = 907, of_host = 908, reordering = 909, ragged = 913;
constexpr int index_of_engine = 1301;
}  // namespace attribute

namespace {

// The attributes of a convolution, which the three directions number alike.
struct Numbers {
  Convolution::Result result;
  int alpha, beta, convolution, filter, image, response;
};
std::optional<Numbers> numbers_of(Kind kind) {
  using Result = Convolution::Result;
  switch (kind) {
    case Kind::convolve:
      return Numbers{Result::response, 700, 701, 702, 703, 704, 705};
    case Kind::convolve_image:
      return Numbers{Result::image, 706, 707, 708, 709, 710, 711};
    case Kind::convolve_filter:
      return Numbers{Result::filter, 712, 713, 714, 715, 716, 717};
    default:
      return std::nullopt;
  }
}

// Reads the descriptors of a graph; what it meets and cannot compute is `missing`.
class Reader {
 public:
  Graph read(const Contents& contents) {
    if (const Attribute* const all = contents.find(attribute::operations); all != nullptr)
      for (const Shared& operation : all->descriptors) add(*operation);
    if (graph_.operations.empty()) miss("no operation");
    if (graph_.missing.empty()) sort();
    return std::move(graph_);
  }

 private:
  void miss(std::string what) {
    if (graph_.missing.empty()) graph_.missing = std::move(what);
  }

  Tensor tensor(const Shared& part) {
    if (part == nullptr) return miss("an operation without one of its tensors"), Tensor{};
    const Contents& c = *part;
    Tensor out{.id = c.integer(attribute::id, 0),
               .type = static_cast<ElementType>(c.integer(attribute::element_type, -1)),
               .sizes = c.integers(attribute::sizes),
               .strides = c.integers(attribute::tensor_strides),
               .is_virtual = c.integer(attribute::is_virtual, 0) != 0,
               .of_host = c.integer(attribute::of_host, 0) != 0};
    if (!is_known(out.type))
      miss("elements of cudnnDataType_t " + std::to_string(static_cast<int>(out.type)));
    if (c.integer(attribute::vector_count, 1) != 1 || c.integer(attribute::reordering, 0) != 0 ||
        c.part(attribute::ragged) != nullptr)
      miss("tensors of vectors, reordered ones or ragged ones");
    const auto is_negative = [](int64_t n) { return n < 0; };
    if (out.strides.size() != out.sizes.size() || std::ranges::any_of(out.strides, is_negative) ||
        std::ranges::any_of(out.sizes, is_negative))
      miss("a tensor with other strides than dimensions, or negative ones");
    if (sizes_.try_emplace(out.id, out.sizes).first->second != out.sizes)
      miss("tensors of one number and several shapes");
    return out;
  }

  void add(const Contents& operation) {
    if (const auto numbers = numbers_of(operation.kind)) return add_convolution(operation, *numbers);
    if (operation.kind == Kind::compute_pointwise) return add_pointwise(operation);
    miss("an operation of cudnnBackendDescriptorType_t " + std::to_string(static_cast<int>(operation.kind)));
  }

  void add_convolution(const Contents& operation, const Numbers& n) {
    const Shared part = operation.part(n.convolution);
    if (part == nullptr) return miss("a convolution without its descriptor");
    Convolve c{.shape = {.result = n.result,
                         .is_mirrored = part->integer(attribute::mode_of_convolution, 0) == 0,
                         .strides = part->integers(attribute::strides),
                         .dilations = part->integers(attribute::dilations),
                         .before = part->integers(attribute::before)},
               .alpha = operation.real(n.alpha, 1),
               .beta = operation.real(n.beta, 0),
               .image = tensor(operation.part(n.image)),
               .filter = tensor(operation.part(n.filter)),
               .response = tensor(operation.part(n.response))};
    if (!c.shape.fits(c.image.sizes, c.filter.sizes, c.response.sizes))
      miss("a convolution of tensors that do not fit");
    graph_.operations.emplace_back(std::move(c));
  }

  void add_pointwise(const Contents& operation) {
    const Shared part = operation.part(attribute::function);
    if (part == nullptr) return miss("a function without its descriptor");
    Pointwise p{.function = function_of(*part, operation),
                .x = tensor(operation.part(attribute::x)),
                .b = {},
                .y = tensor(operation.part(attribute::y))};
    if (!p.function.is_known()) return miss("cudnnPointwiseMode_t " + std::to_string(p.function.mode));
    if (p.function.has_two()) p.b = tensor(operation.part(attribute::b));
    if (!fits(p.x, p.y) || (p.function.has_two() && !fits(p.b, p.y)))
      miss("a function of tensors that do not fit");
    graph_.operations.emplace_back(std::move(p));
  }

  // A program may state operations in any order.
  void sort() {
    std::vector<Operation> rest = std::move(graph_.operations), sorted;
    const auto comes_later = [&](const Tensor* t) {
      return t->is_virtual &&
             std::ranges::none_of(sorted, [&](const Operation& o) { return result_of(o).id == t->id; });
    };
    while (!rest.empty()) {
      const auto next = std::ranges::find_if(
          rest, [&](const Operation& o) { return std::ranges::none_of(arguments_of(o), comes_later); });
      if (next == rest.end()) return miss("operations that wait for each other");
      sorted.push_back(std::move(*next));
      rest.erase(next);
    }
    graph_.operations = std::move(sorted);
  }

  Graph graph_;
  std::map<int64_t, std::vector<int64_t>> sizes_;  // by the tensors' numbers
};

Shared final_one(Kind kind, int name, Shared part) {
  Contents out{.kind = kind, .is_final = true, .attributes = {}};
  out.put(name, {std::move(part)});
  if (kind == Kind::engine) out.put_integer(attribute::index_of_engine, AttributeType::int64, 0);
  return std::make_shared<Contents>(std::move(out));
}

Status finish_graph(Contents& contents) {
  if (const std::string missing = graph_of(contents).missing; !missing.empty()) {
    palladion_exec_unsupported(("cudnnBackendFinalize: " + missing).c_str());
    return not_supported_graph;
  }
  contents.put_integer(attribute::engines_of_graph, AttributeType::int64, 1);
  return success;
}

}  // namespace

const Tensor& Convolve::result() const {
  return shape.result == Convolution::Result::response ? response
         : shape.result == Convolution::Result::image  ? image
                                                       : filter;
}

const Tensor& result_of(const Operation& operation) {
  if (const auto* const c = std::get_if<Convolve>(&operation)) return c->result();
  return std::get<Pointwise>(operation).y;
}

std::vector<const Tensor*> arguments_of(const Operation& operation) {
  if (const auto* const p = std::get_if<Pointwise>(&operation))
    return p->function.has_two() ? std::vector{&p->x, &p->b} : std::vector{&p->x};
  const auto& c = std::get<Convolve>(operation);
  std::vector<const Tensor*> out = {&c.image, &c.filter, &c.response};
  if (c.beta == 0) std::erase(out, &c.result());
  return out;
}

std::vector<Tensor> Graph::tensors() const {
  std::vector<Tensor> out;
  const auto add = [&](const Tensor& t) {
    if (!t.is_virtual && std::ranges::find(out, t.id, &Tensor::id) == out.end()) out.push_back(t);
  };
  for (const Operation& operation : operations) {
    for (const Tensor* const t : arguments_of(operation)) add(*t);
    add(result_of(operation));
  }
  return out;
}

Graph graph_of(const Contents& contents) { return Reader().read(contents); }

Status finish(Contents& contents) {
  switch (contents.kind) {
    case Kind::graph:
      return finish_graph(contents);
    case Kind::heuristics: {
      Shared graph = contents.part(attribute::graph_of_heuristics);
      if (graph == nullptr) return bad_param;
      Shared engine = final_one(Kind::engine, attribute::graph_of_engine, std::move(graph));
      contents.put(attribute::results,
                   {final_one(Kind::engine_config, attribute::engine_of_config, std::move(engine))});
      return success;
    }
    case Kind::engine:
      if (contents.integer(attribute::index_of_engine, 0) != 0) return not_supported;
      return contents.part(attribute::graph_of_engine) == nullptr ? bad_param : success;
    case Kind::engine_config:
      return contents.part(attribute::engine_of_config) == nullptr ? bad_param : success;
    case Kind::plan:
      contents.put_integer(attribute::workspace_size, AttributeType::int64, 0);
      return contents.part(attribute::config_of_plan) == nullptr ? bad_param : success;
    default:
      return success;
  }
}

}  // namespace palladion::cuda::cudnn
