/* All-for-one and its simpler relatives on streams of mean 0, one similarity sample a client: the rule that most runs
   want, two models by two clients at a time. A register holds one number of VL seeds, or of VL clients of one seed,
   which is faster for few seeds; a seed's path is the same bit by bit. */

#pragma once

#include "oracle.h"

/* Arrays of a block. A row of models is one client in lanes of seeds, or VL clients of one seed; a set is all rows of
   VL seeds, or of one. Rows, peers and features come in pairs: what is added is 0 and adds nothing. Where lanes are
   clients, what is said to belong to peers is one REAL for each of them, and x is `own` again in that layout. */
typedef struct {
    int in_clients, clients, features, batch, peers, rows, width, tile, group;
    REAL *matrices;         /* of all clients, by `arrange` */
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
} Tiles;

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

#define WIDE(number) ((number) - (real){}) /* in all lanes, where it is not a register already */

#define PEER real
#define COEFFICIENT REAL
#define PEERS_IN_LANES 1
#define OF(name) name##_of_seeds
#include "sample.h"
#include "step.h"
#define PEER REAL
#define COEFFICIENT loose
#define PEERS_IN_LANES 0
#define OF(name) name##_of_clients
#include "sample.h"
#include "step.h"

/* Every client by itself, lanes are seeds. */
ONCE void alone(const Tiles *b, int part, const REAL *optimum) {
    int d = b->features, width = b->width, m = b->batch;
    for (int k = 0; k < b->clients; k++) {
        size_t at = (size_t)part * b->rows + k;
        real *own = b->theta + at * width, *from = b->centred;
        for (int f = 0; f < d; f++) from[f] = own[f] - optimum[f];
        for (int j = 0; j < m; j++) {
            const real *row = b->xs + (at * m + j) * width;
            real e = -b->ys[at * m + j];
            for (int f = 0; f < d; f++) e += from[f] * row[f];
            e *= b->step[k];
            for (int f = 0; f < d; f++) own[f] -= e * row[f];
        }
    }
}

ONCE void record_of_seeds(const Task *task, const Tiles *b, int64_t begin, int64_t column) {
    const Block room = {.z = b->z, .own = b->z + b->features};
    for (int64_t part = 0, first = begin; part < PARTS; part++, first += VL)
        for (int i = 0; i < b->clients; i++) {
            real value = excess(task, &room, i, b->theta + (part * b->rows + i) * b->width);
            for (int l = 0; l < VL && first + l < task->seeds; l++)
                task->excess[((first + l) * task->grid + column) * b->clients + i] = value[l];
        }
}

/* The same, bit by bit, without lanes; A is symmetric, and read by rows so that the compiler makes lanes of features. */
ONCE void record_of_clients(const Task *task, const Tiles *b, int64_t begin, int seeds, int64_t column) {
    int d = b->features;
    REAL *delta = (REAL *)b->z, *image = delta + d;
    for (int s = 0; s < seeds; s++)
        for (int i = 0; i < b->clients; i++) {
            const real *theta = b->theta + ((size_t)s * b->rows + i / VL) * b->width;
            const REAL *best = task->optimum + (size_t)i * d, *A = task->A + (size_t)i * d * d;
            REAL sum = 0;
            for (int a = 0; a < d; a++) delta[a] = theta[a][i % VL] - best[a], image[a] = 0;
            if (task->diagonal)
                for (int a = 0; a < d; a++) image[a] = A[a * d + a] * delta[a];
            else
                for (int e = 0; e < d; e++)
                    for (int a = 0; a < d; a++) image[a] += delta[e] * A[e * d + a];
            for (int a = 0; a < d; a++) {
                OPAQUE(delta);
                sum += delta[a] * image[a];
            }
            task->excess[((begin + s) * task->grid + column) * b->clients + i] = sum;
        }
}

/* First feature of the model of the block's seed s and client i; features are VL apart. */
INLINE REAL *model(const Tiles *b, int s, int i) {
    size_t set = b->in_clients ? s : s / VL, row = b->in_clients ? i / VL : i, lane = b->in_clients ? i % VL : s % VL;
    return (REAL *)(b->theta + (set * b->rows + row) * b->width) + lane;
}

INLINE real spread(const Tiles *b, const REAL *value, int i) {
    return b->in_clients ? spread_of_clients(value, 1, i, b->clients) : spread_of_seeds(value, 1, i, b->clients);
}

static void block_of_streams(const Task *task, const Tiles *b, int64_t begin, int seeds) {
    int N = b->clients, d = b->features;
    Lanes lanes[LANES];
    for (int s = 0; s < (b->in_clients ? seeds : 1); s++)
        fill_lanes(task->seed + begin + s, seeds, b->in_clients, lanes + s);
    for (int s = 0; s < (b->in_clients ? seeds : LANES); s++)
        for (int i = 0; i < N; i++)
            for (int f = 0; f < d; f++) model(b, s, i)[f * VL] = task->start[(size_t)i * d + f];
    int64_t column = 0;
    for (int64_t t = 0; t <= task->iterations; t++) {
        for (int i = 0; t > 0 && i < b->rows; i++)
            b->step[i] = 2 * spread(b, task->eta + (t - 1) * task->eta_stride, i) / (REAL)b->batch;
        if (t > 0 && b->in_clients) {
            sample_of_clients(task, b, lanes, seeds, (uint32_t)t);
            for (int s = 0; s < seeds; s++) step_of_clients(task, b, s);
        } else if (t > 0) {
            sample_of_seeds(task, b, lanes, seeds, (uint32_t)t);
            for (int part = 0; part < PARTS; part++)
                if (task->rule == LOCAL) alone(b, part, task->optimum);
                else step_of_seeds(task, b, part);
        }
        if (column < task->grid && task->points[column] == t) {
            if (b->in_clients) record_of_clients(task, b, begin, seeds, column++);
            else record_of_seeds(task, b, begin, column++);
        }
    }
    for (int s = 0; task->models && s < seeds; s++)
        for (int i = 0; i < N; i++)
            for (int f = 0; f < d; f++) task->models[((begin + s) * N + i) * d + f] = model(b, s, i)[f * VL];
}

