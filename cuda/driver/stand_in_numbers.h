#pragma once
// Numbers of the libraries that stand in place of NVIDIA's: their types, and those that a call takes from the
// host or from the device.
#include <complex>
#include <cstring>
#include <type_traits>
#include <vector>

#include "cuda/driver/stand_in.h"

namespace palladion::cuda {

using Complex32 = std::complex<float>;
using Complex64 = std::complex<double>;
template <class T>
constexpr bool is_complex = std::is_same_v<T, Complex32> || std::is_same_v<T, Complex64>;
// What is summed and multiplied in.
template <class T>
using Wide = std::conditional_t<is_complex<T>, Complex64, double>;

// The number of the real type of cudaDataType, and of the complex one.
enum class NumberType : int { f32 = 0, f64 = 1, c32 = 4, c64 = 5 };
// f(T()) for the type. Another one is said to be unsupported in that call, and has this status.
template <class F>
int with_type(const char* name, NumberType type, int not_supported, F f) {
  switch (type) {
    case NumberType::f32:
      return f(float());
    case NumberType::f64:
      return f(double());
    case NumberType::c32:
      return f(Complex32());
    case NumberType::c64:
      return f(Complex64());
  }
  palladion_exec_unsupported(name);
  return not_supported;
}

// The pieces of a call: numbers first.
class Pieces {
 public:
  // Of a call with this handle, which says where numbers lie.
  template <class H>
  explicit Pieces(const H* handle) : of_device_(handle->pointer_mode == 1) {}

  // A number that the call takes: of the host now, of the device when it is computed.
  template <class T>
  class Number {
   public:
    Wide<T> value(void* const* views) const {
      T value = of_host_;
      if (place_ >= 0) std::memcpy(&value, views[place_], sizeof value);
      return static_cast<Wide<T>>(value);
    }

    // What is known before the call is computed.
    bool of_host() const { return place_ < 0; }
    bool is_zero() const { return of_host() && of_host_ == T{}; }

   private:
    friend Pieces;
    T of_host_{};
    int place_ = -1;
  };
  template <class T>
  Number<T> number(const T* at) {
    Number<T> n;
    if (of_device_)
      n.place_ = add({at, sizeof(T), 1, 0, true, false});
    else
      n.of_host_ = *at;
    return n;
  }
  int add(const Piece& piece) {
    all_.push_back(piece);
    return static_cast<int>(all_.size()) - 1;
  }
  bool of_device() const { return of_device_; }
  const std::vector<Piece>& all() const { return all_; }

 private:
  bool of_device_;
  std::vector<Piece> all_;
};

}  // namespace palladion::cuda
