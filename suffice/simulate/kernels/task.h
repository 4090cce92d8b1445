/* What a run of any compiled problem is given, and its draws: samples as the reference draws them, VL seeds a register. */

#pragma once

#include "normals.h"

/* Arrays are C contiguous; N clients, d features, m samples per step. */
typedef struct {
    int64_t seeds, iterations, grid, clients, features, batch;
    int64_t problem, rule, similarity, samples, criterion, normalised;
    int64_t diagonal, root_diagonal, inner; /* of A, of the root, whose columns `inner` counts */
    int64_t eta_stride;                     /* 0: eta (N); N: eta (T, N) */
    int64_t root_key, early;                /* early: a block ends when all its clients have stopped */
    int64_t period, until;                  /* iterations of a round, 0: no servers; the last that may end one */
    int64_t participants, personal;         /* of each cluster, 0: all; whether clients keep models of their own */
    int64_t learned, symmetric, models_first; /* of CoBo's weights of pairs */
    int64_t early_pairs, root_odds;           /* until then pairs have probability odds[0], then 1 / t or its root */
    int64_t population;                       /* clients step along exact gradients */
    int64_t tiled;              /* streams.h runs this: a stream whose features have mean 0, one sample for similarities */
    int64_t relative, pairwise; /* models are counted from their clients' optima; streams have samples for each model */
    const uint32_t *seed;
    const int64_t *points, *chosen; /* (grid) iterations to record; (S) place among recorded seeds, or -1 */
    const int64_t *from, *rows;     /* (N) first row and number of rows */
    const REAL *start, *eta;
    const REAL *A, *optimum;                /* (N, d, d), (N, d) half Hessians and minimisers */
    const REAL *root, *mean, *label_noise;  /* (N, d, inner) of noise or features; (N, d), (N) of streams */
    const REAL *x, *y;                      /* (rows, d), (rows): all clients' data; logistic: x times the label */
    const REAL *wrong, *right;              /* (rows) probabilities of a row's labels at its client's optimum, logistic */
    const REAL *ridge;                      /* (1) */
    const REAL *precision, *threshold;      /* (N) 1 / sigma^2, and of the binary criterion */
    const REAL *alpha, *mixed, *pull;       /* (N, N) fixed weights; sum_k alpha_ik (A_k, grad R_k(optimum_i) / 2) */
    const REAL *precondition, *zero;        /* (N, d, d) of the step, or null; (d) zeros */
    const int64_t *cluster;                 /* (N) each client's server */
    const REAL *size, *server, *proximal;   /* (N) weights in means; (N, d) of each client at first; (1) pull */
    const REAL *link, *gain;                /* (N, N) CoBo's weights at first, or null; (1) their step */
    const REAL *filter, *pace, *share;      /* (N, N) that mixes gradients; (T) factors of eta; (T) of the last models in
                                               the means that are recorded; or null */
    const REAL *control, *mixture, *offset; /* of Scaffnew: (N, d) at first, or null; (N) alpha, (N, d) (1 - alpha) y */
    const double *odds, *level;             /* (1); (N) that stops a client, or null */
    double *excess, *stopping_times;             /* (S, grid, N), (S, N) */
    double *weights;                        /* (chosen, grid, N, N) or null */
    double *events, *models;                /* (S, grid) pairs or coins that came up so far, (S, N, d); or null */
    const int64_t *apart; /* of each pointer from `seed` on, bytes from one seed's problem to the next; null: all have one */
} Task;

enum { QUADRATIC, STREAM, ROWS, LOGISTIC };
enum { LOCAL, FIXED, ADAPTIVE };
enum { EXACT, SAMPLED, RELEASED, DEBIASED };
enum { BINARY, CONTINUOUS, SHARP };
enum { STEP_STREAM = 0, SIMILARITY_STREAM = 1, COIN_STREAM = 2 };

/* Samples of one kind of draw, PARTS times (N, m, d) and (N, m): features and responses, or noise alone. Those of pairs
   are N times as many for each client, model by model. */
typedef struct {
    int count; /* m, or N m */
    real *x, *y;
} Samples;

typedef struct {
    Samples step, compare;
    real *theta;                   /* PARTS times (N, d) */
    real *copies, *server;         /* (N, d) what servers average, controls or gradients, and what pulls; PARTS times */
    real *mean, *shown;            /* (N, d) means of models, what is recorded; PARTS times */
    REAL *rate;                    /* (N) steps at some pace */
    real *present, *link;          /* (N) masks, (N, N) weights of pairs; PARTS times */
    words *words;                  /* (N, m), or (N, N) */
    real *anchor, *tilt, *height;  /* a model, its gradient (N, d) and excess (N), PARTS times, where losses cost a lot */
    real *peers, *gap, *weight, *ratio, *own, *slope, *fresh, *row, *alone, *z, *fan; /* of two rows of models */
    real *origin;                  /* the optima that two rows of models are counted from */
    int group;
} Block;

