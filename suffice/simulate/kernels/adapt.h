/* Gradients from samples, weights by similarity and the step that they make.

   Included twice. Where lanes are seeds, each has its own samples, SAMPLE is `real`, and a row is one client's model in
   VL seeds. Where lanes are clients, SAMPLE is REAL and a row is VL clients' models of one seed. R rows, 1 or 2, are
   worked on at once, as they share loads. Sums run over features, samples and peers in their order in all four cases,
   so results are the same bit by bit. */

typedef struct {
    int count, apart; /* m of each client; from one client's to the next one's */
    const SAMPLE *x, *y;
} OF(Drawn);

#if PEERS_IN_LANES
#define ITSELF(k, i, r) ((k) == (i) + (r))
INLINE void OF(take)(real *to, real value, int k) { *to = value; }
INLINE real OF(row)(const REAL *value, int i, int r, int N) { return every(value[i + r]); }
#else
#define ITSELF(k, i, r) ((k) / VL == (i) / VL + (r))
INLINE void OF(take)(real *to, real value, int k) { (*to)[k % VL] = value[k % VL]; }
INLINE real OF(row)(const REAL *value, int i, int r, int N) { /* the last again beyond it */
    real row;
    for (int l = 0; l < VL; l++) row[l] = value[i + r * VL + l < N ? i + r * VL + l : N - 1];
    return row;
}
#endif

/* Slopes dl/dprediction (R, count) of samples x (count, d) at R models: 2 (x . theta - y), or of signed rows
   -1 / (1 + exp(x . theta)). Several sums at a time, as each waits for itself. */
INLINE void OF(slopes)(const Task *task, int R, const SAMPLE *x, const SAMPLE *y, const real *theta, int count,
                       real *out) {
    int d = (int)task->features, q = 0;
    for (; q + 4 <= count; q += 4, x += 4 * (size_t)d) {
        real sum[2][4];
        for (int a = 0; a < 4 * R; a++) sum[a / 4][a % 4] = every(0);
        for (int f = 0; f < d; f++)
#pragma GCC unroll 4
            for (int a = 0; a < 4; a++)
#pragma GCC unroll 2
                for (int r = 0; r < R; r++) sum[r][a] += x[a * d + f] * theta[r * d + f];
#pragma GCC unroll 8
        for (int a = 0; a < 4 * R; a++) out[a / 4 * count + q + a % 4] = sum[a / 4][a % 4];
    }
    for (; q < count; q++, x += d)
        for (int r = 0; r < R; r++) {
            real sum = every(0);
            for (int f = 0; f < d; f++) sum += x[f] * theta[r * d + f];
            out[r * count + q] = sum;
        }
#pragma GCC unroll 2
    for (int r = 0; r < R; r++, out += count)
#pragma GCC unroll 4
        for (q = 0; q < count; q++) out[q] = task->problem == LOGISTIC ? -probability(-out[q]) : 2 * (out[q] - y[q]);
}

/* to[r][f] += sum_q c[r][q] x_q[f]; rows of `to` are `apart`. Coefficients stay in registers, and models share samples. */
INLINE void OF(gather)(int R, const SAMPLE *x, const real *c, int count, int d, real *to, size_t apart) {
    int q = 0;
    for (; q + 4 <= count; q += 4, x += 4 * (size_t)d) {
        real w[2][4];
#pragma GCC unroll 8
        for (int a = 0; a < 4 * R; a++) w[a / 4][a % 4] = c[a / 4 * count + q + a % 4];
        for (int f = 0; f < d; f++) {
            real sum[2];
#pragma GCC unroll 2
            for (int r = 0; r < R; r++) sum[r] = to[r * apart + f];
#pragma GCC unroll 4
            for (int a = 0; a < 4; a++) {
                real u = x[a * d + f] - (real){};
                if (PEERS_IN_LANES) HELD(u);
#pragma GCC unroll 2
                for (int r = 0; r < R; r++) sum[r] += u * w[r][a];
            }
#pragma GCC unroll 2
            for (int r = 0; r < R; r++) to[r * apart + f] = sum[r];
        }
    }
    for (; q < count; q++, x += d)
        for (int f = 0; f < d; f++)
            for (int r = 0; r < R; r++) to[r * apart + f] += x[f] * c[r * count + q];
}

