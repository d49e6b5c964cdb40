#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>

#include "isa/text/parse_numbers.h"

namespace palladion::isa::detail {
namespace {

// PTX, "Integer Constants": 0x, 0b, 0 (octal), decimal, with an optional U.
std::optional<uint64_t> integer_text(std::string_view s) {
  if (s.ends_with('U') || s.ends_with('u')) s.remove_suffix(1);
  int base = 10;
  if (s.size() > 1 && s[0] == '0') {
    base = s[1] == 'x' || s[1] == 'X' ? 16 : s[1] == 'b' || s[1] == 'B' ? 2 : 8;
    s.remove_prefix(base == 8 ? 1 : 2);
  }
  uint64_t value = 0;
  const auto [end, failed] = std::from_chars(s.data(), s.data() + s.size(), value, base);
  if (failed != std::errc{} || end != s.data() + s.size()) return std::nullopt;
  return value;
}

std::optional<uint64_t> hex_digits(std::string_view s, size_t count) {
  uint64_t value = 0;
  if (s.size() != count) return std::nullopt;
  const auto [end, failed] = std::from_chars(s.data(), s.data() + s.size(), value, 16);
  if (failed != std::errc{} || end != s.data() + s.size()) return std::nullopt;
  return value;
}

bool is_decimal_float(std::string_view s) {
  if (s.size() > 1 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X' || s[1] == 'b' || s[1] == 'B')) return false;
  return s.find_first_of(".eE") != std::string_view::npos;
}

int level(const Token& t) {
  if (t.kind != Token::Kind::punct) return 0;
  switch (t.text[0]) {
    case '|':
      return 3;
    case '^':
      return 4;
    case '&':
      return 5;
    case '=':
    case '!':
      return 6;
    case '<':
    case '>':
      return 7;
    case '+':
    case '-':
      return 9;
    case '*':
    case '/':
    case '%':
      return 10;
    default:
      return 0;
  }
}

std::optional<int64_t> apply(std::string_view op, int64_t a, int64_t b) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  if (op == "+") return static_cast<int64_t>(ua + ub);
  if (op == "-") return static_cast<int64_t>(ua - ub);
  if (op == "*") return static_cast<int64_t>(ua * ub);
  if (op == "/" || op == "%") {
    if (b == 0) return std::nullopt;
    if (b == -1) return op == "/" ? static_cast<int64_t>(0 - ua) : 0;
    return op == "/" ? a / b : a % b;
  }
  if (op == "<<") return ub > 63 ? 0 : static_cast<int64_t>(ua << ub);
  if (op == ">>") return ub > 63 ? (a < 0 ? -1 : 0) : a >> ub;
  if (op == "<") return a < b;
  if (op == ">") return a > b;
  if (op == "<=") return a <= b;
  if (op == ">=") return a >= b;
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "&") return a & b;
  if (op == "^") return a ^ b;
  if (op == "|") return a | b;
  if (op == "&&") return a != 0 && b != 0;
  if (op == "||") return a != 0 || b != 0;
  return std::nullopt;
}

int level_of(std::string_view op) {
  if (op == "||") return 1;
  if (op == "&&") return 2;
  if (op == "<<" || op == ">>") return 8;
  return 0;
}

}  // namespace

std::optional<Operand> Constants::literal(const Token& t) {
  const std::string_view s = t.text;
  const char mark = s.size() > 1 && s[0] == '0' ? s[1] : '\0';
  std::optional<Operand> o;
  if (mark == 'f' || mark == 'F') {
    if (const auto v = hex_digits(s.substr(2), 8)) o = Operand::f32(static_cast<uint32_t>(*v));
    if (!o)
      in_.error(t, ParseCode::number, fmt::format("`{}` is no f32 constant", s),
                "0f is followed by exactly 8 hexadecimal digits");
    return o;
  }
  if (mark == 'd' || mark == 'D') {
    if (const auto v = hex_digits(s.substr(2), 16)) o = Operand::f64(*v);
    if (!o)
      in_.error(t, ParseCode::number, fmt::format("`{}` is no f64 constant", s),
                "0d is followed by exactly 16 hexadecimal digits");
    return o;
  }
  if (is_decimal_float(s)) {
    double v = 0;
    const auto [end, failed] = std::from_chars(s.data(), s.data() + s.size(), v);
    if (end == s.data() + s.size() && failed == std::errc{}) return Operand::f64(std::bit_cast<uint64_t>(v));
  } else if (const auto v = integer_text(s)) {
    return Operand::imm(static_cast<int64_t>(*v));
  }
  in_.error(t, ParseCode::number, fmt::format("`{}` is no number", s.substr(0, 60)));
  return std::nullopt;
}

