#include "record/copy_shape.h"

#include <algorithm>
#include <utility>

#include "record/call_meaning.h"

namespace baton::record {
namespace {

constexpr std::pair<std::string_view, CopyShape> kShapes[] = {
    {"cuMemcpy", CopyShape::kAny},
    {"cuMemcpyAsync", CopyShape::kAny},
    {"cuMemcpyPeer", CopyShape::kPeer},
    {"cuMemcpyPeerAsync", CopyShape::kPeer},
    {"cuMemcpyHtoD_v2", CopyShape::kHostToDevice},
    {"cuMemcpyHtoDAsync_v2", CopyShape::kHostToDevice},
    {"cuMemcpyDtoH_v2", CopyShape::kDeviceToHost},
    {"cuMemcpyDtoHAsync_v2", CopyShape::kDeviceToHost},
    {"cuMemcpyDtoD_v2", CopyShape::kDeviceToDevice},
    {"cuMemcpyDtoDAsync_v2", CopyShape::kDeviceToDevice},
    {"cuMemcpy2D_v2", CopyShape::kRows},
    {"cuMemcpy2DUnaligned_v2", CopyShape::kRows},
    {"cuMemcpy2DAsync_v2", CopyShape::kRows},
    {"cuMemcpy3D_v2", CopyShape::kSlices},
    {"cuMemcpy3DAsync_v2", CopyShape::kSlices},
};

}  // namespace

CopyShape copy_shape(std::string_view symbol) {
  const RecordedCall* const row = find_call(symbol);
  if (row == nullptr) return CopyShape::kOther;
  const auto* const found =
      std::ranges::find(kShapes, row->function, &std::pair<std::string_view, CopyShape>::first);
  return found == std::end(kShapes) ? CopyShape::kOther : found->second;
}

}  // namespace baton::record
