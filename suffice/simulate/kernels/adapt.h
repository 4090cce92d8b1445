/* Gradients from samples, weights by similarity and the step that they make.

   Included twice. Where lanes are seeds, each has its own samples, SAMPLE is `real`, and a row is one client's model in
   VL seeds. Where lanes are clients, SAMPLE is REAL and a row is VL clients' models of one seed. R rows, 1 or 2, are
   worked on at once, as they share loads. Sums run over features, samples and peers in their order in all four cases,
   so results are the same bit by bit. */

typedef struct {
    int count, apart; /* m of each client; from one client's to the next one's */
    const SAMPLE *x, *y, *size; /* |x|^2 of a client's only one, or null */
} OF(Drawn);

/* ITSELF goes over the clients of row r of those from i on; `take` puts its own number in a client's lane. */
#if PEERS_IN_LANES
#define ITSELF(k, i, r, N) for (int k = (i) + (r); k == (i) + (r); k++)
INLINE void OF(take)(real *to, real value, int k) { *to = value; }
INLINE real OF(row)(const REAL *value, int stride, int i, int r, int N) { return every(value[(size_t)(i + r) * stride]); }
#else
#define ITSELF(k, i, r, N) for (int k = (i) + (r) * VL; k < (N) && k < (i) + (r) * VL + VL; k++)
INLINE void OF(take)(real *to, real value, int k) { (*to)[k % VL] = value[k % VL]; }
INLINE real OF(row)(const REAL *value, int stride, int i, int r, int N) { /* the last again beyond it */
    real row;
    for (int l = 0, k = i + r * VL; l < VL; l++, k++) row[l] = value[(size_t)(k < N ? k : N - 1) * stride];
    return row;
}
#endif

/* Products (R, count) of samples x (count, d) and R vectors, in rows `apart`: eight sums at a time, as each waits for
   itself. */
INLINE void OF(dots)(int R, const SAMPLE *x, const real *with, int count, int d, real *out, int apart) {
    const int many = 8 / R;
    int q = 0;
    for (; q + many <= count; q += many, x += many * (size_t)d) {
        real sum[8];
#pragma GCC unroll 8
        for (int a = 0; a < 8; a++) sum[a] = every(0);
        for (int f = 0; f < d; f++)
#pragma GCC unroll 8
            for (int a = 0; a < many; a++) {
                real u = x[a * d + f] - (real){};
                HELD(u);
#pragma GCC unroll 4
                for (int r = 0; r < R; r++) sum[r * many + a] += u * with[r * d + f];
            }
#pragma GCC unroll 8
        for (int a = 0; a < 8; a++) out[a / many * apart + q + a % many] = sum[a];
    }
    for (; q < count; q++, x += d)
        for (int r = 0; r < R; r++) {
            real sum = every(0);
            for (int f = 0; f < d; f++) sum += x[f] * with[r * d + f];
            out[r * apart + q] = sum;
        }
}

/* The slope dl/dprediction: 2 (x . theta - y), or of signed rows -1 / (1 + exp(x . theta)). */
INLINE real OF(bent)(const Task *task, real prediction, SAMPLE y) {
    return task->problem == LOGISTIC ? -probability(-prediction) : 2 * (prediction - y);
}

INLINE void OF(slopes)(const Task *task, int R, const SAMPLE *x, const SAMPLE *y, const real *theta, int count,
                       real *out) {
    OF(dots)(R, x, theta, count, (int)task->features, out, count);
    for (int r = 0; r < R; r++, out += count)
        for (int q = 0; q < count; q++) out[q] = OF(bent)(task, out[q], y[q]);
}

/* Of how many clients samples are taken at once: those that lie together and see the same models, as many as stay in the
   nearest cache. */
INLINE int OF(together)(const Task *task, const OF(Drawn) *of) {
    return task->relative || of->apart != of->count || of->count > NEAR ? 1 : NEAR / of->count;
}

/* to[r][f] += sum_q c[r][q] x_q[f] for `many` features from f on; models share samples, and sums stay in registers. */
INLINE void OF(gather_some)(int R, int many, const SAMPLE *x, const real *c, int count, int d, real *to, size_t apart) {
    real sum[2][4];
#pragma GCC unroll 8
    for (int a = 0; a < R * many; a++) sum[a / many][a % many] = to[a / many * apart + a % many];
    for (int q = 0; q < count; q++, x += d)
#pragma GCC unroll 4
        for (int a = 0; a < many; a++) {
            real u = x[a] - (real){};
            HELD(u);
#pragma GCC unroll 2
            for (int r = 0; r < R; r++) sum[r][a] += u * c[r * count + q];
        }
#pragma GCC unroll 8
    for (int a = 0; a < R * many; a++) to[a / many * apart + a % many] = sum[a / many][a % many];
}

