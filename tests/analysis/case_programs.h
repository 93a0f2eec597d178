#pragma once

// Kernels written by hand of one form, with one part after the other replaced by another one.

#include <initializer_list>
#include <string>
#include <vector>

#include "analysis/recorded_program.h"

namespace baton::record {

// A part of a form: "$name" stands for the first text, or for one of the others.
struct Hole {
  const char* name;
  std::vector<std::string> texts;
};

struct CaseForm {
  const char* name;
  std::string body;  // of the kernel k; "$top" comes before all else
  std::vector<Hole> holes;
  std::string functions = "";
  std::array<std::uint32_t, 3> block = {64, 1, 1};
  std::array<std::uint32_t, 3> grid = {4, 1, 1};
  std::size_t given = 6;        // arguments
  bool each_with_each = false;  // of the first two holes
};

std::vector<CaseForm> number_cases();
std::vector<CaseForm> memory_cases();
std::vector<CaseForm> passing_cases();
std::vector<CaseForm> flag_cases();
std::vector<CaseForm> signal_cases();
std::vector<CaseForm> rewriting_cases();

}  // namespace baton::record
