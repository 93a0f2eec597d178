#include "minus.h"

#include "affine.h"
#include "kernels.baton.h"

std::vector<float> minus(const std::vector<float>& values, float factor) {
  return run_affine(kernels::affine(), values, factor);
}
