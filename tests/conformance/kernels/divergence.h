// Functions that diverge, for the device and, as the reference, for the host.
#pragma once

SHARED_WITH_HOST int nested_branches(int i) {
  int value = i;
  if (i % 2 == 0) {
    if (i % 3 == 0) {
      value += i % 5 == 0 ? 1000 : 2000;
    } else if (i % 7 < 3) {
      value -= 500;
    }
  } else {
    if (i % 11 > 4 && i % 13 < 6) value *= 3;
    if (i % 17 == 1 || i % 19 == 2) value ^= 0x55;
  }
  return value;
}

SHARED_WITH_HOST int uneven_loops(int i) {
  int sum = 0;
  for (int a = 0; a < i % 9; ++a) {
    for (int b = a; b < i % 4 + a; ++b) {
      if ((a + b + i) % 5 == 0) continue;
      sum += a * b + 1;
      if (sum > 200) break;
    }
  }
  unsigned n = static_cast<unsigned>(i) + 1;
  while (n != 1 && sum < 100000) {
    n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    ++sum;
  }
  return sum;
}

SHARED_WITH_HOST int switch_cases(int i) {
  int value = 0;
  for (int k = 0; k < 4; ++k) {
    switch ((i + k) % 12) {
      case 0: value += 7; break;
      case 1: value -= i;
      case 2: value ^= 0x33; break;  // case 1 falls through on purpose
      case 3: value *= 5; break;
      case 4: value += i * i; break;
      case 5: value = -value; break;
      case 6: value |= 0x100; break;
      case 7: value &= ~1; break;
      case 8: value += k; break;
      case 9: continue;
      default: value += 1000;
    }
    value += k;
  }
  return value;
}

// A loop with two entries.
SHARED_WITH_HOST int irreducible(int i) {
  int value = 0, turns = 0;
  if (i % 3 == 0) goto middle;
top:
  value += 3;
  ++turns;
middle:
  value += i % 4;
  if (++turns < i % 10 + 2) goto top;
  return value * 100 + turns;
}
