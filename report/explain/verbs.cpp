#include "report/explain/verbs.h"

#include <algorithm>
#include <fstream>
#include <set>

namespace palladion::report {
namespace {

namespace fs = std::filesystem;

// Comments and declarations of one header at the level of namespaces, as clang-format lays them out.
class HeaderReader {
 public:
  HeaderReader(std::string header, std::string_view verb) : header_(std::move(header)), verb_(verb) {}

  void line(std::string_view text) {
    if (!declaration_.empty()) return go_on(text);
    if (text.starts_with("// ")) return take_comment(text.substr(3));
    const bool declares =
        !text.empty() && std::string_view(" }#/").find(text.front()) == std::string_view::npos;
    if (text.starts_with("namespace ")) return enter(text);
    if (text.starts_with("}  // namespace") && !spaces_.empty()) spaces_.pop_back();
    if (declares) return go_on(text);
    comment_.clear();
  }

  std::vector<VerbText> found;

 private:
  static void append(std::string& text, std::string_view more) {
    const size_t begin = std::min(more.find_first_not_of(' '), more.size());
    text += (text.empty() ? "" : " ") + std::string(more.substr(begin));
  }

  void enter(std::string_view text) {
    constexpr std::string_view ours = "namespace palladion::";
    const size_t name = text.starts_with(ours) ? ours.size() : text.size();
    spaces_.emplace_back(text.substr(name, text.find(' ', name) - name));
    comment_.clear();
  }

  // A comment stands for all declarations that follow it without a blank line.
  void take_comment(std::string_view text) {
    if (is_used_) comment_.clear();
    is_used_ = false;
    append(comment_, text);
  }

  void go_on(std::string_view text) {
    if (const size_t remark = text.find(" // "); remark != std::string_view::npos) {
      take_comment(text.substr(remark + 4));
      text = text.substr(0, text.find_last_not_of(' ', remark) + 1);
    }
    const size_t body = text.find(") {");
    append(declaration_, body == std::string_view::npos ? text : text.substr(0, body + 1));
    if (body == std::string_view::npos && !text.ends_with(';') && !text.ends_with('{')) return;
    keep();
    declaration_.clear();
    is_used_ = true;
  }

  // `auto verb(` is it; `x.verb(` in another's arguments is not.
  void keep() {
    const size_t open = declaration_.find(verb_ + "(");
    const std::string space = spaces_.empty() ? "" : spaces_.back();
    const bool is_public = space == "pl" || space == "plgpu";
    if (!is_public || open == std::string::npos || open == 0 || declaration_[open - 1] != ' ' ||
        declaration_.find('(') < open)
      return;
    for (const std::string_view loc : {", std::source_location loc = std::source_location::current()",
                                       "std::source_location loc = std::source_location::current()"})
      if (const size_t at = declaration_.find(loc); at != std::string::npos)
        declaration_.erase(at, loc.size());
    found.push_back({space + "::" + verb_, header_, comment_, declaration_});
  }

  std::string header_, verb_, comment_, declaration_;
  std::vector<std::string> spaces_;  // the namespaces that are open; empty for those that are not ours
  bool is_used_ = false;             // the comment, by a declaration
};

std::vector<VerbText> verbs_of(const fs::path& header, const std::string& name, std::string_view verb) {
  HeaderReader reader(name, verb);
  std::ifstream in(header);
  for (std::string text; std::getline(in, text);) reader.line(text);
  return std::move(reader.found);
}

}  // namespace

std::vector<VerbText> find_verbs(std::string_view word, const fs::path& palladion) {
  const size_t prefix = word.find_last_of(":.");
  const std::string space(word.substr(0, word.find_first_of(":.")));
  const std::string_view verb = prefix == std::string_view::npos ? word : word.substr(prefix + 1);
  std::error_code failed;
  std::set<fs::path> headers;
  for (const auto& entry : fs::recursive_directory_iterator(palladion / "frontend", failed))
    if (entry.path().extension() == ".h") headers.insert(entry.path());
  std::vector<VerbText> out;
  for (const fs::path& header : headers)
    for (VerbText& text : verbs_of(header, header.lexically_relative(palladion).generic_string(), verb))
      if (prefix == std::string_view::npos || text.name == space + "::" + std::string(verb))
        out.push_back(std::move(text));
  return out;
}

}  // namespace palladion::report
