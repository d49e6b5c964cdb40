// The words of Fill and of element types.
#include <fmt/format.h>

#include "verify/arrays/arrays.h"
#include "verify/arrays/words.h"

namespace palladion {
namespace {

std::optional<Fill> seeded(Fill::Kind kind, const std::vector<std::string_view>& arguments) {
  Fill fill{.kind = kind};
  if (arguments.empty()) return fill;
  const auto seed = number_in<uint64_t>(arguments[0]);
  if (!seed) return std::nullopt;
  fill.seed = *seed;
  const bool ranged = kind == Fill::Kind::randint;
  if (arguments.size() != (ranged ? 3 : 1)) return std::nullopt;
  if (!ranged) return fill;
  const auto low = number_in<int64_t>(arguments[1]), high = number_in<int64_t>(arguments[2]);
  if (!low || !high || *low >= *high) return std::nullopt;
  fill.low = *low;
  fill.high = *high;
  return fill;
}

}  // namespace

std::optional<Fill> fill_named(std::string_view text) {
  const size_t open = text.find('(');
  const std::string_view word = text.substr(0, open);
  std::vector<std::string_view> arguments;
  if (open != std::string_view::npos) {
    if (!text.ends_with(')')) return std::nullopt;
    arguments = split(text.substr(open + 1, text.size() - open - 2), ",");
  }
  if (word == "zeros" && arguments.empty()) return Fill{};
  if (word == "iota" && arguments.empty()) return Fill{.kind = Fill::Kind::iota};
  if (word == "const" && arguments.size() == 1) {
    const auto value = number_in<double>(arguments[0]);
    if (value) return Fill{.kind = Fill::Kind::constant, .value = *value};
  }
  if (word == "rand") return seeded(Fill::Kind::rand, arguments);
  if (word == "randn") return seeded(Fill::Kind::randn, arguments);
  if (word == "randint" && !arguments.empty()) return seeded(Fill::Kind::randint, arguments);
  return std::nullopt;
}

std::string name(const Fill& fill) {
  switch (fill.kind) {
    case Fill::Kind::zeros:
      return "zeros";
    case Fill::Kind::constant:
      return fmt::format("const({})", fill.value);
    case Fill::Kind::iota:
      return "iota";
    case Fill::Kind::rand:
      return fmt::format("rand({})", fill.seed);
    case Fill::Kind::randn:
      return fmt::format("randn({})", fill.seed);
    case Fill::Kind::randint:
      return fmt::format("randint({},{},{})", fill.seed, fill.low, fill.high);
  }
  return "zeros";
}

std::optional<pl::DType> dtype_named(std::string_view name) {
  const std::string spelled = name.starts_with('i') ? "s" + std::string(name.substr(1))
                              : name == "pred"      ? "bool"
                                                    : std::string(name);
  for (int i = 0; i < pl::dtypes; ++i)
    if (pl::name(pl::DType(i)) == spelled) return pl::DType(i);
  return std::nullopt;
}

}  // namespace palladion
