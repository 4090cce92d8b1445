/* What a run is given, the arrays that one block of it works on, and the weight of one peer. */

#pragma once

#include "normals.h"

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
    const REAL *packed_seeds, *packed_clients; /* by `arrange`; null where no lanes are seeds, or clients */
    const REAL *half_hessian; /* (N, d, d) */
    const REAL *optimum;     /* (N, d) */
    const REAL *label_noise; /* (N) */
    const REAL *precision;   /* (N) 1 / sigma^2 */
    const REAL *threshold;   /* (N) of the binary criterion */
    const REAL *alpha;       /* (N, N) fixed weights */
    double *excess;          /* (S, grid, N) */
    REAL *final;             /* (S, N, d), or null */
} Run;

enum { LOCAL, FIXED, ADAPTIVE };
enum { SAMPLED, RELEASED };
enum { BINARY, CONTINUOUS };
enum { STEP_STREAM = 0, SIMILARITY_STREAM = 1 };

/* Arrays of a block. A row of models is one client in lanes of seeds, or VL clients of one seed; a set is all rows of
   VL seeds, or of one. Rows, peers and features come in pairs: what is added is 0 and adds nothing. Where lanes are
   clients, what is said to belong to peers is one REAL for each of them, and x is `own` again in that layout. */
typedef struct {
    int clients, features, batch, peers, rows, width, tile, group;
    real *theta;            /* (sets, rows, width) */
    real *own, *own_y;      /* (sets, rows, width), (sets, rows): similarity samples */
    real *own_g, *own_mass; /* (rows): |x_i|^2 of those, 1 / sigma_i^2 */
    real *threshold, *step; /* (rows): of the criterion, 2 eta_i / batch */
    real *x;                /* (sets, peers, width), only where lanes are clients */
    real *xs, *ys;          /* (sets, peers * batch, width), (sets, peers * batch): step samples */
    real *centred, *twice;  /* (tile, width): models from theta*_0, and `itself` */
    real *weight, *cap, *scale; /* (tile, peers), (tile), (tile) */
    real *slope;            /* (4, peers * batch) */
    real *fresh;            /* (2, width): samples being made */
    real *z;
} Block;

/* Keep loops short and loads in them: unrolled and hoisted, they would spill registers. And keep the compiler from
   making lanes of the terms of a sum, which would then be rounded before they are added. */
#define OPAQUE(pointer) __asm__("" : "+r"(pointer))
#define SHORT _Pragma("GCC unroll 5")

/* phi(r) / sigma_k^2 and r from Z_i - Z_ik and Z_i (a quarter of each), as limits where Z_i = 0. Sampled similarity and
   binary criterion go without a division: r is then in units of Z_i. */
INLINE real judge(real near, real cap, real missing, real threshold, real limit, real mass, int similarity,
                  int criterion, real *r) {
    *r = near;
    if (similarity == SAMPLED && criterion == BINARY) return (real)((ints)mass & (ints)(near >= limit));
    near = least(near, cap);
    real none = (real)((ints)(near == cap) & (ints)missing), divisor = cap + missing;
    if (similarity == SAMPLED)
        *r = greatest(near, every(0)) / divisor + none;
    else /* 1 - |g_i - g_k| / |g_i|^2 */
        *r = choose((ints)(cap == 0), none, greatest(1 - root_of(cap - near) / (divisor + divisor), every(0)));
    return criterion == BINARY ? (real)((ints)mass & (ints)(*r >= threshold)) : mass * *r;
}

/* Rows of a client's matrix of samples (see `arrange`) that are read together from row a on, and its numbers. */
INLINE int rows_from(int a, int d) { return a + 4 <= d + 1 ? 4 : d + 1 - a; }
INLINE size_t packed(int d, int diagonal) {
    size_t size = diagonal ? 2 * (size_t)d + 1 : 0;
    if (!diagonal)
        for (int a = 0; a <= d; a += 4) size += (size_t)rows_from(a, d) * (a + rows_from(a, d));
    return size;
}
