#pragma once

// What the analysis of origins keeps of a kernel as a whole: conditions, what is stored, and
// alignments.

#include "pdl/origin/origin_analysis.h"
#include "pdl/origin/origin_values.h"

namespace baton::overlap {

// Fills in all of the result but its pool.
void collect_facts(const Code& code, OriginValues& values, KernelOrigins& out);

// Whether it is an address in local memory, or in that of parameters.
bool is_place_of_thread(const AddressSource& source);

}  // namespace baton::overlap
