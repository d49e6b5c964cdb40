// Numbers of different things: what mixes does not compile.
#include "isa/core/index.h"

#include <gtest/gtest.h>

#include <map>
#include <type_traits>
#include <unordered_map>

namespace palladion::isa {
namespace {

using Row = Index<struct RowTag>;
using Column = Index<struct ColumnTag>;
using Place = Index<struct PlaceTag, uint64_t>;

template <class A, class B>
concept Comparable = requires(A a, B b) { a == b; };
template <class A, class B>
concept Ordered = requires(A a, B b) { a < b; };
template <class A, class B>
concept Chosen = requires(bool c, A a, B b) { c ? a : b; };

static_assert(!std::is_convertible_v<uint32_t, Row>, "a number becomes an index by its name alone");
static_assert(!std::is_convertible_v<Row, Column> && !std::is_constructible_v<Column, Row>);
static_assert(!std::is_assignable_v<Row&, Column> && !std::is_assignable_v<Row&, uint32_t>);
static_assert(Comparable<Row, Row> && !Comparable<Row, Column> && Comparable<Row, uint32_t>);
static_assert(Ordered<Row, Row> && !Ordered<Row, Column>);
static_assert(std::is_convertible_v<Row, uint32_t>, "it is read as a number");
static_assert(!Chosen<int, Place> && !Chosen<Place, uint32_t>, "the index would be cut to the number's bits");
static_assert(Chosen<uint64_t, Place> && Chosen<Place, Place> && Chosen<int, Row>);
static_assert(Comparable<Place, int> && Comparable<int, Place> && Ordered<Place, uint32_t>);
static_assert(sizeof(Row) == sizeof(uint32_t) && std::is_trivially_copyable_v<Row>, "it costs nothing");

TEST(Index, AnIndexAndACountGiveAnIndex) {
  static_assert(std::is_same_v<decltype(Row(3) + 1), Row>);
  static_assert(std::is_same_v<decltype(Place(3) - 1U), Place>);
  static_assert(std::is_same_v<decltype(Row(5) - Row(3)), uint32_t>, "two of them a distance");
  static_assert(std::is_same_v<decltype(Row(5) + uint64_t{1}), uint64_t>, "nothing is cut off");
  static_assert(std::is_same_v<decltype(4 + Place(3)), uint64_t>);
  static_assert(std::is_same_v<decltype(Place(9) % 4), uint64_t> &&
                std::is_same_v<decltype(Place(9) >> 3), uint64_t>);
  Row row(3);
  row += 2;
  EXPECT_EQ(++row, Row(6));
  EXPECT_EQ(--row - 1, Row(4));
  EXPECT_LT(Row(2), Row(3));
  EXPECT_EQ(fmt::format("{:>4}", Row(7)), "   7");
}

TEST(Index, IsAKey) {
  std::unordered_map<Row, int> hashed{{Row(1), 10}};
  std::map<Row, int> sorted{{Row(1), 10}};
  EXPECT_EQ(hashed.at(Row(1)), sorted.at(Row(1)));
}

}  // namespace
}  // namespace palladion::isa
