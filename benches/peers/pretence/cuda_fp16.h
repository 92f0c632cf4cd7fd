// Half precision, as far as kernels store it, for tests on a processor.
#pragma once
#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#pragma GCC push_options
#pragma GCC target("f16c")
inline uint16_t half_of(float value) { return _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT); }
inline float float_of(uint16_t bits) { return _cvtsh_ss(bits); }
#pragma GCC pop_options
#else
inline uint16_t half_of(float value) {
  __fp16 half = value;
  uint16_t bits;
  return __builtin_memcpy(&bits, &half, 2), bits;
}
inline float float_of(uint16_t bits) {
  __fp16 half;
  return __builtin_memcpy(&half, &bits, 2), half;
}
#endif

struct __half {
  uint16_t bits;
  __half() = default;
  explicit __half(float value) : bits(half_of(value)) {}
  operator float() const { return float_of(bits); }
};
