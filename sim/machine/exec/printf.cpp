#include "sim/machine/exec/printf.h"

#include <cstdio>

namespace palladion::sim {
namespace {

// One conversion specification: %[flags][width][.precision][length]type.
struct Spec {
  std::string text;  // without the length modifier
  bool is_long = false;
  char type = 0;
};

Spec parse_spec(const std::string& format, size_t& at) {
  Spec s;
  s.text = "%";
  for (++at; at < format.size(); ++at) {
    const char c = format[at];
    if (c == 'l' || c == 'j' || c == 'z' || c == 't') {
      s.is_long = true;
    } else if (c == 'h') {
      continue;
    } else if ((c >= '0' && c <= '9') || c == '-' || c == '+' || c == ' ' || c == '#' || c == '.' ||
               c == '*') {
      s.text += c;
    } else {
      s.type = c;
      ++at;
      return s;
    }
  }
  return s;
}

template <class T>
std::string print(const std::string& spec, T value) {
  char buffer[512];
  const int n = std::snprintf(buffer, sizeof buffer, spec.c_str(), value);  // NOLINT: the guest's own format
  return {buffer, static_cast<size_t>(std::max(0, std::min<int>(n, sizeof buffer - 1)))};
}

class Arguments {
 public:
  Arguments(Exec& x, uint64_t at, int lane) : x_(x), at_(at), lane_(lane) {}
  std::optional<uint64_t> next(uint64_t size) {
    at_ = (at_ + size - 1) / size * size;
    uint8_t copy[8];
    const uint8_t* p = x_.read(isa::Space::generic, at_, size, lane_, "read of a printf argument", copy);
    if (p == nullptr) return std::nullopt;
    uint64_t v = 0;
    std::memcpy(&v, p, size);
    at_ += size;
    return v;
  }

 private:
  Exec& x_;
  uint64_t at_;
  int lane_;
};

std::optional<std::string> convert(Exec& x, Spec s, Arguments& arguments, int lane) {
  for (size_t star = s.text.find('*'); star != std::string::npos; star = s.text.find('*')) {
    const auto width = arguments.next(4);
    if (!width) return std::nullopt;
    s.text.replace(star, 1, std::to_string(static_cast<int32_t>(*width)));
  }
  const bool wide = s.is_long || s.type == 'p' || s.type == 's';
  const bool floating = std::string_view("eEfFgGaA").find(s.type) != std::string_view::npos;
  const auto value = arguments.next(wide || floating ? 8 : 4);
  if (!value) return std::nullopt;
  if (floating) return print(s.text + s.type, std::bit_cast<double>(*value));
  switch (s.type) {
    case 'd':
    case 'i':
      return s.is_long ? print(s.text + "lld", static_cast<long long>(*value))
                       : print(s.text + "d", static_cast<int32_t>(*value));
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      return s.is_long ? print(s.text + "ll" + s.type, static_cast<unsigned long long>(*value))
                       : print(s.text + s.type, static_cast<uint32_t>(*value));
    case 'c':
      return print(s.text + "c", static_cast<int>(*value));
    case 'p':
      return print(s.text + "p", reinterpret_cast<void*>(*value));
    case 's': {
      const auto text = guest_string(x, *value, lane);
      return text ? std::optional(print(s.text + "s", text->c_str())) : std::nullopt;
    }
    default:
      return s.text + s.type;
  }
}

}  // namespace

std::optional<std::string> guest_string(Exec& x, uint64_t address, int lane) {
  std::optional<std::string> out(std::in_place);
  while (out->size() < 4096) {
    uint8_t copy = 0;
    const uint8_t* p = x.read(isa::Space::generic, address + out->size(), 1, lane, "read of a string", &copy);
    if (p == nullptr) return std::nullopt;
    if (*p == 0) break;
    *out += static_cast<char>(*p);
  }
  return out;
}

std::optional<std::string> format_guest(Exec& x, uint64_t format, uint64_t block, int lane) {
  const auto text = guest_string(x, format, lane);
  if (!text) return std::nullopt;
  Arguments arguments(x, block, lane);
  std::string out;
  for (size_t at = 0; at < text->size();) {
    if ((*text)[at] != '%') {
      out += (*text)[at++];
    } else if (at + 1 < text->size() && (*text)[at + 1] == '%') {
      out += '%';
      at += 2;
    } else {
      const auto piece = convert(x, parse_spec(*text, at), arguments, lane);
      if (!piece) return std::nullopt;
      out += *piece;
    }
  }
  return out;
}

}  // namespace palladion::sim
