/* Runs of every compiled problem: All-for-one with any similarity, fixed weights, and each client alone.

   A block is at most LANES seeds, a register VL of them; every operation is the same in all lanes, so a seed's path
   depends, bit by bit, neither on its neighbours nor on threads. A model's step depends on that model and on the draws
   alone, so models move one after the other where they are. */

#include "oracle.h"

/* Gaps |g_k - g_i|^2 (N) at model i, and |g_i|^2, of populations (`of` null) or of samples. Population gradients stay
   in `peers`, where quadratics' steps find them. */
INLINE real gaps(const Task *task, const Block *b, const Samples *of, int part, int i, int from, int count,
                 const real *theta, const real *view, real *gap) {
    int N = (int)task->clients, d = (int)task->features;
    gradient(task, b, of, part, i, from, count, theta, view, b->own);
    for (int k = 0; k < N; k++) {
        real *g = b->peers + (of ? 0 : (size_t)k * d), sum = every(0);
        if (k == i)
            for (int f = 0; f < d; f++) g[f] = b->own[f];
        else gradient(task, b, of, part, k, from, count, theta, view, g);
        for (int f = 0; f < d; f++) sum += (g[f] - b->own[f]) * (g[f] - b->own[f]);
        gap[k] = k == i ? every(0) : sum;
    }
    real norm = every(0), ridge = every(task->problem >= ROWS && (of || task->problem == LOGISTIC) ? *task->ridge : 0);
    for (int f = 0; f < d; f++) norm += (b->own[f] + ridge * theta[f]) * (b->own[f] + ridge * theta[f]);
    return norm;
}

/* Weights of all peers at model i, by Definition 1 or normalised. */
INLINE void collaborate(const Task *task, const Block *b, int part, int i, const real *theta) {
    int N = (int)task->clients, m = b->compare.count;
    const Samples *of = task->similarity == EXACT ? 0 : &b->compare;
    const real *view = seen(task, b, theta);
    real norm = gaps(task, b, of, part, i, 0, m, theta, view, b->gap), total = every(0);
    if (task->similarity == DEBIASED) { /* m Z - mean of single ones; `ratio` keeps where gaps are exactly 0 */
        for (int k = 0; k < N; k++) b->ratio[k] = b->gap[k], b->gap[k] *= (REAL)m;
        norm *= (REAL)m;
        for (int j = 0; j < m; j++) {
            norm -= gaps(task, b, of, part, i, j, 1, theta, view, b->weight) / (REAL)m;
            for (int k = 0; k < N; k++) b->gap[k] -= b->weight[k] / (REAL)m;
        }
    }
    for (int k = 0; k < N; k++) {
        real gap = b->gap[k], r, w, one = every(1), zero = every(0);
        if (task->similarity == DEBIASED) {
            r = greatest(least(1 - gap / norm, one), zero);
            r = choose((ints)(norm <= 0), zero, r);
            r = choose((ints)(b->ratio[k] == 0), one, r);
        } else {
            if (task->similarity == RELEASED) gap = root_of(gap);
            r = choose((ints)(norm == 0) & (ints)(gap == 0), one, greatest(1 - gap / norm, zero));
        }
        if (k == i) r = one;
        if (task->criterion == BINARY) /* a ratio that is NaN makes the weight NaN */
            w = choose((ints)(r >= task->threshold[i]), one, zero) + 0 * r;
        else w = task->criterion == CONTINUOUS ? r : 1 - root_of((real)((bits)(1 - r) & ~((bits)every((REAL)-0.0))));
        w *= task->precision[k];
        total += task->normalised ? w : w * r;
        b->weight[k] = w;
    }
    for (int k = 0; k < N; k++) b->weight[k] /= total;
}

