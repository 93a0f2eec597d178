#pragma once

#include "report/time_change.h"

namespace baton::tools {

// What compares the times of two programs.
using baton::paired_change;
using baton::TimeChange;
using baton::unpaired_change;

}  // namespace baton::tools
