#pragma once

#include <string>
#include <vector>

#include "baton/program.h"
#include "tools/draft/library_kernels.h"
#include "tools/file/program_arrays.h"

namespace baton::tools {

// One call of a function of a library, as a command line writes it.
struct LibraryCall {
  std::string function;  // its symbol; empty: the only one
  // p0, p1, … are the kernel's parameters in their order:
  //   p0=x.npy, p0=bf16:x.npy   memory with the file's contents
  //   p0=f32[64,32]             memory of zeros
  //   p1=3                      a number
  //   p0.box=16,16              a key of the tensor map of the memory p0
  // Launch values have the names of the metadata: grid.x=4.
  std::vector<Assignment> arguments;
};

struct LibraryProgram {
  Program program;                 // one launch
  std::vector<Assignment> inputs;  // the files of its buffers, as --input has them
};

// The program of one launch by the library's metadata. It contains no guesses. `library` is its
// name in messages. Throws kNotFound for a function or an argument that does not exist, and
// kInvalidInput for one that is missing or does not fit; both list the valid names.
LibraryProgram library_program(const std::string& library, const LibraryKernels& kernels,
                               const LibraryCall& call);

}  // namespace baton::tools
