#pragma once
// The data of a page.
#include <string>
#include <string_view>

namespace palladion {

// The text of a data block, as JSON.
inline std::string data_of(const std::string& page, std::string_view id) {
  const std::string open = "<script type=\"application/json\" id=\"" + std::string(id) + "\">";
  const size_t at = page.find(open);
  if (at == std::string::npos) return {};
  const size_t from = at + open.size();
  return page.substr(from, page.find("</script>", from) - from);
}

}  // namespace palladion
