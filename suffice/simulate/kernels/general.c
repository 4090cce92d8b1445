/* Runs of every compiled problem: All-for-one with any similarity, fixed weights, and each client alone or in the
   rounds of a server; streams.h has the rule that is faster where it applies.

   A block is at most LANES seeds, a register VL of them; every operation is the same in all lanes, so a seed's path
   depends, bit by bit, neither on its neighbours nor on threads. A model's step depends on that model, on the draws and
   on what a server sent before, so models move one after the other where they are. */

#include <stddef.h>

#include "streams.h"

#define SAMPLE real
#define PEERS_IN_LANES 1
#define OF(name) name##_of_seeds
#include "adapt.h"
#undef SAMPLE
#undef PEERS_IN_LANES
#undef OF
#define SAMPLE REAL
#define PEERS_IN_LANES 0
#define OF(name) name##_of_clients
#include "adapt.h"

/* What model i is given. */
INLINE Drawn_of_seeds drawn(const Task *task, const Samples *of, int part, int i) {
    int count = task->pairwise ? of->count / (int)task->clients : of->count;
    size_t first = (size_t)part * task->clients * of->count + (task->pairwise ? i * count : 0);
    return (Drawn_of_seeds){
        .count = count, .apart = of->count, .x = of->x + first * task->features, .y = of->y + first};
}

#include "rounds.h"

/* Model i's gradient goes to `copies` where a filter is to mix it. Else the model moves by -eta (g_i(theta_i) - control_i + pull (theta_i - server_i)), as far as there are controls and a server
   or pairs that pull, or by -eta sum_k alpha_ik g_k(theta_i). */
INLINE void move(const Task *task, const Block *b, int part, int i, real *theta, real eta, const REAL *pull, int all) {
    int N = (int)task->clients, d = (int)task->features, rule = (int)task->rule;
    const REAL *alpha = rule == FIXED ? task->alpha + (size_t)i * N : 0;
    const Drawn_of_seeds step = drawn(task, &b->step, part, i);
    const real *view = seen(task, b, 1, theta);
    int m = step.count;
    real *to = b->own, mass = every(rule == LOCAL);
    for (int f = 0; task->relative && f < d; f++) b->origin[f] = every(task->optimum[(size_t)i * d + f]);
    if (rule == LOCAL) gradient_of_seeds(task, b, task->population ? 0 : &step, 1, i, 0, m, theta, view, to, d);
    else {
        for (int k = 0; k < N; k++) b->weight[k] = every(alpha[k]);
        for (int f = 0; f < d; f++) to[f] = every(0);
    }
    if (rule == FIXED && task->problem == QUADRATIC) {
        image(1, d, task->mixed + (size_t)i * d * d, (int)task->diagonal, theta,
              task->relative ? task->zero : task->optimum + (size_t)i * d, 2, b->z, to, d);
        for (int f = 0; f < d; f++) to[f] += task->pull[(size_t)i * d + f];
        gather_of_seeds(1, step.x, b->weight, N, d, to, d); /* m = 1 */
    } else if (rule == FIXED) mix_samples_of_seeds(task, b, &step, 1, alpha, theta, view, to, &mass);
    mass *= task->problem == LOGISTIC || (task->problem == ROWS && !task->population) ? *task->ridge : 0;
    for (int f = 0; f < d; f++) to[f] += mass * theta[f];
    if (task->filter) {
        memcpy(b->copies + ((size_t)part * N + i) * d, to, d * sizeof *to);
        return;
    }
    const real *server = b->server + ((size_t)part * N + i) * d, *control = b->copies + ((size_t)part * N + i) * d;
    for (int f = 0; pull && f < d; f++) to[f] += *pull * (theta[f] - server[f]);
    for (int f = 0; task->control && f < d; f++) to[f] -= control[f];
    for (int f = 0; !all && f < d; f++) to[f] = choose((ints)b->present[part * N + i], to[f], every(0));
    if (task->precondition) {
        image(1, d, task->precondition + (size_t)i * d * d, 0, to, task->zero, 1, b->z, b->peers, d);
        to = b->peers;
    }
    for (int f = 0; f < d; f++) theta[f] -= eta * to[f];
}

