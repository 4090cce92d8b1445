/* All-for-one on streaming least squares, many seeds at once: the compiled twin of simulate/ for one family of runs.

   Compiled once with REAL=float and once with REAL=double. A block is LANES seeds, innermost in every array, so that
   each arithmetic instruction works on one number of VL = LANES * 4 / sizeof(REAL) seeds; a block has PARTS such groups.
   All time steps of a block run before the next block starts, and its models stay in the cache. Random words are
   those of simulate/randomness.py, key (seed, root) and counter (block of four, client, iteration, stream). So a
   seed's path depends neither on its lane nor on its neighbours nor on threads.

   No -ffast-math: it would treat NaN as absent and flush subnormal numbers in the whole process. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

typedef uint32_t words __attribute__((vector_size(BYTES)));
typedef uint64_t wide __attribute__((vector_size(BYTES))); /* LANES / 2 words, each in the low half of 64 bits */
typedef REAL real __attribute__((vector_size(BYTES)));

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

/* The run. Arrays are C contiguous; N clients, d features, m samples per step. */
typedef struct {
    int64_t seeds, iterations, first, grid; /* `first` is the iteration before the first step, 0 for a whole run */
    int64_t clients, features, batch;
    int64_t rule, similarity, criterion, normalised, diagonal;
    int64_t eta_stride; /* 0: eta (N); N: eta (T, N) */
    int64_t start_stride; /* 0: start (N, d); N d: start (S, N, d) */
    int64_t root_key;
    const uint32_t *seed;
    const int64_t *points;   /* (grid) iterations to record, increasing */
    const REAL *start, *eta;
    const REAL *root;        /* (N, d, d) lower triangular: x = root z */
    const REAL *half_hessian; /* (N, d, d) */
    const REAL *optimum;     /* (N, d) */
    const REAL *label_noise; /* (N) */
    const REAL *precision;   /* (N) 1 / sigma^2 */
    const REAL *threshold;   /* (N) of the binary criterion */
    const REAL *alpha;       /* (N, N) fixed weights */
    double *excess;          /* (S, grid, N) */
    REAL *final;             /* (S, N, d), or null */
} Run;

/* Keep loops short and loads in them: unrolled and hoisted, they would spill registers. */
#define OPAQUE(pointer) __asm__("" : "+r"(pointer))
#define SHORT _Pragma("GCC unroll 5")

enum { LOCAL, FIXED, ADAPTIVE };
enum { SAMPLED, RELEASED };
enum { BINARY, CONTINUOUS };
enum { STEP_STREAM = 0, SIMILARITY_STREAM = 1 };

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

/* Words of one counter for all lanes; keys[r] is the seed's key of round r, of even and of odd lanes. The counter is
   the same in all lanes, so the first round and half of the second are scalar. Upper halves may hold anything. */
INLINE void philox(const wide keys[10][2], uint32_t root, uint32_t block, uint32_t client, uint32_t iteration,
                   uint32_t stream, words out[4]) {
    uint64_t p0 = (uint64_t)M0 * block, p1 = (uint64_t)M1 * iteration;
    uint32_t c2 = (uint32_t)(p0 >> 32) ^ stream ^ root;
    uint64_t q1 = (uint64_t)M1 * c2;
    wide even[4], odd[4];
    for (int half = 0; half < 2; half++) {
        wide *c = half ? odd : even;
        wide first = keys[0][half] ^ ((p1 >> 32) ^ client);
        wide q0 = times(first, M0);
        c[0] = keys[1][half] ^ ((q1 >> 32) ^ (uint32_t)p1);
        c[1] = (wide){} + q1;
        c[2] = (q0 >> 32) ^ ((uint32_t)p0 ^ (uint32_t)(root + W1));
        c[3] = q0;
    }
#pragma GCC unroll 8
    for (int r = 2; r < 10; r++) {
        uint64_t k1 = (uint32_t)(root + (uint32_t)r * W1);
        for (int half = 0; half < 2; half++) {
            wide *c = half ? odd : even;
            wide q0 = times(c[0], M0), q1v = times(c[2], M1);
            c[0] = (q1v >> 32) ^ (c[1] ^ keys[r][half]);
            c[2] = (q0 >> 32) ^ (c[3] ^ k1);
            c[1] = q1v;
            c[3] = q0;
        }
    }
    for (int w = 0; w < 4; w++) out[w] = (words)((even[w] & 0xffffffffu) | (odd[w] << 32));
}

