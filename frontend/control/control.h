#pragma once
// Control flow that the kernel decides at run time. Host `if` and `for` unroll instead.
#include <concepts>
#include <functional>
#include <source_location>
#include <tuple>
#include <type_traits>

#include "frontend/control/carry.h"

namespace palladion::frontend {

// The instructions around a body; `body` records it with the author's lines of its own.
// `verb`: what the author wrote, a literal.
void record_when(const pl::Scalar& condition, const std::function<void()>& body,
                 std::string_view verb = "pl::when");
void record_if(const pl::Scalar& condition, const std::function<void()>& yes, const std::function<void()>& no,
               std::string_view verb = "pl::cond");
void record_loop(const pl::Scalar& lower, const pl::Scalar& upper, int64_t step, int64_t unroll,
                 const std::function<void(const pl::Scalar&)>& body, std::string_view verb = "pl::fori_loop");
void record_while(const std::function<pl::Scalar()>& condition, const std::function<void()>& body);
bool loop_runs_at_least_once(const pl::Scalar& lower, const pl::Scalar& upper);

}  // namespace palladion::frontend

namespace palladion::pl {

// Runs the body where the condition holds. The condition must be the same in all lanes.
template <class Body>
void when(ScalarArg condition, Body&& body) {
  static_assert(std::invocable<Body&>,
                "pl::when(condition, body): the body is a function without parameters");
  if constexpr (std::invocable<Body&>) {
    static_assert(std::is_void_v<std::invoke_result_t<Body&>>,
                  "pl::when(condition, body): what the body returns is lost; pl::cond(condition, yes, no) "
                  "gives a value");
  }
  const frontend::VerbScope at(condition.loc);
  frontend::record_when(condition.value, body);
}

// Both branches give the same kind of value (or none).
template <class Yes, class No>
auto cond(ScalarArg condition, Yes&& yes, No&& no) {
  static_assert(std::invocable<Yes&> && std::invocable<No&>,
                "pl::cond(condition, yes, no): the branches are functions without parameters");
  const frontend::VerbScope at(condition.loc);
  using Value = std::invoke_result_t<Yes&>;
  static_assert(std::is_void_v<Value> == std::is_void_v<std::invoke_result_t<No&>>,
                "pl::cond(condition, yes, no): one branch returns a value, the other nothing");
  if constexpr (std::is_void_v<Value>) {
    frontend::record_if(condition.value, yes, no);
  } else {
    frontend::Recorder& r = frontend::Recorder::current();
    frontend::Carry result;
    std::optional<Value> like;
    frontend::record_if(
        condition.value,
        [&] {
          like = yes();
          result = frontend::copy_carry(r, frontend::flatten(*like));
        },
        [&] {
          const auto other = no();
          if (!like) {
            if constexpr (std::is_same_v<Value, std::decay_t<decltype(other)>>) like = other;
            result = frontend::copy_carry(r, frontend::flatten(other));
          } else {
            frontend::assign_carry(r, result, frontend::flatten(other), "cond");
          }
        });
    return frontend::rebuild(result, *like);
  }
}

// The branch that the index names; an index outside takes the nearest one.
template <std::invocable Last>
auto switch_(ScalarArg, Last&& last) {
  return last();
}
template <std::invocable First, std::invocable... Rest>
  requires(sizeof...(Rest) > 0)
auto switch_(ScalarArg index, First&& first, Rest&&... rest) {
  const Scalar others = index.value - 1;
  return cond(ScalarArg(index.value <= 0, index.loc), std::forward<First>(first),
              [&] { return switch_(ScalarArg(others, index.loc), std::forward<Rest>(rest)...); });
}
// The options of pl::loop and pl::fori_loop.
struct LoopOptions {
  int64_t step = 1;    // what the index grows by; positive
  int64_t unroll = 1;  // bodies per iteration; must divide the number of steps
};

// for (i = lower; i < upper; i += step) body(i)
template <class Body>
void loop(ScalarArg lower, ScalarArg upper, Body&& body, const LoopOptions& options = {}) {
  static_assert(
      std::invocable<Body&, const Scalar&>,
      "pl::fori_loop(lower, upper, body): the body takes (pl::Index i); a body that also takes a carry needs "
      "its initial value: x = pl::fori_loop(lower, upper, body, x)");
  if constexpr (std::invocable<Body&, const Scalar&>) {
    static_assert(
        std::is_void_v<std::invoke_result_t<Body&, const Scalar&>>,
        "pl::fori_loop(lower, upper, body): what the body returns is lost; with an initial value it is "
        "carried: x = pl::fori_loop(lower, upper, [&](pl::Index i, auto x) { return next_x; }, x)");
  }
  const frontend::VerbScope at(lower.loc);
  frontend::record_loop(lower.value, upper.value, options.step, options.unroll,
                        [&](const Scalar& i) { body(i); });
}

// Calls body(index) once; it runs for lower, lower + step, ... below upper.
template <class Body>
void fori_loop(ScalarArg lower, ScalarArg upper, Body&& body, const LoopOptions& options = {}) {
  loop(lower, upper, std::forward<Body>(body), options);
}

namespace detail {
template <class T>
struct IsTuple : std::false_type {};
template <class... Ts>
struct IsTuple<std::tuple<Ts...>> : std::true_type {};

// Of what a body returns.
template <class T>
inline constexpr size_t values_of = 1;
template <class T>
  requires requires { std::tuple_size<T>::value; }
inline constexpr size_t values_of<T> = std::tuple_size_v<T>;

template <class Body, class State>
constexpr bool takes_carry() {
  if constexpr (std::invocable<Body&, const Scalar&, const State&>) {
    return true;
  } else if constexpr (IsTuple<State>::value) {
    return []<class... C>(const std::tuple<C...>*) {
      return std::invocable<Body&, const Scalar&, const C&...>;
    }(static_cast<const State*>(nullptr));
  } else {
    return false;
  }
}

template <class Body, class State>
auto call_with_carry(Body& body, const Scalar& i, const State& state) {
  if constexpr (std::invocable<Body&, const Scalar&, const State&>) {
    return body(i, state);
  } else {
    return std::apply([&](const auto&... c) { return body(i, c...); }, state);
  }
}
}  // namespace detail

// carry = body(i, carry) for each i; a body of several carries takes them one by one and gives a tuple.
template <class Body, class Init>
  requires(!std::same_as<std::decay_t<Init>, LoopOptions>)
frontend::CarryResult<Init> fori_loop(ScalarArg lower, ScalarArg upper, Body&& body, const Init& init,
                                      const LoopOptions& options = {}) {
  using State = frontend::CarryResult<Init>;
  constexpr bool takes = detail::takes_carry<Body, State>();
  static_assert(
      takes,
      "pl::fori_loop(lower, upper, body, init...): the body takes (pl::Index i, carry...), one parameter for "
      "each initial value, by value or by const reference");
  if constexpr (takes) {
    using Next = decltype(detail::call_with_carry(body, lower.value, std::declval<const State&>()));
    static_assert(!std::is_void_v<Next>,
                  "pl::fori_loop(lower, upper, body, init...): the body returns the carry of the next round "
                  "(several as "
                  "std::tuple), it returns nothing");
    if constexpr (detail::IsTuple<State>::value && !std::is_void_v<Next>)
      static_assert(
          detail::values_of<std::decay_t<Next>> == std::tuple_size_v<State>,
          "pl::fori_loop(lower, upper, body, init...): the body returns as many values as it takes: "
          "return std::tuple{...}");
  }
  const frontend::VerbScope at(lower.loc);
  frontend::Recorder& r = frontend::Recorder::current();
  const frontend::Carry carry = frontend::copy_carry(r, frontend::flatten(init));
  frontend::record_loop(lower.value, upper.value, options.step, options.unroll, [&](const Scalar& i) {
    const auto state = frontend::rebuild(carry, init);
    const auto next = detail::call_with_carry(body, i, state);
    frontend::assign_carry(r, carry, frontend::flatten(next), "fori_loop");
  });
  return frontend::rebuild(carry, init);
}

// The same with two values carried.
template <class Body, class First, class Second, class... More>
  requires(!std::same_as<std::decay_t<Second>, LoopOptions>)
auto fori_loop(ScalarArg lower, ScalarArg upper, Body&& body, const First& first, const Second& second,
               const More&... more) {
  return fori_loop(lower, upper, std::forward<Body>(body),
                   std::tuple<First, Second, More...>(first, second, more...));
}

// while (condition(state)) state = body(state)
template <class Condition, class Body, class Init>
frontend::CarryResult<Init> while_loop(Condition&& condition, Body&& body, const Init& init,
                                       std::source_location loc = std::source_location::current()) {
  using State = frontend::CarryResult<Init>;
  static_assert(
      std::is_invocable_r_v<Scalar, Condition&, const State&> && std::invocable<Body&, const State&>,
      "pl::while_loop(condition, body, init): condition(carry) gives a pl::Scalar, body(carry) the next "
      "carry");
  if constexpr (std::invocable<Body&, const State&>) {
    static_assert(
        !std::is_void_v<std::invoke_result_t<Body&, const State&>>,
        "pl::while_loop(condition, body, init): the body returns the next carry, it returns nothing");
  }
  const frontend::VerbScope at(loc);
  frontend::Recorder& r = frontend::Recorder::current();
  const frontend::Carry carry = frontend::copy_carry(r, frontend::flatten(init));
  frontend::record_while([&]() -> Scalar { return condition(frontend::rebuild(carry, init)); },
                         [&] {
                           const auto next = body(frontend::rebuild(carry, init));
                           frontend::assign_carry(r, carry, frontend::flatten(next), "while_loop");
                         });
  return frontend::rebuild(carry, init);
}

}  // namespace palladion::pl
