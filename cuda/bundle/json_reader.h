#pragma once
// Members of the manifest's JSON, each verified as it is read. Errors are thrown as `Broken`; the functions
// of read.h return them.
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "cuda/bundle/bundle.h"

namespace boost::json {
class array;
class object;
class value;
}  // namespace boost::json

namespace palladion::cuda::bundle {

namespace json = boost::json;

struct Broken {
  std::string text;
};
[[noreturn]] inline void fail(std::string message) { throw Broken{std::move(message)}; }

// A member of a JSON object, with its name for messages.
class Reader {
 public:
  Reader(const json::object& object, std::string where) : object_(object), where_(std::move(where)) {}

  bool has(std::string_view name) const;
  const json::value& at(std::string_view name) const;
  const json::array& list(std::string_view name, size_t most) const;
  std::string text(std::string_view name) const;
  bool flag(std::string_view name) const;
  // A number, or a string "0x...", which holds 64 bits.
  uint64_t number(std::string_view name, uint64_t most = ~uint64_t{0}) const;
  // `count` numbers from `least` to `most`.
  template <size_t count>
  std::array<uint32_t, count> numbers(std::string_view name, uint32_t least,
                                      uint32_t most = INT32_MAX) const {
    std::array<uint32_t, count> out{};
    take_numbers(name, least, most, out);
    return out;
  }
  // The position of a word among names.
  template <size_t count>
  size_t one_of(std::string_view name, const std::array<std::string_view, count>& names) const {
    return position(at(name), name, names);
  }
  // The same for each word of a list.
  template <size_t count, size_t words>
  std::array<size_t, count> all_of(std::string_view name,
                                   const std::array<std::string_view, words>& names) const {
    std::array<size_t, count> out{};
    take_positions(name, names, out);
    return out;
  }
  [[noreturn]] void wrong(std::string_view name, std::string_view wanted) const;

 private:
  size_t position(const json::value& value, std::string_view name,
                  std::span<const std::string_view> names) const;
  void take_numbers(std::string_view name, uint32_t least, uint32_t most, std::span<uint32_t> out) const;
  void take_positions(std::string_view name, std::span<const std::string_view> names,
                      std::span<size_t> out) const;

  const json::object& object_;
  std::string where_;
};

// A value as a number, as `Reader::number` takes it; false: it is none.
bool is_number(const json::value& value, uint64_t& out);
const json::object& object_of(const json::value& value, std::string_view where);
// A name within the folder: no separators, no way out.
std::string file_name(std::string name, std::string_view where);
Contents contents_of(const json::value& value, const std::string& where, bool after);

// read_textures.cpp
TexelArray array_of(const json::value& value);
Object texture_object_of(const json::value& value);
// Objects name arrays that are there, and each handle once.
void check_objects(const Manifest& manifest);

}  // namespace palladion::cuda::bundle
