#pragma once
// What a command found, from its JSON document.
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/program.h"
#include "tests/support/json_reading.h"

namespace palladion::cli {

class ProgramFindings : public Program {
 protected:
  // The findings of `command`, which ends with `status`.
  json::array found(const std::string& command, int status) const {
    const Ran ran = run(command + " --json " + file("found.json"));
    EXPECT_EQ(ran.status, status) << ran.err;
    const json::value document = json::parse(read(file("found.json")));
    const json::value* const of_run = document.as_object().if_contains("sim");
    return (of_run == nullptr ? document : *of_run).at("findings").as_array();
  }
  // Of the only finding: "strict PLD6101".
  std::string only(const std::string& command, int status) const {
    const json::array all = found(command, status);
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? "none" : text(all[0].at("severity")) + " " + text(all[0].at("code"));
  }
};

}  // namespace palladion::cli