/* ---- normals: Box-Muller, elementary functions by polynomials (Cephes in single, fdlibm in double precision) */

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
INLINE real every(REAL a) { return (real){} + a; }
INLINE real root_of(real a) {
    real r;
#if defined(__AVX512F__) || !defined(__AVX2__) || defined(__clang__)
    for (int l = 0; l < VL; l++) r[l] = SINGLE ? sqrtf(a[l]) : sqrt(a[l]);
#elif REAL_BITS == 32
    r = __builtin_ia32_sqrtps256(a);
#else
    r = __builtin_ia32_sqrtpd256(a);
#endif
    return r;
}
INLINE real numbers(part_signed a) { return __builtin_convertvector(a, real); }
INLINE ints widened(part_signed a) { return __builtin_convertvector(a, ints); }

#if REAL_BITS == 32
#define MANTISSA 23
#define ROOT_HALF 0x3f3504f3u /* bits of sqrt(1/2) */
#define ONE 0x3f800000u
#else
#define MANTISSA 52
#define ROOT_HALF 0x3fe6a09e667f3bcdull
#define ONE 0x3ff0000000000000ull
#endif

/* -2 (log(1 + f) + k log 2) for sqrt(1/2) <= 1 + f < sqrt(2) */
INLINE real minus_two_log(real f, real k) {
#if REAL_BITS == 32
    /* by pairs, so that few operations wait for each other */
    real z = f * f, z4 = z * z;
    real p01 = f * (2 * 2.4999993993E-1f) - 2 * 3.3333331174E-1f, p23 = f * (2 * 1.6668057665E-1f) - 2 * 2.0000714765E-1f;
    real p45 = f * (2 * 1.2420140846E-1f) - 2 * 1.4249322787E-1f, p67 = f * (2 * 1.1514610310E-1f) - 2 * 1.1676998740E-1f;
    real p = (p01 + z * p23) + z4 * ((p45 + z * p67) - z4 * (2 * 7.0376836292E-2f));
    return (p * f + 1) * z + (-2 * f - 1.38629436112f * k);
#else
    real s = f / (f + 2.0), z = s * s, w = z * z, half = 0.5 * f * f;
    real t1 = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    real t2 = z * (6.666666666666735130e-01
                   + w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
    real tail = half - (s * (half + (t1 + t2)) + k * 1.90821492927058770002e-10);
    return -2 * (k * 6.93147180369123816490e-01 - (tail - f));
#endif
}

/* Two normals per lane from two words: u = (a + 1/2) / 2^32, angle 2 pi (b + 1/2) / 2^32. */
INLINE void box_muller(part_words a, part_words b, real *cosine, real *sine) {
    /* Near u = 1 the logarithm needs 1 - u to full relative precision: count from the nearer end. */
    part_signed high = (part_signed)a >> 31;
    real u = numbers((part_signed)a ^ high) + (REAL)0.5; /* times 2^-32 */
    bits raw = (bits)u + (natural)(ONE - ROOT_HALF);
    real scaled = (real)((raw & (((natural)1 << MANTISSA) - 1)) + (natural)ROOT_HALF);
#if REAL_BITS == 32
    real exponent = numbers((part_signed)(raw >> MANTISSA)) - (REAL)(127 + 32);
#else
    real exponent = (real)((raw >> MANTISSA) | 0x4330000000000000ull) - (0x1p52 + 1023 + 32);
#endif
    ints upper = widened(high), far = (ints)((REAL)(0.2928932188134524 * 0x1p32) - u);
    real f = choose(upper, choose(far, 1 - u * (REAL)0x1p-31, u * (REAL)-0x1p-32), scaled - 1);
    real k = choose(upper, choose(far, every(-1), every(0)), exponent);
    real radius = root_of(minus_two_log(f, k));
    /* b = q 2^30 + r with r in [-2^29, 2^29): q quarter turns and an angle within pi/4 */
    part_words turned = b + 0x20000000u;
    real phi = (numbers((part_signed)(turned & 0x3fffffffu) - 0x20000000) + (REAL)0.5)
               * (REAL)(6.283185307179586476925 * 0x1p-32);
    real z = phi * phi;
#if REAL_BITS == 32
    real s = phi + (phi * z) * ((-1.9515295891E-4f * z + 8.3321608736E-3f) * z - 1.6666654611E-1f);
    real c = 1 + z * (z * ((2.443315711809948E-5f * z - 1.388731625493765E-3f) * z + 4.166664568298827E-2f) - 0.5f);
#else
    real s = phi + phi * z * (-1.66666666666666324348e-01 + z * (8.33333333332248946124e-03
             + z * (-1.98412698298579493134e-04 + z * (2.75573137070700676789e-06
             + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
    real c = 1 - (0.5 * z - z * z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03
             + z * (2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07
             + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))))));
#endif
    /* bit 30 of `turned` swaps sine and cosine, bit 31 is the sine's sign and that of a quarter turn on the cosine's */
    bits turn = (bits)widened((part_signed)turned) << (sizeof(REAL) * 8 - 32), top = (bits){} + ((natural)1 << (sizeof(REAL) * 8 - 1));
    ints odd = (ints)(turn << 1);
    *cosine = (real)((bits)(radius * choose(odd, s, c)) ^ ((turn + (top >> 1)) & top));
    *sine = (real)((bits)(radius * choose(odd, c, s)) ^ (turn & top));
}

/* All normals of `clients` clients from `client` on, 4 `blocks` each: z[(client * 4 blocks + feature) * PARTS + part].
   First some counters' words, then their normals: short independent loops keep the processor's units busy. */
#define AT_ONCE 16
ONCE void normals(const wide keys[10][2], uint32_t root, uint32_t client, int clients, uint32_t iteration,
                  uint32_t stream, int blocks, real *z) {
    words w[AT_ONCE * 4];
    for (int begin = 0, all = clients * blocks, k = 0, block = 0; begin < all; begin += AT_ONCE) {
        int some = all - begin < AT_ONCE ? all - begin : AT_ONCE;
        for (int c = 0; c < some; c++) {
            philox(keys, root, (uint32_t)block, client + (uint32_t)k, iteration, stream, w + 4 * c);
            if (++block == blocks) block = 0, k++;
        }
        real *to = z + (size_t)begin * 4 * PARTS;
        for (int pair = 0; pair < 2 * some; pair++)
            for (int part = 0; part < PARTS; part++) {
                part_words a, b;
                memcpy(&a, (char *)&w[2 * pair] + part * sizeof a, sizeof a);
                memcpy(&b, (char *)&w[2 * pair + 1] + part * sizeof b, sizeof b);
                box_muller(a, b, to + 2 * pair * PARTS + part, to + (2 * pair + 1) * PARTS + part);
            }
    }
}

static void fill_keys(const uint32_t *seed, wide keys[10][2]) {
    for (int r = 0; r < 10; r++)
        for (int lane = 0; lane < LANES; lane++)
            keys[r][lane & 1][lane >> 1] = (uint32_t)(seed[lane] + (uint32_t)r * W0);
}

/* `count` normals of every client, out (S, clients, count): what simulate.Randomness.normal returns. */
void fill(int64_t seeds, const uint32_t *seed, int64_t root, int64_t clients, int64_t count, int64_t iteration,
          int64_t stream, REAL *out) {
    int blocks = (int)(count + 3) / 4;
    real *z = aligned_alloc(BYTES, (size_t)clients * blocks * 4 * PARTS * BYTES);
    for (int64_t begin = 0; z && begin < seeds; begin += LANES) {
        uint32_t own[LANES];
        wide keys[10][2] = {0};
        for (int lane = 0; lane < LANES; lane++) own[lane] = seed[begin + lane < seeds ? begin + lane : begin];
        fill_keys(own, keys);
        normals(keys, (uint32_t)root, 0, (int)clients, (uint32_t)iteration, (uint32_t)stream, blocks, z);
        for (int lane = 0; lane < LANES && begin + lane < seeds; lane++)
            for (int64_t k = 0; k < clients; k++)
                for (int64_t f = 0; f < count; f++)
                    out[((begin + lane) * clients + k) * count + f] =
                        z[(k * 4 * blocks + f) * PARTS + lane / VL][lane % VL];
    }
    free(z);
}

/* rounds * 512 * LANES normals that nobody reads: the generator's own speed. */
double drain(int64_t rounds) {
    real *z = aligned_alloc(BYTES, (size_t)512 * PARTS * BYTES);
    uint32_t own[LANES] = {0};
    wide keys[10][2] = {0};
    fill_keys(own, keys);
    for (int64_t r = 0; z && r < rounds; r++) normals(keys, 0, 0, 32, (uint32_t)r, 0, 4, z);
    double last = z ? (double)z[0][0] : 0;
    free(z);
    return last;
}

/* Fused multiply-adds on registers, 2 VL flops each: the processor's arithmetic speed. */
double multiply(int64_t rounds) {
    real sum[10], a = every((REAL)0.999), b = every((REAL)1e-3);
    for (int i = 0; i < 10; i++) sum[i] = every((REAL)i);
    for (int64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 10
        for (int i = 0; i < 10; i++) sum[i] = sum[i] * a + b;
        __asm__ volatile("" : "+x"(a), "+x"(b));
    }
    for (int i = 1; i < 10; i++) sum[0] += sum[i];
    return sum[0][0];
}

int lanes(void) { return LANES; }

/* ---- one block */

/* Arrays of a block. Clients are padded to whole tiles of 4 and features to pairs, with zeros, which add nothing. */
typedef struct {
    int N, padded, d, width, batch, tile, group;
    real *theta;           /* (PARTS, padded, width) */
    real *centred;         /* (tile, width): models from theta*_0 */
    real *x, *y;           /* (PARTS, padded, width), (PARTS, padded): similarity samples */
    real *g, *mass;        /* (padded): |x_k|^2 of those, 1 / sigma_k^2 */
    real *xs, *ys;         /* (PARTS, padded * batch, width), (PARTS, padded * batch): step samples */
    real *weight, *scale;  /* (tile, padded), (tile): models i .. i + tile - 1 */
    real *slope;           /* (4, padded * batch) */
    real *z;
} Block;

/* x_a = root_a . z for `rows` rows of a lower triangular matrix that share the loads of z */
INLINE void rows_of(int rows, int a, int d, const REAL *root, const real *z, real *x) {
    real sum[8];
    for (int r = 0; r < rows; r++) sum[r] = every(0);
    root += (size_t)a * d;
    for (int e = 0; e < a + rows; e++)
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) sum[r] += z[e * PARTS] * root[r * d + e];
    for (int r = 0; r < rows; r++) x[a + r] = sum[r];
}

