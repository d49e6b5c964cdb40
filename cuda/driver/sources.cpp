#include "cuda/driver/sources.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "cuda/cubin/source_text.h"
#include "report/text/finding_text.h"

namespace palladion::cuda::driver {
namespace {

struct Sources {
  std::mutex lock;
  std::map<std::string, std::string, std::less<>> texts;  // by the name of the file
};
Sources& sources() {
  static auto* const s = new Sources;
  return *s;
}

std::string line_of(std::string_view text, uint32_t line) {
  for (; line > 1 && !text.empty(); --line)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

void keep_sources(std::string_view ptx) {
  Sources& s = sources();
  const std::lock_guard guard(s.lock);
  for (auto& [file, text] : cubin::sources_in(ptx)) s.texts[file] = std::move(text);
}

std::string source_line(const std::string& file, uint32_t line) {
  Sources& s = sources();
  const std::lock_guard guard(s.lock);
  const auto kept = s.texts.find(file);
  return kept != s.texts.end() ? line_of(kept->second, line) : report::read_source_line(file, line);
}

}  // namespace palladion::cuda::driver
