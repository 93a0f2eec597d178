#pragma once

#include "sim/engine/run/exec.h"

namespace baton::sim {

// Instructions on textures and surfaces (PTX ISA 9.0, "Texture Instructions", "Surface
// Instructions"). r[4] is the handle of the object, r[0] … r[3] the registers of the values, and
// u.list has a head and then the registers of the coordinates, and of the layer, if there are any,
// and of the level, or of the gradients in x and then in y.

// How a fetch chooses the level of a mipmap.
enum class LevelChoice : std::uint8_t { kBase, kGiven, kGradients };

struct TextureAccess {
  unsigned dimensions = 1;  // of the texture; of a face for cubes
  bool by_index = false;    // coordinates are integers
  bool gathers = false;     // tld4
  unsigned component = 0;   // of a gather
  bool has_layer = false;
  bool is_cube = false;
  LevelChoice level = LevelChoice::kBase;
  // A cube's are a direction.
  unsigned coordinates() const { return is_cube ? 3 : dimensions; }
  std::uint32_t pack() const {
    return dimensions | (by_index ? 4u : 0) | (gathers ? 8u : 0) | component << 4 |
           (has_layer ? 64u : 0) | (is_cube ? 128u : 0) | static_cast<std::uint32_t>(level) << 8;
  }
  static TextureAccess unpack(std::uint32_t head) {
    return {head & 3,
            (head & 4) != 0,
            (head & 8) != 0,
            head >> 4 & 3,
            (head & 64) != 0,
            (head & 128) != 0,
            static_cast<LevelChoice>(head >> 8 & 3)};
  }
};

// What happens to an access outside of a surface.
enum class SurfaceMode : std::uint8_t { kTrap, kClamp, kZero };

struct SurfaceAccess {
  unsigned dimensions = 1;
  unsigned bytes = 4;     // of an element
  unsigned elements = 1;  // 1, 2 or 4
  unsigned slot = 4;      // bytes of a register's lane
  SurfaceMode mode = SurfaceMode::kTrap;
  bool has_layer = false;
  std::uint32_t pack() const {
    return dimensions | bytes << 4 | elements << 8 | slot << 12 |
           static_cast<std::uint32_t>(mode) << 16 | (has_layer ? 1u << 18 : 0);
  }
  static SurfaceAccess unpack(std::uint32_t head) {
    return {head & 3,
            head >> 4 & 15,
            head >> 8 & 7,
            head >> 12 & 15,
            static_cast<SurfaceMode>(head >> 16 & 3),
            (head >> 18 & 1) != 0};
  }
};

const Insn* op_texture(Exec* x, const Insn* i);        // tex, tld4
const Insn* op_surface_load(Exec* x, const Insn* i);   // suld.b; x counts bytes
const Insn* op_surface_store(Exec* x, const Insn* i);  // sust.b
// sured.b: mode is the AtomOp, imm the Type.
const Insn* op_surface_reduce(Exec* x, const Insn* i);

// txq, suq: r[0] = what imm names of the object in r[4].
enum class TextureQuery : std::uint8_t { kWidth, kHeight, kDepth, kLayers, kLevels };
const Insn* op_query_texture(Exec* x, const Insn* i);
const Insn* op_query_surface(Exec* x, const Insn* i);

}  // namespace baton::sim