INLINE void OF(gather)(int R, const SAMPLE *x, const real *c, int count, int d, real *to, size_t apart) {
    int f = 0;
    for (; f + 4 <= d; f += 4) OF(gather_some)(R, 4, x + f, c, count, d, to + f, apart);
    for (; f + 2 <= d; f += 2) OF(gather_some)(R, 2, x + f, c, count, d, to + f, apart);
    for (; f < d; f++) OF(gather_some)(R, 1, x + f, c, count, d, to + f, apart);
}

/* R models as client k's samples see them: from k's optimum where models are counted from their own clients'. Clients
   with the same optimum see what there is, so that nothing cancels. */
INLINE const real *OF(seen_by)(const Task *task, const Block *b, int R, int k, const real *theta, const real *view) {
    int d = (int)task->features;
    if (!task->relative) return view;
    for (int r = 0; r < R; r++)
        for (int f = 0; f < d; f++)
            b->fresh[r * d + f] = theta[r * d + f] + (b->origin[r * d + f] - task->optimum[(size_t)k * d + f]);
    return b->fresh;
}

/* Client k's gradient at R models without regularisation, over its population (`of` null) or the mean of its samples
   from .. from + count - 1 of `of`, which see the models as `view`. Rows of `out` are `apart`. */
INLINE void OF(gradient)(const Task *task, const Block *b, const OF(Drawn) *of, int R, int k, int from, int count,
                         const real *theta, const real *view, real *out, size_t apart) {
    int d = (int)task->features;
    if (!of && task->problem == LOGISTIC) over_rows(task, R, k, theta, out, apart);
    else if (!of || task->problem == QUADRATIC)
        image(R, d, task->A + (size_t)k * d * d, (int)task->shape, OF(seen_by)(task, b, R, k, theta, theta),
              task->relative ? task->zero : task->optimum + (size_t)k * d, 2, b->z, out, apart);
    if (!of) return;
    size_t at = (size_t)k * of->apart + from;
    const SAMPLE *x = of->x + at * d;
    if (task->problem == QUADRATIC) {
        for (int f = 0; f < d; f++) {
            real sum = every(0);
            for (int j = 0; j < count; j++) sum += x[(size_t)j * d + f];
            for (int r = 0; r < R; r++) out[r * apart + f] += sum / (REAL)count;
        }
        return;
    }
    OF(slopes)(task, R, x, of->y + at, OF(seen_by)(task, b, R, k, theta, view), count, b->slope);
    for (int r = 0; r < R; r++)
        for (int f = 0; f < d; f++) out[r * apart + f] = every(0);
    OF(gather)(R, x, b->slope, count, d, out, apart);
    for (int r = 0; r < R; r++)
        for (int f = 0; f < d; f++) out[r * apart + f] /= (REAL)count;
}

/* Gaps |g_k - g_i|^2 (R, N) at models from client i on, and |g_i|^2 (R), of populations (`of` null) or of samples. The
   gradients stay in `peers` (R, N, d). */
INLINE void OF(gaps)(const Task *task, const Block *b, const OF(Drawn) *of, int R, int i, int from, int count,
                     const real *theta, const real *view, real *gap, real *norm) {
    int N = (int)task->clients, d = (int)task->features;
    size_t apart = (size_t)N * d;
    for (int k = 0; k < N; k++)
        OF(gradient)(task, b, of, R, k, from, count, theta, view, b->peers + (size_t)k * d, apart);
    real ridge = every(task->problem >= ROWS && (of || task->problem == LOGISTIC) ? *task->ridge : 0);
    for (int r = 0; r < R; r++) {
        real *own = b->own + r * d, *peers = b->peers + r * apart;
        for (int f = 0; f < d; f++) own[f] = every(0);
        ITSELF(k, i, r, N)
            for (int f = 0; f < d; f++) OF(take)(own + f, peers[(size_t)k * d + f], k);
        for (int k = 0; k < N; k++) {
            const real *g = peers + (size_t)k * d;
            real sum = every(0);
            for (int f = 0; f < d; f++) sum += (g[f] - own[f]) * (g[f] - own[f]);
            gap[r * N + k] = sum;
        }
        ITSELF(k, i, r, N) OF(take)(gap + r * N + k, every(0), k);
        norm[r] = every(0);
        for (int f = 0; f < d; f++) {
            real g = own[f] + ridge * theta[r * d + f];
            norm[r] += g * g;
        }
    }
}

/* The same gaps and norms from one linear sample of each client, g = s x, without a gradient:
   |g_k - g_i|^2 = |g_i|^2 - s_k (2 s_i x_i . x_k - s_k |x_k|^2). */
