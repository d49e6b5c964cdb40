#pragma once
// Names of parameterised tests: what a parameter prints as (PrintTo beside its type), in letters that gtest
// allows.
#include <gtest/gtest.h>

#include <cctype>
#include <string>

namespace palladion::test {

inline std::string test_name(std::string text) {
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return text;
}

// The last argument of INSTANTIATE_TEST_SUITE_P. Numbered: the same parameter may be there twice.
template <class P>
std::string printed_name(const testing::TestParamInfo<P>& info) {
  return test_name(testing::PrintToString(info.param));
}
template <class P>
std::string numbered_name(const testing::TestParamInfo<P>& info) {
  return std::to_string(info.index) + "_" + printed_name(info);
}

}  // namespace palladion::test