#if !PEERS_IN_LANES
INLINE void over_rows_at(const Task *task, int R, int k, const real *theta, real *out, size_t apart) {
    int d = (int)task->features, n = (int)task->rows[k], j = 0;
    const REAL *x = task->x + (size_t)task->from[k] * d;
    real slope[8];
    for (int r = 0; r < R; r++)
        for (int f = 0; f < d; f++) out[r * apart + f] = every(0);
    for (; j + 4 <= n; j += 4, x += 4 * (size_t)d) {
        slopes_of_clients(task, R, x, 0, theta, 4, slope);
        gather_of_clients(R, x, slope, 4, d, out, apart);
    }
    slopes_of_clients(task, R, x, 0, theta, n - j, slope);
    gather_of_clients(R, x, slope, n - j, d, out, apart);
    for (int r = 0; r < R; r++)
        for (int f = 0; f < d; f++) out[r * apart + f] /= (REAL)n;
}

ONCE void over_rows(const Task *task, int R, int k, const real *theta, real *out, size_t apart) {
    if (R == 2) over_rows_at(task, 2, k, theta, out, apart);
    else over_rows_at(task, 1, k, theta, out, apart);
}
#endif

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
        image(R, d, task->A + (size_t)k * d * d, (int)task->diagonal, OF(seen_by)(task, b, R, k, theta, theta),
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
        for (int k = 0; k < N; k++)
            if (ITSELF(k, i, r))
                for (int f = 0; f < d; f++) OF(take)(own + f, peers[(size_t)k * d + f], k);
        for (int k = 0; k < N; k++) {
            const real *g = peers + (size_t)k * d;
            real sum = every(0);
            for (int f = 0; f < d; f++) sum += (g[f] - own[f]) * (g[f] - own[f]);
            if (ITSELF(k, i, r)) OF(take)(&sum, every(0), k);
            gap[r * N + k] = sum;
        }
        norm[r] = every(0);
        for (int f = 0; f < d; f++) {
            real g = own[f] + ridge * theta[r * d + f];
            norm[r] += g * g;
        }
    }
}

/* Weights (R, N) of all peers at models from client i on, by Definition 1 or normalised. */
INLINE void OF(collaborate)(const Task *task, const Block *b, const OF(Drawn) *compare, int R, int i, const real *theta,
                            const real *view) {
    int N = (int)task->clients, m = compare->count;
    const OF(Drawn) *of = task->similarity == EXACT ? 0 : compare;
    real norms[2], one = every(1), zero = every(0);
    OF(gaps)(task, b, of, R, i, 0, m, theta, view, b->gap, norms);
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
    for (int row = 0; row < R; row++) {
        real total = zero, norm = norms[row], *weight = b->weight + row * N;
        real threshold = OF(row)(task->threshold, i, row, N);
        for (int k = 0; k < N; k++) {
            real gap = b->gap[row * N + k], r, w;
            if (task->similarity == DEBIASED) {
                r = greatest(least(1 - gap / norm, one), zero);
                r = choose((ints)(norm <= 0), zero, r);
                r = choose((ints)(b->ratio[row * N + k] == 0), one, r);
            } else {
                if (task->similarity == RELEASED) gap = root_of(gap);
                r = choose((ints)(norm == 0) & (ints)(gap == 0), one, greatest(1 - gap / norm, zero));
            }
            if (ITSELF(k, i, row)) OF(take)(&r, one, k);
            if (task->criterion == BINARY) /* a ratio that is NaN makes the weight NaN */
                w = choose((ints)(r >= threshold), one, zero) + 0 * r;
            else if (task->criterion == CONTINUOUS) w = r;
            else w = 1 - root_of((real)((bits)(1 - r) & ~((bits)every((REAL)-0.0))));
            w *= task->precision[k];
            total = task->normalised ? total + w : fused(w, r, total);
            weight[k] = w;
        }
        for (int k = 0; k < N; k++) weight[k] /= total;
    }
}

