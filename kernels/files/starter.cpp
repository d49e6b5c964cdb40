#include "kernels/files/starter.h"

namespace palladion::kernels {
namespace {

constexpr std::string_view cmake_text = R"(cmake_minimum_required(VERSION 3.25)
project(@NAME@ LANGUAGES CXX)

find_package(palladion 0.1 REQUIRED)

add_executable(@NAME@ main.cpp @NAME@.cpp)
target_compile_features(@NAME@ PRIVATE cxx_std_20)
target_link_libraries(@NAME@ PRIVATE palladion::program)

enable_testing()
add_test(NAME run COMMAND @NAME@ run @NAME@)
add_test(NAME check COMMAND @NAME@ check @NAME@)
)";

constexpr std::string_view kernel_text = R"(// out = x + y, one tile a CTA. Put your own kernel in its place.
#include <palladion/program.h>

using namespace palladion::program;

namespace {

// Sizes and settings with their defaults; their ranges are at the end of the file.
struct Config {
  int64_t n = 1 << 16;
  int64_t tile = 1024;
  pl::DType dtype = pl::f32;
};

plgpu::Kernel record(const Config& c) {
  Rules("@NAME@").divides("tile", c.tile, "n", c.n);
  const pl::ShapeDtype type{c.dtype, {c.n}};
  return plgpu::kernel(
      [&](const plgpu::Ref& x, const plgpu::Ref& y, const plgpu::Ref& out) {
        const auto tile = pl::ds(pl::program_id(0) * c.tile, c.tile);
        out.at(tile).store(x.at(tile).load() + y.at(tile).load());
      },
      {.in_types = {type, type}, .out_type = type, .grid = {c.n / c.tile}, .name = "@NAME@"});
}

// What the output must be, computed on the host: in f64, rounded once.
Array reference(const Config&, const std::vector<Array>& inputs) {
  std::vector<double> sum = to_doubles(inputs[0]);
  const std::vector<double> y = to_doubles(inputs[1]);
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += y[i];
  return from_doubles(inputs[0].type, sum);
}

}  // namespace

PALLADION_KERNELS(Spec("@NAME@", "out = x + y, one tile a CTA", record)
                      .size("n", &Config::n, "elements")
                      .setting("tile", &Config::tile, "elements a CTA", {.min = 128, .max = 8192, .multiple_of = 128})
                      .setting("dtype", &Config::dtype, "of all three arrays", {pl::f32, pl::f16, pl::bf16})
                      .arrays({"x", "y"}, {"out"})
                      .reference(reference));
)";

constexpr std::string_view main_text = R"(#include <palladion/program.h>

int main(int argc, char** argv) { return palladion::program::main(argc, argv); }
)";

constexpr std::string_view readme_text = R"(# @NAME@

A kernel for Hopper, recorded with palladion. `@NAME@.cpp` has its sizes and settings, its body and its reference.

Without a build, straight from the file:

```
palladion run @NAME@.cpp                                   # on the simulator; compared with the reference
palladion run @NAME@.cpp --shape n=4096 --set tile=512
palladion check @NAME@.cpp                                 # races, barriers, memory, under many schedules
palladion run @NAME@.cpp --schedule hardware --why         # how long it takes on an H200, and why
palladion sweep @NAME@.cpp --set tile=256,512,1024         # which settings are fastest?
palladion ptx @NAME@.cpp -o @NAME@.ptx                     # what a GPU would get
palladion list @NAME@.cpp                                  # its sizes and settings
```

As a program of its own, with the same commands:

```
cmake -S . -B build && cmake --build build && ctest --test-dir build
build/@NAME@ run @NAME@
```

CMake finds an installed palladion by `-DCMAKE_PREFIX_PATH=...`.
)";

std::string filled_in(std::string_view text, std::string_view name) {
  constexpr std::string_view mark = "@NAME@";
  std::string out;
  for (size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark)) {
    out += text.substr(0, at);
    out += name;
    text.remove_prefix(at + mark.size());
  }
  return out + std::string(text);
}

}  // namespace

std::vector<StarterFile> starter_files(std::string_view name) {
  return {{"CMakeLists.txt", filled_in(cmake_text, name)},
          {filled_in("@NAME@.cpp", name), filled_in(kernel_text, name)},
          {"main.cpp", std::string(main_text)},
          {"README.md", filled_in(readme_text, name)}};
}

}  // namespace palladion::kernels