/* Features and responses of all clients from their normals; y = x . (theta*_k - theta*_0) + label noise. */
ONCE void sample(const Run *run, const Block *b, const wide keys[10][2], uint32_t iteration, uint32_t stream, int m,
                 real *x, real *y) {
    int d = b->d, width = b->width, blocks = (m * (d + 1) + 3) / 4;
    for (int k = 0; k < b->N; k++) {
        int place = k % b->group;
        if (place == 0)
            normals(keys, (uint32_t)run->root_key, (uint32_t)k, b->N - k < b->group ? b->N - k : b->group, iteration,
                    stream, blocks, b->z);
        const REAL *root = run->root + (size_t)k * d * d, *best = run->optimum + (size_t)k * d;
        for (int part = 0; part < PARTS; part++)
            for (int j = 0; j < m; j++) {
                const real *z = b->z + ((size_t)place * 4 * blocks + (size_t)j * (d + 1)) * PARTS + part;
                size_t at = ((size_t)part * b->padded + k) * m + j;
                real *to = x + at * width, sum = every(run->label_noise[k]) * z[d * PARTS];
                int a = 0;
                if (run->diagonal)
                    for (; a < d; a++) to[a] = z[a * PARTS] * root[a * d + a];
                for (; a + 8 <= d; a += 8) rows_of(8, a, d, root, z, to);
                for (; a + 2 <= d; a += 2) rows_of(2, a, d, root, z, to);
                for (; a < d; a++) rows_of(1, a, d, root, z, to);
                for (a = 0; a < d; a++) sum += to[a] * (best[a] - run->optimum[a]);
                y[at] = sum;
            }
    }
}

