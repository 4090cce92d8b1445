/* All-for-one on streaming least squares, many seeds at once: the compiled twin of simulate/ for one family of runs.

   A block is at most LANES seeds. Arithmetic works on VL numbers at a time: where lanes are seeds, on one number of VL
   seeds, innermost in every array; where they are clients, on one number of VL clients of one seed, which is faster for
   few seeds. All time steps of a block run before the next block starts, and its models stay in the cache. A seed's
   path depends, bit by bit, neither on what lanes are nor on its neighbours nor on threads. */

#include "run.h"

#define PEER real
#define COEFFICIENT REAL
#define PEERS_IN_LANES 1
#define OF(name) name##_of_seeds
#include "sample.h"
#include "step.h"
#undef PEER
#undef COEFFICIENT
#undef PEERS_IN_LANES
#undef OF
#define PEER REAL
#define COEFFICIENT loose
#define PEERS_IN_LANES 0
#define OF(name) name##_of_clients
#include "sample.h"
#include "step.h"

/* ---- steps */

static void step_of_seeds(const Run *run, const Block *b, int part) {
    size_t at = (size_t)part * b->rows, first = (size_t)part * b->peers * b->batch;
    const real *x = b->own + at * b->width;
    View_of_seeds view = {.theta = b->theta + at * b->width, .own = x, .own_y = b->own_y + at, .own_g = b->own_g,
                          .x = x, .y = b->own_y + at, .g = b->own_g, .mass = b->own_mass,
                          .xs = b->xs + first * b->width, .ys = b->ys + first};
    iterate_of_seeds(run, b, &view);
}

static void step_of_clients(const Run *run, const Block *b, int s) {
    size_t at = (size_t)s * b->rows, first = at * VL, samples = first * b->batch;
    View_of_clients view = {.theta = b->theta + at * b->width, .own = b->own + at * b->width, .own_y = b->own_y + at,
                            .own_g = b->own_g, .x = (REAL *)b->x + first * b->width, .y = (REAL *)b->own_y + first,
                            .g = (REAL *)b->own_g, .mass = (REAL *)b->own_mass,
                            .xs = (REAL *)b->xs + samples * b->width, .ys = (REAL *)b->ys + samples};
    iterate_of_clients(run, b, &view);
}