/* Model i moves by -eta sum_k weight_k g_k(theta_i). */
INLINE void move(const Task *task, const Block *b, int part, int i, real *theta, real eta) {
    int N = (int)task->clients, d = (int)task->features, m = b->step.count, rule = (int)task->rule;
    const REAL *alpha = rule == FIXED ? task->alpha + (size_t)i * N : 0;
    const real *x = b->step.x + (size_t)part * N * m * d, *y = b->step.y + (size_t)part * N * m;
    real *to = b->own, mass = every(rule == LOCAL);
    if (rule == ADAPTIVE) collaborate(task, b, part, i, theta);
    if (rule == FIXED)
        for (int k = 0; k < N; k++) b->weight[k] = every(alpha[k]);
    if (rule == LOCAL) gradient(task, b, &b->step, part, i, 0, m, theta, seen(task, b, theta), to);
    else if (task->problem == QUADRATIC) {
        if (rule == FIXED) {
            image(task, task->mixed + (size_t)i * d * d, (int)task->diagonal, theta, task->optimum + (size_t)i * d, 2,
                  b->z, to);
            for (int f = 0; f < d; f++) to[f] += task->pull[(size_t)i * d + f];
        } else {
            if (task->similarity != EXACT)
                for (int k = 0; k < N; k++)
                    gradient(task, b, 0, part, k, 0, 0, theta, theta, b->peers + (size_t)k * d);
            for (int f = 0; f < d; f++) to[f] = every(0);
            gather(b->peers, b->weight, N, d, to);
        }
        gather(x, b->weight, N, d, to); /* m = 1 */
    } else {
        const real *view = seen(task, b, theta);
        for (int f = 0; f < d; f++) to[f] = every(0);
        for (int k = 0; k < N; k++) {
            mass += b->weight[k];
            if (alpha && alpha[k] == 0) continue;
            size_t at = (size_t)k * m;
            slopes(task, x + at * d, y + at, view, m, b->slope);
            for (int j = 0; j < m; j++) b->slope[j] *= b->weight[k] / (REAL)m;
            gather(x + at * d, b->slope, m, d, to);
        }
    }
    mass *= task->problem >= ROWS ? *task->ridge : 0;
    for (int f = 0; f < d; f++) to[f] += mass * theta[f];
    if (task->precondition) {
        image(task, task->precondition + (size_t)i * d * d, 0, to, task->zero, 1, b->z, b->peers);
        to = b->peers;
    }
    for (int f = 0; f < d; f++) theta[f] -= eta * to[f];
}

/* The weights of model i's step, where they are recorded. */
ONCE void record_weights(const Task *task, const Block *b, int64_t begin, int live, int i, int64_t column) {
    int N = (int)task->clients;
    size_t block = begin / LANES;
    for (int l = 0; l < live; l++) {
        int64_t place = -1;
        if (task->chosen) place = task->chosen[begin + l];
        for (int k = 0; k < N; k++) {
            double w = b->weight[k][l % VL];
            if (task->sum) task->sum[((block * task->grid + column) * N + i) * N + k] += w;
            if (task->sizes) task->sizes[(block * task->grid + column) * N + i] += w > 0;
            if (place >= 0) task->weights[((place * task->grid + column) * N + i) * N + k] = w;
        }
    }
}

/* Whether client i has stopped in all of a part's seeds. */
INLINE int stopped(const Task *task, int64_t begin, int live, int i) {
    int still = !task->level;
    for (int l = 0; !still && l < live; l++) still = isinf(task->stopping[(begin + l) * task->clients + i]);
    return !still;
}

/* Whether none of a part's seeds can have reached client i's level: a convex loss lies above its tangents, and MARGIN is
   more than what rounding took from this one. Losses over all rows are evaluated where this leaves it open. */
#define MARGIN ((REAL)(SINGLE ? 1e-3 : 1e-9))
INLINE int above(const Task *task, const Block *b, size_t place, int64_t begin, int live, int i) {
    int d = (int)task->features, clear = 1;
    const real *theta = b->theta + place * d, *anchor = b->anchor + place * d, *tilt = b->tilt + place * d;
    real low = b->height[place] * (1 - MARGIN), drop = every(0);
    for (int f = 0; f < d; f++) drop += tilt[f] * (theta[f] - anchor[f]);
    low += drop - MARGIN * choose((ints)drop, -drop, drop);
    for (int l = 0; l < live; l++)
        clear &= !isinf(task->stopping[(begin + l) * task->clients + i]) || low[l] > task->level[i];
    return clear;
}

INLINE void drop_anchor(const Task *task, const Block *b, size_t place, int i, real value) {
    int d = (int)task->features;
    real *theta = b->theta + place * d, *tilt = b->tilt + place * d;
    over_rows(task, i, theta, tilt);
    for (int f = 0; f < d; f++) b->anchor[place * d + f] = theta[f], tilt[f] += *task->ridge * theta[f];
    b->height[place] = value;
}

