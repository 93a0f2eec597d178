#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "baton.h"

namespace {

// types(float*, bool, signed char, short, unsigned char, unsigned short, int, unsigned, long,
//       unsigned long, float, double)
constexpr char kPtx[] = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry _Z5typesPfbashtijlmfd(
  .param .u64 p0, .param .u8 p1, .param .u8 p2, .param .u16 p3, .param .u8 p4, .param .u16 p5,
  .param .u32 p6, .param .u32 p7, .param .u64 p8, .param .u64 p9, .param .f32 p10, .param .f64 p11)
{ ret; }
)";
constexpr std::size_t kParameters = 12;

constexpr const char* kNames[] = {"priority",
                                  "cooperative",
                                  "cluster.x",
                                  "cluster.y",
                                  "mem_sync_domain",
                                  "mem_sync_domain_map.default",
                                  "access_policy_window.hit_ratio",
                                  "access_policy_window.num_bytes",
                                  "programmatic_stream_serialization",
                                  "synchronization_policy",
                                  "nothing"};
constexpr const char* kTexts[] = {"", "remote", "spread", "default", "\xff"};

void require(bool holds) {
  if (!holds) std::abort();
}

void succeed(baton_error* error) {
  require(error == nullptr);
}

baton_kernel* load_kernel() {
  baton_device* device = nullptr;
  baton_module* module = nullptr;
  baton_kernel* kernel = nullptr;
  succeed(baton_device_open("sim:tiny", nullptr, &device));
  succeed(baton_module_load(device, kPtx, sizeof(kPtx) - 1, &module));
  succeed(baton_kernel_get(module, nullptr, &kernel));
  baton_module_release(module);
  baton_device_release(device);
  return kernel;
}

// The input, piece by piece; zeros behind its end.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  void fill(void* target, std::size_t bytes) {
    const std::size_t taken = std::min(bytes, size_);
    std::memset(target, 0, bytes);
    if (taken != 0) std::memcpy(target, data_, taken);
    data_ += taken;
    size_ -= taken;
  }
  template <typename T>
  T take() {
    T value;
    fill(&value, sizeof(value));
    return value;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

// What values point to.
struct Pointees {
  std::array<baton_tensor, 16> tensors{};
  std::array<std::array<std::int64_t, 8>, 16> extents{};
  std::array<baton_bytes, 16> bytes{};
  std::array<std::uint8_t, 256> contents{};
};

baton_value take_value(Input& input, Pointees& pointees, std::size_t index) {
  auto value = input.take<baton_value>();
  value.type &= 0xF;
  value.padding &= 1;
  const bool is_null = (value.as.integer & 0xF) == 0;
  switch (value.type) {
    case BATON_TYPE_TENSOR: {
      baton_tensor& tensor = pointees.tensors[index];
      tensor = input.take<baton_tensor>();
      auto& extents = pointees.extents[index];
      extents = input.take<std::array<std::int64_t, 8>>();
      tensor.ndim = tensor.ndim % 5;
      tensor.shape = tensor.shape == nullptr ? nullptr : extents.data();
      tensor.strides = tensor.strides == nullptr ? nullptr : extents.data() + 4;
      value.as.tensor = is_null ? nullptr : &tensor;
      break;
    }
    case BATON_TYPE_TEXT:
      value.as.text = is_null ? nullptr : kTexts[index % std::size(kTexts)];
      break;
    case BATON_TYPE_BYTES: {
      const auto size = input.take<std::uint8_t>();
      pointees.bytes[index] = {pointees.contents.data(), size};
      if (size == 77) pointees.bytes[index].data = nullptr;
      value.as.bytes = is_null ? nullptr : &pointees.bytes[index];
      break;
    }
    default:
      break;  // the others point nowhere
  }
  return value;
}

}  // namespace

// A config of any size and content, and values of any type and content, for a kernel with a
// parameter of each type. A plan is checked and packed as a launch is, and never sent.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static baton_kernel* const kernel = load_kernel();
  Input input(data, size);
  Pointees pointees;

  auto config = input.take<baton_launch_config>();
  config.size &= 0x1FFF;
  std::array<baton_attribute, 4> attributes{};
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    attributes[i].name = kNames[input.take<std::uint8_t>() % std::size(kNames)];
    attributes[i].value = take_value(input, pointees, i);
  }
  config.stream = nullptr;
  config.attributes = attributes.data();
  config.attribute_count %= attributes.size() + 1;
  // As much memory as the caller says that there is.
  std::vector<std::byte> memory(std::max(config.size, sizeof(std::size_t)));
  std::memcpy(memory.data(), &config, std::min(memory.size(), sizeof(config)));
  if (memory.size() > sizeof(config)) {
    input.fill(memory.data() + sizeof(config), memory.size() - sizeof(config));
  }

  std::vector<baton_value> values(
      input.take<std::uint8_t>() % 4 == 0 ? input.take<std::uint8_t>() % 16 : kParameters);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = take_value(input, pointees, i);
  baton_plan* plan = nullptr;
  baton_error* const error =
      baton_plan_create(kernel, reinterpret_cast<const baton_launch_config*>(memory.data()),
                        values.data(), values.size(), &plan);
  require((plan == nullptr) == (error != nullptr));
  if (error != nullptr) {
    const std::int32_t code = baton_error_code(error);
    require(code == BATON_ERROR_INVALID_INPUT || code == BATON_ERROR_LIMIT ||
            code == BATON_ERROR_UNSUPPORTED);
    require(*baton_error_message(error) != '\0');
  } else {
    require(values.size() == kParameters);
  }
  baton_error_release(error);
  baton_plan_release(plan);
  return 0;
}
