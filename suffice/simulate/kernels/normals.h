/* Standard normals, word by word those of simulate/randomness.py: key (seed, root), counter (block of four, client,
   iteration, stream). */

#pragma once

#include <stdlib.h>
#include <string.h>

#include "registers.h"

/* ---- random words: Philox4x32-10 */

INLINE wide times(wide a, uint32_t b) {
#if defined(__AVX512F__)
    return (wide)__builtin_ia32_pmuludq512_mask((__attribute__((vector_size(64))) int)a,
        (__attribute__((vector_size(64))) int)(wide){} + (int)b, (__attribute__((vector_size(64))) long long){}, -1);
#elif defined(__AVX2__) && !defined(__clang__)
    typedef int v8si __attribute__((vector_size(32)));
    return (wide)__builtin_ia32_pmuludq256((v8si)a, (v8si)((wide){} + b));
#else
    return (a & 0xffffffffu) * b;
#endif
}

#define M0 0xD2511F53u
#define M1 0xCD9E8D57u
#define W0 0x9E3779B9u
#define W1 0xBB67AE85u

/* What random numbers belong to: each lane's seed and client. Lanes are seeds of one client, which `normals` names
   (`offset` 0), or clients from the named one on (`offset` 0, 1, 2, ...). Halves are even and odd lanes. */
typedef struct {
    wide keys[10][2]; /* of each round */
    wide offset[2];
} Lanes;

/* Words of one counter; `who` is the first key and the client. Everything else is the same in all lanes, so the first
   round and half of the second are scalar. Upper halves may hold anything. */
#define COUNTERS 2
INLINE void philox(const Lanes *lanes, const wide who[COUNTERS][2], uint32_t root, const uint32_t block[COUNTERS],
                   uint32_t iteration, uint32_t stream, words *out) {
    const wide (*keys)[2] = lanes->keys;
    uint64_t p1 = (uint64_t)M1 * iteration;
    wide c[2 * COUNTERS][4]; /* even and odd lanes of each counter, which wait for each other nowhere */
#pragma GCC unroll 4
    for (int h = 0; h < 2 * COUNTERS; h++) {
        uint64_t p0 = (uint64_t)M0 * block[h / 2], q1 = (uint64_t)M1 * ((uint32_t)(p0 >> 32) ^ stream ^ root);
        wide q0 = times(who[h / 2][h % 2] ^ (p1 >> 32), M0);
        c[h][0] = keys[1][h % 2] ^ ((q1 >> 32) ^ (uint32_t)p1);
        c[h][1] = (wide){} + q1;
        c[h][2] = (q0 >> 32) ^ ((uint32_t)p0 ^ (uint32_t)(root + W1));
        c[h][3] = q0;
    }
#pragma GCC unroll 8
    for (int r = 2; r < 10; r++) {
        uint64_t k1 = (uint32_t)(root + (uint32_t)r * W1);
#pragma GCC unroll 4
        for (int h = 0; h < 2 * COUNTERS; h++) {
            wide q0 = times(c[h][0], M0), q1 = times(c[h][2], M1);
            c[h][0] = (q1 >> 32) ^ (c[h][1] ^ keys[r][h % 2]);
            c[h][2] = (q0 >> 32) ^ (c[h][3] ^ k1);
            c[h][1] = q1;
            c[h][3] = q0;
        }
    }
#pragma GCC unroll 2
    for (int n = 0; n < COUNTERS; n++)
#pragma GCC unroll 4
        for (int w = 0; w < 4; w++) out[4 * n + w] = (words)((c[2 * n][w] & 0xffffffffu) | (c[2 * n + 1][w] << 32));
}

/* ---- normals: Box-Muller, elementary functions by polynomials (Cephes in single, fdlibm in double precision) */

#if REAL_BITS == 32
#define MANTISSA 23
#define ROOT_HALF 0x3f3504f3u /* bits of sqrt(1/2) */
#define ONE 0x3f800000u
static const REAL SINE[] = {-1.9515295891E-4f, 8.3321608736E-3f, -1.6666654611E-1f};
static const REAL COSINE[] = {2.443315711809948E-5f, -1.388731625493765E-3f, 4.166664568298827E-2f};
#else
#define MANTISSA 52
#define ROOT_HALF 0x3fe6a09e667f3bcdull
#define ONE 0x3ff0000000000000ull
static const REAL SINE[] = {1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06,
                            -1.98412698298579493134e-04, 8.33333333332248946124e-03, -1.66666666666666324348e-01};
