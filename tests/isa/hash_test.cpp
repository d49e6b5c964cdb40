// The hash of files and reports: published test vectors, and parts that add up to the whole.
#include "isa/core/hash.h"

#include <gtest/gtest.h>

namespace palladion::isa {
namespace {

TEST(Fnv1a, TestVectorsOfTheReferenceCode) {
  EXPECT_EQ(Fnv1a().value(), 0xCBF29CE484222325ULL);
  EXPECT_EQ(Fnv1a().add("a").value(), 0xAF63DC4C8601EC8CULL);
  EXPECT_EQ(Fnv1a().add("foobar").value(), 0x85944171F73967E8ULL);
}

TEST(Fnv1a, TextsAndBytesAreTheSameAndAddUp) {
  const std::string_view text = "f\xC3\xA9";  // a byte is unsigned, whatever char is
  EXPECT_EQ(Fnv1a().add(text).value(), Fnv1a().add(std::as_bytes(std::span(text))).value());
  EXPECT_EQ(Fnv1a().add("foo").add("bar").value(), Fnv1a().add("foobar").value());
  EXPECT_EQ(Fnv1a().add("foo").step(0).value(), Fnv1a().add(std::string_view("foo\0", 4)).value());
}

}  // namespace
}  // namespace palladion::isa
