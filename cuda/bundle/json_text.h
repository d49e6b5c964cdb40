#pragma once
// Values as JSON, for the writers of the manifest. The standard library alone: the library that records
// launches contains them too.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/bundle/contents.h"

namespace palladion::cuda::bundle::json_text {

std::string in_quotes(std::string_view s);
std::string hex(uint64_t value);
std::string hex(const std::vector<uint8_t>& bytes);
inline const char* word(bool b) { return b ? "true" : "false"; }

// "[1, 2, 3]"
template <class Numbers>
std::string list(const Numbers& numbers) {
  std::string out;
  for (const auto n : numbers) out += (out.empty() ? "[" : ", ") + std::to_string(n);
  return out + "]";
}

std::string contents(const Contents& c);

}  // namespace palladion::cuda::bundle::json_text
