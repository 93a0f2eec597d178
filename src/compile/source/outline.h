#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "compile/source/tokens.h"

namespace baton::compiler {

// A part of a text, in bytes.
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool contains(std::size_t at) const { return begin <= at && at < end; }
  bool empty() const { return begin == end; }
};

// One declaration at file, namespace or class scope, as far as brackets and marks tell.
struct Declaration {
  enum class Kind { kFunction, kClass, kNamespace, kOther };
  Kind kind = Kind::kOther;
  TextRange range;             // all of it
  TextRange body;              // from "{", or a constructor's ":", to "}"; of functions alone
  TextRange statements;        // within the body's brackets
  bool is_for_device = false;  // __device__ without __host__, __global__, __constant__ and the like
  bool mentions_device = false;  // it, or something in it, has such a mark
  bool is_constexpr = false;
  bool is_specialization = false;  // template <>
  std::vector<Declaration> members;
};

// A function that looks like a template of kernels.
struct KernelTemplate {
  std::string name;                          // with its namespaces
  std::vector<std::string_view> parameters;  // as they are written: "int N", "typename T"
};

// What a text declares. It decides no meaning: macros are not expanded, and what looks like a
// declaration is one.
class Outline {
 public:
  // The text must live as long.
  explicit Outline(std::string_view text);

  const std::vector<Declaration>& declarations() const { return declarations_; }
  std::vector<KernelTemplate> kernel_templates() const;
  // The declarations that contain the place, outermost first.
  std::vector<const Declaration*> at(std::size_t place) const;
  // The innermost statement directly within a block of `within` that contains the place; empty
  // where there is none. A statement that is a part of another, as the body of an `if` without
  // brackets, is not taken apart.
  TextRange statement(const TextRange& within, std::size_t place) const;
  // All statements directly within blocks, innermost ones, that contain the word.
  std::vector<TextRange> statements_with(const TextRange& within, std::string_view word) const;

  // A `try` at the place: its keyword, its block, and its handlers.
  struct Try {
    TextRange keyword;
    TextRange block;
    TextRange handlers;
  };
  Try try_at(std::size_t place) const;

  // Where the specifiers of a declaration begin: after its template parameters and `extern "C"`.
  std::size_t specifiers(std::size_t declaration) const;

  // The type of "(T){" where the place is that bracket: the parts that make "T{" of it go.
  std::vector<TextRange> compound_literal(std::size_t place) const;

  // The marks of a lambda, "[x] __device__ (", where the place is what follows them.
  TextRange lambda_marks(std::size_t place) const;

  const TokenizedText& text() const { return tokenized_; }

 private:
  friend class OutlineParser;
  std::string_view word(std::size_t token) const;
  // The parameters of a template, from its keyword.
  std::vector<std::string_view> template_parameters(std::size_t first) const;
  bool is(std::size_t token, std::string_view what) const { return word(token) == what; }
  std::size_t token_at(std::size_t place) const;  // the first that ends after it
  std::size_t closing(std::size_t open) const { return pairs_[open]; }
  std::size_t statement_end(std::size_t first, std::size_t last) const;
  std::size_t specifiers_token(std::size_t first) const;
  std::size_t after_angles(std::size_t open, std::size_t last) const;

  std::string_view source_;
  TokenizedText tokenized_;
  std::vector<std::size_t> pairs_;  // of an opening bracket its closing one; else itself
  std::vector<Declaration> declarations_;
};

}  // namespace baton::compiler
