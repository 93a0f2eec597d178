#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace baton::compiler {

struct Request;

// Turns the compiler's names of files into marks that mean the same on every machine, and marks
// into the reader's own names. What is cached holds marks: it may be read where the same sources
// lie in other folders.
class PathTable {
 public:
  explicit PathTable(const Request& request);

  // The mark of a file as the compiler calls it, or the name itself where it is none of ours.
  std::string encode(std::string_view name) const;
  // With every mark replaced. The source and its prelude get the name the user gave.
  std::string decode(std::string_view text) const;

  // What the compiler would call the file of an encoded name here: the inverse of `encode`.
  std::string compilers_name(std::string_view encoded) const;

  // Whether an encoded name is that of one of CUDA's own headers.
  static bool is_cuda(std::string_view encoded);

  // With the names in its .file directives encoded.
  std::string encode_ptx(std::string_view ptx) const;

 private:
  std::vector<std::pair<std::string, std::string>> exact_;    // the compiler's name → mark
  std::vector<std::pair<std::string, std::string>> folders_;  // a folder of CUDA's → mark
  std::vector<std::pair<std::string, std::string>>
      compilers_;                                           // mark → the compiler's name; sorted
  std::vector<std::pair<std::string, std::string>> names_;  // mark → the reader's name; sorted
};

}  // namespace baton::compiler