static const REAL COSINE[] = {-1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07,
                              2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02};
#endif

#define BOTH _Pragma("GCC unroll 2") for (int h = 0; h < 2; h++)

/* -2 (log(1 + f) + k log 2) for sqrt(1/2) <= 1 + f < sqrt(2) */
INLINE void minus_two_log(const real f[2], const real k[2], real out[2]) {
    real z[2], p[2], q[2], w[2];
#if REAL_BITS == 32
    real v[2], x[2];
    BOTH z[h] = f[h] * f[h];
    BOTH p[h] = f[h] * (2 * 2.4999993993E-1f) - 2 * 3.3333331174E-1f;
    BOTH q[h] = f[h] * (2 * 1.6668057665E-1f) - 2 * 2.0000714765E-1f;
    BOTH w[h] = f[h] * (2 * 1.2420140846E-1f) - 2 * 1.4249322787E-1f;
    BOTH v[h] = f[h] * (2 * 1.1514610310E-1f) - 2 * 1.1676998740E-1f;
    BOTH x[h] = z[h] * z[h];
    BOTH p[h] += z[h] * q[h];
    BOTH w[h] += z[h] * v[h];
    BOTH w[h] -= x[h] * (2 * 7.0376836292E-2f);
    BOTH p[h] += x[h] * w[h];
    BOTH q[h] = -2 * f[h] - 1.38629436112f * k[h];
    BOTH p[h] = p[h] * f[h] + 1;
    BOTH out[h] = p[h] * z[h] + q[h];
#else
    real s[2], half[2];
    BOTH s[h] = f[h] / (f[h] + 2.0);
    BOTH z[h] = s[h] * s[h];
    BOTH w[h] = z[h] * z[h];
    BOTH half[h] = 0.5 * f[h] * f[h];
    BOTH p[h] = 2.222219843214978396e-01 + w[h] * 1.531383769920937332e-01;
    BOTH q[h] = 1.818357216161805012e-01 + w[h] * 1.479819860511658591e-01;
    BOTH p[h] = 3.999999999940941908e-01 + w[h] * p[h];
    BOTH q[h] = 2.857142874366239149e-01 + w[h] * q[h];
    BOTH q[h] = 6.666666666666735130e-01 + w[h] * q[h];
    BOTH p[h] = w[h] * p[h] + z[h] * q[h];
    BOTH q[h] = half[h] - (s[h] * (half[h] + p[h]) + k[h] * 1.90821492927058770002e-10);
    BOTH out[h] = -2 * (k[h] * 6.93147180369123816490e-01 - (q[h] - f[h]));
#endif
}

/* Two normals per lane from two words, twice: u = (a + 1/2) / 2^32, angle 2 pi (b + 1/2) / 2^32. Everything is done in
   turn for both, as the processor looks only so far ahead for work that need not wait. */
