// The argument types of arguments.cu, seen by the kernels and by the test alike.
#pragma once

struct Tiny {
  unsigned char value;
};

struct alignas(16) Aligned16 {
  float x, y, z, w;
};

struct Twelve {
  int a;
  float b;
  short c;
};

constexpr int kLargeWords = 1000;
struct Large {
  unsigned words[kLargeWords];
};

struct Mixed {
  char a;
  double b;
  short c;
  Aligned16 d;
  bool e;
  unsigned long long f;
  Tiny g;
  float h;
};