/* The weights of a step, where they are recorded: of model i and `live` seeds, or of `live` models of one seed. */
ONCE void record_weights(const Task *task, const real *weight, int in_clients, int64_t seed, int live, int i,
                         int64_t column) {
    int N = (int)task->clients;
    for (int l = 0; l < live; l++) {
        int64_t place = task->chosen[seed + (in_clients ? 0 : l)];
        size_t model = (size_t)column * N + i + (in_clients ? l : 0), all = (size_t)task->grid * N;
        for (int k = 0; place >= 0 && k < N; k++) task->weights[(place * all + model) * N + k] = weight[k][l];
    }
}

/* Whether client i has stopped in all of a part's seeds. */
INLINE int stopped(const Task *task, int64_t begin, int live, int i) {
    int still = !task->level;
    for (int l = 0; !still && l < live; l++) still = isinf(task->stopping_times[(begin + l) * task->clients + i]);
    return !still;
}

/* Whether none of a part's seeds can have reached client i's level: a convex loss lies above its tangents, and MARGIN is
   more than what rounding took from this one. Losses over all rows are evaluated where this leaves it open. */
#define MARGIN ((REAL)(SINGLE ? 1e-3 : 1e-9))
INLINE int above(const Task *task, const Block *b, size_t place, int64_t begin, int live, int i) {
    int d = (int)task->features, clear = 1;
    const real *theta = b->shown + place * d, *anchor = b->anchor + place * d, *tilt = b->tilt + place * d;
    real low = b->height[place] * (1 - MARGIN), drop = every(0);
    for (int f = 0; f < d; f++) drop += tilt[f] * (theta[f] - anchor[f]);
    low += drop - MARGIN * choose((ints)drop, -drop, drop);
    for (int l = 0; l < live; l++)
        clear &= !isinf(task->stopping_times[(begin + l) * task->clients + i]) || low[l] > task->level[i];
    return clear;
}

INLINE void drop_anchor(const Task *task, const Block *b, size_t place, int i, real value) {
    int d = (int)task->features;
    real *theta = b->shown + place * d, *tilt = b->tilt + place * d;
    over_rows(task, 1, i, theta, tilt, d);
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
        real value = excess(task, b, i, b->shown + place * task->features);
        if (task->level && task->problem == LOGISTIC) drop_anchor(task, b, place, i, value);
        for (int l = 0; l < live; l++) {
            if (column >= 0 && task->excess) task->excess[((begin + l) * task->grid + column) * N + i] = value[l];
            if (!task->level) continue;
            double *stop = task->stopping_times + (begin + l) * N + i;
            if (value[l] < task->level[i] && isinf(*stop)) *stop = (double)t;
            running += isinf(*stop) != 0;
        }
    }
    return running;
}

/* All models of `live` seeds, lanes, move: two at a time. */
ONCE void adapt_seeds(const Task *task, const Block *b, int part, int64_t begin, int live, int64_t column,
                      const REAL *eta) {
    int N = (int)task->clients, d = (int)task->features;
    for (int i = 0, R; i < N; i += R) {
        const Drawn_of_seeds step = drawn(task, &b->step, part, i), compare = drawn(task, &b->compare, part, i);
        R = i + 1 < N && !task->pairwise ? 2 : 1;
        if (task->early && stopped(task, begin, live, i) && stopped(task, begin, live, i + R - 1)) continue;
        adapt_of_seeds(task, b, &step, &compare, R, i, eta, b->theta + ((size_t)part * N + i) * d);
        for (int r = 0; column >= 0 && r < R; r++)
            record_weights(task, b->weight + r * N, 0, begin, live, i + r, column);
    }
}

/* Samples of one lane by themselves. */
INLINE Drawn_of_clients picked(const Task *task, const Samples *of, int part, int lane, REAL *to) {
    size_t N = task->clients, d = task->features, m = of->count, first = part * N * m;
    Drawn_of_clients own = {.count = of->count, .apart = of->count, .x = to, .y = to + N * m * d};
    for (size_t a = 0; a < N * m * d; a++) to[a] = of->x[first * d + a][lane];
    for (size_t a = 0; a < N * m; a++) to[N * m * d + a] = of->y[first + a][lane];
    return own;
}

