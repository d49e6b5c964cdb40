#include "verify/arrays/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace palladion::npy {

namespace {

constexpr std::string_view magic = "\x93NUMPY";

struct Format {
  std::string_view dtype;
  std::string_view descr;  // little-endian, as it is written
  size_t bytes;
  bool opaque;  // NumPy itself has no such type
};

constexpr auto formats = std::to_array<Format>({
    {"f16", "<f2", 2, false},
    {"f32", "<f4", 4, false},
    {"f64", "<f8", 8, false},
    {"i8", "|i1", 1, false},
    {"i16", "<i2", 2, false},
    {"i32", "<i4", 4, false},
    {"i64", "<i8", 8, false},
    {"u8", "|u1", 1, false},
    {"u16", "<u2", 2, false},
    {"u32", "<u4", 4, false},
    {"u64", "<u8", 8, false},
    {"pred", "|b1", 1, false},
    {"bf16", "<V2", 2, true},
    {"e4m3", "|V1", 1, true},
    {"e5m2", "|V1", 1, true},
    {"ue8m0", "|V1", 1, true},
    {"e2m3", "|V1", 1, true},
    {"e3m2", "|V1", 1, true},
});

const Format* find_format(std::string_view dtype) {
  const auto at =
      std::find_if(formats.begin(), formats.end(), [&](const Format& f) { return f.dtype == dtype; });
  return at == formats.end() ? nullptr : &*at;
}

struct Header {
  std::string descr;
  std::optional<bool> fortran_order;
  std::optional<Shape> shape;
};

// The header is a Python dict literal with three known keys.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  Result<Header> parse() {
    Header header;
    if (!take('{')) return wrong("a dictionary");
    while (!take('}')) {
      const auto key = quoted();
      if (!key || !take(':')) return wrong("a quoted key and ':'");
      if (!value_of(*key, header)) return tl::make_unexpected(problem_);
      if (!take(',') && peek() != '}') return wrong("',' or '}'");
    }
    skip_space();
    if (!rest_.empty()) return wrong("nothing after the dictionary");
    if (header.descr.empty()) return tl::make_unexpected(std::string("its header has no 'descr'"));
    if (!header.fortran_order) return tl::make_unexpected(std::string("its header has no 'fortran_order'"));
    if (!header.shape) return tl::make_unexpected(std::string("its header has no 'shape'"));
    return header;
  }

 private:
  bool value_of(std::string_view key, Header& header) {
    if (key == "descr") return descr(header.descr);
    if (key == "fortran_order") return boolean(header.fortran_order);
    if (key == "shape") return shape(header.shape);
    problem_ = fmt::format("its header has an unknown key '{}'", key);
    return false;
  }

  bool descr(std::string& out) {
    if (peek() == '[') {
      problem_ = "it holds records with fields, not a plain array";
      return false;
    }
    const auto text = quoted();
    if (!text || text->empty()) return wrong_value("'descr'");
    out = *text;
    return true;
  }

  bool boolean(std::optional<bool>& out) {
    for (const auto& [word, value] :
         {std::pair{std::string_view("True"), true}, {std::string_view("False"), false}}) {
      if (peek() == word[0] && rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        out = value;
        return true;
      }
    }
    return wrong_value("'fortran_order'");
  }

  bool shape(std::optional<Shape>& out) {
    if (!take('(')) return wrong_value("'shape'");
    Shape dims;
    while (!take(')')) {
      skip_space();
      int64_t dim = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), dim);
      if (error != std::errc() || dim < 0) return wrong_value("'shape'");
      rest_.remove_prefix(size_t(end - rest_.data()));
      dims.push_back(dim);
      if (!take(',') && peek() != ')') return wrong_value("'shape'");
    }
    out = std::move(dims);
    return true;
  }

  std::optional<std::string> quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    const size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }

  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
  char peek() {
    skip_space();
    return rest_.empty() ? '\0' : rest_.front();
  }
  bool take(char c) {
    if (peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool wrong_value(std::string_view key) {
    problem_ = fmt::format("its header is damaged at the value of {}", key);
    return false;
  }
  static tl::unexpected<std::string> wrong(std::string_view wanted) {
    return tl::make_unexpected(fmt::format("its header is damaged: expected {}", wanted));
  }

  std::string_view rest_;
  std::string problem_;
};

struct Preamble {
  Header header;
  size_t data_offset;
};

uint32_t little_endian(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | uint8_t(bytes[i]);
  return value;
}

Result<Preamble> preamble(std::string_view file) {
  if (!file.starts_with(magic))
    return tl::make_unexpected(std::string("is not a .npy file (no \\x93NUMPY at its start)"));
  if (file.size() < magic.size() + 2) return tl::make_unexpected(std::string("ends within its header"));
  const int version = uint8_t(file[magic.size()]);
  if (version < 1 || version > 3) {
    return tl::make_unexpected(fmt::format("has .npy version {}; versions 1 to 3 are read", version));
  }
  const size_t length_bytes = version == 1 ? 2 : 4;
  const size_t start = magic.size() + 2 + length_bytes;
  if (file.size() < start) return tl::make_unexpected(std::string("ends within its header"));
  const size_t length = little_endian(file.substr(magic.size() + 2, length_bytes));
  if (file.size() - start < length) return tl::make_unexpected(std::string("ends within its header"));
  auto header = HeaderParser(file.substr(start, length)).parse();
  if (!header) return tl::make_unexpected(header.error());
  return Preamble{std::move(*header), start + length};
}

struct ElementType {
  const Format* format;
  bool big_endian;
};

// What ml_dtypes 0.5 gives to float8_e5m2, alone among the one-byte floats.
constexpr std::string_view ml_dtypes_e5m2 = "f1";

std::optional<ElementType> element_type(std::string_view descr, std::string_view expected) {
  bool big_endian = false;
  if (descr.starts_with('<') || descr.starts_with('|') || descr.starts_with('=')) {
    descr.remove_prefix(1);
  } else if (descr.starts_with('>')) {
    big_endian = true;
    descr.remove_prefix(1);
  }
  if (descr == "?") descr = "b1";
  const Format* wanted = find_format(expected);
  if (wanted != nullptr && wanted->opaque) {
    const std::string bits = fmt::format("{}", wanted->bytes);
    const bool raw = descr == "V" + bits || descr == "u" + bits;
    if (raw) return ElementType{wanted, big_endian};
  }
  if (descr == ml_dtypes_e5m2) return ElementType{find_format("e5m2"), false};
  for (const auto& format : formats) {
    if (format.descr.substr(1) == descr) return ElementType{&format, big_endian};
  }
  return std::nullopt;
}

std::optional<size_t> byte_count(std::span<const int64_t> shape, size_t element_bytes) {
  size_t bytes = element_bytes;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  for (const int64_t dim : shape) {
    if (__builtin_mul_overflow(bytes, size_t(dim), &bytes)) return std::nullopt;
  }
  return bytes;
}

void swap_bytes(std::vector<std::byte>& data, size_t element_bytes) {
  for (size_t i = 0; i + element_bytes <= data.size(); i += element_bytes) {
    std::reverse(data.begin() + ptrdiff_t(i), data.begin() + ptrdiff_t(i + element_bytes));
  }
}

// From first-index-fastest to last-index-fastest.
std::vector<std::byte> row_major(std::span<const std::byte> data, std::span<const int64_t> shape,
                                 size_t element_bytes) {
  std::vector<std::byte> out(data.size());
  Shape index(shape.size(), 0);
  for (size_t at = 0; at < data.size(); at += element_bytes) {
    size_t source = 0;
    for (size_t d = shape.size(); d-- > 0;) source = source * size_t(shape[d]) + size_t(index[d]);
    std::memcpy(out.data() + at, data.data() + source * element_bytes, element_bytes);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
  return out;
}

}  // namespace

size_t size_of(std::string_view dtype) {
  const Format* format = find_format(dtype);
  return format == nullptr ? 0 : format->bytes;
}

std::string describe(std::string_view dtype, std::span<const int64_t> shape) {
  return fmt::format("{}[{}]", dtype, fmt::join(shape, ","));
}

std::string expectation(const Expected& expected) {
  if (expected.dtype.empty() && !expected.shape) return "";
  const std::string dtype = expected.dtype.empty() ? "an array " : expected.dtype;
  if (!expected.shape) return fmt::format("; expected elements of type {}", dtype);
  return fmt::format("; expected {}", describe(dtype, *expected.shape));
}

// Of a file, in bytes. A header has less than 64 KiB, the longest of version 2 aside.
uint64_t most_bytes(const Expected& expected) {
  constexpr uint64_t header = 1 << 20, any = uint64_t{64} << 30;
  const Format* const format = find_format(expected.dtype);
  if (format == nullptr || !expected.shape) return any;
  const auto bytes = byte_count(*expected.shape, sizeof(double));  // of the widest type: it is named as wrong
  return bytes ? std::min<uint64_t>(*bytes + header, any) : any;
}

Result<Array> parse(std::span<const std::byte> file, std::string_view name, const Expected& expected) {
  const auto error = [&](std::string_view what) {
    return tl::make_unexpected(fmt::format("{}: {}{}", name, what, expectation(expected)));
  };
  const auto start = preamble({reinterpret_cast<const char*>(file.data()), file.size()});
  if (!start) return error(start.error());
  const Shape& shape = *start->header.shape;
  const auto type = element_type(start->header.descr, expected.dtype);
  if (!type)
    return error(
        fmt::format("holds elements of NumPy type '{}', which no kernel takes", start->header.descr));

  const std::string_view dtype = type->format->dtype;
  const bool as_expected =
      (expected.dtype.empty() || expected.dtype == dtype) && (!expected.shape || *expected.shape == shape);
  if (!as_expected) return error(fmt::format("holds {}", describe(dtype, shape)));
  const size_t element = type->format->bytes;
  const auto bytes = byte_count(shape, element);
  if (!bytes) return error(fmt::format("claims an impossible shape, {}", describe(dtype, shape)));
  const auto payload = file.subspan(start->data_offset);
  if (payload.size() < *bytes) {
    return error(fmt::format("is truncated: {} needs {} bytes of data, the file has {}",
                             describe(dtype, shape), *bytes, payload.size()));
  }
  if (payload.size() > *bytes) {
    return error(fmt::format("has {} bytes after {}: one array a file is read", payload.size() - *bytes,
                             describe(dtype, shape)));
  }
  Array array{std::string(dtype), shape, {payload.begin(), payload.end()}};
  if (*start->header.fortran_order && shape.size() > 1) array.data = row_major(payload, shape, element);
  if (type->big_endian) swap_bytes(array.data, element);
  return array;
}

std::string header(std::string_view dtype, std::span<const int64_t> shape) {
  const Format* format = find_format(dtype);
  const std::string_view comma = shape.size() == 1 ? "," : "";
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                 format == nullptr ? "|V1" : format->descr, fmt::join(shape, ", "), comma);
  constexpr size_t alignment = 64;
  const size_t fixed = magic.size() + 4;
  const size_t used = fixed + dict.size() + 1;
  dict.append((alignment - used % alignment) % alignment, ' ');
  dict += '\n';
  std::string out(magic);
  out += '\x01';
  out += '\x00';
  out += char(dict.size() & 0xff);
  out += char(dict.size() >> 8);
  return out + dict;
}

Result<void> check_data(std::string_view dtype, std::span<const int64_t> shape, size_t bytes) {
  const size_t element = size_of(dtype);
  if (element == 0) return tl::make_unexpected(fmt::format("no .npy type for '{}'", dtype));
  if (byte_count(shape, element) != bytes)
    return tl::make_unexpected(fmt::format("{} bytes are not {}", bytes, describe(dtype, shape)));
  return {};
}

}  // namespace palladion::npy
