#include "cuda/native/jit_log.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "cuda/native/codes.h"
#include "isa/core/trim.h"

namespace palladion::cuda::native {
namespace {

template <class Visit>
void for_each_line(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    visit(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
}

std::optional<uint32_t> leading_number(std::string_view s) {
  s = isa::trimmed(s);
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

// The number that stands before `unit`, as in "16 bytes spill stores".
int number_before(std::string_view line, std::string_view unit) {
  const auto at = line.find(unit);
  if (at == std::string_view::npos) return 0;
  const std::string_view before = isa::trimmed(line.substr(0, at));
  const auto start = before.find_last_not_of("0123456789");
  return static_cast<int>(
      leading_number(before.substr(start == std::string_view::npos ? 0 : start + 1)).value_or(0));
}

struct Marker {
  std::string_view word;
  JitMessage::Kind kind;
};
constexpr Marker markers[] = {{"error", JitMessage::Kind::error},
                              {"fatal", JitMessage::Kind::error},
                              {"warning", JitMessage::Kind::warning},
                              {"info", JitMessage::Kind::info}};

// "...error   : text": the word, spaces, a colon.
std::optional<JitMessage> message_of(std::string_view line) {
  for (const Marker& m : markers) {
    const auto word = line.find(m.word);
    if (word == std::string_view::npos) continue;
    const std::string_view rest = line.substr(word + m.word.size());
    const auto colon = rest.find_first_not_of(" \t");
    if (colon == std::string_view::npos || rest[colon] != ':') continue;
    JitMessage out{m.kind, 0, std::string(isa::trimmed(rest.substr(colon + 1)))};
    const std::string_view head = line.substr(0, word);
    const auto at = head.rfind("line ");
    if (at != std::string_view::npos) out.line = leading_number(head.substr(at + 5)).value_or(0);
    return out;
  }
  return std::nullopt;
}

// What `.file 1 "kernel.cpp"` directives call file `number`.
std::string file_named(std::string_view ptx, uint32_t number) {
  std::string found;
  for_each_line(ptx, [&](std::string_view line) {
    line = isa::trimmed(line);
    if (!found.empty() || !line.starts_with(".file")) return;
    if (leading_number(line.substr(5)) != number) return;
    const auto open = line.find('"'), close = line.rfind('"');
    if (open != std::string_view::npos && close > open) found = line.substr(open + 1, close - open - 1);
  });
  return found;
}

}  // namespace

std::vector<JitMessage> parse_jit_log(std::string_view log) {
  std::vector<JitMessage> out;
  for_each_line(log, [&](std::string_view line) {
    if (auto message = message_of(line)) out.push_back(std::move(*message));
  });
  return out;
}

std::map<std::string, ResourceUse, std::less<>> parse_resource_use(std::string_view log) {
  std::map<std::string, ResourceUse, std::less<>> out;
  ResourceUse* current = nullptr;
  constexpr std::string_view entry = "Compiling entry function '", properties = "Function properties for ";
  for_each_line(log, [&](std::string_view line) {
    if (const auto at = line.find(entry); at != std::string_view::npos) {
      const std::string_view name = line.substr(at + entry.size());
      current = &out[std::string(name.substr(0, name.find('\'')))];
    } else if (const auto of = line.find(properties); of != std::string_view::npos) {
      // Device functions have properties too; only entries are kept.
      std::string_view name = isa::trimmed(line.substr(of + properties.size()));
      if (name.size() > 2 && name.front() == '\'') name = name.substr(1, name.size() - 2);
      const auto known = out.find(name);
      current = known == out.end() ? nullptr : &known->second;
    } else if (current && line.find("bytes stack frame") != std::string_view::npos) {
      current->stack_bytes = number_before(line, "bytes stack frame");
      current->spill_store_bytes = number_before(line, "bytes spill stores");
      current->spill_load_bytes = number_before(line, "bytes spill loads");
    } else if (current && line.find("Used ") != std::string_view::npos) {
      current->registers = number_before(line, "registers");
      current->barriers = number_before(line, "barriers");
      current->shared_bytes = number_before(line, "bytes smem");
    }
  });
  return out;
}

namespace {

// What stands behind `before`, up to `end`; empty where it does not.
std::string_view between(std::string_view text, std::string_view before, char end) {
  const size_t at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  return text.substr(0, text.find(end));
}

}  // namespace

std::vector<CompilerRemark> parse_remarks(std::string_view log) {
  std::vector<CompilerRemark> out;
  for (const JitMessage& message : parse_jit_log(log)) {
    const std::string_view code = between(message.text, "(", ')');
    const bool has_code = code.size() == 5 && code[0] == 'C' && message.text.front() == '(';
    if (!has_code) continue;
    const std::string text(isa::trimmed(std::string_view(message.text).substr(code.size() + 2)));
    const std::string_view line = between(text, "around line ", ' ');
    CompilerRemark remark{.code = std::string(code),
                          .function = std::string(between(text, "function '", '\'')),
                          .line = line.empty() ? 0 : leading_number(line).value_or(0),
                          .text = text};
    if (std::ranges::find(out, remark) == out.end()) out.push_back(std::move(remark));
  }
  return out;
}

isa::SourceLoc author_location(std::string_view ptx, uint32_t line) {
  uint32_t number = 0;
  std::string_view last;
  for_each_line(ptx, [&](std::string_view text) {
    text = isa::trimmed(text);
    if (++number <= line && text.starts_with(".loc")) last = text.substr(4);
  });
  if (last.empty()) return {};
  const auto file = leading_number(last);
  if (!file) return {};
  last = isa::trimmed(last);
  const auto next = last.find_first_of(" \t");
  if (next == std::string_view::npos) return {};
  isa::SourceLoc loc;
  loc.file = file_named(ptx, *file);
  loc.line = leading_number(last.substr(next)).value_or(0);
  return loc;
}

isa::Diagnostics jit_diagnostics(std::string_view log, std::string_view ptx, const std::string& fallback) {
  isa::Diagnostics out;
  for (const JitMessage& message : parse_jit_log(log)) {
    if (message.kind != JitMessage::Kind::error) continue;
    // "Ptx assembly aborted due to errors" says nothing that the others do not.
    if (message.line == 0 && !out.empty()) continue;
    isa::Diagnostic d{
        .code = Code::ptx_refused, .message = "the driver's PTX compiler: " + message.text, .help = {}};
    d.loc.line = message.line;
    const isa::SourceLoc author = author_location(ptx, message.line);
    if (message.line != 0 && author.known())
      d.help = fmt::format("written at {}:{}", author.file, author.line);
    out.push_back(std::move(d));
  }
  if (out.empty()) out.push_back({.code = Code::ptx_refused, .message = fallback});
  return out;
}

}  // namespace palladion::cuda::native
