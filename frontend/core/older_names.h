#pragma once
// Names of older documents that take part in a type: any use does not compile, and the message says the name
// of today. Functions of older names: frontend/launch/older_words.h.
#include <concepts>
#include <cstdlib>

#include "frontend/core/lifetime.h"

// A value that would be a `Type`.
#define PLD_OLDER_VALUE(Name, Type, sentence)      \
  struct Name {                                    \
    template <std::same_as<Type> T>                \
    operator T() const {                           \
      static_assert(frontend::never<T>, sentence); \
      std::abort();                                \
    }                                              \
  }

// An option that is written otherwise today.
#define PLD_OLDER_OPTION(Name, sentence)           \
  struct Name {                                    \
    Name() = default;                              \
    template <class T>                             \
    Name(const T&) {                               \
      static_assert(frontend::never<T>, sentence); \
    }                                              \
  }
