/* What NCCL 2.18.5 says of itself. */
__attribute__((visibility("default"))) int ncclGetVersion(int* version) {
  *version = 21805;
  return 0;
}
