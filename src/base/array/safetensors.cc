#include "base/array/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "base/array/array.h"
#include "base/error.h"
#include "base/text/json.h"
#include "base/text/text.h"

namespace baton {
namespace {

constexpr std::uint64_t kLengthBytes = 8;

constexpr std::array<std::pair<std::string_view, DType>, 15> kSafetensorsDTypes = {{
    {"BOOL", DType::kBool},
    {"I8", DType::kI8},
    {"I16", DType::kI16},
    {"I32", DType::kI32},
    {"I64", DType::kI64},
    {"U8", DType::kU8},
    {"U16", DType::kU16},
    {"U32", DType::kU32},
    {"U64", DType::kU64},
    {"F16", DType::kF16},
    {"BF16", DType::kBF16},
    {"F32", DType::kF32},
    {"F64", DType::kF64},
    {"F8_E4M3", DType::kF8E4M3},
    {"F8_E5M2", DType::kF8E5M2},
}};

std::optional<DType> dtype_of(std::string_view name) {
  const auto found =
      std::ranges::find(kSafetensorsDTypes, name, &std::pair<std::string_view, DType>::first);
  if (found == kSafetensorsDTypes.end()) return std::nullopt;
  return found->second;
}

const Json& member(const Json& object, std::string_view key, const std::string& where) {
  const Json* const found = find_member(object, key);
  if (found == nullptr) throw error(ErrorCode::kInvalidInput, "{} has no {}", where, key);
  return *found;
}

std::uint64_t size(const Json& value, const std::string& where) {
  const std::int64_t number = require_integer(value, where);
  if (number < 0) {
    throw error(ErrorCode::kInvalidInput, "{} is {}, it must not be negative", where, number);
  }
  return static_cast<std::uint64_t>(number);
}

SafeTensor tensor_of(const Json& value, std::uint64_t data, std::uint64_t data_bytes,
                     const std::string& where) {
  require_object(value, where);
  SafeTensor tensor;
  tensor.dtype_name = require_string(member(value, "dtype", where), where + ".dtype");
  tensor.dtype = dtype_of(tensor.dtype_name);
  for (const Json& extent : require_array(member(value, "shape", where), where + ".shape")) {
    tensor.shape.push_back(static_cast<std::int64_t>(size(extent, where + ".shape")));
  }
  const Json& range = require_array(member(value, "data_offsets", where), where + ".data_offsets");
  if (range.size() != 2) {
    throw error(ErrorCode::kInvalidInput, "{}.data_offsets has {} numbers, it must have 2", where,
                range.size());
  }
  const std::uint64_t begin = size(range[0], where + ".data_offsets");
  const std::uint64_t end = size(range[1], where + ".data_offsets");
  if (begin > end || end > data_bytes) {
    throw error(ErrorCode::kInvalidInput,
                "{}.data_offsets are [{}, {}], which is not a range of the {} bytes of data", where,
                begin, end, data_bytes);
  }
  tensor.offset = data + begin;
  tensor.bytes = end - begin;
  if (!tensor.dtype) return tensor;
  std::uint64_t wanted = size_of(*tensor.dtype);
  bool overflows = false;
  for (const std::int64_t extent : tensor.shape) {
    overflows |= __builtin_mul_overflow(wanted, static_cast<std::uint64_t>(extent), &wanted);
  }
  if (overflows || wanted != tensor.bytes) {
    throw error(ErrorCode::kInvalidInput, "{}: {} {} does not fit its {} bytes", where,
                tensor.dtype_name, shape_text(tensor.shape), tensor.bytes);
  }
  return tensor;
}

// Each byte of the data belongs to one tensor.
void check_ranges(const SafeTensors& tensors, std::uint64_t data, std::uint64_t data_bytes,
                  const std::string& name) {
  std::vector<std::pair<std::uint64_t, const SafeTensors::value_type*>> order;
  for (const auto& each : tensors) order.emplace_back(each.second.offset, &each);
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return std::pair(a.first, a.second->second.bytes) < std::pair(b.first, b.second->second.bytes);
  });
  std::uint64_t end = data;
  for (const auto& [offset, each] : order) {
    if (offset != end) {
      throw error(
          ErrorCode::kInvalidInput,
          "{}: the tensor \"{}\" begins at byte {} of the data, the one before it ends at {}", name,
          printable(each->first), offset - data, end - data);
    }
    end += each->second.bytes;
  }
  if (end != data + data_bytes) {
    throw error(ErrorCode::kInvalidInput, "{}: the tensors have {} bytes, the file has {} for them",
                name, end - data, data_bytes);
  }
}

}  // namespace