/* Words (N, count) of all lanes, of which the reference's uniforms are (word + 1/2) / 2^32. */
ONCE void draw_words(const Task *task, const Lanes *lanes, int count, uint32_t iteration, uint32_t stream, words *to) {
    int N = (int)task->clients, blocks = (count + 3) / 4;
    for (int c = 0; c < N * blocks; c += COUNTERS) {
        wide who[COUNTERS][2];
        uint32_t which[COUNTERS];
        words w[4 * COUNTERS];
        for (int n = 0; n < COUNTERS; n++) {
            for (int half = 0; half < 2; half++) who[n][half] = lanes->keys[0][half] ^ (uint64_t)((c + n) / blocks);
            which[n] = (uint32_t)((c + n) % blocks);
        }
        philox(lanes, who, (uint32_t)task->root_key, which, iteration, stream, w);
        for (int n = 0; n < COUNTERS && c + n < N * blocks; n++)
            for (int j = 4 * (int)which[n], q = 0; q < 4 && j < count; q++, j++)
                to[(size_t)((c + n) / blocks) * count + j] = w[4 * n + q];
    }
}

/* Row j of what client k drew is row from + floor(u rows), u the reference's uniform; for `live` seeds. */
ONCE void draw_rows(const Task *task, const Block *b, const Samples *to, const Lanes *lanes, int live,
                    uint32_t iteration, uint32_t stream) {
    int d = (int)task->features, m = to->count, N = (int)task->clients;
    draw_words(task, lanes, m, iteration, stream, b->words);
    for (int at = 0, k = 0; at < N * m; at++, k = at / m) {
        words w = b->words[at];
        int64_t first = task->from[k];
        double rows = (double)task->rows[k];
        for (int part = 0; part < PARTS && part * VL < live; part++) {
            size_t place = part * (size_t)N * m + at;
            const REAL *from[VL];
            real *x = to->x + place * d;
            for (int l = 0; l < VL; l++) {
                size_t row = first + (int64_t)(((double)w[part * VL + l] + 0.5) * 0x1p-32 * rows);
                from[l] = task->x + row * d;
                ((REAL *)(to->y + place))[l] = task->y[row];
            }
            int f = 0;
            for (; f + VL <= d; f += VL) {
                real square[VL];
                for (int l = 0; l < VL; l++) square[l] = *(const loose *)(from[l] + f);
                transpose(square);
                for (int l = 0; l < VL; l++) x[f + l] = square[l];
            }
            for (; f < d; f++)
                for (int l = 0; l < VL; l++) ((REAL *)(x + f))[l] = from[l][f];
        }
    }
}

/* Normals of `some` clients: [client][4 blocks][PARTS]. Of a single seed lanes are clients', spread to all lanes. */
INLINE void fill_normals(const Task *task, const Block *b, const Lanes *lanes, int live, int first, int some,
                         uint32_t iteration, uint32_t stream, int blocks) {
    uint32_t key = (uint32_t)task->root_key;
    if (live > 1) normals(lanes, key, (uint32_t)first, 1, some, iteration, stream, blocks, b->z);
    else {
        normals(lanes, key, (uint32_t)first, LANES, 1, iteration, stream, blocks, b->fan);
        for (int k = 0; k < some; k++)
            for (int e = 0; e < 4 * blocks; e++)
                b->z[((size_t)k * 4 * blocks + e) * PARTS] = every(b->fan[e * PARTS + k / VL][k % VL]);
    }
}

/* Noise root z, or features mean + root z and responses from the first client's optimum, or the client's own. */
ONCE void draw_normals(const Task *task, const Block *b, const Samples *to, const Lanes *lanes, int live,
                       uint32_t iteration, uint32_t stream) {
    int d = (int)task->features, m = to->count, N = (int)task->clients, inner = (int)task->inner;
    int streams = task->problem == STREAM, each = inner + streams, blocks = (m * each + 3) / 4;
    int group = live > 1 ? b->group : LANES;
    for (int first = 0; first < N; first += group) {
        int some = N - first < group ? N - first : group;
        fill_normals(task, b, lanes, live, first, some, iteration, stream, blocks);
        for (int part = 0; part < PARTS && part * VL < live; part++)
            for (int k = first; k < first + some; k++)
                for (int j = 0; j < m; j++) {
                    const real *z = b->z + ((size_t)(k - first) * 4 * blocks + (size_t)j * each) * PARTS + part;
                    const REAL *root = task->root + (size_t)k * d * inner;
                    size_t place = ((size_t)part * N + k) * m + (task->pairwise ? j % N * (m / N) + j / N : j);
                    real *x = to->x + place * d, y = every(0);
                    for (int f = 0; f < d; f++) {
                        real sum = every(0);
                        if (task->root_diagonal) sum = f < inner ? z[f * PARTS] * root[(size_t)f * inner + f] : sum;
                        else
                            for (int e = 0; e < inner; e++) sum += z[e * PARTS] * root[(size_t)f * inner + e];
                        if (streams) {
                            sum += task->mean[(size_t)k * d + f];
                            if (!task->relative) y += sum * (task->optimum[(size_t)k * d + f] - task->optimum[f]);
                        }
                        x[f] = sum;
                    }
                    if (streams) to->y[place] = y + z[inner * PARTS] * task->label_noise[k];
                }
    }
}

INLINE void draw(const Task *task, const Block *b, const Samples *to, const Lanes *lanes, int live, uint32_t iteration,
                 uint32_t stream) {
    if (task->problem >= ROWS) draw_rows(task, b, to, lanes, live, iteration, stream);
    else draw_normals(task, b, to, lanes, live, iteration, stream);
}
