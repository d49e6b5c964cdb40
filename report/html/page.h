// `--report FILE.html`: one page that holds everything that it needs. Its numbers are those of --json, its
// timeline is that of --trace; the page itself is in the folder `page`.
#pragma once

#include <string>
#include <string_view>

#include "report/json/document.h"

namespace palladion::report {

struct PageParts {
  std::string title;
  std::string report;     // the text of --json
  std::string trace;      // traces::ColumnSink::json; empty: nothing was recorded
  json::object recorded;  // of MemoryProbe
  json::object more;      // "sources", "chip", "shown", "error_maps"
};

std::string page_text(const PageParts& parts);

// JSON inside of a <script>: no `<` stays, so nothing in it ends the element or begins a comment.
std::string inside_script(std::string_view json);

}  // namespace palladion::report
