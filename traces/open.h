#pragma once
// A Sink for a file, by its extension.
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "traces/model.h"

namespace palladion::traces {

inline constexpr uint64_t usual_limit = 2ULL << 30;  // bytes

// .pftrace and .perfetto-trace, .jsonl, .txt
bool known_extension(std::string_view path);
inline constexpr std::string_view extensions = ".pftrace (ui.perfetto.dev), .jsonl, .txt";

// An Error is a sentence: an unknown extension, a file that cannot be written.
tl::expected<std::unique_ptr<Sink>, std::string> open(const std::string& path, Header header,
                                                      uint64_t limit = usual_limit);

}  // namespace palladion::traces