INLINE void OF(gaps_of_one)(const Task *task, const Block *b, const OF(Drawn) *of, int R, int i, const real *theta,
                            const real *view, real *gap, real *norm) {
    int N = (int)task->clients, d = (int)task->features, most = OF(together)(task, of);
    real *four = b->fresh, *own = four + R * d;
    real ridge = every(task->problem >= ROWS ? *task->ridge : 0);
    for (int r = 0; r < R; r++)
        ITSELF(k, i, r, N)
            for (int f = 0; f < d; f++) OF(take)(own + r * d + f, of->x[(size_t)k * of->apart * d + f] - (real){}, k);
    for (int k = 0, many; k < N; k += many) {
        many = N - k < most ? N - k : most;
        const real *there = OF(seen_by)(task, b, R, k, theta, view);
        if (there != four) memcpy(four, there, R * d * sizeof *four);
        OF(dots)(2 * R, of->x + (size_t)k * of->apart * d, four, many, d, gap + k, N);
    }
    for (int r = 0; r < R; r++, gap += N) {
        real slope = every(0), size = slope, all = slope, *cross = gap + R * N;
        ITSELF(k, i, r, N) OF(take)(&slope, OF(bent)(task, gap[k], of->y[(size_t)k * of->apart]), k);
        for (int f = 0; f < d; f++) {
            real g = slope * own[r * d + f], whole = g + ridge * theta[r * d + f];
            size += g * g;
            all += whole * whole;
        }
        norm[r] = all;
        for (int k = 0; k < N; k++) {
            size_t at = (size_t)k * of->apart;
            real each = OF(bent)(task, gap[k], of->y[at]);
            real near = each * fused(-each, of->size[at] - (real){}, (slope + slope) * cross[k]);
            gap[k] = greatest(size - near, every(0));
        }
        ITSELF(k, i, r, N) OF(take)(gap + k, every(0), k);
    }
}

/* phi(r) / sigma_k^2 of all peers from gaps and a norm, and their sum with r or without. */
INLINE real OF(weigh)(const Task *task, const real *gaps, const real *same, real norm, real threshold, real *weight) {
    real total = every(0), one = every(1), zero = every(0);
    for (int k = 0; k < (int)task->clients; k++) {
        real gap = gaps[k], r, w;
        if (task->similarity == DEBIASED) {
            r = greatest(least(1 - gap / norm, one), zero);
            r = choose((ints)(norm <= 0), zero, r);
            r = choose((ints)(same[k] == 0), one, r);
        } else {
            if (task->similarity == RELEASED) gap = root_of(gap);
            r = choose((ints)(norm == 0) & (ints)(gap == 0), one, greatest(1 - gap / norm, zero));
        }
        if (task->criterion == BINARY) /* a ratio that is NaN makes the weight NaN */
            w = choose((ints)(r >= threshold), one, zero) + 0 * r;
        else if (task->criterion == CONTINUOUS) w = r;
        else w = 1 - root_of((real)((bits)(1 - r) & ~((bits)every((REAL)-0.0))));
        w *= task->precision[k];
        total = task->normalised ? total + w : fused(w, r, total);
        weight[k] = w;
    }
    return total;
}

/* The same weights where r counts in units of the norm, so that nothing is divided. */
INLINE real OF(select)(const Task *task, const real *gaps, real norm, real threshold, real *weight) {
    real total = every(0), sum = every(0), limit = threshold * norm;
    for (int k = 0; k < (int)task->clients; k++) {
        real near = norm - gaps[k], w = choose((ints)(near < limit), every(0), every(task->precision[k]));
        total = fused(w, near, total);
        sum += w;
        weight[k] = w;
    }
    return task->normalised ? sum : choose((ints)(norm == 0), sum, total / norm);
}

/* Weights (R, N) of all peers at models from client i on, by Definition 1 or normalised. */
INLINE void OF(collaborate)(const Task *task, const Block *b, const OF(Drawn) *compare, int R, int i, const real *theta,
                            const real *view) {
    int N = (int)task->clients, m = compare->count;
    const OF(Drawn) *of = task->similarity == EXACT ? 0 : compare;
    real norms[2];
    if (of && of->size) OF(gaps_of_one)(task, b, of, R, i, theta, view, b->gap, norms);
    else OF(gaps)(task, b, of, R, i, 0, m, theta, view, b->gap, norms);
    if (task->similarity == DEBIASED) { /* m Z - mean of single ones; `ratio` keeps where gaps are exactly 0 */
        for (int k = 0; k < R * N; k++) b->ratio[k] = b->gap[k], b->gap[k] *= (REAL)m;
        for (int r = 0; r < R; r++) norms[r] *= (REAL)m;
        for (int j = 0; j < m; j++) {
            real single[2];
            OF(gaps)(task, b, of, R, i, j, 1, theta, view, b->weight, single);
            for (int r = 0; r < R; r++) norms[r] -= single[r] / (REAL)m;
            for (int k = 0; k < R * N; k++) b->gap[k] -= b->weight[k] / (REAL)m;
        }
    }
    for (int r = 0; r < R; r++) {
        real *gap = b->gap + r * N, *same = b->ratio + r * N, *weight = b->weight + r * N, total;
        real threshold = OF(row)(task->threshold, 1, i, r, N);
        if (task->similarity <= SAMPLED && task->criterion == BINARY) /* what is most often wanted */
            total = OF(select)(task, gap, norms[r], threshold, weight);
        else
            total = OF(weigh)(task, gap, same, norms[r], threshold, weight);
        total = 1 / total;
        for (int k = 0; k < N; k++) weight[k] *= total;
    }
}

