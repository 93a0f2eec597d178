#pragma once

#include <cuda.h>

#include <exception>

namespace baton::sim {

// Thrown inside the simulated driver where a call is refused; the table's entries turn it into the
// result that the caller sees.
class Refusal : public std::exception {
 public:
  explicit Refusal(CUresult result) : result_(result) {}
  CUresult result() const { return result_; }
  const char* what() const noexcept override { return "refused by the simulated driver"; }

 private:
  CUresult result_;
};

inline void require(bool condition, CUresult otherwise) {
  if (!condition) throw Refusal(otherwise);
}

}  // namespace baton::sim
