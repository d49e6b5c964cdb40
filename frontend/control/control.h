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
void record_when(const pl::Scalar& condition, const std::function<void()>& body);
void record_if(const pl::Scalar& condition, const std::function<void()>& yes,
               const std::function<void()>& no);
void record_loop(const pl::Scalar& lower, const pl::Scalar& upper, int64_t step, int64_t unroll,
                 const std::function<void(const pl::Scalar&)>& body);
void record_while(const std::function<pl::Scalar()>& condition, const std::function<void()>& body);
bool loop_runs_at_least_once(const pl::Scalar& lower, const pl::Scalar& upper);

}  // namespace palladion::frontend

namespace palladion::pl {

// Runs the body where the condition holds. The condition must be the same in all lanes.
template <std::invocable Body>
void when(ScalarArg condition, Body&& body) {
  const frontend::At at(condition.loc);
  frontend::record_when(condition.value, body);
}

// Both branches give the same kind of value (or none).
template <std::invocable Yes, std::invocable No>
auto cond(ScalarArg condition, Yes&& yes, No&& no) {
  const frontend::At at(condition.loc);
  using Value = std::invoke_result_t<Yes>;
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

struct LoopOptions {
  int64_t step = 1;
  int64_t unroll = 1;  // bodies per iteration; must divide the number of steps
};

// for (i = lower; i < upper; i += step) body(i)
template <class Body>
  requires std::invocable<Body, Scalar>
void loop(ScalarArg lower, ScalarArg upper, Body&& body, const LoopOptions& options = {}) {
  const frontend::At at(lower.loc);
  frontend::record_loop(lower.value, upper.value, options.step, options.unroll,
                        [&](const Scalar& i) { body(i); });
}

template <class Body>
  requires std::invocable<Body, Scalar>
void fori_loop(ScalarArg lower, ScalarArg upper, Body&& body, const LoopOptions& options = {}) {
  loop(lower, upper, std::forward<Body>(body), options);
}

namespace detail {
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
  const frontend::At at(lower.loc);
  frontend::Recorder& r = frontend::Recorder::current();
  const frontend::Carry carry = frontend::copy_carry(r, frontend::flatten(init));
  frontend::record_loop(lower.value, upper.value, options.step, options.unroll, [&](const Scalar& i) {
    const auto state = frontend::rebuild(carry, init);
    const auto next = detail::call_with_carry(body, i, state);
    frontend::assign_carry(r, carry, frontend::flatten(next), "fori_loop");
  });
  return frontend::rebuild(carry, init);
}

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
  const frontend::At at(loc);
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
