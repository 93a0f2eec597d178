#pragma once
// GNU's other names of keywords, which nvcc knows.
template <typename _T>
struct baton_referred {
  using type = _T;
};
template <typename _T>
struct baton_referred<_T&> {
  using type = _T;
};
template <typename _T>
struct baton_referred<_T&&> {
  using type = _T;
};
#define __typeof__(...) typename ::baton_referred<decltype(__VA_ARGS__)>::type
#define __typeof __typeof__
#define __asm__ asm
#define __const const
#define __const__ const
#define __signed__ signed
#define __extension__
