#include "report/json/document.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace palladion::report {
namespace {

TEST(Document, NestsInOrder) {
  const json::object value = {{"name", "a \"b\"\n\x01"},
                              {"cycles", uint64_t(1) << 63},
                              {"delta", -3},
                              {"ratio", 0.1},
                              {"whole", 1980.0},
                              {"ok", true},
                              {"none", nullptr},
                              {"nan", -std::nan("")},
                              {"limit", -std::numeric_limits<double>::infinity()},
                              {"shape", {512, 256}},
                              {"empty", json::array()},
                              {"inner", json::object()}};
  EXPECT_EQ(json_text(value), R"({
  "name": "a \"b\"\n\u0001",
  "cycles": 9223372036854775808,
  "delta": -3,
  "ratio": 0.1,
  "whole": 1980,
  "ok": true,
  "none": null,
  "nan": "nan",
  "limit": "-inf",
  "shape": [
    512,
    256
  ],
  "empty": [],
  "inner": {}
}
)");
  EXPECT_EQ(json_line({{"a", {1, 2.5}}, {"b", "\n"}}), R"({"a": [1,2.5],"b": "\n"})");
}

}  // namespace
}  // namespace palladion::report