INLINE void box_muller(const part_words a[2], const part_words b[2], real cosine[2], real sine[2]) {
    /* Near u = 1 the logarithm needs 1 - u to full relative precision: count from the nearer end. */
    part_signed high[2];
    real u[2], scaled[2], exponent[2], f[2], k[2], radius[2], phi[2], z[2], s[2], c[2];
    bits raw[2], turn[2], top = (bits){} + ((natural)1 << (sizeof(REAL) * 8 - 1));
    ints upper[2], far[2], odd[2];
    part_words turned[2];
    BOTH high[h] = (part_signed)a[h] >> 31;
    BOTH u[h] = numbers((part_signed)a[h] ^ high[h]) + (REAL)0.5; /* times 2^-32 */
    BOTH raw[h] = (bits)u[h] + (natural)(ONE - ROOT_HALF);
    BOTH scaled[h] = (real)((raw[h] & (((natural)1 << MANTISSA) - 1)) + (natural)ROOT_HALF);
#if REAL_BITS == 32
    BOTH exponent[h] = numbers((part_signed)(raw[h] >> MANTISSA)) - (REAL)(127 + 32);
#else
    BOTH exponent[h] = (real)((raw[h] >> MANTISSA) | 0x4330000000000000ull) - (0x1p52 + 1023 + 32);
#endif
    BOTH upper[h] = widened(high[h]);
    BOTH far[h] = (ints)((REAL)(0.2928932188134524 * 0x1p32) - u[h]);
    BOTH f[h] = choose(upper[h], choose(far[h], 1 - u[h] * (REAL)0x1p-31, u[h] * (REAL)-0x1p-32), scaled[h] - 1);
    BOTH k[h] = choose(upper[h], choose(far[h], every(-1), every(0)), exponent[h]);
    minus_two_log(f, k, radius);
    /* b = q 2^30 + r with r in [-2^29, 2^29): q quarter turns and an angle within pi/4 */
    BOTH turned[h] = b[h] + 0x20000000u;
    BOTH phi[h] = (numbers((part_signed)(turned[h] & 0x3fffffffu) - 0x20000000) + (REAL)0.5)
                  * (REAL)(6.283185307179586476925 * 0x1p-32);
    BOTH radius[h] = root_of(radius[h]);
    BOTH z[h] = phi[h] * phi[h];
    BOTH s[h] = every(SINE[0]);
    BOTH c[h] = every(COSINE[0]);
#pragma GCC unroll 8
    for (int p = 1; p < (int)(sizeof SINE / sizeof *SINE); p++) {
        BOTH s[h] = s[h] * z[h] + SINE[p];
        BOTH c[h] = c[h] * z[h] + COSINE[p];
    }
    BOTH s[h] = phi[h] + phi[h] * z[h] * s[h];
    BOTH c[h] = SINGLE ? 1 + z[h] * (z[h] * c[h] - (REAL)0.5) : 1 - ((REAL)0.5 * z[h] - z[h] * z[h] * c[h]);
    /* bit 30 of `turned` swaps sine and cosine, bit 31 is the sine's sign and that of a quarter turn on the cosine's */
    BOTH turn[h] = (bits)widened((part_signed)turned[h]) << (sizeof(REAL) * 8 - 32);
    BOTH odd[h] = (ints)(turn[h] << 1);
    BOTH cosine[h] = (real)((bits)(radius[h] * choose(odd[h], s[h], c[h])) ^ ((turn[h] + (top >> 1)) & top));
    BOTH sine[h] = (real)((bits)(radius[h] * choose(odd[h], c[h], s[h])) ^ (turn[h] & top));
}

/* All normals of `count` clients (seeds in lanes) or groups of clients from `client` on, `stride` apart and 4 `blocks`
   each: z[(nth * 4 blocks + feature) * PARTS + part].
   First some counters' words, then their normals: short independent loops keep the processor's units busy. */
#define AT_ONCE 16
ONCE void normals(const Lanes *lanes, uint32_t root, uint32_t client, int stride, int count, uint32_t iteration,
                  uint32_t stream, int blocks, real *z) {
    words w[AT_ONCE * 4];
    for (int begin = 0, all = count * blocks, block = 0; begin < all; begin += AT_ONCE) {
        int some = all - begin < AT_ONCE ? all - begin : AT_ONCE;
        for (int c = 0; c < some; c += COUNTERS) {
            wide who[COUNTERS][2];
            uint32_t which[COUNTERS];
            for (int n = 0; n < COUNTERS; n++) {
                for (int half = 0; half < 2; half++)
                    who[n][half] = lanes->keys[0][half] ^ (lanes->offset[half] + client);
                which[n] = (uint32_t)block;
                if (++block == blocks) block = 0, client += (uint32_t)stride;
            }
            philox(lanes, who, root, which, iteration, stream, w + 4 * c);
        }
        real *to = z + (size_t)begin * 4 * PARTS;
        for (int all = 2 * PARTS * some, nth = 0; nth < all; nth += 2) {
            part_words a[2], b[2];
            real cosine[2], sine[2];
            BOTH {
                int pair = (nth + h) / PARTS, part = (nth + h) % PARTS;
                memcpy(&a[h], (char *)&w[2 * pair] + part * sizeof *a, sizeof *a);
                memcpy(&b[h], (char *)&w[2 * pair + 1] + part * sizeof *b, sizeof *b);
            }
            box_muller(a, b, cosine, sine);
            BOTH {
                real *at = to + (nth + h) / PARTS * 2 * PARTS + (nth + h) % PARTS;
                at[0] = cosine[h], at[PARTS] = sine[h];
            }
        }
    }
}

/* Lanes of `count` seeds (the first again where there are fewer), or clients of one seed. */
static void fill_lanes(const uint32_t *seed, int64_t count, int are_clients, Lanes *lanes) {
    for (int lane = 0; lane < LANES; lane++) {
        uint32_t own = seed[lane < count && !are_clients ? lane : 0];
        for (int r = 0; r < 10; r++) lanes->keys[r][lane & 1][lane >> 1] = (uint32_t)(own + (uint32_t)r * W0);
        lanes->offset[lane & 1][lane >> 1] = are_clients ? (uint64_t)lane : 0;
    }
}
