// cublasLt's descriptions: what a program sets is kept and returned.
#include <cstddef>
#include <new>
#include <span>

#include "cuda/driver/cublas/light.h"

namespace palladion::cuda::cublas::light {
namespace {

struct Attribute {
  int number;
  size_t at, size;
};
#define PLD_ATTRIBUTE(NUMBER, OF, MEMBER) {NUMBER, offsetof(OF, MEMBER), sizeof(OF::MEMBER)}

constexpr Attribute of_layout[] = {PLD_ATTRIBUTE(0, Layout, type),      PLD_ATTRIBUTE(1, Layout, order),
                                   PLD_ATTRIBUTE(2, Layout, rows),      PLD_ATTRIBUTE(3, Layout, columns),
                                   PLD_ATTRIBUTE(4, Layout, leading),   PLD_ATTRIBUTE(5, Layout, batch),
                                   PLD_ATTRIBUTE(6, Layout, stride),    PLD_ATTRIBUTE(7, Layout, plane),
                                   PLD_ATTRIBUTE(8, Layout, batch_mode)};
constexpr Attribute of_product[] = {
    PLD_ATTRIBUTE(0, Product, compute),      PLD_ATTRIBUTE(1, Product, scale),
    PLD_ATTRIBUTE(2, Product, pointer_mode), PLD_ATTRIBUTE(3, Product, op_a),
    PLD_ATTRIBUTE(4, Product, op_b),         PLD_ATTRIBUTE(5, Product, op_c),
    PLD_ATTRIBUTE(6, Product, fill),         PLD_ATTRIBUTE(7, Product, epilogue),
    PLD_ATTRIBUTE(8, Product, bias),         PLD_ATTRIBUTE(10, Product, bias_stride),
    PLD_ATTRIBUTE(11, Product, aux),         PLD_ATTRIBUTE(12, Product, aux_leading),
    PLD_ATTRIBUTE(13, Product, aux_stride),  PLD_ATTRIBUTE(14, Product, alpha_stride),
    PLD_ATTRIBUTE(15, Product, sm_count),    PLD_ATTRIBUTE(17, Product, scale_a),
    PLD_ATTRIBUTE(18, Product, scale_b),     PLD_ATTRIBUTE(19, Product, scale_c),
    PLD_ATTRIBUTE(20, Product, scale_d),     PLD_ATTRIBUTE(21, Product, largest_d),
    PLD_ATTRIBUTE(22, Product, aux_type),    PLD_ATTRIBUTE(23, Product, aux_scale),
    PLD_ATTRIBUTE(24, Product, aux_largest), PLD_ATTRIBUTE(25, Product, fast),
    PLD_ATTRIBUTE(26, Product, bias_type),   PLD_ATTRIBUTE(31, Product, modes[0]),
    PLD_ATTRIBUTE(32, Product, modes[1]),    PLD_ATTRIBUTE(33, Product, modes[2]),
    PLD_ATTRIBUTE(34, Product, modes[3]),    PLD_ATTRIBUTE(35, Product, modes[4]),
    PLD_ATTRIBUTE(36, Product, out_scale),   PLD_ATTRIBUTE(37, Product, out_mode),
    PLD_ATTRIBUTE(38, Product, emulation)};
constexpr Attribute of_transform[] = {PLD_ATTRIBUTE(0, Transform, scale),
                                      PLD_ATTRIBUTE(1, Transform, pointer_mode),
                                      PLD_ATTRIBUTE(2, Transform, op_a), PLD_ATTRIBUTE(3, Transform, op_b)};
constexpr Attribute of_preference[] = {
    PLD_ATTRIBUTE(0, Preference, search),          PLD_ATTRIBUTE(1, Preference, workspace),
    PLD_ATTRIBUTE(3, Preference, reductions),      PLD_ATTRIBUTE(5, Preference, alignments[0]),
    PLD_ATTRIBUTE(6, Preference, alignments[1]),   PLD_ATTRIBUTE(7, Preference, alignments[2]),
    PLD_ATTRIBUTE(8, Preference, alignments[3]),   PLD_ATTRIBUTE(9, Preference, waves),
    PLD_ATTRIBUTE(12, Preference, implementations)};

std::span<const Attribute> table(const Layout*) { return of_layout; }
std::span<const Attribute> table(const Product*) { return of_product; }
std::span<const Attribute> table(const Transform*) { return of_transform; }
std::span<const Attribute> table(const Preference*) { return of_preference; }

template <class T>
const Attribute* attribute(const T* of, int number) {
  for (const Attribute& a : table(of))
    if (a.number == number) return &a;
  return nullptr;
}

template <class T>
Status set(T* of, int number, const void* from, size_t bytes) {
  const Attribute* const a = attribute(of, number);
  if (of == nullptr || a == nullptr || from == nullptr || bytes != a->size) return invalid_value;
  std::memcpy(reinterpret_cast<char*>(of) + a->at, from, bytes);
  return success;
}

// With no room only the size is asked for.
template <class T>
Status get(const T* of, int number, void* to, size_t bytes, size_t* written) {
  const Attribute* const a = attribute(of, number);
  if (of == nullptr || a == nullptr || (bytes == 0 && written == nullptr)) return invalid_value;
  if (written != nullptr) *written = a->size;
  if (bytes == 0) return success;
  if (to == nullptr || bytes < a->size) return invalid_value;
  std::memcpy(to, reinterpret_cast<const char*>(of) + a->at, a->size);
  return success;
}

// In the program's own structure, or in one of ours.
template <class T>
Status init(T* at, size_t bytes, const T& value) {
  if (at == nullptr || bytes < sizeof(T)) return invalid_value;
  return *at = value, success;
}
template <class T>
Status create(T** out, const T& value) {
  if (out == nullptr) return invalid_value;
  *out = new (std::nothrow) T(value);
  return *out != nullptr ? success : alloc_failed;
}
template <class T>
Status discard(T* of) {
  return delete of, success;
}

Product product(int compute, Type scale) {
  Product p;
  p.compute = compute;
  p.scale = scale;
  return p;
}

}  // namespace
}  // namespace palladion::cuda::cublas::light

