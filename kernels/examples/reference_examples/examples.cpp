#include "kernels/examples/reference_examples/examples.h"

namespace palladion::kernels::reference_examples {

std::function<std::vector<Array>(const Choice&, uint64_t)> random_inputs(
    std::function<std::vector<pl::ShapeDtype>(const Choice&)> types) {
  return [types = std::move(types)](const Choice& choice, uint64_t seed) {
    std::vector<Array> inputs;
    for (pl::ShapeDtype& type : types(choice)) {
      Fill fill{.kind = Fill::Kind::randn, .seed = 16 * seed + inputs.size()};
      if (!pl::is_float(type.dtype)) {
        fill.kind = Fill::Kind::randint;
        fill.low = -100;
        fill.high = 100;
      }
      inputs.push_back(filled(std::move(type), fill));
    }
    return inputs;
  };
}

std::function<std::vector<Array>(const Choice&, uint64_t)> random_arrays(std::vector<TypeOf> types) {
  return random_inputs([types = std::move(types)](const Choice& choice) {
    std::vector<pl::ShapeDtype> all;
    for (const TypeOf& type : types) all.push_back(type(choice));
    return all;
  });
}

pl::ShapeDtype row(const Choice& choice) { return {pl::f32, {choice.size("n")}}; }
pl::ShapeDtype rows(const Choice& choice) { return {pl::f32, {choice.size("rows"), choice.size("n")}}; }

Array map_elements(const std::vector<Array>& inputs, const ElementFunction& f) {
  std::vector<std::vector<double>> values;
  values.reserve(inputs.size());
  for (const Array& a : inputs) values.push_back(to_doubles(a));
  std::vector<double> out(values.front().size()), at(values.size());
  for (size_t i = 0; i < out.size(); ++i) {
    for (size_t v = 0; v < values.size(); ++v) at[v] = values[v][i];
    out[i] = f(at);
  }
  return from_doubles(inputs.front().type, out);
}

std::function<std::vector<Array>(const Choice&, const std::vector<Array>&)> elementwise(ElementFunction f) {
  return [f = std::move(f)](const Choice&, const std::vector<Array>& inputs) {
    return std::vector{map_elements(inputs, f)};
  };
}

}  // namespace palladion::kernels::reference_examples