bool Constants::at_constant() const {
  if (in_.token().is(Token::Kind::number)) return true;
  return in_.token().is('-') || in_.token().is('+') || in_.token().is('~') || in_.token().is('(');
}

bool Constants::nested_too_deeply() {
  if (depth_ <= 64) return false;
  in_.error(in_.token(), ParseCode::syntax, "this expression is nested too deeply");
  return true;
}

std::optional<Operand> Constants::constant_unary() {
  if (nested_too_deeply()) return std::nullopt;
  if (in_.token().is(Token::Kind::number)) {
    in_.next();
    return literal(in_.previous());
  }
  if (in_.token().is(Token::Kind::word) && in_.token().text == "WARP_SZ") {
    in_.next();
    return Operand::imm(32);
  }
  const Token sign = in_.token();
  if (in_.accept('(')) {
    ++depth_;
    const bool cast = in_.accept_directive("s64") || in_.accept_directive("u64");
    auto inner = cast ? std::optional<Operand>(Operand{}) : constant();
    if (inner && !in_.expect(')')) inner.reset();
    if (inner && cast) inner = constant_unary();
    --depth_;
    return inner;
  }
  if (!in_.accept('-') && !in_.accept('+') && !in_.accept('~') && !in_.accept('!')) {
    in_.error_expected("a constant");
    return std::nullopt;
  }
  ++depth_;
  auto v = constant_unary();
  --depth_;
  if (!v) return v;
  const char op = sign.text[0];
  if (v->imm_type == Operand::ImmType::integer) {
    v->bits = op == '-' ? 0 - v->bits : op == '~' ? ~v->bits : op == '!' ? v->bits == 0 : v->bits;
  } else if (op == '-') {
    v->bits ^= v->imm_type == Operand::ImmType::f32 ? uint64_t{1} << 31 : uint64_t{1} << 63;
  } else if (op != '+') {
    in_.error(sign, ParseCode::number, fmt::format("`{}` does not take a floating-point constant", op));
    return std::nullopt;
  }
  return v;
}

// Precedence climbing over C's operators. Two-character operators are two tokens here.
std::optional<Operand> Constants::constant_binary(int min_level) {
  auto left = constant_unary();
  while (left && in_.token().is(Token::Kind::punct)) {
    std::string op(in_.token().text);
    const char follower = in_.adjoining();
    static constexpr std::string_view doubles[] = {"||", "&&", "<<", ">>", "<=", ">=", "==", "!="};
    for (const auto d : doubles)
      if (op[0] == d[0] && follower == d[1]) op = d;
    const int own = op.size() == 2 && level_of(op) != 0 ? level_of(op) : level(in_.token());
    const bool single_pipe = op == "|" || op == "!" || op == "=";
    if (own == 0 || own < min_level || single_pipe) break;
    const Token at = in_.token();
    in_.next();
    if (op.size() == 2) in_.next();
    const auto right = constant_binary(own + 1);
    if (!right) return std::nullopt;
    const bool integers =
        left->imm_type == Operand::ImmType::integer && right->imm_type == Operand::ImmType::integer;
    const auto v = integers ? apply(op, static_cast<int64_t>(left->bits), static_cast<int64_t>(right->bits))
                            : std::nullopt;
    if (!v) {
      in_.error(at, ParseCode::number,
                integers ? "division by zero" : "constant expressions are made of integers");
      return std::nullopt;
    }
    left->bits = static_cast<uint64_t>(*v);
  }
  return left;
}

std::optional<Operand> Constants::constant() {
  auto v = constant_binary(1);
  if (!v || !in_.token().is('?')) return v;
  if (nested_too_deeply()) return std::nullopt;
  in_.next();
  ++depth_;
  auto yes = constant();
  auto no = yes && in_.expect(':') ? constant() : std::nullopt;
  --depth_;
  if (!yes || !no) return std::nullopt;
  return v->bits != 0 ? yes : no;
}

std::optional<int64_t> Constants::integer(std::string_view what) {
  const Token at = in_.token();
  if (!at_constant()) {
    in_.error_expected(what);
    return std::nullopt;
  }
  const auto v = constant();
  if (!v) return std::nullopt;
  if (v->imm_type != Operand::ImmType::integer) {
    in_.error(at, ParseCode::number, fmt::format("{} must be an integer", what));
    return std::nullopt;
  }
  return static_cast<int64_t>(v->bits);
}

std::optional<uint32_t> Constants::small_integer(std::string_view what) {
  const Token at = in_.token();
  const auto v = integer(what);
  if (!v) return std::nullopt;
  if (*v < 0 || *v > 0xFFFFFFFFll) {
    in_.error(at, ParseCode::number, fmt::format("{} must lie between 0 and 2^32 - 1", what));
    return std::nullopt;
  }
  return static_cast<uint32_t>(*v);
}

}  // namespace palladion::isa::detail