/* phi(r) / sigma_k^2 and r from Z_i - Z_ik and Z_i (a quarter of each), as limits where Z_i = 0. Sampled similarity and
   binary criterion go without a division: r is then in units of Z_i. */
INLINE real judge(real near, real cap, real missing, real threshold, real limit, real mass, int similarity,
                  int criterion, real *r) {
    near = least(near, cap);
    *r = near;
    if (similarity == SAMPLED && criterion == BINARY) return (real)((ints)mass & (ints)(near >= limit));
    real none = (real)((ints)(near == cap) & (ints)missing), divisor = cap + missing;
    if (similarity == SAMPLED)
        *r = greatest(near, every(0)) / divisor + none;
    else /* 1 - |g_i - g_k| / |g_i|^2 */
        *r = choose((ints)(cap == 0), none, greatest(1 - root_of(cap - near) / (divisor + divisor), every(0)));
    return criterion == BINARY ? (real)((ints)mass & (ints)(*r >= threshold)) : mass * *r;
}

/* Weights of models i and i+1 (rows `at` and at+1 of the tile) with all clients, and what their sums are scaled by.
   Two models by two clients at a time: 8 sums in registers, 6 loads per 8 multiply-adds. */
INLINE void weigh(const Run *run, const Block *b, const real *x, const real *y, int i, int at, int similarity,
                  int criterion, int width) {
    const real *t0 = b->centred + (size_t)at * width, *t1 = t0 + width;
    const real *x0 = x + (size_t)i * width, *x1 = x0 + width;
    const int common = similarity == SAMPLED && criterion == BINARY;
    real sum[2], sum_r[2], cap[2], twice[2], limit[2], missing[2], threshold[2], *out[2];
    for (int a = 0; a < 2; a++) {
        real e = -y[i + a];
        for (int f = 0; f < width; f++) e += t0[a * width + f] * x0[a * width + f];
        cap[a] = e * e * b->g[i + a]; /* Z_i / 4 */
        twice[a] = e + e;
        missing[a] = (real)((ints)(cap[a] == 0) & (ints)every(1));
        threshold[a] = every(run->threshold[i + a < b->N ? i + a : 0]);
        limit[a] = cap[a] * threshold[a];
        sum[a] = sum_r[a] = every(0);
        out[a] = b->weight + (size_t)(at + a) * b->padded;
    }
    const real *g = b->g, *mass = b->mass, *p = x;
    for (int k = 0; k < b->padded; k += 2, p += 2 * width) {
        OPAQUE(t0); OPAQUE(t1); OPAQUE(x0); OPAQUE(x1);
        real e[2][2] = {{-y[k], -y[k + 1]}, {-y[k], -y[k + 1]}};
        real c[2][2] = {{every(0), every(0)}, {every(0), every(0)}};
        SHORT for (int f = 0; f < width; f++) {
            real u = p[f], v = p[width + f], s = t0[f], t = t1[f];
            e[0][0] += s * u, e[0][1] += s * v, e[1][0] += t * u, e[1][1] += t * v;
            s = x0[f], t = x1[f];
            c[0][0] += s * u, c[0][1] += s * v, c[1][0] += t * u, c[1][1] += t * v;
        }
#pragma GCC unroll 2
        for (int a = 0; a < 2; a++)
#pragma GCC unroll 2
            for (int o = 0; o < 2; o++) {
                /* (Z_i - Z_ik) / 4 = e_ik (2 e_ii x_i . x_k - e_ik |x_k|^2) */
                real near = e[a][o] * (twice[a] * c[a][o] - e[a][o] * g[k + o]), w = mass[k + o], r;
                if (!common && a == o && k == i) near = cap[a]; /* a client is like itself, r = 1 */
                w = judge(near, cap[a], missing[a], threshold[a], limit[a], w, similarity, criterion, &r);
                sum[a] += w, sum_r[a] += w * r;
                out[a][k + o] = w;
            }
    }
    for (int a = 0; a < 2; a++) {
        if (common) { /* the same afterwards, for a shorter loop: r of the client itself was 1 up to rounding */
            real e = (REAL)0.5 * twice[a], full = mass[i + a], was = out[a][i + a];
            real near = least(e * (twice[a] * g[i + a] - e * g[i + a]), cap[a]);
            out[a][i + a] = full;
            sum[a] += full - was;
            sum_r[a] += full * cap[a] - was * near;
        }
        real scale = 1 / sum_r[a];
        if (run->normalised)
            scale = 1 / sum[a];
        else if (common)
            scale = choose((ints)(cap[a] == 0), 1 / sum[a], cap[a] / sum_r[a]);
        b->scale[at + a] = scale;
    }
}