/* Matrices of all clients, (x, y) = matrix (z, z_d): the root above, below it root^T (theta*_k - theta*_0) and the
   label noise. Packed in the order of reading, four rows at a time, and with VL clients side by side where lanes are
   clients, those beyond the last left as they are (they must be 0). Of a diagonal root there is the diagonal. */
static void arrange(const Task *task, int in_clients, REAL *out) {
    int N = (int)task->clients, d = (int)task->features, side = in_clients ? VL : 1;
    size_t size = packed(d, (int)task->diagonal);
    for (int k = 0; k < N; k++) {
        const REAL *root = task->root + (size_t)k * d * d;
        REAL *to = out + (size_t)(k / side) * size * side + k % side;
        double last[d + 1];
        for (int e = 0; e < d; e++) last[e] = 0;
        for (int f = 0; f < d; f++) {
            double shift = (double)task->optimum[(size_t)k * d + f] - task->optimum[f];
            for (int e = 0; e <= f; e++) last[e] += shift * root[f * d + e];
        }
        last[d] = task->label_noise[k];
        if (task->diagonal) {
            for (int a = 0; a < d; a++, to += side) *to = root[a * d + a];
            for (int e = 0; e <= d; e++, to += side) *to = (REAL)last[e];
        } else
            for (int a = 0; a <= d; a += 4) {
                int end = a + rows_from(a, d);
                for (int e = 0; e < end; e++)
                    for (int r = a; r < end; r++, to += side)
                        *to = r == d ? (REAL)last[e] : e <= r ? root[r * d + e] : 0;
            }
    }
}

/* Memory for blocks of at most `seeds`, with all that blocks have in common; null where there is none. */
static real *tiles(const Task *task, int in_clients, int seeds, Tiles *b) {
    int N = (int)task->clients, d = (int)task->features, m = (int)task->batch, even = (N + 1) / 2 * 2;
    *b = (Tiles){.in_clients = in_clients, .clients = N, .features = d, .batch = m, .peers = even,
                 .rows = in_clients ? ((N + VL - 1) / VL + 1) / 2 * 2 : even, .width = (d + 1) / 2 * 2, .tile = 32};
    while (b->tile > 4 && b->tile * even > (in_clients ? 512 : 2048)) b->tile -= 4; /* their weights: 16 or 64 KB */
    int blocks = (m * (d + 1) + 3) / 4;
    b->group = blocks < AT_ONCE ? AT_ONCE / blocks : 1;
    size_t tile = b->tile, rows = b->rows, all = rows * (in_clients ? seeds : PARTS), width = b->width;
    struct { real **to; size_t size; } part[] = {
        {(real **)&b->matrices, (N + VL - 1) / VL * packed(d, (int)task->diagonal)},
        {&b->theta, all * width}, {&b->own, all * width}, {&b->own_y, all}, {&b->own_g, rows}, {&b->own_mass, rows},
        {&b->threshold, rows}, {&b->step, rows}, {&b->xs, all * m * width}, {&b->ys, all * m},
        {&b->x, in_clients ? all * width : 0},
        {&b->centred, tile * width}, {&b->twice, tile * width}, {&b->cap, tile}, {&b->weight, tile * even},
        {&b->scale, tile}, {&b->slope, (size_t)4 * even * m},
        {&b->fresh, 2 * width}, {&b->z, ((size_t)b->group * (blocks + (d + 4) / 4) * 4) * PARTS + 2 * d}};
    size_t total = 0, parts = sizeof part / sizeof part[0];
    for (size_t a = 0; a < parts; a++) total += part[a].size;
    real *memory = aligned_alloc(BYTES, total * BYTES), *at = memory;
    if (!memory) return 0;
    memset(memory, 0, total * BYTES);
    for (size_t a = 0; a < parts; at += part[a++].size) *part[a].to = at;
    if (!in_clients) b->x = b->own;
    arrange(task, in_clients, b->matrices);
    for (int i = 0; task->rule == ADAPTIVE && i < b->rows; i++) {
        b->own_mass[i] = spread(b, task->precision, i);
        b->threshold[i] = spread(b, task->threshold, i);
    }
    return memory;
}

/* What `general` does, for this rule. The last block's seeds leave lanes free: half or fewer give them to clients. */
static int streams(const Task *task, int64_t begin, int64_t end, int64_t *next) {
    Tiles b;
    real *memory = 0;
    for (int64_t block; (block = begin + LANES * take(next)) < end;) {
        int seeds = end - block < LANES ? (int)(end - block) : LANES, clients = task->rule != LOCAL && 2 * seeds <= LANES;
        if (memory && b.in_clients != clients) free(memory), memory = 0;
        if (!memory && !(memory = tiles(task, clients, seeds, &b))) return 1;
        block_of_streams(task, &b, block, seeds);
    }
    free(memory);
    return 0;
}