/* The same for one seed, its models in lanes. */
ONCE void adapt_clients(const Task *task, const Block *b, int part, int lane, int64_t seed, int64_t column,
                        const REAL *eta) {
    int N = (int)task->clients, d = (int)task->features;
    REAL *models = (REAL *)(b->theta + (size_t)part * N * d) + lane, *at = (REAL *)b->alone;
    const Drawn_of_clients step = picked(task, &b->step, part, lane, at),
                           compare = picked(task, &b->compare, part, lane, at + (size_t)N * b->step.count * (d + 1));
    for (int i = 0, R; i < N; i += R * VL) {
        R = i + VL < N ? 2 : 1;
        int count = N - i < R * VL ? N - i : R * VL, rest = !task->early;
        for (int c = 0; c < count; c++) rest |= !stopped(task, seed, 1, i + c);
        if (!rest) continue;
        for (int r = 0; r < R; r++)
            for (int l = 0; l < VL; l++) {
                const REAL *from = models + (size_t)(r * VL + l < count ? i + r * VL + l : N - 1) * d * VL;
                for (int f = 0; f < d; f++) b->row[r * d + f][l] = from[f * VL];
            }
        adapt_of_clients(task, b, &step, &compare, R, i, eta, b->row);
        for (int c = 0; c < count; c++)
            for (int f = 0; f < d; f++) models[((size_t)(i + c) * d + f) * VL] = b->row[c / VL * d + f][c % VL];
        for (int r = 0; column >= 0 && r < R; r++, count -= VL)
            record_weights(task, b->weight + r * N, 1, seed, count < VL ? count : VL, i + r * VL, column);
    }
}

static void whole_block(const Task *task, const Block *b, int64_t begin, int seeds) {
    int N = (int)task->clients, d = (int)task->features;
    Lanes lanes;
    fill_lanes(task->seed + begin, seeds, seeds == 1, &lanes);
    for (int a = 0; a < PARTS * N * d; a++) {
        b->theta[a] = b->shown[a] = every(task->start[a % (N * d)]);
        if (task->control) b->copies[a] = every(task->control[a % (N * d)]);
        if (task->server) b->copies[a] = b->server[a] = every(task->server[a % (N * d)]);
    }
    for (int a = 0; task->link && a < PARTS * N * N; a++) b->link[a] = every(task->link[a % (N * N)]);
    int64_t column = 0, events[LANES] = {0};
    for (int64_t t = 0; t <= task->iterations; t++) {
        int due = column < task->grid && task->points[column] == t, running = 0;
        if (t > 0) {
            const REAL *eta = task->eta + (t - 1) * task->eta_stride;
            for (int i = 0; task->pace && i < N; i++) b->rate[i] = task->pace[t - 1] * eta[i];
            if (task->pace) eta = b->rate;
            if (!task->population) draw(task, b, &b->step, &lanes, seeds, (uint32_t)t, STEP_STREAM);
            if (b->compare.count) draw(task, b, &b->compare, &lanes, seeds, (uint32_t)t, SIMILARITY_STREAM);
            int all = !task->participants || t > task->until;
            if (!all && (t - 1) % task->period == 0) choose_participants(task, b, &lanes, t);
            if (task->learned) choose_pairs(task, b, &lanes, t, events);
            if (task->control) toss(task, b, &lanes, t, events);
            int64_t at = due && task->weights ? column : -1;
            for (int part = 0; part < PARTS && part * VL < seeds; part++) {
                int64_t first = begin + part * VL;
                int live = seeds - part * VL < VL ? seeds - part * VL : VL, rows = (N + VL - 1) / VL;
                if (task->learned && !task->models_first) select_pairs(task, b, part);
                if (task->link) meet(task, b, part);
                /* what is faster; the same bit by bit */
                if (task->rule == ADAPTIVE && 5 * live * rows < 4 * N && !task->pairwise)
                    for (int l = 0; l < live; l++) adapt_clients(task, b, part, l, first + l, at, eta);
                else if (task->rule == ADAPTIVE) adapt_seeds(task, b, part, first, live, at, eta);
                else
                    for (int i = 0; i < N; i++) {
                        if (task->early && !meeting(task) && stopped(task, first, live, i)) continue;
                        for (int shared = 0; shared <= task->personal; shared++)
                            move(task, b, part, i, (shared ? b->copies : b->theta) + ((size_t)part * N + i) * d,
                                 every(eta[i]), shared || t > task->until ? 0 : task->proximal, all);
                        const real *weight = task->link ? b->link + ((size_t)part * N + i) * N : b->weight;
                        if (at >= 0 && !task->filter) record_weights(task, weight, 0, first, live, i, at);
                    }
                for (int i = 0; task->filter && i < N; i++) {
                    filter(task, b, part, i, eta);
                    if (at >= 0) record_weights(task, b->weight, 0, first, live, i, at);
                }
                if (task->share) blend(task, b, part, task->share[t - 1]);
                if (task->control) communicate(task, b, part, eta);
                if (task->learned && task->models_first) select_pairs(task, b, part);
                if (task->period && t <= task->until && t % task->period == 0) average(task, b, part, all);
            }
        }
        for (int part = 0; part < PARTS && part * VL < seeds && (due || task->level); part++) {
            int live = seeds - part * VL < VL ? seeds - part * VL : VL;
            running += record(task, b, part, begin + part * VL, live, t, due ? column : -1);
        }
        for (int s = 0; due && task->events && s < seeds; s++)
            task->events[(begin + s) * task->grid + column] = (double)events[s];
        column += due;
        if (task->early && !running) break;
    }
    for (int s = 0; task->models && s < seeds; s++)
        for (int a = 0; a < N * d; a++)
            task->models[(begin + s) * N * d + a] = b->shown[(size_t)(s / VL) * N * d + a][s % VL];
}

