#include "isa/core/author.h"

#include <algorithm>
#include <cctype>
#include <span>
#include <vector>

namespace palladion::isa {
namespace {

using Path = std::vector<std::string_view>;

Path components(std::string_view path) {
  Path out;
  for (;;) {
    const size_t end = std::min(path.find('/'), path.size());
    out.push_back(path.substr(0, end));
    if (end == path.size()) return out;
    path.remove_prefix(end + 1);
  }
}

// Two folders, one in the other; an empty name is any.
struct Folders {
  std::string_view outer, inner;
};

bool lies_in(const Path& path, std::span<const Folders> all) {
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    const std::string_view outer = i == 0 ? std::string_view() : path[i - 1], inner = path[i];
    const auto is = [&](const Folders& f) {
      return f.inner == inner && (f.outer.empty() || f.outer == outer);
    };
    if (std::ranges::any_of(all, is)) return true;
  }
  return false;
}

// nvcc's own headers outside of folders of their own, as an installed toolkit mixes them with others'.
bool is_toolkit_file(std::string_view name) {
  constexpr std::string_view beginnings[] = {"cooperative_groups.",
                                             "cuda_awbarrier",
                                             "cuda_bf16.",
                                             "cuda_fp16.",
                                             "cuda_fp4.",
                                             "cuda_fp6.",
                                             "cuda_fp8.",
                                             "cuda_pipeline",
                                             "cuda_runtime",
                                             "cuda_surface_types",
                                             "cuda_texture_types",
                                             "device_atomic_functions.",
                                             "device_functions.",
                                             "math_functions.",
                                             "surface_functions.",
                                             "surface_indirect_functions.",
                                             "texture_fetch_functions.",
                                             "texture_indirect_functions."};
  if (std::ranges::any_of(beginnings, [&](std::string_view b) { return name.starts_with(b); })) return true;
  // sm_30_intrinsics.hpp, sm_60_atomic_functions.h
  return name.starts_with("sm_") && name.size() > 3 &&
         std::isdigit(static_cast<unsigned char>(name[3])) != 0 &&
         (name.find("_intrinsics.") != std::string_view::npos ||
          name.find("_functions.") != std::string_view::npos);
}

}  // namespace

Owner owner_of(std::string_view path) {
  constexpr Folders wrappers[] = {
      {"cutlass", "arch"}, {"cute", "arch"}, {"triton", "language"}, {"jax", "_src"}};
  constexpr Folders libraries[] = {{"include", "cutlass"}, {"include", "cute"},   {"include", "cub"},
                                   {"cccl", "cub"},        {"include", "thrust"}, {"cccl", "thrust"},
                                   {"", "site-packages"},  {"", "dist-packages"}};
  constexpr Folders toolkit[] = {{"include", "cuda"}, {"include", "cooperative_groups"},
                                 {"include", "crt"},  {"include", "nv"},
                                 {"", "cccl"},        {"", "libcudacxx"}};
  const Path parts = components(path);
  if (lies_in(parts, wrappers)) return Owner::toolkit;
  // CUDA's headers as a package of Python are no less CUDA's.
  const bool from_nvidia =
      lies_in(parts, std::span(toolkit)) && !lies_in(parts, std::span(libraries).first(6));
  if (from_nvidia || is_toolkit_file(parts.back())) return Owner::toolkit;
  return lies_in(parts, libraries) ? Owner::library : Owner::author;
}

}  // namespace palladion::isa
