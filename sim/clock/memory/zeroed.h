#pragma once
// An array of zeros. The host clears its pages when they are first written: a short run of a large chip does
// not pay for what it never looks at.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

namespace palladion::sim::hardware {

template <class T>
class Zeroed {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  explicit Zeroed(size_t size) : size_(size), data_(static_cast<T*>(std::calloc(size, sizeof(T)))) {
    if (data_ == nullptr && size != 0) throw std::bad_alloc();
  }
  Zeroed(const Zeroed& other) : Zeroed(other.size_) {
    if (size_ != 0) std::memcpy(static_cast<void*>(data_.get()), other.data(), size_ * sizeof(T));
  }
  Zeroed& operator=(const Zeroed&) = delete;
  size_t size() const { return size_; }
  const T* data() const { return data_.get(); }
  T& operator[](size_t i) { return data_.get()[i]; }
  const T& operator[](size_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  size_t size_;
  std::unique_ptr<T, Free> data_;
};

}  // namespace palladion::sim::hardware
