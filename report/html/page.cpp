#include "report/html/page.h"

#include <report/html/page_files.h>  // made by cmake/PageFiles.cmake of report/html/page

namespace palladion::report {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

// The modules as one script: without `import` lines, and without the word `export`. Names are unique in the
// folder; a test parses the result in a browser.
std::string script_of_modules() {
  std::string out;
  for (const html::PageFile& module : html::page_modules) {
    std::string_view text = module.text;
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
      std::string_view line = text.substr(0, end);
      text.remove_prefix(end);
      if (line.starts_with("import ")) continue;
      if (line.starts_with("export ")) line.remove_prefix(7);
      out += line;
    }
  }
  return out;
}

void put(std::string& page, std::string_view place, std::string_view text) {
  if (const size_t at = page.find(place); at != std::string::npos) page.replace(at, place.size(), text);
}

std::string data_block(std::string_view id, std::string_view json) {
  std::string out = "<script type=\"application/json\" id=\"";
  out += id;
  out += "\">";
  out += json.empty() ? "null" : inside_script(json);
  return out + "</script>\n";
}

}  // namespace

std::string inside_script(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 64);
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

std::string page_text(const PageParts& parts) {
  std::string page(html::page_template);
  put(page, "<!-- title -->", escaped(parts.title));
  put(page, "/* style */", html::page_style);
  put(page, "// script", script_of_modules());
  put(page, "<!-- data -->",
      data_block("data-report", parts.report) + data_block("data-trace", parts.trace) +
          data_block("data-recorded", parts.recorded.empty() ? "" : json_line(parts.recorded)) +
          data_block("data-more", json_line(parts.more)));
  return page;
}

}  // namespace palladion::report