/* to += sum_k weight_k g_k(theta) of samples at R models, mass += sum_k weight_k; peers without `alpha` are left out
   where it is given. */
INLINE void OF(mix_samples)(const Task *task, const Block *b, const OF(Drawn) *step, int R, const REAL *alpha,
                            const real *theta, const real *view, real *to, real *mass) {
    int N = (int)task->clients, d = (int)task->features, m = step->count;
    for (int k = 0; k < N; k++) {
        const SAMPLE *x = step->x + (size_t)k * step->apart * d;
        if (alpha && alpha[k] == 0) continue;
        const real *there = OF(seen_by)(task, b, R, k, theta, view);
        OF(slopes)(task, R, x, step->y + (size_t)k * step->apart, there, m, b->slope);
        for (int r = 0; r < R; r++) {
            const real weight = b->weight[r * N + k], each = weight / (REAL)m;
            mass[r] += weight;
            for (int j = 0; j < m; j++) b->slope[r * m + j] *= each;
        }
        OF(gather)(R, x, b->slope, m, d, to, d);
    }
}

/* R rows of models (R, d) from client i on move by -eta sum_k weight_k g_k(theta_i). */
INLINE void OF(move_rows)(const Task *task, const Block *b, const OF(Drawn) *step, const OF(Drawn) *compare, int R,
                          int i, const REAL *eta, real *theta) {
    int N = (int)task->clients, d = (int)task->features;
    const real *view = seen(task, b, R, theta);
    real *to = b->own, mass[2] = {every(0), every(0)};
    for (int f = 0; task->relative && f < R * d; f++)
        for (int l = 0; l < VL; l++) {
            int of = i + f / d * (PEERS_IN_LANES ? 1 : VL) + (PEERS_IN_LANES ? 0 : l);
            b->origin[f][l] = task->optimum[(size_t)(of < N ? of : N - 1) * d + f % d];
        }
    OF(collaborate)(task, b, compare, R, i, theta, view);
    if (task->problem == QUADRATIC && task->similarity != EXACT)
        for (int k = 0; k < N; k++)
            OF(gradient)(task, b, 0, R, k, 0, 0, theta, view, b->peers + (size_t)k * d, (size_t)N * d);
    for (int f = 0; f < R * d; f++) to[f] = every(0);
    if (task->problem == QUADRATIC) {
        for (int r = 0; r < R; r++)
            gather_of_seeds(1, b->peers + (size_t)r * N * d, b->weight + r * N, N, d, to + r * d, d);
        OF(gather)(R, step->x, b->weight, N, d, to, d); /* m = 1 */
    } else OF(mix_samples)(task, b, step, R, 0, theta, view, to, mass);
    for (int r = 0; r < R; r++) {
        real rate = OF(row)(eta, i, r, N);
        mass[r] *= task->problem >= ROWS ? *task->ridge : 0;
        for (int f = 0; f < d; f++) theta[r * d + f] -= rate * (to[r * d + f] + mass[r] * theta[r * d + f]);
    }
}

ONCE void OF(adapt)(const Task *task, const Block *b, const OF(Drawn) *step, const OF(Drawn) *compare, int R, int i,
                    const REAL *eta, real *theta) {
    if (R == 2) OF(move_rows)(task, b, step, compare, 2, i, eta, theta);
    else OF(move_rows)(task, b, step, compare, 1, i, eta, theta);
}

#undef ITSELF
