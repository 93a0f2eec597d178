#include "launch/graph_node.h"

#include <cstring>

#include "base/error.h"
#include "launch/attribute_table.h"

namespace baton::launch {
namespace {

[[noreturn]] void refuse(std::string_view kernel, std::string_view name, std::string_view why) {
  throw error(ErrorCode::kUnsupported,
              "kernel {}: a graph does not keep the attribute {}: {}; leave it out, or launch into "
              "a stream",
              kernel, name, why);
}

}  // namespace

void set_node_attribute(const driver::Driver& driver, CUgraphNode node,
                        const LaunchAttribute& attribute, std::string_view kernel) {
  if (attribute.id() == AttributeId::kPdl) return;
  const AttributeRow* row = find_row(attribute.id());
  if (row != nullptr && row->graph != GraphUse::kNode) {
    refuse(kernel, row->name,
           row->graph == GraphUse::kEdge ? "it records an event, which a node cannot do"
                                         : "it is an attribute of streams");
  }
  CUlaunchAttributeValue value;
  static_assert(sizeof value == LaunchAttribute::kValueBytes);
  std::memcpy(&value, attribute.value().data(), sizeof value);
  const auto id = static_cast<CUlaunchAttributeID>(attribute.id());
  const CUresult result = driver.cuGraphKernelNodeSetAttribute(node, id, &value);
  if (result == CUDA_SUCCESS) return;
  if (result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_NOT_SUPPORTED) {
    refuse(kernel, attribute.name(), "the driver answers " + driver::describe(driver, result));
  }
  driver::check(driver, result, "cuGraphKernelNodeSetAttribute");
}

}  // namespace baton::launch