/* Excess losses after iteration t, and who has stopped; how many of this part's seeds and clients have not. */
ONCE int record(const Task *task, const Block *b, int part, int64_t begin, int live, int64_t t, int64_t column) {
    int N = (int)task->clients, running = 0;
    for (int i = 0; i < N; i++) {
        size_t place = (size_t)part * N + i;
        if (column < 0 && stopped(task, begin, live, i)) continue;
        if (column < 0 && t > 0 && task->problem == LOGISTIC && above(task, b, place, begin, live, i)) {
            running++;
            continue;
        }
        real value = excess(task, b, i, b->theta + place * task->features);
        if (task->level && task->problem == LOGISTIC) drop_anchor(task, b, place, i, value);
        for (int l = 0; l < live; l++) {
            if (column >= 0 && task->excess) task->excess[((begin + l) * task->grid + column) * N + i] = value[l];
            if (!task->level) continue;
            double *stop = task->stopping + (begin + l) * N + i;
            if (value[l] < task->level[i] && isinf(*stop)) *stop = (double)t;
            running += isinf(*stop) != 0;
        }
    }
    return running;
}

static void whole_block(const Task *task, const Block *b, int64_t begin, int seeds) {
    int N = (int)task->clients, d = (int)task->features;
    Lanes lanes;
    fill_lanes(task->seed + begin, seeds, 0, &lanes);
    for (int a = 0; a < PARTS * N * d; a++) b->theta[a] = every(task->start[a % (N * d)]);
    int64_t column = 0;
    for (int64_t t = 0; t <= task->iterations; t++) {
        int due = column < task->grid && task->points[column] == t, running = 0;
        if (t > 0) {
            const REAL *eta = task->eta + (t - 1) * task->eta_stride;
            draw(task, b, &b->step, &lanes, (uint32_t)t, STEP_STREAM);
            if (b->compare.count) draw(task, b, &b->compare, &lanes, (uint32_t)t, SIMILARITY_STREAM);
            for (int part = 0; part < PARTS && part * VL < seeds; part++)
                for (int i = 0; i < N; i++) {
                    int live = seeds - part * VL < VL ? seeds - part * VL : VL;
                    if (task->early && stopped(task, begin + part * VL, live, i)) continue;
                    move(task, b, part, i, b->theta + ((size_t)part * N + i) * d, every(eta[i]));
                    if (due && (task->sum || task->sizes || task->weights))
                        record_weights(task, b, begin + part * VL, live, i, column);
                }
        }
        for (int part = 0; part < PARTS && part * VL < seeds && (due || task->level); part++) {
            int live = seeds - part * VL < VL ? seeds - part * VL : VL;
            running += record(task, b, part, begin + part * VL, live, t, due ? column : -1);
        }
        column += due;
        if (task->early && !running) break;
    }
    for (int s = 0; task->final && s < seeds; s++)
        for (int a = 0; a < N * d; a++)
            task->final[(begin + s) * N * d + a] = b->theta[(size_t)(s / VL) * N * d + a][s % VL];
}

/* Seeds begin .. end - 1 of the run. Returns 0, or 1 when memory is short. */
int general(const Task *task, int64_t begin, int64_t end) {
    size_t N = task->clients, d = task->features, m = task->batch, c = task->rule == ADAPTIVE ? task->samples : 0;
    size_t most = m > c ? m : c, inner = task->inner + 1, blocks = (most * inner + 3) / 4;
    Block b = {.step = {.count = (int)m}, .compare = {.count = (int)c}};
    b.group = blocks < AT_ONCE ? (int)(AT_ONCE / blocks) : 1;
    size_t z = (size_t)b.group * (blocks + 1) * 4 * PARTS;
    struct { real **to; size_t size; } part[] = {
        {&b.theta, PARTS * N * d}, {&b.anchor, PARTS * N * d}, {&b.tilt, PARTS * N * d}, {&b.height, PARTS * N}, {&b.step.x, PARTS * N * m * d}, {&b.step.y, PARTS * N * m},
        {&b.compare.x, PARTS * N * c * d}, {&b.compare.y, PARTS * N * c}, {&b.peers, N * d}, {&b.gap, N},
        {&b.weight, N}, {&b.ratio, N}, {&b.own, d}, {&b.slope, most}, {&b.fresh, d}, {&b.z, z > d ? z : d}};
    size_t total = 0, parts = sizeof part / sizeof part[0];
    for (size_t a = 0; a < parts; a++) total += part[a].size;
    real *memory = aligned_alloc(BYTES, total * BYTES), *at = memory;
    if (!memory) return 1;
    for (size_t a = 0; a < parts; at += part[a++].size) *part[a].to = at;
    for (int64_t block = begin; block < end; block += LANES)
        whole_block(task, &b, block, end - block < LANES ? (int)(end - block) : LANES);
    free(memory);
    return 0;
}

int lanes(void) { return LANES; }
