#pragma once
// A report that the program wrote, and what headless Chromium makes of it.
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/program.h"
#include "tests/report/page_data.h"

namespace palladion::cli {

inline std::optional<std::string> find_chromium() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
    if (const auto found = toolkit::find_tool(name)) return found->string();
  return std::nullopt;
}

// What the page says of itself: lines "ok ...", "FAILED ...", and the last one with the sums.
struct Selftest {
  std::vector<std::string> lines;
  std::string log;  // of the browser
  std::string last() const { return lines.empty() ? "" : lines.back(); }
  std::string failures() const {
    std::string out;
    for (const std::string& line : lines)
      if (line.starts_with("FAILED")) out += line + "\n";
    return out;
  }
};

class Report : public Program {
 protected:
  std::string made(const std::string& command, int status = 0) const {
    const Ran ran = run(command + " --report " + file("report.html"));
    EXPECT_EQ(ran.status, status) << ran.out << ran.err;
    return read(file("report.html"));
  }

  // Opens report.html; skip before when there is no browser.
  Selftest selftest() const {
    Selftest out;
    const auto ran = toolkit::run_command("timeout 120 " + *find_chromium() +
                                          " --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
                                          "--no-first-run --window-size=1400,900" +
                                          " --virtual-time-budget=30000 --user-data-dir=" + file("browser") +
                                          " --dump-dom 'file://" + file("report.html") + "#selftest'");
    const size_t at = ran.output.find("<pre id=\"selftest\">");
    out.log = ran.output.substr(0, 2000);
    if (at == std::string::npos) return out;
    const size_t from = ran.output.find('>', at) + 1;
    std::istringstream text(ran.output.substr(from, ran.output.find("</pre>", from) - from));
    for (std::string line; std::getline(text, line);) out.lines.push_back(line);
    return out;
  }
};

}  // namespace palladion::cli
