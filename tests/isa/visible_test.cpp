#include "isa/core/visible.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace palladion::isa {
namespace {

using std::string_literals::operator""s;

// ---- UTF-8 ---------------------------------------------------------------------------------------
TEST(ValidUtf8, TextStaysAsItIs) {
  for (const std::string& text :
       {""s, "add.cpp"s, "ä € 𝄞 \u00a0"s, "\x01\x1b[2J\n\t\x7f"s, "a\0b"s, "\xc2\x80\xdf\xbf"s,
        "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"s, "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"s})
    EXPECT_EQ(valid_utf8(text), text);
}

// RFC 3629, section 3 and 10.
TEST(ValidUtf8, EveryByteThatIsNoCharacterIsShown) {
  const struct {
    std::string bytes, shown;
  } cases[] = {
      {"\x80", R"(\x80)"},                                  // a continuation alone
      {"\xff\xfe", R"(\xff\xfe)"},                          // never in UTF-8
      {"\xc3", R"(\xc3)"},                                  // cut short, at the end
      {"\xe2\x82", R"(\xe2\x82)"},                          //
      {"\xe2\x82 ", R"(\xe2\x82 )"},                        // and before another character
      {"\xc3\xc3\xa4", "\\xc3\xc3\xa4"},                    // the character after it stays
      {"\xc0\xaf", R"(\xc0\xaf)"},                          // overlong: of one byte
      {"\xe0\x9f\xbf", R"(\xe0\x9f\xbf)"},                  // of two
      {"\xf0\x8f\xbf\xbf", R"(\xf0\x8f\xbf\xbf)"},          // of three
      {"\xed\xa0\x80", R"(\xed\xa0\x80)"},                  // a surrogate
      {"\xf4\x90\x80\x80", R"(\xf4\x90\x80\x80)"},          // above U+10FFFF
      {"\xf5\x80\x80\x80", R"(\xf5\x80\x80\x80)"},          //
      {"\xf8\x88\x80\x80\x80", R"(\xf8\x88\x80\x80\x80)"},  // five bytes
  };
  for (const auto& c : cases) EXPECT_EQ(valid_utf8(c.bytes), c.shown);
}

TEST(ValidUtf8, WhateverTheBytesTheResultIsValid) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random() % 24, '\0');
    for (char& c : bytes) c = static_cast<char>(random() % 2 == 0 ? 0xC0 + random() % 64 : random());
    const std::string text = valid_utf8(bytes), shown = visible(bytes);
    EXPECT_EQ(valid_utf8(text), text);
    EXPECT_EQ(visible(shown), shown);
    EXPECT_EQ(valid_utf8(shown), shown);
    for (const char c : shown) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t');
  }
}

// ---- a terminal ----------------------------------------------------------------------------------
TEST(Visible, ControlCharactersAreEscapedExceptNewlineAndTab) {
  EXPECT_EQ(visible("a\n\tb"), "a\n\tb");
  EXPECT_EQ(visible("a\0b"s), R"(a\x00b)");
  EXPECT_EQ(visible("\x07\b\r\x7f"), R"(\x07\x08\x0d\x7f)");
  EXPECT_EQ(visible("\x1b]0;title\x07"), R"(\x1b]0;title\x07)");
  EXPECT_EQ(visible("\xc2\x9b"), R"(\xc2\x9b)") << "C1: what ESC [ is in one character";
  EXPECT_EQ(visible("\xc2\xa0ä"), "\xc2\xa0ä");
}

TEST(Visible, ColoursStayOnlyWhereTheyAreAskedFor) {
  const std::string red = "\x1b[1;31mred\x1b[0m";
  EXPECT_EQ(visible(red, true), red);
  EXPECT_EQ(visible(red), R"(\x1b[1;31mred\x1b[0m)");
  EXPECT_EQ(visible("\x1b[2J", true), R"(\x1b[2J)") << "not a colour: it clears the screen";
  EXPECT_EQ(visible("\x1b[1;31", true), R"(\x1b[1;31)") << "cut short";
  EXPECT_EQ(visible("\x1b", true), R"(\x1b)");
}

// ---- a line of a source --------------------------------------------------------------------------
TEST(Excerpt, AShortLineKeepsItsColumns) {
  size_t column = 5;
  EXPECT_EQ(excerpt("\tx = \x01y;", column), " x = ?y;");
  EXPECT_EQ(column, 5U);
  EXPECT_EQ(excerpt("ä\xff€", column), "ä?€");
}

TEST(Excerpt, OfALongLineThePartAroundTheColumnIsShown) {
  const std::string line = std::string(500, 'a') + "X" + std::string(500, 'b');
  size_t column = 501;
  const std::string part = excerpt(line, column, 100);
  EXPECT_EQ(part.size(), 103U);
  EXPECT_TRUE(part.ends_with("...")) << part;
  ASSERT_LE(column, part.size());
  EXPECT_EQ(part[column - 1], 'X') << "the column is that of the same byte";
  size_t none = 0;
  EXPECT_EQ(excerpt(line, none, 10), "aaaaaaaaaa...");
  EXPECT_EQ(none, 0U) << "no column stays none";
}

TEST(Excerpt, AColumnBehindTheEndIsHarmless) {
  size_t column = 5000;
  EXPECT_EQ(excerpt("short", column, 100), "");
  EXPECT_GE(column, 1U);
  column = 7;
  EXPECT_EQ(excerpt("short", column), "short");
  EXPECT_EQ(column, 7U);
}

}  // namespace
}  // namespace palladion::isa