using namespace palladion::cuda::cublas::light;
using palladion::cuda::cublas::Status;
using palladion::cuda::cublas::Type;

PLD_STAND_IN Status cublasLtMatrixLayoutCreate(Layout** out, Type type, uint64_t rows, uint64_t columns,
                                               int64_t leading) {
  return create(out, {type, 0, rows, columns, leading});
}
PLD_STAND_IN Status cublasLtMatrixLayoutInit_internal(Layout* at, size_t bytes, Type type, uint64_t rows,
                                                      uint64_t columns, int64_t leading) {
  return init(at, bytes, {type, 0, rows, columns, leading});
}
PLD_STAND_IN Status cublasLtMatmulDescCreate(Product** out, int compute, Type scale) {
  return create(out, product(compute, scale));
}
PLD_STAND_IN Status cublasLtMatmulDescInit_internal(Product* at, size_t bytes, int compute, Type scale) {
  return init(at, bytes, product(compute, scale));
}
PLD_STAND_IN Status cublasLtMatrixTransformDescCreate(Transform** out, Type scale) {
  return create(out, {scale});
}
PLD_STAND_IN Status cublasLtMatrixTransformDescInit_internal(Transform* at, size_t bytes, Type scale) {
  return init(at, bytes, {scale});
}
PLD_STAND_IN Status cublasLtMatmulPreferenceCreate(Preference** out) { return create(out, {}); }
PLD_STAND_IN Status cublasLtMatmulPreferenceInit_internal(Preference* at, size_t bytes) {
  return init(at, bytes, {});
}

#define PLD_DESCRIPTION(NAME, T)                                                                             \
  PLD_STAND_IN Status NAME##Destroy(T* of) { return discard(of); }                                           \
  PLD_STAND_IN Status NAME##SetAttribute(T* of, int number, const void* from, size_t bytes) {                \
    return set(of, number, from, bytes);                                                                     \
  }                                                                                                          \
  PLD_STAND_IN Status NAME##GetAttribute(const T* of, int number, void* to, size_t bytes, size_t* written) { \
    return get(of, number, to, bytes, written);                                                              \
  }
PLD_DESCRIPTION(cublasLtMatrixLayout, Layout)
PLD_DESCRIPTION(cublasLtMatmulDesc, Product)
PLD_DESCRIPTION(cublasLtMatrixTransformDesc, Transform)
PLD_DESCRIPTION(cublasLtMatmulPreference, Preference)
