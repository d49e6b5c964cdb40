#include "cuda/driver/cudnn/descriptors.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "cuda/driver/cudnn/graph.h"

namespace palladion::cuda::cudnn {
namespace {

size_t size_of(int type) {
  switch (type) {
    case AttributeType::boolean:
    case AttributeType::character:
      return 1;
    case AttributeType::fraction:
      return 16;
    case AttributeType::handle:
    case AttributeType::int64:
    case AttributeType::float64:
    case AttributeType::pointer:
    case AttributeType::descriptor:
      return 8;
    default:
      return 4;
  }
}

template <class To>
To number_at(const Attribute& a, size_t i) {
  const auto as = [&](auto value) {
    std::memcpy(&value, a.bytes.data() + i * sizeof value, sizeof value);
    return static_cast<To>(value);
  };
  if (a.type == AttributeType::float32) return as(float());
  if (a.type == AttributeType::float64) return as(double());
  if (size_of(a.type) == 1) return as(uint8_t());
  return size_of(a.type) == 4 ? as(int32_t()) : as(int64_t());
}

Attribute attribute_of(int type, int64_t count, const void* elements) {
  Attribute a{type, count, {}, {}};
  if (type == AttributeType::descriptor) {
    for (int64_t i = 0; i < count; ++i)
      a.descriptors.push_back(static_cast<Descriptor* const*>(elements)[i]->contents);
    return a;
  }
  const auto* const bytes = static_cast<const std::byte*>(elements);
  a.bytes.assign(bytes, bytes + static_cast<size_t>(count) * size_of(type));
  return a;
}

// The program has made the descriptors that get these contents.
void give(const Attribute& a, int64_t count, void* elements) {
  if (a.type != AttributeType::descriptor) {
    std::memcpy(elements, a.bytes.data(), static_cast<size_t>(count) * size_of(a.type));
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    static_cast<Descriptor* const*>(elements)[i]->contents =
        std::make_shared<Contents>(*a.descriptors[static_cast<size_t>(i)]);
}

}  // namespace

const Attribute* Contents::find(int name) const {
  const auto at = attributes.find(name);
  return at == attributes.end() ? nullptr : &at->second;
}
std::vector<int64_t> Contents::integers(int name) const {
  std::vector<int64_t> out;
  if (const Attribute* const a = find(name); a != nullptr && a->type != AttributeType::descriptor)
    for (size_t i = 0; i < static_cast<size_t>(a->count); ++i) out.push_back(number_at<int64_t>(*a, i));
  return out;
}
int64_t Contents::integer(int name, int64_t otherwise) const {
  const auto all = integers(name);
  return all.empty() ? otherwise : all.front();
}
double Contents::real(int name, double otherwise) const {
  const Attribute* const a = find(name);
  return a == nullptr || a->bytes.empty() ? otherwise : number_at<double>(*a, 0);
}
Shared Contents::part(int name) const {
  const Attribute* const a = find(name);
  return a == nullptr || a->descriptors.empty() ? nullptr : a->descriptors.front();
}
void Contents::put_integer(int name, int type, int64_t value) {
  attributes[name] = attribute_of(type, 1, &value);  // little endian
}
void Contents::put(int name, std::vector<Shared> descriptors) {
  const auto count = static_cast<int64_t>(descriptors.size());
  attributes[name] = {AttributeType::descriptor, count, {}, std::move(descriptors)};
}

}  // namespace palladion::cuda::cudnn

using namespace palladion::cuda::cudnn;

PLD_STAND_IN Status cudnnBackendCreateDescriptor(int kind, Descriptor** out) {
  if (out == nullptr) return null_pointer;
  *out = new (std::nothrow) Descriptor{std::make_shared<Contents>()};
  if (*out == nullptr) return allocation_failed;
  (*out)->contents->kind = static_cast<Kind>(kind);
  return success;
}
PLD_STAND_IN Status cudnnBackendDestroyDescriptor(Descriptor* d) { return delete d, success; }

PLD_STAND_IN Status cudnnBackendSetAttribute(Descriptor* d, int name, int type, int64_t count,
                                             const void* elements) {
  if (d == nullptr || (elements == nullptr && count > 0)) return null_pointer;
  if (count < 0 || d->contents->is_final) return bad_param;
  if (type == AttributeType::descriptor)
    for (int64_t i = 0; i < count; ++i)
      if (static_cast<Descriptor* const*>(elements)[i] == nullptr) return null_pointer;
  d->contents->attributes[name] = attribute_of(type, count, elements);
  return success;
}

// What was not stated has no elements.
PLD_STAND_IN Status cudnnBackendGetAttribute(const Descriptor* d, int name, int type, int64_t most,
                                             int64_t* count, void* elements) {
  if (d == nullptr) return null_pointer;
  if (!d->contents->is_final) return not_finalized;
  const Attribute* const a = d->contents->find(name);
  if (a != nullptr && a->type != type) return bad_param;
  const int64_t n = a == nullptr ? 0 : a->count;
  if (count != nullptr) *count = n;
  if (elements != nullptr && n > 0 && most > 0) give(*a, std::min(n, most), elements);
  return success;
}

PLD_STAND_IN Status cudnnBackendFinalize(Descriptor* d) {
  if (d == nullptr) return null_pointer;
  const Status status = finish(*d->contents);
  d->contents->is_final = status == success;
  return status;
}
