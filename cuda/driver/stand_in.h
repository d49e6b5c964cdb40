#pragma once
// What the libraries that stand in place of NVIDIA's have in common: each has the functions with which
// programs start, and one that tells its name for every other (absent.txt).
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#define PLD_STAND_IN extern "C" __attribute__((visibility("default")))

namespace palladion::cuda {

// Device memory that a call touches: `rows` times `width` bytes, `pitch` bytes apart.
struct Piece {
  const void* at = nullptr;
  size_t width = 0, rows = 1, pitch = 0;
  bool reads = false, writes = false;
  size_t pointers = 0;  // not 0: at `at` lie so many addresses, of such a piece each
};
// `compute` gets where the pieces lie in this process, each of those that an array of addresses names, and
// says what is wrong with the values there, a fault of the program's (null: nothing). `release` comes after
// the last `compute`.
struct HostCall {
  const char* (*compute)(void* data, void* const* views);
  void (*release)(void* data);
  void* data;
};

}  // namespace palladion::cuda

// libcuda.so.1 (cuda/driver/streams/compute.cpp); the results are values of CUresult.
extern "C" int palladion_exec_unsupported(const char* what);
extern "C" int palladion_exec_compute(const char* what, void* stream, const palladion::cuda::Piece* pieces,
                                      size_t count, const palladion::cuda::HostCall* call);

namespace palladion::cuda {

// An operation of the stream that is computed on the host, and said to be: f(views), which returns nothing,
// or what is wrong with the values.
template <class F>
int compute_on_host(const char* what, void* stream, const std::vector<Piece>& pieces, F f) {
  const auto compute = [](void* data, void* const* views) -> const char* {
    if constexpr (std::is_void_v<std::invoke_result_t<F&, void* const*>>)
      return (*static_cast<F*>(data))(views), nullptr;
    else
      return (*static_cast<F*>(data))(views);
  };
  const HostCall call = {compute, [](void* data) { delete static_cast<F*>(data); }, new F(std::move(f))};
  return palladion_exec_compute(what, stream, pieces.data(), pieces.size(), &call);
}

}  // namespace palladion::cuda
