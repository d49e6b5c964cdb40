// The author's lines, and mistakes at them.
#include "frontend/core/errors.h"

#include <fmt/format.h>

#include "frontend/core/recorder.h"
#include "isa/core/whole_error.h"

namespace palladion::frontend {
namespace {

// The line of the outermost verb, known even when no kernel is being recorded.
thread_local Loc verb_loc;

}  // namespace

void fail(Code code, std::string message, const isa::SourceLoc& loc, std::string help) {
  throw isa::WholeError(
      isa::Diagnostic{code, isa::Severity::error, std::move(message), loc, std::move(help)});
}

void fail(Code code, std::string message, const Loc& loc, std::string help) {
  fail(code, std::move(message), place(loc), std::move(help));
}

const Loc& last_verb() { return verb_loc; }
const Loc& author_line(const Loc& loc) {
  const Recorder* r = Recorder::current_or_null();
  return r != nullptr && r->in_verb() ? verb_loc : loc;
}

void fail(Code code, std::string message, std::string help) {
  fail(code, std::move(message), verb_loc, std::move(help));
}

void unsupported(std::string what, std::string help) {
  throw isa::WholeError(isa::Diagnostic{Code::not_supported, isa::Severity::unsupported, std::move(what),
                                        place(verb_loc), std::move(help)});
}

VerbScope::VerbScope(const Loc& loc) : recorder_(Recorder::current_or_null()), saved_(verb_loc) {
  if (recorder_ == nullptr) {
    verb_loc = loc;
    return;
  }
  if (recorder_->depth_++ == 0) {
    verb_loc = loc;
    recorder_->loc_ = loc;
    recorder_->builder().set_source(place(loc));
  }
}

VerbScope::~VerbScope() {
  if (recorder_ == nullptr) {
    verb_loc = saved_;
  } else if (Recorder::current_or_null() == recorder_) {
    --recorder_->depth_;
  }
}

UserCode::UserCode() : recorder_(Recorder::current_or_null()), depth_(0), saved_(verb_loc) {
  if (recorder_ == nullptr) return;
  depth_ = recorder_->depth_;
  saved_ = recorder_->loc_;
  recorder_->depth_ = 0;
}

UserCode::~UserCode() {
  if (recorder_ == nullptr || Recorder::current_or_null() != recorder_) return;
  recorder_->depth_ = depth_;
  if (depth_ > 0) {
    verb_loc = saved_;
    recorder_->loc_ = saved_;
    recorder_->builder().set_source(place(saved_));
  }
}

}  // namespace palladion::frontend
