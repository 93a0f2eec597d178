#pragma once

namespace baton {

// A good program, in which tests replace one place. It stands on known lines.
inline constexpr const char* kGoodProgram =
    "name = \"p\"\n"                                               // 1
    "[symbols]\n"                                                  // 2
    "N = 4\n"                                                      // 3
    "[buffers.x]\n"                                                // 4
    "dtype = \"f32\"\n"                                            // 5
    "shape = [\"N\"]\n"                                            // 6
    "role = \"input\"\n"                                           // 7
    "init = \"zeros\"\n"                                           // 8
    "[buffers.w]\n"                                                // 9
    "dtype = \"i32\"\n"                                            // 10
    "shape = [4]\n"                                                // 11
    "role = \"weight\"\n"                                          // 12
    "[kernels.k]\n"                                                // 13
    "source = \"k.cu\"\n"                                          // 14
    "[[steps]]\n"                                                  // 15
    "launch = \"k\"\n"                                             // 16
    "grid = [1]\n"                                                 // 17
    "block = [32]\n"                                               // 18
    "args = [\"x + N\", \"N\"]\n"                                  // 19
    "[[steps]]\n"                                                  // 20
    "copy = { from = \"x\", to = \"x + N\", count = \"N\" }\n"     // 21
    "[[steps]]\n"                                                  // 22
    "fill = { buffer = \"x\", value = 0 }\n"                       // 23
    "[[steps]]\n"                                                  // 24
    "repeat = 2\n"                                                 // 25
    "index = \"i\"\n"                                              // 26
    "steps = [ { fill = { buffer = \"x\", value = \"i\" } } ]\n";  // 27

}  // namespace baton
