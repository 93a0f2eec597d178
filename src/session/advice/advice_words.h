#pragma once

#include <string>

#include "baton/check.h"

namespace baton {

inline constexpr double kSecondsInMicrosecond = 1e-6;

// The sentences of advice about the edge between two launches, by their names. What a run showed of
// the edge, or what is known before one, is `why`: a clause.
class AdviceWords {
 public:
  AdviceWords(const std::string& from, const std::string& to) : from_(from), to_(to) {}

  // What keeps the edge full, and could be changed; else empty.
  std::string full_edge(const EdgeReport& edge) const;
  std::string no_trigger() const;
  std::string no_room(const EarlyRoom& room) const;
  std::string late_trigger(const std::string& why) const { return why + ": trigger earlier"; }
  std::string late_weights(const std::string& why) const {
    return why + ": load weights before the wait";
  }
  std::string small_launch(const std::string& why) const {
    return why + ": fuse " + from_ + " and " + to_;
  }

 private:
  std::string no_wait() const;

  const std::string &from_, &to_;
};

}  // namespace baton