std::uint64_t safetensors_header_length(std::string_view start, std::uint64_t file_bytes,
                                        const std::string& name) {
  if (start.size() < kLengthBytes) {
    throw error(ErrorCode::kInvalidInput, "{} is not a safetensors file: it has {} bytes", name,
                file_bytes);
  }
  std::uint64_t length = 0;
  std::memcpy(&length, start.data(), sizeof(length));
  const std::uint64_t most = std::min(kMaxSafetensorsHeader, file_bytes - kLengthBytes);
  if (length > most) {
    throw error(
        ErrorCode::kInvalidInput,
        "{} is not a safetensors file: it says that its header has {} bytes, {} are possible", name,
        length, most);
  }
  return length;
}

SafeTensors parse_safetensors_header(std::string_view header, std::uint64_t file_bytes,
                                     const std::string& name) {
  const std::uint64_t data = kLengthBytes + header.size();
  if (data > file_bytes) {
    throw error(ErrorCode::kInvalidInput, "{} ends inside of its header", name);
  }
  const std::uint64_t data_bytes = file_bytes - data;
  const Json json = parse_json(header, name);
  SafeTensors tensors;
  for (const auto& [key, value] : require_object(json, name).items()) {
    if (key == "__metadata__") continue;
    const std::string where = name + ": \"" + printable(key) + '"';
    tensors.emplace(key, tensor_of(value, data, data_bytes, where));
  }
  check_ranges(tensors, data, data_bytes, name);
  return tensors;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : name_(path.string()),
      file_(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); })) {
  if (file_.number() < 0) {
    const int reason = errno;
    throw error(reason == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInvalidInput,
                "cannot read {}: {}", name_, std::generic_category().message(reason));
  }
  struct stat facts {};
  if (::fstat(file_.number(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    throw error(ErrorCode::kInvalidInput, "{} is not a regular file", name_);
  }
  read_header(static_cast<std::uint64_t>(facts.st_size));
}

SafetensorsFile::SafetensorsFile(std::shared_ptr<const HeldBytes> held)
    : name_(held->name()), held_(std::move(held)) {
  read_header(held_->size());
}

void SafetensorsFile::read_header(std::uint64_t file_bytes) {
  std::string start(std::min(file_bytes, kLengthBytes), '\0');
  read_at(0, start.size(), start.data());
  std::string header(safetensors_header_length(start, file_bytes, name_), '\0');
  read_at(kLengthBytes, header.size(), header.data());
  tensors_ = parse_safetensors_header(header, file_bytes, name_);
}

void SafetensorsFile::read(const SafeTensor& tensor, std::uint64_t first, std::uint64_t bytes,
                           void* target) const {
  read_at(tensor.offset + first, bytes, target);
}

void SafetensorsFile::read_at(std::uint64_t offset, std::uint64_t bytes, void* target) const {
  auto* to = static_cast<char*>(target);
  if (held_ != nullptr) {
    // The header's ranges lie in the file.
    held_->read(offset, bytes, to);
    return;
  }
  while (bytes != 0) {
    const ssize_t got = uninterrupted(
        [&] { return ::pread(file_.number(), to, bytes, static_cast<off_t>(offset)); });
    if (got < 0) {
      throw error(ErrorCode::kInvalidInput, "cannot read {}: {}", name_,
                  std::generic_category().message(errno));
    }
    if (got == 0) {
      throw error(ErrorCode::kInvalidInput, "{} ends at byte {}: it has become shorter", name_,
                  offset);
    }
    to += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::uint64_t>(got);
  }
}

}  // namespace baton
