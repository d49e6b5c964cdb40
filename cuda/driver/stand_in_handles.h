#pragma once
// Handles of the libraries that stand in place of NVIDIA's: what a program sets is kept and returned.
#include <new>

namespace palladion::cuda {

// A library's own values of these answers.
struct HandleStatus {
  int success, not_initialized, alloc_failed, invalid_value;
};

template <HandleStatus status>
struct Handles {
  template <class H>
  static int create(H** out) {
    if (out == nullptr) return status.invalid_value;
    *out = new (std::nothrow) H;
    return *out != nullptr ? status.success : status.alloc_failed;
  }
  template <class H>
  static int destroy(H* handle) {
    if (handle == nullptr) return status.not_initialized;
    delete handle;
    return status.success;
  }
  template <class H, class T>
  static int set(H* handle, T H::* member, T value) {
    if (handle == nullptr) return status.not_initialized;
    handle->*member = value;
    return status.success;
  }
  template <class H, class T>
  static int get(const H* handle, T H::* member, T* value) {
    if (handle == nullptr) return status.not_initialized;
    if (value == nullptr) return status.invalid_value;
    *value = handle->*member;
    return status.success;
  }
  // A part of the version: `type` is a libraryPropertyType, 0 major, 1 minor, 2 patch level.
  static int property(const int (&version)[3], int type, int* value) {
    if (value == nullptr || type < 0 || type > 2) return status.invalid_value;
    *value = version[type];
    return status.success;
  }
};

}  // namespace palladion::cuda
