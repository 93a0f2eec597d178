#include "tools/draft/reference_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/error.h"
#include "program/buffer_roles.h"
#include "tools/draft/python_names.h"

namespace baton::tools {
namespace {

// The generators of docs/program-file.md, and what NumPy lacks.
constexpr std::string_view kHelpers = R"python(
def ceildiv(a, b):
    return -(-a // b)


def floordiv(a, b):
    return a // b


def words(name, count):
    """64 random bits for each element: the sequence of Baton, with the seed of --seed."""
    key = int.from_bytes(hashlib.sha256(f"{SEED}:{name}".encode()).digest()[:8], "little")
    i = np.arange(1, count + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        z = np.uint64(key) + i * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def floats(name, shape, low=-1.0, high=1.0):
    z = words(name, int(np.prod(shape)))
    return (low + (z >> np.uint64(11)).astype(np.float64) * 2.0**-53 * (high - low)).reshape(shape)


def integers(name, shape, low=0, high=99):
    """The high 64 bits of z * (high - low + 1)."""
    z, span = words(name, int(np.prod(shape))), high - low + 1
    if span > 2**32:
        return np.array([(int(word) * span >> 64) + low for word in z]).reshape(shape)
    span = np.uint64(span)
    low_half = (z & np.uint64(0xFFFFFFFF)) * span >> np.uint64(32)
    above = ((z >> np.uint64(32)) * span + low_half) >> np.uint64(32)
    return (above.astype(np.int64) + low).reshape(shape)


def normal(name, shape, deviation):
    z = words(name, 4 * int(np.prod(shape))).reshape(-1, 4)
    part = np.uint64((1 << 21) - 1)
    total = sum((z >> np.uint64(k)) & part for k in (0, 21, 42)).sum(axis=1).astype(np.int64)
    return (deviation * ((2 * total - 12 * ((1 << 21) - 1)) * 2.0**-22)).reshape(shape)


def arange(name, shape):
    return np.arange(int(np.prod(shape))).reshape(shape)
)python";

constexpr std::string_view kBfloat16 = R"python(

def bf16(values):
    """Rounded to bfloat16, which NumPy has not: as float32."""
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    kept = (bits + 0x7FFF + (bits >> np.uint64(16) & np.uint64(1))) >> np.uint64(16)
    return (kept << np.uint64(16)).astype(np.uint32).view(np.float32)


def bf16_bits(values):
    """As Baton stores it in .npy files."""
    return (bf16(values).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
)python";

std::string numpy_name(const ProgramBuffer& buffer) {
  switch (buffer.dtype) {
    case DType::kF16:
      return "np.float16";
    case DType::kF32:
    case DType::kBF16:  // its values, rounded
      return "np.float32";
    case DType::kF64:
      return "np.float64";
    case DType::kBool:
      return "np.bool_";
    case DType::kI8:
    case DType::kI16:
    case DType::kI32:
    case DType::kI64:
      return fmt::format("np.int{}", 8 * size_of(buffer.dtype));
    case DType::kU8:
    case DType::kU16:
    case DType::kU32:
    case DType::kU64:
      return fmt::format("np.uint{}", 8 * size_of(buffer.dtype));
    case DType::kF8E4M3:
    case DType::kF8E5M2:
      break;
  }
  throw error_at(buffer.where, ErrorCode::kInvalidInput,
                 "a NumPy reference has no {}, which the buffer {} has", to_string(buffer.dtype),
                 buffer.name);
}

std::string python_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string shape_of(const ProgramBuffer& buffer) {
  std::string text = "(";
  for (const Expression& extent : buffer.shape) text += python_expression(extent.text()) + ", ";
  if (text.size() > 1) text.pop_back();
  return text + ")";
}

// The first contents, as an expression of Python; empty for none.
std::string contents_of(const ProgramBuffer& buffer) {
  const std::string name = python_string(buffer.name);
  const std::string shape = shape_of(buffer);
  const auto rounded = [&](const std::string& values) {
    if (buffer.dtype == DType::kBF16) return fmt::format("bf16({})", values);
    return fmt::format("{}.astype({})", values, numpy_name(buffer));
  };
  switch (buffer.init) {
    case BufferInit::kNone:
      return {};
    case BufferInit::kZeros:
    case BufferInit::kOnes:
      return fmt::format("np.{}({}, {})", to_string(buffer.init), shape, numpy_name(buffer));
    case BufferInit::kArange:
      return rounded(fmt::format("arange({}, {})", name, shape));
    case BufferInit::kRandom:
      if (buffer.dtype == DType::kBool)
        return fmt::format("integers({}, {}, 0, 1) == 1", name, shape);
      return rounded(
          fmt::format("{}({}, {})", is_float(buffer.dtype) ? "floats" : "integers", name, shape));
    case BufferInit::kNormal:
      return rounded(fmt::format("normal({}, {}, {})", name, shape, buffer.deviation));
    case BufferInit::kUniform: {
      if (is_float(buffer.dtype)) {
        return rounded(fmt::format("floats({}, {}, {}, {})", name, shape, buffer.low, buffer.high));
      }
      return rounded(fmt::format("integers({}, {}, {}, {})", name, shape,
                                 static_cast<std::int64_t>(buffer.low),
                                 static_cast<std::int64_t>(buffer.high)));
    }
    case BufferInit::kFile:
      if (!buffer.tensor.empty()) {
        throw error_at(buffer.where, ErrorCode::kInvalidInput,
                       "a NumPy reference cannot read the safetensors file of the buffer {}",
                       buffer.name);
      }
      return fmt::format("np.load({})", python_string(buffer.file.string()));
  }
  return {};
}

// The steps as comments: what there is to compute.
void describe(const std::vector<ProgramStep>& steps, const std::string& indent, std::string& out) {
  for (const ProgramStep& step : steps) {
    if (const auto* launch = std::get_if<LaunchStep>(&step.action)) {
      out += fmt::format("{}# {} ({})\n", indent, launch->kernel, step.where.to_string());
    } else if (const auto* group = std::get_if<RepeatStep>(&step.action)) {
      out += fmt::format("{}# {} times:\n", indent, group->count.text());
      describe(group->steps, indent + "#   ", out);
    } else {
      out += fmt::format("{}# the step at {}\n", indent, step.where.to_string());
    }
  }
}

}  // namespace

std::string reference_script(const Program& program, const std::string& file,
                             const std::string& script, const std::string& folder) {
  std::vector<std::string> names, inputs, outputs;
  bool has_bfloat16 = false;
  for (const ProgramBuffer& buffer : program.buffers()) {
    has_bfloat16 = has_bfloat16 || buffer.dtype == DType::kBF16;
    const std::string contents = contents_of(buffer);
    if (!contents.empty()) {
      names.push_back(python_name(buffer.name));
      inputs.push_back(fmt::format("    \"{}\": {},\n", names.back(), contents));
    }
    if (!facts_of(buffer.role).is_result) continue;
    outputs.push_back(fmt::format("    \"{}\": ({}, {}),\n", buffer.name, shape_of(buffer),
                                  buffer.dtype == DType::kBF16 ? "None" : numpy_name(buffer)));
  }
  std::string text = fmt::format(
      R"python(#!/usr/bin/env python3
"""A reference in NumPy for {0}. Fill in `reference`, then:

    python3 {1} && baton run {0} --expect {2}

Symbols and the seed can be given, as NAME=VALUE: python3 {1} N=300 SEED=1
"""

import hashlib
import pathlib
import sys

import numpy as np

SEED = 0
)python",
      file, script, folder);
  std::string renamed;  // the symbols that have another name in Python
  for (const ProgramSymbol& symbol : program.symbols()) {
    const std::string name = python_name(symbol.name);
    text += fmt::format("{} = {}\n", name, symbol.value);
    if (name != symbol.name) renamed += fmt::format("\"{}\": \"{}\", ", symbol.name, name);
  }
  const std::string name = renamed.empty() ? "n" : fmt::format("{{{}}}.get(n, n)", renamed);
  text += fmt::format(
      "globals().update(({}, int(v)) for n, v in (word.split(\"=\") for word in sys.argv[1:]))\n\n",
      name);
  text += kHelpers;
  if (has_bfloat16) text += kBfloat16;
  std::string steps;
  describe(program.steps(), "    ", steps);
  text += fmt::format("\n\ndef reference({}):\n", fmt::join(names, ", "));
  text += "    \"\"\"Returns what the program leaves in each of OUTPUTS, by name.\"\"\"\n";
  text += steps;
  text += fmt::format("    raise SystemExit(\"{}: fill in the function reference\")\n", script);
  text += fmt::format("\n\n# The contents before the first step.\nINPUTS = {{\n{}}}\n",
                      fmt::join(inputs, ""));
  text +=
      fmt::format("# Shape and dtype of what is compared; None: bfloat16.\nOUTPUTS = {{\n{}}}\n",
                  fmt::join(outputs, ""));
  text += fmt::format(R"python(
folder = pathlib.Path(__file__).with_name({})
results = reference(**INPUTS)
folder.mkdir(exist_ok=True)
for name, (shape, dtype) in OUTPUTS.items():
    values = np.broadcast_to(results[name], shape)
    stored = {} if dtype is None else values.astype(dtype)
    np.save(folder / f"{{name}}.npy", stored)
)python",
                      python_string(folder), has_bfloat16 ? "bf16_bits(values)" : "values");
  return text;
}

}  // namespace baton::tools