/* Whether fixed weights of clients i .. i + R - 1 leave client k out. */
INLINE int OF(idle)(const Task *task, int R, int i, int k) {
    const REAL *alpha = task->rule == FIXED && PEERS_IN_LANES ? task->alpha + (size_t)i * task->clients + k : 0;
    return alpha && alpha[0] == 0 && alpha[(R - 1) * task->clients] == 0;
}

/* R rows of models (R, d) from client i on move by -eta sum_k weight_k g_k(theta_i). */
INLINE void OF(move_rows)(const Task *task, const Block *b, const OF(Drawn) *step, const OF(Drawn) *compare, int R,
                          int i, const REAL *eta, real *theta) {
    int N = (int)task->clients, d = (int)task->features, m = step->count;
    const real *view = seen(task, b, R, theta);
    real *to = b->own, mass[2] = {every(0), every(0)};
    for (int f = 0; task->relative && f < R * d; f++)
        for (int l = 0; l < VL; l++) {
            int of = i + f / d * (PEERS_IN_LANES ? 1 : VL) + (PEERS_IN_LANES ? 0 : l);
            b->origin[f][l] = task->optimum[(size_t)(of < N ? of : N - 1) * d + f % d];
        }
    if (task->rule == FIXED)
        for (int a = 0; a < R * N; a++) b->weight[a] = OF(row)(task->alpha + a % N, N, i, a / N, N);
    else OF(collaborate)(task, b, compare, R, i, theta, view);
    if (task->problem == QUADRATIC && task->similarity != EXACT)
        for (int k = 0; k < N; k++)
            OF(gradient)(task, b, 0, R, k, 0, 0, theta, view, b->peers + (size_t)k * d, (size_t)N * d);
    for (int f = 0; f < R * d; f++) to[f] = every(0);
    if (task->problem == QUADRATIC) {
        for (int r = 0; r < R; r++)
            gather_of_seeds(1, b->peers + (size_t)r * N * d, b->weight + r * N, N, d, to + r * d, d);
        OF(gather)(R, step->x, b->weight, N, d, to, d); /* m = 1 */
    } else
        for (int k = 0, many, most = OF(together)(task, step); k < N; k += many) {
            int idle = OF(idle)(task, R, i, k);
            for (many = 1; !idle && many < most && k + many < N && !OF(idle)(task, R, i, k + many);) many++;
            if (idle) continue;
            int count = many * m;
            const SAMPLE *x = step->x + (size_t)k * step->apart * d;
            const real *there = OF(seen_by)(task, b, R, k, theta, view);
            OF(slopes)(task, R, x, step->y + (size_t)k * step->apart, there, count, b->slope);
            for (int r = 0; r < R; r++)
                for (int c = 0; c < many; c++) {
                    const real weight = b->weight[r * N + k + c], each = weight / (REAL)m;
                    mass[r] += weight;
                    for (int j = 0; j < m; j++) b->slope[r * count + c * m + j] *= each;
                }
            OF(gather)(R, x, b->slope, count, d, to, d);
        }
    for (int r = 0; r < R; r++) {
        real rate = OF(row)(eta, 1, i, r, N);
        mass[r] *= task->problem >= ROWS ? *task->ridge : 0;
        for (int f = 0; f < d; f++) to[r * d + f] += mass[r] * theta[r * d + f];
        const real *along = PEERS_IN_LANES ? preconditioned(task, b, i + r, to + r * d) : to + r * d;
        for (int f = 0; f < d; f++) theta[r * d + f] -= rate * along[f];
    }
}

ONCE void OF(adapt)(const Task *task, const Block *b, const OF(Drawn) *step, const OF(Drawn) *compare, int R, int i,
                    const REAL *eta, real *theta) {
    if (R == 2) OF(move_rows)(task, b, step, compare, 2, i, eta, theta);
    else OF(move_rows)(task, b, step, compare, 1, i, eta, theta);
}

#undef ITSELF