/* Models i .. i+3 (rows `at` .. of the tile) move by -eta scale sum_k weight_ik g_k,
   g_k = (2 / m) sum_j (x_kj . theta_i - y_kj) x_kj. Slopes first, 4 models by 2 samples, then the sum over samples,
   4 models by 2 features. */
INLINE void move(const Block *b, const real *xs, const real *ys, const REAL *eta, int i, int at, real *theta,
                 int width) {
    int m = b->batch, count = b->padded * m;
    const real *t0 = b->centred + (size_t)at * width, *t1 = t0 + width, *t2 = t1 + width, *t3 = t2 + width;
    const real *w0 = b->weight + (size_t)at * b->padded, *w1 = w0 + b->padded, *w2 = w1 + b->padded, *w3 = w2 + b->padded;
    real *s0 = b->slope, *s1 = s0 + count, *s2 = s1 + count, *s3 = s2 + count;
    const real *p = xs;
    for (int k = 0; k < count; k += 2, p += 2 * width) {
        OPAQUE(t0); OPAQUE(t1); OPAQUE(t2); OPAQUE(t3);
        real a0 = -ys[k], a1 = a0, a2 = a0, a3 = a0, b0 = -ys[k + 1], b1 = b0, b2 = b0, b3 = b0;
        SHORT for (int f = 0; f < width; f++) {
            real u = p[f], v = p[width + f];
            a0 += t0[f] * u, a1 += t1[f] * u, a2 += t2[f] * u, a3 += t3[f] * u;
            b0 += t0[f] * v, b1 += t1[f] * v, b2 += t2[f] * v, b3 += t3[f] * v;
        }
        int q = m == 1 ? k : k / m, r = m == 1 ? k + 1 : (k + 1) / m;
        s0[k] = a0 * w0[q], s1[k] = a1 * w1[q], s2[k] = a2 * w2[q], s3[k] = a3 * w3[q];
        s0[k + 1] = b0 * w0[r], s1[k + 1] = b1 * w1[r], s2[k + 1] = b2 * w2[r], s3[k + 1] = b3 * w3[r];
    }
    real step[4];
    for (int a = 0; a < 4; a++) step[a] = b->scale[at + a] * (i + a < b->N ? 2 * eta[i + a] / m : 0);
    for (int f = 0; f < width; f += 2) {
        real a0 = every(0), a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;
        p = xs + f;
        for (int k = 0; k < count; k++, p += width) {
            real u = p[0], v = p[1];
            a0 += s0[k] * u, a1 += s1[k] * u, a2 += s2[k] * u, a3 += s3[k] * u;
            b0 += s0[k] * v, b1 += s1[k] * v, b2 += s2[k] * v, b3 += s3[k] * v;
        }
        real *to = theta + (size_t)i * width + f;
        to[0] -= step[0] * a0, to[1] -= step[0] * b0;
        to += width, to[0] -= step[1] * a1, to[1] -= step[1] * b1;
        to += width, to[0] -= step[2] * a2, to[1] -= step[2] * b2;
        to += width, to[0] -= step[3] * a3, to[1] -= step[3] * b3;
    }
}

