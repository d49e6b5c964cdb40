#pragma once
// Vectors of bytes with properties that std::vector lacks; they copy as any value does.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace palladion::sim {

// Begins at a multiple of 64 bytes: registers are read as whole vectors of 32 lanes.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{64};
  AlignedAllocator() = default;
  template <class U>
  explicit AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), alignment)); }
  void deallocate(T* p, size_t) { ::operator delete(p, alignment); }
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
};
using AlignedBytes = std::vector<uint8_t, AlignedAllocator<uint8_t>>;

// resize() leaves new elements as they are: for buffers that are filled next.
template <class T>
struct UninitialisedAllocator : std::allocator<T> {
  template <class U>
  struct rebind {  // NOLINT: the name that the allocator requirements ask for
    using other = UninitialisedAllocator<U>;
  };
  template <class U>
  void construct(U* p) {
    ::new (static_cast<void*>(p)) U;
  }
  template <class U, class... A>
  void construct(U* p, A&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<A>(args)...);
  }
};
using StagingBytes = std::vector<uint8_t, UninitialisedAllocator<uint8_t>>;

// resize() of an empty vector gives zeros whose pages the host clears when they are first written: for
// memories of CTAs, many of which use little of theirs.
template <class T>
struct ZeroedAllocator : std::allocator<T> {
  template <class U>
  struct rebind {  // NOLINT: the name that the allocator requirements ask for
    using other = ZeroedAllocator<U>;
  };
  T* allocate(size_t n) {
    void* const p = std::calloc(n, sizeof(T));
    if (p == nullptr) throw std::bad_alloc();
    return static_cast<T*>(p);
  }
  void deallocate(T* p, size_t) { std::free(p); }
  template <class U>
  void construct(U*) {}
  template <class U, class... A>
  void construct(U* p, A&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<A>(args)...);
  }
};
template <class T>
using Zeros = std::vector<T, ZeroedAllocator<T>>;

}  // namespace palladion::sim
