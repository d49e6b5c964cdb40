#include "isa/core/symbol_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace palladion::isa {
namespace {

constexpr size_t most_template = 48;  // characters of a template's arguments that are shown

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text != nullptr ? text.get() : symbol;
}

// The end of the brackets that open at `from`.
size_t end_of_brackets(std::string_view text, size_t from) {
  int depth = 0;
  for (size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '<' || c == '{' || c == '[') ++depth;
    const bool arrow = c == '>' && i > 0 && text[i - 1] == '-';
    if ((c == ')' || (c == '>' && !arrow) || c == '}' || c == ']') && --depth == 0) return i + 1;
  }
  return text.size();
}

bool is_operator(std::string_view name) {
  constexpr std::string_view word = "operator";
  if (!name.ends_with(word)) return false;
  name.remove_suffix(word.size());
  return name.empty() || name.ends_with(':');
}

// nvcc's namespace of what a file keeps for itself: `_INTERNAL_1234abcd_7_file_cu_5678::`
void drop_internal(std::string& name) {
  for (size_t from = 0; (from = name.find("_INTERNAL_", from)) != std::string::npos;) {
    const size_t end = name.find("::", from);
    if (end == std::string::npos) return;
    name.erase(from, end + 2 - from);
  }
}

// Of a whole declaration the name.
std::string name_in(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (is_operator(out)) {  // the signs of its name
      const size_t end = text.substr(i).starts_with("()") ? i + 2 : std::min(text.find('(', i), text.size());
      out += text.substr(i, end - i);
      i = end;
    } else if (c == '(' || c == '<' || c == '{') {
      const size_t end = end_of_brackets(text, i);
      const std::string_view part = text.substr(i, end - i);
      if (c == '<' && part.size() > most_template)
        out += "<...>";
      else if (c != '(' || part == "(anonymous namespace)")
        out += part;
      i = end;
    } else if (c == ' ') {  // behind the result; or in front of `const` and `[clone .x]`, which end a name
      const std::string_view rest = text.substr(i + 1);
      if (rest == "const" || rest.starts_with("[clone") || rest.starts_with("const::")) {
        i += rest.starts_with("const") ? 6 : text.size();
      } else {
        out.clear();
        ++i;
      }
    } else {
      out += c;
      ++i;
    }
  }
  drop_internal(out);
  return out;
}

}  // namespace

std::string readable_name(std::string_view symbol) {
  if (!symbol.starts_with("_Z")) return std::string(symbol);
  const std::string whole = demangled(std::string(symbol));
  return whole == symbol ? whole : name_in(whole);
}

}  // namespace palladion::isa