INLINE void centre(const Run *run, const Block *b, const real *theta, int i) {
    for (int f = 0; f < b->d; f++) {
        real origin = every(run->optimum[f]);
        for (int a = 0; a < b->tile && i + a < b->padded; a++)
            b->centred[(size_t)a * b->width + f] = theta[(size_t)(i + a) * b->width + f] - origin;
    }
}

/* All models of one part move, tile by tile; `width` is a constant in the copies made for common shapes. */
INLINE void mix(const Run *run, const Block *b, int part, const REAL *eta, int common, int width) {
    size_t clients = b->padded;
    real *theta = b->theta + part * clients * width;
    const real *xs = b->xs + part * clients * b->batch * width, *ys = b->ys + part * clients * b->batch;
    const real *x = b->x + part * clients * width, *y = b->y + part * clients;
    if (run->rule == ADAPTIVE)
        for (int k = 0; k < b->padded; k++) {
            real sum = every(0);
            for (int f = 0; f < width; f++) sum += x[(size_t)k * width + f] * x[(size_t)k * width + f];
            b->g[k] = sum;
        }
    for (int begin = 0; begin < b->padded; begin += b->tile) {
        int models = b->padded - begin < b->tile ? b->padded - begin : b->tile;
        centre(run, b, theta, begin);
        if (!common && run->rule == FIXED)
            for (int a = 0; a < models; a++) {
                b->scale[a] = every(1);
                for (int k = 0; k < b->N; k++) {
                    int i = begin + a;
                    b->weight[(size_t)a * clients + k] = every(i < b->N ? run->alpha[(size_t)i * b->N + k] : 0);
                }
            }
        else
            for (int a = 0; a < models; a += 2)
                weigh(run, b, x, y, begin + a, a, common ? SAMPLED : (int)run->similarity,
                      common ? BINARY : (int)run->criterion, width);
        for (int a = 0; a < models; a += 4) move(b, xs, ys, eta, begin + a, a, theta, width);
    }
}

