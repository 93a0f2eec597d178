// Integer operations as expressions that the device and, as the reference, the host evaluate. None
// has undefined behaviour: sums are formed unsigned, shifts are masked, divisors are never 0.
// X(name, expression of T a, T b, U = the unsigned T, kBits)
#define INTEGER_OPS(X)                                                               \
  X(add, T(U(a) + U(b)))                                                             \
  X(sub, T(U(a) - U(b)))                                                             \
  X(mul, T(W(U(a)) * W(U(b))))                                                       \
  X(mad, T(W(U(a)) * W(U(b)) + W(U(a))))                                             \
  X(div, b == T(0) || (T(-1) < T(0) && b == T(-1)) ? T(7) : T(a / b))                \
  X(rem, b == T(0) || (T(-1) < T(0) && b == T(-1)) ? T(7) : T(a % b))                \
  X(div_by_seven, T(a / T(7)))                                                       \
  X(rem_by_ten, T(a % T(10)))                                                        \
  X(negate, T(U(0) - U(a)))                                                          \
  X(complement, T(~a))                                                               \
  X(bit_and, T(a & b))                                                               \
  X(bit_or, T(a | b))                                                                \
  X(bit_xor, T(a ^ b))                                                               \
  X(three_way, T((a & b) ^ (~a | U(3))))                                             \
  X(shift_left, T(U(a) << (U(b) % kBits)))                                           \
  X(shift_right, T(a >> (U(b) % kBits)))                                             \
  X(rotate, T(U(a) << (U(b) % kBits) | U(a) >> ((kBits - U(b) % kBits) % kBits)))    \
  X(minimum, a < b ? a : b)                                                          \
  X(maximum, a > b ? a : b)                                                          \
  X(less, T(a < b))                                                                  \
  X(less_equal, T(a <= b))                                                           \
  X(equal, T(a == b))                                                                \
  X(not_equal, T(a != b))                                                            \
  X(choose, (a & T(1)) != T(0) ? b : T(~b))                                          \
  X(absolute, a < T(0) ? T(U(0) - U(a)) : a)                                         \
  X(sign, T((a > T(0)) - (a < T(0))))                                                \
  X(narrow_signed, T(static_cast<signed char>(a)))                                   \
  X(narrow_unsigned, T(static_cast<unsigned short>(a)))                              \
  X(average, T((a & b) + ((a ^ b) >> 1)))                                            \
  X(bit_field, T(U(a) >> 3 & U(0x1f)))                                               \
  X(insert_field, T((U(a) & U(~U(0x78))) | (U(b) << 3 & U(0x78))))

enum IntegerOp {
#define X(name, expression) kInteger_##name,
  INTEGER_OPS(X)
#undef X
      kIntegerOps
};
