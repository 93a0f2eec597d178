#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "baton/world.h"

namespace baton {

// What a program file calls the values of the enumerations of baton/program.h, in their order.
inline constexpr std::array<std::string_view, 7> kRoleNames = {
    "input", "weight", "output", "inout", "scratch", "state", "cache"};
// The last two stand in a table of their own: init = { normal = 0.02 }.
inline constexpr std::array<std::string_view, 8> kInitNames = {
    "none", "zeros", "ones", "arange", "random", "file", "normal", "uniform"};
inline constexpr std::array<std::string_view, 6> kRelationNames = {"==", "!=", "<",
                                                                   "<=", ">",  ">="};
// The last two have no key in program files.
inline constexpr std::array<std::string_view, 8> kOriginNames = {
    "source", "text", "ptx", "cubin", "fatbin", "link", "image", "compiled"};
inline constexpr std::size_t kOriginKeys = 6;
inline constexpr std::array<std::string_view, 4> kPdlNames = {"auto", "on", "off", "force"};
inline constexpr std::array<std::string_view, 6> kRewriteNames = {"off",   "auto", "wait",
                                                                  "loads", "exit", "top"};
// What other libraries call a dtype, and Baton's name for it.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 24> kOtherDTypeNames = {{
    {"half", "f16"},           {"float16", "f16"},        {"fp16", "f16"},
    {"bfloat16", "bf16"},      {"__nv_bfloat16", "bf16"}, {"float", "f32"},
    {"float32", "f32"},        {"fp32", "f32"},           {"double", "f64"},
    {"float64", "f64"},        {"fp64", "f64"},           {"float8_e4m3fn", "f8e4m3"},
    {"float8_e4m3", "f8e4m3"}, {"float8_e5m2", "f8e5m2"}, {"int8", "i8"},
    {"int16", "i16"},          {"int32", "i32"},          {"int", "i32"},
    {"int64", "i64"},          {"uint8", "u8"},           {"uint16", "u16"},
    {"uint32", "u32"},         {"uint64", "u64"},         {"boolean", "bool"},
}};
inline constexpr std::array<std::string_view, 3> kReduceNames = {"sum", "max", "min"};
inline constexpr std::array<std::string_view, 2> kPlacementNames = {"any", "even"};
// Of CollectiveExecutor, without kAuto, which no program names.
inline constexpr std::array<std::string_view, 3> kExecutorNames = {"nccl", "host", "peer"};
static_assert(static_cast<int>(CollectiveExecutor::kNccl) == 1 &&
              static_cast<int>(CollectiveExecutor::kPeer) == kExecutorNames.size());

}  // namespace baton