ONCE void mix_2(const Run *run, const Block *b, int part, const REAL *eta) { mix(run, b, part, eta, 1, 2); }
ONCE void mix_10(const Run *run, const Block *b, int part, const REAL *eta) { mix(run, b, part, eta, 1, 10); }
ONCE void mix_binary(const Run *run, const Block *b, int part, const REAL *eta) { mix(run, b, part, eta, 1, b->width); }
ONCE void mix_any(const Run *run, const Block *b, int part, const REAL *eta) { mix(run, b, part, eta, 0, b->width); }

ONCE void alone(const Run *run, const Block *b, int part, const REAL *eta) {
    int d = b->d, width = b->width, m = b->batch;
    for (int k = 0; k < b->N; k++) {
        size_t at = (size_t)part * b->padded + k;
        real *own = b->theta + at * width, *from = b->centred;
        for (int f = 0; f < d; f++) from[f] = own[f] - run->optimum[f];
        for (int j = 0; j < m; j++) {
            const real *row = b->xs + (at * m + j) * width;
            real e = -b->ys[at * m + j];
            for (int f = 0; f < d; f++) e += from[f] * row[f];
            e *= 2 * eta[k] / m;
            for (int f = 0; f < d; f++) own[f] -= e * row[f];
        }
    }
}

ONCE void iterate(const Run *run, const Block *b, int part, const REAL *eta) {
    int common = run->rule == ADAPTIVE && run->similarity == SAMPLED && run->criterion == BINARY;
    if (run->rule == LOCAL) alone(run, b, part, eta);
    else if (common && b->width == 2) mix_2(run, b, part, eta);
    else if (common && b->width == 10) mix_10(run, b, part, eta);
    else if (common) mix_binary(run, b, part, eta);
    else mix_any(run, b, part, eta);
}

ONCE void record(const Run *run, const Block *b, int64_t begin, int64_t column) {
    int d = b->d;
    for (int part = 0; part < PARTS; part++)
        for (int i = 0; i < b->N; i++) {
            const real *theta = b->theta + ((size_t)part * b->padded + i) * b->width;
            const REAL *best = run->optimum + (size_t)i * d, *A = run->half_hessian + (size_t)i * d * d;
            real sum = every(0), *delta = b->z;
            for (int a = 0; a < d; a++) delta[a] = theta[a] - best[a];
            if (run->diagonal)
                for (int a = 0; a < d; a++) sum += delta[a] * (A[a * d + a] * delta[a]);
            else
                for (int a = 0; a < d; a++) {
                    real image = every(0);
                    for (int e = 0; e < d; e++) image += delta[e] * A[a * d + e];
                    sum += delta[a] * image;
                }
            for (int l = 0; l < VL && begin + part * VL + l < run->seeds; l++)
                run->excess[((begin + part * VL + l) * run->grid + column) * b->N + i] = sum[l];
        }
}