/* Every client by itself, lanes are seeds. */
ONCE void alone(const Block *b, int part, const REAL *optimum) {
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

/* ---- one block */

ONCE void record_of_seeds(const Run *run, const Block *b, int64_t begin, int64_t column) {
    int d = b->features;
    for (int part = 0; part < PARTS; part++)
        for (int i = 0; i < b->clients; i++) {
            const real *theta = b->theta + ((size_t)part * b->rows + i) * b->width;
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
                run->excess[((begin + part * VL + l) * run->grid + column) * b->clients + i] = sum[l];
        }
}

/* The same without lanes; A is symmetric, and read by rows so that the compiler makes lanes of features. */
ONCE void record_of_clients(const Run *run, const Block *b, int64_t begin, int seeds, int64_t column) {
    int d = b->features;
    REAL *delta = (REAL *)b->z, *image = delta + d;
    for (int s = 0; s < seeds; s++)
        for (int i = 0; i < b->clients; i++) {
            const real *theta = b->theta + ((size_t)s * b->rows + i / VL) * b->width;
            const REAL *best = run->optimum + (size_t)i * d, *A = run->half_hessian + (size_t)i * d * d;
            REAL sum = 0;
            for (int a = 0; a < d; a++) delta[a] = theta[a][i % VL] - best[a], image[a] = 0;
            if (run->diagonal)
                for (int a = 0; a < d; a++) image[a] = A[a * d + a] * delta[a];
            else
                for (int e = 0; e < d; e++)
                    for (int a = 0; a < d; a++) image[a] += delta[e] * A[e * d + a];
            for (int a = 0; a < d; a++) {
                OPAQUE(delta);
                sum += delta[a] * image[a];
            }
            run->excess[((begin + s) * run->grid + column) * b->clients + i] = sum;
        }
}

/* First feature of the model of the block's seed s and client i; features are VL apart. */
INLINE REAL *model(const Block *b, int in_clients, int s, int i) {
    size_t set = in_clients ? s : s / VL, row = in_clients ? i / VL : i, lane = in_clients ? i % VL : s % VL;
    return (REAL *)(b->theta + (set * b->rows + row) * b->width) + lane;
}

INLINE real row_of(int in_clients, const REAL *value, int i, int N) {
    return in_clients ? row_of_clients(value, 1, i, N) : row_of_seeds(value, 1, i, N);
}

static void whole_block(const Run *run, const Block *b, int in_clients, int64_t begin, int seeds) {
    int N = b->clients, d = b->features;
    Lanes lanes[LANES];
    for (int s = 0; s < (in_clients ? seeds : 1); s++) fill_lanes(run->seed + begin + s, seeds, in_clients, lanes + s);
    for (int s = 0; s < (in_clients ? seeds : LANES); s++) { /* lanes beyond the last seed repeat the first */
        const REAL *from = run->start + (begin + (s < seeds ? s : 0)) * run->start_stride;
        for (int i = 0; i < N; i++)
            for (int f = 0; f < d; f++) model(b, in_clients, s, i)[f * VL] = from[(size_t)i * d + f];
    }
    int64_t column = 0;
    for (int64_t t = 0; t <= run->iterations; t++) {
        if (t > 0) {
            uint32_t iteration = (uint32_t)(run->first + t);
            const REAL *eta = run->eta + (t - 1) * run->eta_stride;
            for (int i = 0; i < b->rows; i++) b->step[i] = 2 * row_of(in_clients, eta, i, N) / (REAL)b->batch;
            if (in_clients) {
                sample_of_clients(run, b, lanes, seeds, iteration);
                for (int s = 0; s < seeds; s++) step_of_clients(run, b, s);
            } else {
                sample_of_seeds(run, b, lanes, seeds, iteration);
                for (int part = 0; part < PARTS; part++)
                    if (run->rule == LOCAL) alone(b, part, run->optimum);
                    else step_of_seeds(run, b, part);
            }
        }
        if (column < run->grid && run->points[column] == t) {
            if (in_clients) record_of_clients(run, b, begin, seeds, column++);
            else record_of_seeds(run, b, begin, column++);
        }
    }
    for (int s = 0; run->final && s < seeds; s++)
        for (int i = 0; i < N; i++)
            for (int f = 0; f < d; f++) run->final[((begin + s) * N + i) * d + f] = model(b, in_clients, s, i)[f * VL];
}

/* Blocks of the seeds begin .. end - 1 of the run, with seeds or clients in lanes, as long as `next` has one that no
   other thread took. Returns 0, or 1 when memory is short. */
int paths(const Run *run, int64_t begin, int64_t end, int64_t in_clients, int64_t *next) {
    int N = (int)run->clients, d = (int)run->features, m = (int)run->batch, even = (N + 1) / 2 * 2;
    Block b = {.clients = N, .features = d, .batch = m, .peers = even, .width = (d + 1) / 2 * 2};
    b.rows = in_clients ? ((N + VL - 1) / VL + 1) / 2 * 2 : even;
    b.tile = 32;
    while (b.tile > 4 && b.tile * even > (in_clients ? 512 : 2048)) b.tile -= 4; /* their weights: 16 or 64 KB */
    int blocks = (m * (d + 1) + 3) / 4, sets = !in_clients ? PARTS : end - begin < LANES ? (int)(end - begin) : LANES;
    b.group = blocks < AT_ONCE ? AT_ONCE / blocks : 1;
    size_t tile = b.tile, rows = b.rows, all = rows * sets, width = b.width;
    struct { real **to; size_t size; } part[] = {
        {&b.theta, all * width}, {&b.own, all * width}, {&b.own_y, all}, {&b.own_g, rows}, {&b.own_mass, rows},
        {&b.threshold, rows}, {&b.step, rows}, {&b.xs, all * m * width}, {&b.ys, all * m},
        {&b.x, in_clients ? all * width : 0},
        {&b.centred, tile * width}, {&b.twice, tile * width}, {&b.cap, tile}, {&b.weight, tile * even},
        {&b.scale, tile}, {&b.slope, (size_t)4 * even * m},
        {&b.fresh, 2 * width}, {&b.z, ((size_t)b.group * (blocks + (d + 4) / 4) * 4) * PARTS + 2 * d}};
    size_t total = 0, parts = sizeof part / sizeof part[0];
    for (size_t a = 0; a < parts; a++) total += part[a].size;
    real *memory = aligned_alloc(BYTES, total * BYTES), *at = memory;
    if (!memory) return 1;
    memset(memory, 0, total * BYTES);
    for (size_t a = 0; a < parts; at += part[a++].size) *part[a].to = at;
    for (int i = 0; i < b.rows; i++) {
        if (run->rule == ADAPTIVE) {
            b.own_mass[i] = row_of((int)in_clients, run->precision, i, N);
            b.threshold[i] = row_of((int)in_clients, run->threshold, i, N);
        }
    }
    for (int64_t block; (block = begin + LANES * take(next)) < end;)
        whole_block(run, &b, (int)in_clients, block, end - block < LANES ? (int)(end - block) : LANES);
    free(memory);
    return 0;
}

/* Matrices of all clients, (x, y) = matrix (z, z_d): the root above, below it root^T (theta*_k - theta*_0) and the
   label noise. Packed in the order of reading, four rows at a time, and with VL clients side by side where lanes are
   clients, those beyond the last left as they are (they must be 0). Of a diagonal root there is the diagonal.
   Returns the number of numbers, and writes them unless `out` is null. */
int64_t arrange(const Run *run, int64_t in_clients, REAL *out) {
    int N = (int)run->clients, d = (int)run->features, side = in_clients ? VL : 1;
    size_t size = packed(d, (int)run->diagonal);
    for (int k = 0; out && k < N; k++) {
        const REAL *root = run->root + (size_t)k * d * d;
        REAL *to = out + (size_t)(k / side) * size * side + k % side;
        double last[d + 1];
        for (int e = 0; e < d; e++) last[e] = 0;
        for (int f = 0; f < d; f++) {
            double shift = (double)run->optimum[(size_t)k * d + f] - run->optimum[f];
            for (int e = 0; e <= f; e++) last[e] += shift * root[f * d + e];
        }
        last[d] = run->label_noise[k];
        if (run->diagonal) {
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
    return (N + side - 1) / side * side * (int64_t)size;
}

/* ---- random numbers by themselves */

/* `count` normals of every client, out (S, clients, count): what simulate.Randomness.normal returns. */
void fill(int64_t seeds, const uint32_t *seed, int64_t root, int64_t clients, int64_t count, int64_t iteration,
          int64_t stream, REAL *out) {
    int blocks = (int)(count + 3) / 4;
    real *z = aligned_alloc(BYTES, (size_t)clients * blocks * 4 * PARTS * BYTES);
    for (int64_t begin = 0; z && begin < seeds; begin += LANES) {
        Lanes lanes;
        fill_lanes(seed + begin, seeds - begin, 0, &lanes);
        normals(&lanes, (uint32_t)root, 0, 1, (int)clients, (uint32_t)iteration, (uint32_t)stream, blocks, z);
        for (int lane = 0; lane < LANES && begin + lane < seeds; lane++)
            for (int64_t k = 0; k < clients; k++)
                for (int64_t f = 0; f < count; f++)
                    out[((begin + lane) * clients + k) * count + f] =
                        z[(k * 4 * blocks + f) * PARTS + lane / VL][lane % VL];
    }
    free(z);
}

int lanes(void) { return LANES; }
