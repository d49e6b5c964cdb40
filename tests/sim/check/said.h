#pragma once
// What findings say, as values: the code, how sure, and which sentence.
#include <ostream>
#include <string>
#include <vector>

#include "sim/launch/finding.h"
#include "sim/launch/phrases/phrase.h"

namespace palladion::sim::testing {

struct Said {
  std::string code;
  FindingSeverity severity = FindingSeverity::error;
  Phrase phrase = Phrase::none;
  friend bool operator==(const Said&, const Said&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Said& s) {
    return out << s.code << " severity " << static_cast<int>(s.severity) << " \"" << template_of(s.phrase)
               << '"';
  }
};
inline Said strict(std::string code, Phrase phrase) {
  return {std::move(code), FindingSeverity::strict, phrase};
}
inline std::vector<Said> said_by(const std::vector<Finding>& findings) {
  std::vector<Said> out;
  for (const Finding& f : findings) out.push_back({f.code.name(), f.severity, f.message.phrase});
  return out;
}

}  // namespace palladion::sim::testing