/* The run as one seed has it, where each has a problem of its own. */
static Task of_seed(const Task *task, int64_t seed) {
    Task own = *task;
    for (size_t at = offsetof(Task, seed), f = 0; at < offsetof(Task, apart); at += sizeof(char *), f++) {
        char *array;
        memcpy(&array, (char *)&own + at, sizeof array);
        if (array) array += seed * task->apart[f];
        memcpy((char *)&own + at, &array, sizeof array);
    }
    return own;
}

/* Blocks of the seeds begin .. end - 1 of the run, as long as `next` has one that no other thread took. Returns 0, or 1
   when memory is short. */
int general(const Task *task, int64_t begin, int64_t end, int64_t *next) {
    if (task->tiled) return streams(task, begin, end, next);
    size_t N = task->clients, d = task->features, pairs = task->pairwise ? N : 1, m = task->batch * pairs;
    size_t c = task->rule == ADAPTIVE || task->learned ? task->samples * pairs : 0;
    size_t most = m > c ? m : c, inner = task->inner + 1, blocks = (most * inner + 3) / 4;
    size_t copies = meeting(task) ? PARTS * N * d : 0, squares = task->link ? N * N : 0;
    size_t means = task->share ? PARTS * N * d : 0;
    Block b = {.step = {.count = (int)m}, .compare = {.count = (int)c}};
    b.group = blocks < AT_ONCE ? (int)(AT_ONCE / blocks) : 1;
    size_t z = (size_t)(b.group > LANES ? b.group : LANES) * (blocks + 1) * 4 * PARTS;
    struct { real **to; size_t size; } part[] = {
        {&b.theta, PARTS * N * d}, {&b.anchor, PARTS * N * d}, {&b.tilt, PARTS * N * d}, {&b.height, PARTS * N},
        {&b.copies, copies}, {&b.server, copies}, {&b.mean, means}, {(real **)&b.rate, N}, {&b.present, PARTS * N}, {(real **)&b.words, N * most + squares},
        {&b.link, PARTS * squares},
        {&b.step.x, PARTS * N * m * d}, {&b.step.y, PARTS * N * m},
        {&b.compare.x, PARTS * N * c * d}, {&b.compare.y, PARTS * N * c}, {&b.peers, 2 * N * d}, {&b.gap, 2 * N},
        {&b.weight, 2 * N}, {&b.ratio, 2 * N}, {&b.own, 2 * d}, {&b.slope, 2 * most}, {&b.fresh, 2 * d},
        {&b.origin, 2 * d},
        {&b.row, 2 * d}, {&b.alone, N * (m + c) * (d + 1) / VL + 1}, {&b.z, z > 2 * d ? z : 2 * d},
        {&b.fan, (blocks + 1) * 4 * PARTS}};
    size_t total = 0, parts = sizeof part / sizeof part[0];
    for (size_t a = 0; a < parts; a++) total += part[a].size;
    real *memory = aligned_alloc(BYTES, total * BYTES), *at = memory;
    if (!memory) return 1;
    for (size_t a = 0; a < parts; at += part[a++].size) *part[a].to = at;
    b.shown = task->share ? b.mean : b.theta;
    for (int64_t seed; (seed = begin + (task->apart ? 1 : LANES) * take(next)) < end;) {
        Task own = task->apart ? of_seed(task, seed) : *task;
        whole_block(&own, &b, seed, task->apart ? 1 : end - seed < LANES ? (int)(end - seed) : LANES);
    }
    free(memory);
    return 0;
}

int lanes(void) { return LANES; }
