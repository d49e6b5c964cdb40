#include "isa/text/print.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "isa/formats/sampler.h"
#include "isa/text/buffer_names.h"
#include "isa/text/print_internal.h"

namespace palladion::isa {
namespace detail {
namespace {

bool may_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}
bool may_follow(char c) { return (may_start(c) && c != '%') || (c >= '0' && c <= '9'); }

bool is_valid(std::string_view name) {
  if (name.empty() || !may_start(name[0])) return false;
  if (name.size() == 1) return name[0] != '_' && name[0] != '$' && name[0] != '%';
  return std::all_of(name.begin() + 1, name.end(), may_follow);
}

std::string sanitized(std::string_view name) {
  std::string s(name);
  if (s.empty() || !may_start(s[0])) s.insert(0, "_");
  for (size_t i = 1; i < s.size(); ++i)
    if (!may_follow(s[i])) s[i] = '_';
  if (s.size() == 1) s += '0';
  return s;
}

}  // namespace

void append_number(std::string& out, uint64_t value) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

void append_signed(std::string& out, int64_t value) {
  // -2^63 has no positive twin to negate.
  if (value == INT64_MIN) return void(out += "0x8000000000000000");
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

void append_hex(std::string& out, uint64_t value, int digits) {
  for (int i = digits - 1; i >= 0; --i) out += "0123456789ABCDEF"[(value >> (4 * i)) & 15];
}

std::string_view Names::add(std::string_view name) {
  if (is_valid(name) && !contains(name)) return *taken_.insert(name).first;
  const std::string base = sanitized(name);
  std::string unique = base;
  for (int& suffix = suffixes_[base]; contains(unique);) unique = base + "_" + std::to_string(++suffix);
  changed_.push_back(std::move(unique));
  taken_.insert(changed_.back());
  return changed_.back();
}

// --- variables -----------------------------------------------------------------------------------

void Printer::linkage(Linkage linkage) {
  static constexpr std::string_view words[] = {"", ".visible ", ".extern ", ".weak ", ".common "};
  out_ += words[static_cast<size_t>(linkage)];
}

void Printer::type_and_align(const Variable& v) {
  if (v.align != 0) {
    out_ += ".align ";
    append_number(out_, v.align);
    out_ += ' ';
  }
  if (v.vector != 1) {
    out_ += ".v";
    append_number(out_, v.vector);
    out_ += ' ';
  }
  out_ += '.';
  out_ += name(v.type);
  out_ += ' ';
}

void Printer::dimensions(const Variable& v) {
  for (const uint64_t n : v.dims) {
    out_ += '[';
    if (n != 0) append_number(out_, n);
    out_ += ']';
  }
}

void Printer::address_value(const Variable& v, const Relocation& r, uint64_t at) {
  const bool masked = bytes(v.type) == 1;
  if (masked) {
    out_ += "0x";
    const uint64_t mask = uint64_t{0xFF} << (8 * (at - r.at));
    append_hex(out_, mask, static_cast<int>(2 * (at - r.at + 1)));
    out_ += '(';
  }
  if (r.generic) out_ += "generic(";
  out_ += symbol_name(r.symbol);
  if (r.generic) out_ += ')';
  offset(r.addend);
  if (masked) out_ += ')';
}

void Printer::initialiser_value(const Variable& v, uint64_t at, size_t& relocation) {
  const auto& all = v.relocations;
  while (relocation < all.size() && all[relocation].at + all[relocation].size <= at) ++relocation;
  if (relocation < all.size() && all[relocation].at <= at) return address_value(v, all[relocation], at);
  const auto size = static_cast<uint64_t>(bytes(v.type));
  uint64_t value = 0;
  for (uint64_t i = 0; i < size && i < 8 && at + i < v.init.size(); ++i)
    value |= uint64_t{v.init[at + i]} << (8 * i);
  if (v.type == Type::f32) {
    out_ += "0f";
    append_hex(out_, value, 8);
  } else if (v.type == Type::f64) {
    out_ += "0d";
    append_hex(out_, value, 16);
  } else if (is_signed(v.type) && size < 8) {
    append_signed(out_, static_cast<int64_t>(value << (64 - 8 * size)) >> (64 - 8 * size));
  } else {
    append_number(out_, value);
  }
}

void Printer::initialiser_level(const Variable& v, size_t dim, uint64_t at, size_t& relocation) {
  // Vectors count as the innermost dimension.
  const bool innermost = dim + 1 >= v.dims.size() && (v.vector == 1 || dim >= v.dims.size());
  uint64_t inner = static_cast<uint64_t>(bytes(v.type));
  if (!innermost || dim < v.dims.size()) inner *= dim < v.dims.size() ? v.vector : 1;
  for (size_t i = dim + 1; i < v.dims.size(); ++i) inner *= v.dims[i];
  const uint64_t count = dim < v.dims.size() ? v.dims[dim] : v.vector;
  out_ += '{';
  for (uint64_t i = 0; i < count && at < v.init.size(); ++i, at += inner) {
    if (i != 0) out_ += ", ";
    if (innermost) {
      initialiser_value(v, at, relocation);
    } else {
      initialiser_level(v, dim + 1, at, relocation);
    }
  }
  out_ += '}';
}

void Printer::sampler(const Variable& v) {
  uint64_t word = 0;
  for (size_t k = 0; k < std::min<size_t>(v.init.size(), 8); ++k) word |= uint64_t{v.init[k]} << (8 * k);
  if (const auto fields = Sampler::unpacked(word)) out_ += " = " + fields->text();
}

void Printer::initialiser(const Variable& v) {
  if (v.init.empty()) return;
  if (is_opaque(v.type)) return sampler(v);
  out_ += " = ";
  size_t relocation = 0;
  if (v.dims.empty() && v.vector == 1) return initialiser_value(v, 0, relocation);
  initialiser_level(v, 0, 0, relocation);
}

void Printer::variable(const Symbol& s, std::string_view printed_name) {
  linkage(s.linkage);
  const Space space = s.variable.space;
  out_ += '.';
  out_ += name(space);
  out_ += ' ';
  if (s.variable.managed) out_ += ".attribute(.managed) ";
  type_and_align(s.variable);
  out_ += printed_name;
  dimensions(s.variable);
  initialiser(s.variable);
  out_ += ";\n";
}

// --- the module ----------------------------------------------------------------------------------

void Printer::collect_files() {
  if (!options_.source_lines) return;
  files_ = module_.files;
  if (options_.collect_files) {
    std::unordered_set<std::string_view> seen(files_.begin(), files_.end());
    for (const SourceFrame& f : module_.frames)
      if (!f.at.file.empty() && seen.insert(f.at.file).second) files_.push_back(f.at.file);
  }
  for (size_t i = 0; i < files_.size(); ++i)
    if (!files_[i].empty()) file_index_.emplace(files_[i], static_cast<uint32_t>(i + 1));
}

void Printer::header() {
  out_ += ".version ";
  append_number(out_, module_.version_major);
  out_ += '.';
  append_number(out_, module_.version_minor);
  out_ += "\n.target ";
  out_ += module_.target;
  for (const auto& option : module_.target_options) {
    // `debug` requires debug sections, which the lines of a recorded kernel lack.
    out_ += ", ";
    out_ += option;
  }
  if (std::tie(module_.version_major, module_.version_minor) >= std::tuple(2u, 3u)) {
    out_ += "\n.address_size ";
    append_number(out_, module_.address_size);
  }
  out_ += "\n\n";
  for (size_t i = 0; i < files_.size(); ++i) {
    if (files_[i].empty()) continue;
    out_ += ".file ";
    append_number(out_, i + 1);
    out_ += " \"" + files_[i] + "\"\n";
  }
  for (const auto& pragma : module_.pragmas) out_ += ".pragma \"" + pragma + "\";\n";
}

std::string Printer::text() {
  out_.reserve(4096 + 64 * [&] {
    size_t n = 0;
    for (const Function& f : module_.functions) n += f.body.size();
    return n;
  }());
  symbols_.resize(module_.symbols.size());
  for (SymbolId i = 0; i < module_.symbols.size(); ++i)
    if (module_.symbols[i].scope == no_id) symbols_[i] = module_names_.add(module_.symbols[i].name);
  collect_files();
  header();
  // Functions that are called or whose address is taken must be declared first.
  for (const Function& f : module_.functions)
    if (!f.entry || !f.defined) function(f, true);
  const auto print_variables = [&](bool with_addresses) {
    for (SymbolId i = 0; i < module_.symbols.size(); ++i) {
      const Symbol& s = module_.symbols[i];
      if (s.kind != Symbol::Kind::variable || s.scope != no_id ||
          s.variable.relocations.empty() == with_addresses)
        continue;
      variable(s, symbols_[i]);
    }
  };
  print_variables(false);
  print_variables(true);
  for (const bool entry : {false, true})
    for (const Function& f : module_.functions)
      if (f.defined && f.entry == entry) function(f, false);
  for (const Alias& a : module_.aliases) {
    out_ += ".alias ";
    out_ += symbol_name(a.name);
    out_ += ", ";
    out_ += symbol_name(a.target);
    out_ += ";\n";
  }
  if (options_.source_lines)
    for (const std::string& section : module_.debug_sections) out_ += section;
  return std::move(out_);
}

}  // namespace detail

std::string print(const Module& module, const PrintOptions& options) {
  std::string text = detail::Printer(module, options).text();
  if (options.buffer_names) text += buffer_comments(module);
  return text;
}

std::string print(const Module& module, const Function& function, const Instruction& instruction) {
  return detail::Printer(module, {}).instruction_alone(function, instruction);
}

}  // namespace palladion::isa
