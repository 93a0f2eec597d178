#pragma once

#include <cuda.h>

#include <string_view>

#include "baton/attributes.h"
#include "driver/driver.h"

namespace baton::launch {

// Gives the attribute to a kernel node of a graph. One that becomes an edge between two launches
// (pdl) is for whoever adds edges, and passed over. Throws kUnsupported, naming the attribute, for
// what is an attribute of streams alone, needs an event, or is none of nodes for this driver.
void set_node_attribute(const driver::Driver& driver, CUgraphNode node,
                        const LaunchAttribute& attribute, std::string_view kernel);

}  // namespace baton::launch
