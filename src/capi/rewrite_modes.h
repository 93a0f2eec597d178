#pragma once

#include "baton/program.h"
#include "capi/call.h"

namespace baton::capi {

// The modes of rewriting, as constants of the header.
inline constexpr Call::Constant<RewriteMode> kRewriteModes[] = {
    {BATON_REWRITE_OFF, RewriteMode::kOff},   {BATON_REWRITE_AUTO, RewriteMode::kAuto},
    {BATON_REWRITE_WAIT, RewriteMode::kWait}, {BATON_REWRITE_LOADS, RewriteMode::kLoads},
    {BATON_REWRITE_EXIT, RewriteMode::kExit}, {BATON_REWRITE_TOP, RewriteMode::kTop},
};

}  // namespace baton::capi
