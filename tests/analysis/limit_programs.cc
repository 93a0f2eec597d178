#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>

#include "analysis/programs.h"

namespace baton::record {
namespace {

using overlap::GivenArgument;

// Kernels of one shape, longer and longer. The analysis bounds its work: it follows no more than so
// many steps of each kind, and `around` is that number or near it.
struct Shape {
  const char* name;
  unsigned around;
  std::function<std::string(unsigned count)> body;
  unsigned pointers = 3;  // parameters p0, p1, ...
  bool gives_all = true;  // false: `count` arguments are given
};

std::string repeated(unsigned count, const std::function<std::string(unsigned)>& one) {
  std::string text;
  for (unsigned k = 0; k < count; ++k) text += one(k);
  return text;
}
std::string repeated(unsigned count, const char* text) {
  return repeated(count, [&](unsigned) { return text; });
}

constexpr char kBegin[] =
    "ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; mov.u32 %r0, %tid.x;\n"
    "mov.u32 %r1, 0; ld.param.u64 %d78, [p1]; add.s64 %d79, %d78, 65536;\n";
constexpr char kStore[] =
    "mul.wide.u32 %d3, %r2, 4; add.s64 %d3, %d0, %d3; st.global.u32 [%d3], 1;\n";

std::string loop_of(const std::string& iteration, const std::string& decision) {
  return fmt::format(
      "{}L: ld.global.u32 %r3, [%d0];\n{}st.global.u32 [%d1], %r3;\n{}@%p0 bra L; ret;\n", kBegin,
      iteration, decision);
}

const Shape kShapes[] = {
    {"additions", 64,
     [](unsigned n) {
       return loop_of(
           "mov.u64 %d3, %d1;" + repeated(n, "add.s64 %d3, %d3, 4;\n") + "mov.u64 %d1, %d3;",
           "setp.lt.u64 %p0, %d1, %d79;");
     }},
    {"chained_additions", 64,
     [](unsigned n) {
       return loop_of(repeated(n,
                               [](unsigned k) {
                                 return fmt::format("add.s64 %d{}, %d{}, 4;\n", k + 4,
                                                    k == 0 ? 1 : k + 3);
                               }) +
                          fmt::format("mov.u64 %d1, %d{};", n + 3),
                      "setp.lt.u64 %p0, %d1, %d79;");
     }},
    {"nesting", 256,
     [](unsigned n) {
       return kBegin +
              repeated(n,
                       [](unsigned k) {
                         return fmt::format("add.u32 %r{}, %r{}, 1;\n", k + 4, k == 0 ? 0 : k + 3);
                       }) +
              fmt::format("mov.u32 %r2, %r{};", n + 3) + kStore + "ret;";
     }},
    {"predicates", 4,
     [](unsigned n) {
       return kBegin + std::string("setp.lt.u32 %p1, %r0, 8;") +
              repeated(n,
                       [](unsigned k) {
                         return fmt::format("and.pred %p{}, %p{}, %p0;", k + 2, k + 1);
                       }) +
              fmt::format("mov.u32 %r2, %r0; @!%p{} ret;", n + 1) + kStore + "ret;";
     }},
    {"repeated", 8,
     [](unsigned n) {
       return loop_of("",
                      "add.u32 %r1, %r1, 1; mov.u32 %r4, %r1;" + repeated(n - 3, [](unsigned k) {
                        return fmt::format("xor.b32 %r{}, %r{}, 1;", k + 5, k + 4);
                      }) + fmt::format("setp.lt.u32 %p0, %r{}, 9;", n + 1));
     }},
    {"iteration", 4096,
     [](unsigned n) {
       return loop_of("bra M; M:" + repeated(n - 5, "nanosleep.u32 1;\n"),
                      "bra N; N: add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 9;");
     }},
    {"equality", 16,
     [](unsigned n) {
       return kBegin + std::string("ld.param.u64 %d4, [p2]; mov.u32 %r2, %r0;") +
              repeated(n, "xor.b32 %r5, %r5, 1;") +
              "setp.eq.u32 %p0, %r2, 0; @!%p0 bra M; griddepcontrol.wait; M: bar.sync 0;" + kStore +
              "ret;";
     }},
    {"barriers", 8,
     [](unsigned n) {
       return kBegin + std::string("mov.u32 %r2, %r0; setp.ge.u32 %p0, %r0, 32; @%p0 bra M;") +
              "griddepcontrol.wait;" + repeated(n, "bar.sync 0;") +
              "bra N; M:" + repeated(n, "bar.sync 0;") + "N:" + kStore + "ret;";
     }},
    {"meetings", 16,
     [](unsigned n) {
       return kBegin + std::string("mov.u32 %r2, %r0; setp.ge.u32 %p0, %r0, 32; @%p0 bra M;") +
              repeated(n, "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;") +
              "griddepcontrol.wait; bra N; M:" +
              repeated(n, "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;") +
              "N:" + kStore + "ret;";
     }},
    // A counter up to the largest number with a sign, and an address up to the largest offset.
    {"counter", 4,
     [](unsigned n) {
       return loop_of(
           "mul.wide.u32 %d3, %r1, 4; add.s64 %d3, %d1, %d3; st.global.u32 [%d3], %r3;",
           fmt::format("add.u32 %r1, %r1, 1; setp.lt.s32 %p0, %r1, {};", 0x7ffffffc + n));
     }},
    {"address", 4,
     [](unsigned n) {
       return loop_of(
           "", fmt::format("add.s64 %d1, %d1, 64; ld.param.u64 %d5, [p1]; add.s64 %d4, %d5, {};"
                           "setp.lt.u64 %p0, %d1, %d4;",
                           (std::uint64_t{1} << 46) - 67 + n));
     }},
    {"growth", 12,
     [](unsigned n) {
       return loop_of("", fmt::format("add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, {};", n));
     }},
    {"origins", 16,
     [](unsigned n) {
       return kBegin +
              repeated(n,
                       [](unsigned k) {
                         return fmt::format(
                             "ld.param.u64 %d5, [p{}]; setp.eq.u32 %p0, %r0, {}; "
                             "@%p0 mov.u64 %d0, %d5;",
                             k, k);
                       }) +
              "mov.u32 %r2, %r0;" + kStore + "ret;";
     },
     20},
    {"sources", 64,
     [](unsigned n) {
       return kBegin +
              repeated(n,
                       [](unsigned k) {
                         return fmt::format("ld.param.u64 %d5, [p{}]; add.s64 %d0, %d0, %d5;", k);
                       }) +
              "mov.u32 %r2, %r0;" + kStore + "ret;";
     },
     68},
    // Fewer arguments than parameters, none of which is a scalar.
    {"arguments", 3,
     [](unsigned) {
       return kBegin + std::string("ld.param.u32 %r2, [p2]; setp.eq.u32 %p0, %r2, 0;") +
              "@%p0 bra M; griddepcontrol.wait; M: ld.param.u64 %d0, [p5+8];" + kStore + "ret;";
     },
     6, false},
    // A loop that begins with the kernel's first instruction.
    {"top", 4,
     [](unsigned n) {
       return fmt::format(
           "L: ld.param.u64 %d0, [p0]; ld.global.u32 %r3, [%d0]; setp.eq.u32 %p0, %r3, {};"
           "@%p0 bra L; st.global.u32 [%d0], 1; griddepcontrol.wait; ret;",
           n);
     }},
    // Operands with a sign, which only assemblers of other makers take.
    {"signs", 4,
     [](unsigned n) {
       return kBegin + fmt::format("add.s32 %r2, -%r0, {};", n) + kStore + "ret;";
     }},
    {"steps", 64, [](unsigned n) {
       return loop_of("add.s64 %d1, %d1, 4; add.s64 %d0, %d0, 4;",
                      fmt::format("add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, {};", 16 * n));
     }}};

RecordedProgram program_of(const Shape& shape, unsigned count) {
  RecordedProgram program;
  program.name = fmt::format("{}/{}", shape.name, count);
  std::string params;
  for (unsigned k = 0; k < shape.pointers; ++k) {
    params += fmt::format("{}.param .u64 p{}", k == 0 ? "" : ", ", k);
  }
  program.module = ptx::ParsedModule::parse(
      fmt::format(".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k({}) {{\n"
                  ".reg .b64 %d<80>; .reg .b32 %r<280>; .reg .pred %p<16>;\n{}}}\n",
                  params, shape.body(count)),
      program.name);
  for (unsigned at = 0; at < 2; ++at) {
    RecordedLaunch& launch = program.launches.emplace_back();
    launch.kernel = program.module->function("k");
    launch.block[0] = 64;
    for (unsigned k = 0; k < (shape.gives_all ? shape.pointers : count); ++k) {
      launch.arguments.push_back(
          GivenArgument::pointer(static_cast<overlap::MemoryId>('x' + (k + at) % 2), 256 * k));
    }
  }
  return program;
}

}  // namespace

std::vector<RecordedProgram> limit_programs() {
  std::vector<RecordedProgram> programs;
  for (const Shape& shape : kShapes) {
    const unsigned beside = shape.around > 1000 ? 1 : 3;
    for (unsigned count = shape.around - beside; count <= shape.around + beside; ++count) {
      programs.push_back(program_of(shape, count));
    }
  }
  return programs;
}

}  // namespace baton::record
