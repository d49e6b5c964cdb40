#include "python/native/interface.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "python/native/perform.h"

namespace palladion::python {
namespace {

char* copied(const std::string& text) {
  auto* const out = static_cast<char*>(std::malloc(text.size() + 1));
  if (out != nullptr) std::memcpy(out, text.c_str(), text.size() + 1);
  return out;
}

// No exception passes the boundary.
template <class Make>
char* answered(Make make) {
  try {
    const Outcome<std::string> answer = make();
    return copied(answer ? *answer : answer_of(answer.error()));
  } catch (const isa::Error& e) {
    return copied(answer_of(host::failure_of(e.diagnostics()).value()));
  } catch (const std::bad_alloc&) {
    return copied(answer_of(host::user_error("not enough memory on this machine").value()));
  } catch (const std::exception& e) {
    return copied(internal_error(e.what()));
  }
}

}  // namespace
}  // namespace palladion::python

using namespace palladion::python;

char* palladion_open_program(const char* request, void** program) {
  *program = nullptr;
  return answered([&]() -> Outcome<std::string> {
    auto opened = open_program(Request(std::string_view(request)));
    if (!opened) return tl::make_unexpected(opened.error());
    std::string answer = palladion::report::json_line(describe(**opened));
    *program = opened->release();
    return answer;
  });
}

char* palladion_open_job(void* program, const char* request, const void* const* arrays, void** job) {
  *job = nullptr;
  return answered([&]() -> Outcome<std::string> {
    const auto& of = *static_cast<const Program*>(program);
    auto opened = of.recorded ? open_recorded(of) : open_job(of, Request(std::string_view(request)), arrays);
    if (!opened) return tl::make_unexpected(opened.error());
    *job = opened->release();
    return std::string("{}");
  });
}

char* palladion_perform(void* job, const char* request, void* const* outputs, const void* const* wanted) {
  return answered([&] {
    return perform(*static_cast<LaunchedJob*>(job), Request(std::string_view(request)), outputs, wanted);
  });
}

void palladion_stop(int stop) { stopped = stop != 0; }
void palladion_close_job(void* job) { delete static_cast<LaunchedJob*>(job); }
void palladion_close_program(void* program) { delete static_cast<Program*>(program); }
void palladion_free(char* answer) { std::free(answer); }
