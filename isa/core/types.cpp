#include "isa/core/types.h"

#include <array>

namespace palladion::isa {
namespace {

struct TypeRow {
  Type type;
  std::string_view name;
  int bits;
  TypeKind kind;
};

constexpr auto U = TypeKind::untyped, N = TypeKind::unsigned_int, S = TypeKind::signed_int,
               F = TypeKind::floating;

constexpr TypeRow type_rows[] = {
    {Type::none, "none", 0, U},
    {Type::pred, "pred", 1, TypeKind::predicate},
    {Type::b8, "b8", 8, U},
    {Type::b16, "b16", 16, U},
    {Type::b32, "b32", 32, U},
    {Type::b64, "b64", 64, U},
    {Type::b128, "b128", 128, U},
    {Type::u8, "u8", 8, N},
    {Type::u16, "u16", 16, N},
    {Type::u32, "u32", 32, N},
    {Type::u64, "u64", 64, N},
    {Type::s8, "s8", 8, S},
    {Type::s16, "s16", 16, S},
    {Type::s32, "s32", 32, S},
    {Type::s64, "s64", 64, S},
    {Type::u16x2, "u16x2", 32, N},
    {Type::s16x2, "s16x2", 32, S},
    {Type::f16, "f16", 16, F},
    {Type::f16x2, "f16x2", 32, F},
    {Type::bf16, "bf16", 16, F},
    {Type::bf16x2, "bf16x2", 32, F},
    {Type::tf32, "tf32", 32, F},
    {Type::f32, "f32", 32, F},
    {Type::f64, "f64", 64, F},
    {Type::f32x2, "f32x2", 64, F},
    {Type::e4m3, "e4m3", 8, F},
    {Type::e5m2, "e5m2", 8, F},
    {Type::e4m3x2, "e4m3x2", 16, F},
    {Type::e5m2x2, "e5m2x2", 16, F},
    {Type::e2m3, "e2m3", 8, F},
    {Type::e3m2, "e3m2", 8, F},
    {Type::e2m1, "e2m1", 4, F},
    {Type::e2m3x2, "e2m3x2", 16, F},
    {Type::e3m2x2, "e3m2x2", 16, F},
    {Type::e2m1x2, "e2m1x2", 8, F},
    {Type::ue8m0x2, "ue8m0x2", 16, F},
    {Type::e4m3x4, "e4m3x4", 32, F},
    {Type::e5m2x4, "e5m2x4", 32, F},
    {Type::e2m3x4, "e2m3x4", 32, F},
    {Type::e3m2x4, "e3m2x4", 32, F},
    {Type::e2m1x4, "e2m1x4", 16, F},
    {Type::s4, "s4", 4, S},
    {Type::u4, "u4", 4, N},
    {Type::b1, "b1", 1, U},
    {Type::texref, "texref", 64, U},
    {Type::samplerref, "samplerref", 64, U},
    {Type::surfref, "surfref", 64, U},
};

const TypeRow& row(Type type) { return type_rows[static_cast<size_t>(type)]; }

template <class Enum>
struct Word {
  Enum value;
  std::string_view text;
};

constexpr Word<Space> spaces[] = {{Space::generic, "generic"},
                                  {Space::reg, "reg"},
                                  {Space::sreg, "sreg"},
                                  {Space::const_, "const"},
                                  {Space::global, "global"},
                                  {Space::local, "local"},
                                  {Space::param, "param"},
                                  {Space::shared_cta, "shared"},
                                  {Space::shared_cluster, "shared::cluster"},
                                  {Space::shared_cta, "shared::cta"},
                                  {Space::param, "param::entry"},
                                  {Space::param, "param::func"}};
constexpr Word<Order> orders[] = {{Order::weak, "weak"},       {Order::volatile_, "volatile"},
                                  {Order::relaxed, "relaxed"}, {Order::acquire, "acquire"},
                                  {Order::release, "release"}, {Order::acq_rel, "acq_rel"},
                                  {Order::sc, "sc"},           {Order::mmio, "mmio"}};
constexpr Word<Scope> scopes[] = {
    {Scope::cta, "cta"}, {Scope::cluster, "cluster"}, {Scope::gpu, "gpu"}, {Scope::sys, "sys"}};

template <class Enum, size_t n>
std::optional<Enum> find(const Word<Enum> (&words)[n], std::string_view s) {
  for (const auto& w : words)
    if (w.text == s) return w.value;
  return std::nullopt;
}

template <class Enum, size_t n>
std::string_view text_of(const Word<Enum> (&words)[n], Enum value) {
  for (const auto& w : words)
    if (w.value == value) return w.text;
  return "?";
}

}  // namespace

int bits(Type type) { return row(type).bits; }
TypeKind kind(Type type) { return row(type).kind; }
std::string_view name(Type type) { return row(type).name; }

std::optional<Type> type_named(std::string_view s) {
  for (const auto& r : type_rows)
    if (r.name == s) return r.type;
  return std::nullopt;
}

std::string_view name(Space space) { return text_of(spaces, space); }
std::optional<Space> space_named(std::string_view s) { return find(spaces, s); }
std::optional<Order> order_named(std::string_view s) { return find(orders, s); }
std::optional<Scope> scope_named(std::string_view s) { return find(scopes, s); }
std::string_view name(Order order) { return text_of(orders, order); }
std::string_view name(Scope scope) { return text_of(scopes, scope); }

}  // namespace palladion::isa
