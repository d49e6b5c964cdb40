#include "kernels/frame/typed_spec.h"

#include <fmt/format.h>

#include "frontend/core/errors.h"

namespace palladion::kernels::detail {

std::string word_of(bool value) { return value ? "1" : "0"; }
std::string word_of(pl::DType value) { return std::string(pl::name(value)); }

std::vector<std::string> words_of(const std::vector<pl::DType>& values) {
  std::vector<std::string> words;
  for (const pl::DType value : values) words.push_back(word_of(value));
  return words;
}

Setting setting_of(std::string name, std::string fallback, std::string doc, std::vector<std::string> allowed,
                   Range range) {
  Setting setting;
  setting.name = std::move(name);
  setting.fallback = std::move(fallback);
  setting.doc = std::move(doc);
  setting.allowed = std::move(allowed);
  setting.range = range;
  return setting;
}

std::string known_chip(const std::string& name, const std::source_location& loc) {
  if (isa::find_arch(name) != nullptr) return name;
  std::string known;
  for (const isa::ArchSpec& a : isa::architectures())
    known += (known.empty() ? "" : ", ") + std::string(a.name);
  frontend::fail(frontend::Code::bad_type, fmt::format("Spec::arch(\"{}\"): there is no such chip", name),
                 loc, "known are " + known);
}

std::vector<Array> one_array(Array array) {
  std::vector<Array> arrays;
  arrays.push_back(std::move(array));
  return arrays;
}

}  // namespace palladion::kernels::detail
