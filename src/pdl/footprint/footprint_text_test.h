#pragma once

#include <string>

#include "pdl/footprint/footprint.h"
#include "pdl/test_support.h"

namespace baton::overlap {

inline constexpr char kWait[] = "griddepcontrol.wait;\n";
inline constexpr char kTrigger[] = "griddepcontrol.launch_dependents;\n";
inline constexpr char kReadA[] = "ld.global.f32 %f1, [%a];\n";
inline constexpr char kReadB[] = "ld.global.f32 %f2, [%b];\n";
inline constexpr char kWriteC[] = "st.global.f32 [%c], %f1;\n";

inline std::string text(const std::string& body) {
  return text_of(footprint_of(body));
}

// Why it may do more than it lists; empty where it does not.
inline std::string unseen(const Footprint& footprint) {
  return footprint.unseen ? describe(*footprint.unseen) : "";
}

}  // namespace baton::overlap
