/* Vectors of numbers, one per lane, and the operations on them that GCC's vector types lack.

   Compiled once with REAL=float and once with REAL=double. LANES numbers are one register of 32-bit words, or PARTS
   registers of VL reals each.

   No -ffast-math: it would treat NaN as absent and flush subnormal numbers in the whole process. */

#pragma once

#include <math.h>
#include <stdint.h>

#ifdef __AVX512F__
#define BYTES 64
#else
#define BYTES 32
#endif
#define LANES (BYTES / 4)
#define VL ((int)(BYTES / sizeof(REAL)))
#define PARTS (LANES / VL)
#define INLINE static inline __attribute__((always_inline))
#define ONCE static __attribute__((noinline)) /* one copy: it keeps the build short */

/* The number of the next block that no thread has taken. */
INLINE int64_t take(int64_t *next) { return __atomic_fetch_add(next, 1, __ATOMIC_RELAXED); }

/* Loaded once, not by each instruction that needs it. */
#if defined(__AVX512F__)
#define HELD(value) __asm__("" : "+v"(value))
#elif defined(__AVX__)
#define HELD(value) __asm__("" : "+x"(value))
#else
#define HELD(value)
#endif

typedef uint32_t words __attribute__((vector_size(BYTES)));
typedef uint64_t wide __attribute__((vector_size(BYTES))); /* LANES / 2 words, each in the low half of 64 bits */
typedef REAL real __attribute__((vector_size(BYTES)));
typedef REAL loose __attribute__((vector_size(BYTES), aligned(sizeof(REAL)))); /* in memory that NumPy allocated */

#define SINGLE (sizeof(REAL) == 4)
#if REAL_BITS == 32
typedef int32_t integer;
typedef uint32_t natural;
#else
typedef int64_t integer;
typedef uint64_t natural;
#endif
typedef integer ints __attribute__((vector_size(BYTES)));
typedef natural bits __attribute__((vector_size(BYTES)));
typedef int32_t part_signed __attribute__((vector_size(BYTES / (sizeof(REAL) / 4))));
typedef uint32_t part_words __attribute__((vector_size(BYTES / (sizeof(REAL) / 4))));

/* By the sign bit of each mask. */
INLINE real choose(ints mask, real yes, real no) {
#if defined(__AVX2__) && !defined(__AVX512F__) && REAL_BITS == 32
    return (real)__builtin_ia32_blendvps256(no, yes, (real)mask);
#elif defined(__AVX2__) && !defined(__AVX512F__)
    return (real)__builtin_ia32_blendvpd256(no, yes, (real)mask);
#else
    mask = mask < 0;
    return (real)(((ints)yes & mask) | ((ints)no & ~mask));
#endif
}
/* A first argument that is NaN stays NaN. */
INLINE real least(real a, real b) { return choose((ints)(b < a), b, a); }
INLINE real greatest(real a, real b) { return choose((ints)(b > a), b, a); }
INLINE real every(REAL a) { return a - (real){}; } /* 0 + a would be computed: a may be -0 */
INLINE real root_of(real a) {
    for (int l = 0; l < VL; l++) a[l] = SINGLE ? sqrtf(a[l]) : sqrt(a[l]);
    return a;
}
INLINE int some(real a) { /* lane is not +0 */
    uint64_t all = 0;
    for (int l = 0; l < BYTES / 8; l++) all |= ((wide)a)[l];
    return all != 0;
}
INLINE real numbers(part_signed a) { return __builtin_convertvector(a, real); }
INLINE ints widened(part_signed a) { return __builtin_convertvector(a, ints); }

/* a b + c rounded once, where the compiler could choose which of two products it rounds. */
INLINE real fused(real a, real b, real c) {
#if defined(__FMA__) && defined(__AVX2__) && !defined(__AVX512F__) && !defined(__clang__) && REAL_BITS == 32
    return __builtin_ia32_vfmaddps256(a, b, c);
#elif defined(__FMA__) && defined(__AVX2__) && !defined(__AVX512F__) && !defined(__clang__)
    return __builtin_ia32_vfmaddpd256(a, b, c);
#else
    for (int l = 0; l < VL; l++) c[l] = SINGLE ? __builtin_fmaf(a[l], b[l], c[l]) : __builtin_fma(a[l], b[l], c[l]);
    return c;
#endif
}

/* Rows become columns: at each stage two registers exchange the lanes that differ in one bit of their number. */
INLINE void transpose(real square[VL]) {
#if defined(__clang__)
    real copy[VL];
    for (int i = 0; i < VL; i++) copy[i] = square[i];
    for (int i = 0; i < VL; i++)
        for (int j = 0; j < VL; j++) square[i][j] = copy[j][i];
#else
    static const _Alignas(BYTES) integer from[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const ints lane = *(const ints *)from;
#define EXCHANGE(bit)                                                                                                  \
    _Pragma("GCC unroll 16") for (int i = 0; i < VL; i++) if (!(i & (bit))) {                                          \
        const ints far = ((lane & (bit)) != 0) & (VL - (bit));                                                         \
        real one = square[i], two = square[i + (bit)];                                                                 \
        square[i] = __builtin_shuffle(one, two, lane + far);                                                           \
        square[i + (bit)] = __builtin_shuffle(one, two, lane + far + (bit));                                           \
    }
    EXCHANGE(1)
    EXCHANGE(2)
    if (VL > 4) EXCHANGE(4)
    if (VL > 8) EXCHANGE(8)
#endif
}