static void whole_block(const Run *run, const Block *b, int64_t begin) {
    int d = b->d, width = b->width;
    uint32_t own[LANES];
    wide keys[10][2] = {0};
    for (int lane = 0; lane < LANES; lane++) {
        int64_t s = begin + lane < run->seeds ? begin + lane : begin;
        own[lane] = run->seed[s];
        const REAL *from = run->start + s * run->start_stride;
        for (int i = 0; i < b->N; i++)
            for (int f = 0; f < d; f++)
                b->theta[((size_t)(lane / VL) * b->padded + i) * width + f][lane % VL] = from[(size_t)i * d + f];
    }
    fill_keys(own, keys);
    int64_t column = 0;
    for (int64_t t = 0; t <= run->iterations; t++) {
        if (t > 0) {
            uint32_t iteration = (uint32_t)(run->first + t);
            sample(run, b, keys, iteration, STEP_STREAM, b->batch, b->xs, b->ys);
            if (run->rule == ADAPTIVE) sample(run, b, keys, iteration, SIMILARITY_STREAM, 1, b->x, b->y);
            const REAL *eta = run->eta + (t - 1) * run->eta_stride;
            for (int part = 0; part < PARTS; part++) iterate(run, b, part, eta);
        }
        if (column < run->grid && run->points[column] == t) record(run, b, begin, column++);
    }
    if (run->final)
        for (int lane = 0; lane < LANES && begin + lane < run->seeds; lane++)
            for (int i = 0; i < b->N; i++)
                for (int f = 0; f < d; f++)
                    run->final[((begin + lane) * b->N + i) * d + f] =
                        b->theta[((size_t)(lane / VL) * b->padded + i) * width + f][lane % VL];
}

/* Seeds begin .. end - 1 of the run, begin a multiple of LANES. Returns 0, or 1 when memory is short. */
int paths(const Run *run, int64_t begin, int64_t end) {
    int N = (int)run->clients, d = (int)run->features, m = (int)run->batch;
    Block b = {.N = N, .padded = (N + 3) / 4 * 4, .d = d, .width = (d + 1) / 2 * 2, .batch = m};
    int blocks = (m * (d + 1) + 3) / 4;
    b.tile = 32;
    while (b.tile > 4 && b.tile * b.padded > 2048) b.tile -= 4; /* their weights: 64 KB */
    b.group = blocks < AT_ONCE ? AT_ONCE / blocks : 1;
    size_t padded = b.padded, tile = b.tile, rows = PARTS * padded;
    struct { real **to; size_t size; } part[] = {
        {&b.theta, rows * b.width}, {&b.centred, tile * b.width}, {&b.x, rows * b.width}, {&b.y, rows},
        {&b.g, padded}, {&b.mass, padded}, {&b.xs, rows * m * b.width}, {&b.ys, rows * m},
        {&b.weight, tile * padded}, {&b.scale, tile}, {&b.slope, 4 * padded * m},
        {&b.z, (size_t)b.group * blocks * 4 * PARTS + d}};
    size_t total = 0, parts = sizeof part / sizeof part[0];
    for (size_t a = 0; a < parts; a++) total += part[a].size;
    real *memory = aligned_alloc(BYTES, total * BYTES), *at = memory;
    if (!memory) return 1;
    memset(memory, 0, total * BYTES);
    for (size_t a = 0; a < parts; at += part[a++].size) *part[a].to = at;
    if (run->rule == ADAPTIVE)
        for (int k = 0; k < N; k++) b.mass[k] = every(run->precision[k]);
    for (int64_t block = begin; block < end; block += LANES) whole_block(run, &b, block);
    free(memory);
    return 0;
}
