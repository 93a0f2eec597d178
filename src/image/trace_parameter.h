#pragma once

#include <string_view>

namespace baton::image {

// The last parameter of a kernel that Baton instrumented for a trace: the address of the launch's
// records, or 0. No argument of a launch is for it, so that it is not among the facts' parameters.
inline constexpr std::string_view kTraceParameter = "baton_trace_records";

}  // namespace baton::image
