#pragma once
// Where the author's values are valid. The body of a control-flow verb (pl::when, pl::fori_loop, ...) is
// recorded once: what it makes exists in it alone, and a handle declared outside of it cannot be assigned in
// it, because the machine would see one assignment where the author wrote one a round, or one under a
// condition.
#include <cstdint>
#include <source_location>
#include <string_view>

namespace palladion::frontend {

// A region of a recording: the kernel's body, or the body of a verb; each has its own number, over all
// kernels of the process. 0: outside of kernels.
using RegionId = uint64_t;

// Of this thread of the host: where values are made now, and what allocations end with.
extern constinit thread_local RegionId current_region, current_scope;

enum class Handle : uint8_t { scalar, array, ref, barrier };

// Not inline: the cases that are errors, or that take a look at the recorder's regions.
void check_made(Handle kind, RegionId made, bool constant, const std::source_location* loc);
RegionId check_assignment(Handle kind, RegionId declared);  // its region from now on

// An Error where the scope that allocated `what` (a reference, a barrier) has ended.
void check_alive(RegionId scope, std::string_view what, std::string_view name);

// A member of each type that the author holds: where the handle was declared, and where its value was made.
// It gives its owner's implicit copies, moves and assignments their rules.
template <Handle kind>
class Lifetime {
 public:
  Lifetime() : declared_(current_region), made_(current_region) {}
  Lifetime(const Lifetime& from) : declared_(current_region), made_(from.made_) {}
  Lifetime(Lifetime&& from) noexcept : declared_(from.declared_), made_(from.made_) {}
  ~Lifetime() = default;
  // An Error where the handle was declared outside of the region that is being recorded.
  Lifetime& operator=(const Lifetime& from) {
    assigned();
    made_ = from.made_;
    return *this;
  }
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): it may throw
  Lifetime& operator=(Lifetime&& from) { return *this = static_cast<const Lifetime&>(from); }

  // The handle gets another value, made here.
  void remake() {
    assigned();
    made_ = current_region;
  }
  // A new handle whose value was computed from that of which it is a copy.
  void derive() { made_ = current_region; }
  // An Error where the region that made the value has ended, or was another kernel's. `constant`: known on
  // the host, the same in each kernel.
  void check(bool constant, const std::source_location& loc) const {
    if (made_ != current_region) check_made(kind, made_, constant, &loc);
  }
  // At the line of the verb that is being recorded.
  void check(bool constant = false) const {
    if (made_ != current_region) check_made(kind, made_, constant, nullptr);
  }

 private:
  void assigned() {
    if (declared_ != current_region) declared_ = check_assignment(kind, declared_);
  }

  RegionId declared_, made_;
};

// For deleted uses: a sentence instead of the compiler's own.
template <class...>
inline constexpr bool never = false;

}  // namespace palladion::frontend
