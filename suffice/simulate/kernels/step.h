/* One step of all models of a block: weights by similarity, then the weighted mean of gradients.

   Included twice. Where lanes are seeds, PEER is `real`: each seed has its own samples, and a row is one client's
   model in all seeds. Where lanes are clients, PEER is REAL: a row is VL clients' models of one seed, which share its
   samples.
   Every sum runs over features or peers in their order in both, so results are the same bit by bit. */

/* Samples of one seed, or of VL of them in lanes. Similarity samples x, y of the peers are `own` of the models. */
typedef struct {
    real *theta;          /* (rows, width) */
    const real *own, *own_y;
    real *own_g;          /* (rows, width), (rows), (rows): similarity samples x_i, y_i and |x_i|^2 of the models */
    const PEER *x, *y;    /* (peers, width), (peers) */
    const PEER *g, *mass; /* (peers): |x_k|^2, 1 / sigma_k^2 */
    const PEER *xs, *ys;  /* (peers * batch, width), (peers * batch): step samples */
} OF(View);

/* Row i of one number for each client, `stride` apart, 0 beyond the last. */
INLINE real OF(spread)(const REAL *value, int stride, int i, int N) {
#if PEERS_IN_LANES
    return every(i < N ? value[(size_t)i * stride] : 0);
#else
    real row = every(0);
    for (int l = 0; l < VL && i * VL + l < N; l++) row[l] = value[(size_t)(i * VL + l) * stride];
    return row;
#endif
}

/* Of row i's own sample x with slope e = x . theta - y: 2 e x and e^2 |x|^2 = Z_i / 4. */
INLINE void OF(itself)(const Tiles *b, const OF(View) *in, int i, int at, int width) {
    const real *t = b->centred + (size_t)at * width, *x = in->own + (size_t)i * width;
    real e = -in->own_y[i], *twice = b->twice + (size_t)at * width;
    for (int f = 0; f < width; f++) e += t[f] * x[f];
    for (int f = 0; f < width; f++) twice[f] = (e + e) * x[f];
    b->cap[at] = e * e * in->own_g[i];
}

/* Weights of the models of rows i and i+1 (`at` and at+1 of the tile) with all peers, and what their sums are scaled
   by. Two rows by two peers at a time: 8 sums in registers, 6 loads per 8 multiply-adds. */
INLINE void OF(weigh)(const Task *task, const Tiles *b, const OF(View) *in, int i, int at, int similarity, int criterion,
                      int width) {
    const real *t0 = b->centred + (size_t)at * width, *t1 = t0 + width;
    const real *x0 = b->twice + (size_t)at * width, *x1 = x0 + width;
    const int common = similarity == SAMPLED && criterion == BINARY;
    real sum_r[2], cap[2], limit[2], missing[2], threshold[2], *out[2];
    for (int a = 0; a < 2; a++) {
        cap[a] = b->cap[at + a];
        missing[a] = (real)((ints)(cap[a] == 0) & (ints)every(1));
        threshold[a] = b->threshold[i + a];
        limit[a] = cap[a] * threshold[a];
        sum_r[a] = every(0);
        out[a] = b->weight + (size_t)(at + a) * b->peers;
    }
    const PEER *g = in->g, *mass = in->mass, *y = in->y, *p = in->x;
    for (int k = 0; k < b->peers; k += 2, p += 2 * width) {
        OPAQUE(t0); OPAQUE(t1); OPAQUE(x0); OPAQUE(x1);
        real e[2][2] = {{WIDE(-y[k]), WIDE(-y[k + 1])}, {WIDE(-y[k]), WIDE(-y[k + 1])}};
        real c[2][2] = {{every(0), every(0)}, {every(0), every(0)}};
        SHORT for (int f = 0; f < width; f++) {
            real u = WIDE(p[f]), v = WIDE(p[width + f]), s = t0[f], t = t1[f];
            HELD(u); HELD(v); HELD(s); HELD(t);
            e[0][0] += s * u, e[0][1] += s * v, e[1][0] += t * u, e[1][1] += t * v;
            s = x0[f], t = x1[f];
            HELD(s); HELD(t);
            c[0][0] += s * u, c[0][1] += s * v, c[1][0] += t * u, c[1][1] += t * v;
        }
#pragma GCC unroll 2
        for (int a = 0; a < 2; a++) {
            real w[2], r[2];
#pragma GCC unroll 2
            for (int o = 0; o < 2; o++) {
                /* (Z_i - Z_ik) / 4 = e_ik (2 e_ii x_i . x_k - e_ik |x_k|^2) */
                real near = e[a][o] * fused(-e[a][o], WIDE(g[k + o]), c[a][o]);
                if (!common) { /* a client is like itself, r = 1 */
#if PEERS_IN_LANES
                    if (k + o == i + a) near = cap[a];
#else
                    if ((k + o) / VL == i + a) near[(k + o) % VL] = cap[a][(k + o) % VL];
#endif
                }
                w[o] = judge(near, cap[a], missing[a], threshold[a], limit[a], WIDE(mass[k + o]), similarity,
                             criterion, r + o);
                out[a][k + o] = w[o];
            }
            sum_r[a] += fused(w[0], r[0], w[1] * r[1]);
        }
    }
    for (int a = 0; a < 2; a++) {
        if (common) { /* the same afterwards, for a shorter loop: r of the client itself was 1 up to rounding */
            real full, was = every(0);
#if PEERS_IN_LANES
            full = mass[i + a];
            was = out[a][i + a];
            out[a][i + a] = full;
#else
            full = *(const real *)(mass + (size_t)(i + a) * VL);
            for (int l = 0, k = (i + a) * VL; l < VL && k < b->peers; l++, k++) {
                was[l] = out[a][k][l];
                out[a][k][l] = full[l];
            }
#endif
            sum_r[a] += (full - was) * cap[a];
        }
        real sum = every(0), scale = (common ? cap[a] : every(1)) / sum_r[a];
        if (task->normalised || (common && some(missing[a]))) { /* seldom, and the loop is short of registers */
            for (int k = 0; k < b->peers; k++) sum += out[a][k];
            scale = task->normalised ? 1 / sum : choose((ints)(cap[a] == 0), 1 / sum, scale);
        }
        b->scale[at + a] = scale;
    }
}

/* What `move` does where rows have two features: slopes stay in registers. */
INLINE void OF(move_short)(const Tiles *b, const OF(View) *in, int rows, int i, int at) {
    int m = b->batch, count = b->peers * m;
    const real *t = b->centred + (size_t)at * 2, *w = b->weight + (size_t)at * b->peers;
    const PEER *p = in->xs, *ys = in->ys;
    real sum[4][2];
    for (int a = 0; a < rows; a++) sum[a][0] = sum[a][1] = every(0);
    for (int k = 0; k < count; k++, p += 2) {
        OPAQUE(t);
        real u = WIDE(p[0]), v = WIDE(p[1]), y = WIDE(-ys[k]);
        HELD(u); HELD(v); HELD(y);
        int q = m == 1 ? k : k / m;
#pragma GCC unroll 4
        for (int a = 0; a < rows; a++) {
            real e = y + t[2 * a] * u;
            e += t[2 * a + 1] * v;
            e *= w[a * b->peers + q];
            sum[a][0] += e * u, sum[a][1] += e * v;
        }
    }
    real *to = in->theta + (size_t)i * 2;
#pragma GCC unroll 4
    for (int a = 0; a < rows; a++, to += 2) {
        real eta = b->scale[at + a] * b->step[i + a];
        to[0] -= eta * sum[a][0], to[1] -= eta * sum[a][1];
    }
}

/* Rows i .. (`at` .. of the tile) move by -eta scale sum_k weight_ik g_k, g_k = (2/m) sum_j (x_kj . theta_i - y_kj)
   x_kj. Slopes first, `rows` by 2 samples, then the sum over samples, `rows` by 2 features. */
INLINE void OF(move)(const Tiles *b, const OF(View) *in, int rows, int i, int at, int width) {
    if (width == 2) {
        OF(move_short)(b, in, rows, i, at);
        return;
    }
    int m = b->batch, count = b->peers * m;
    const real *t0 = b->centred + (size_t)at * width, *t1 = t0 + width, *t2 = t1 + width, *t3 = t2 + width;
    const real *w = b->weight + (size_t)at * b->peers;
    const PEER *p = in->xs, *ys = in->ys;
    real *slope = b->slope;
    for (int k = 0; k < count; k += 2, p += 2 * width) {
        OPAQUE(t0); OPAQUE(t1); OPAQUE(t2); OPAQUE(t3);
        real sum[4][2];
        for (int a = 0; a < rows; a++) sum[a][0] = WIDE(-ys[k]), sum[a][1] = WIDE(-ys[k + 1]);
        SHORT for (int f = 0; f < width; f++) {
            real u = WIDE(p[f]), v = WIDE(p[width + f]);
            sum[0][0] += t0[f] * u, sum[1][0] += t1[f] * u;
            sum[0][1] += t0[f] * v, sum[1][1] += t1[f] * v;
            if (rows == 4) {
                sum[2][0] += t2[f] * u, sum[3][0] += t3[f] * u;
                sum[2][1] += t2[f] * v, sum[3][1] += t3[f] * v;
            }
        }
        int q = m == 1 ? k : k / m, r = m == 1 ? k + 1 : (k + 1) / m;
#pragma GCC unroll 4
        for (int a = 0; a < rows; a++) {
            slope[a * count + k] = sum[a][0] * w[a * b->peers + q];
            slope[a * count + k + 1] = sum[a][1] * w[a * b->peers + r];
        }
    }
    const real *s0 = slope, *s1 = s0 + count, *s2 = s1 + count, *s3 = s2 + count;
    for (int f = 0; f < width; f += 2) {
        real sum[4][2];
        for (int a = 0; a < rows; a++) sum[a][0] = sum[a][1] = every(0);
        p = in->xs + f;
        for (int k = 0; k < count; k++, p += width) {
            real u = WIDE(p[0]), v = WIDE(p[1]);
            sum[0][0] += s0[k] * u, sum[1][0] += s1[k] * u;
            sum[0][1] += s0[k] * v, sum[1][1] += s1[k] * v;
            if (rows == 4) {
                sum[2][0] += s2[k] * u, sum[3][0] += s3[k] * u;
                sum[2][1] += s2[k] * v, sum[3][1] += s3[k] * v;
            }
        }
        real *to = in->theta + (size_t)i * width + f;
#pragma GCC unroll 4
        for (int a = 0; a < rows; a++, to += width) {
            real eta = b->scale[at + a] * b->step[i + a];
            to[0] -= eta * sum[a][0], to[1] -= eta * sum[a][1];
        }
    }
}

/* All models of one view move, tile by tile; `width` is a constant in the copies made for common shapes. */
INLINE void OF(mix)(const Task *task, const Tiles *b, const OF(View) *in, int common, int width) {
    if (task->rule == ADAPTIVE)
        for (int i = 0; i < b->rows; i++) {
            real sum = every(0);
            for (int f = 0; f < width; f++) sum += in->own[(size_t)i * width + f] * in->own[(size_t)i * width + f];
            in->own_g[i] = sum;
        }
    for (int begin = 0; begin < b->rows; begin += b->tile) {
        int rows = b->rows - begin < b->tile ? b->rows - begin : b->tile;
        for (int f = 0; f < b->features; f++)
            for (int a = 0; a < rows; a++)
                b->centred[(size_t)a * width + f] = in->theta[(size_t)(begin + a) * width + f] - task->optimum[f];
        if (!common && task->rule == FIXED)
            for (int a = 0; a < rows; a++) {
                b->scale[a] = every(1);
                for (int k = 0; k < b->clients; k++)
                    b->weight[(size_t)a * b->peers + k] = OF(spread)(task->alpha + k, b->clients, begin + a, b->clients);
            }
        else {
            for (int a = 0; a < rows; a++) OF(itself)(b, in, begin + a, a, width);
            for (int a = 0; a < rows; a += 2)
                OF(weigh)(task, b, in, begin + a, a, common ? SAMPLED : (int)task->similarity,
                          common ? BINARY : (int)task->criterion, width);
        }
        int a = 0;
        for (; a + 4 <= rows; a += 4) OF(move)(b, in, 4, begin + a, a, width);
        for (; a < rows; a += 2) OF(move)(b, in, 2, begin + a, a, width);
    }
}

ONCE void OF(mix_2)(const Task *task, const Tiles *b, const OF(View) *in) { OF(mix)(task, b, in, 1, 2); }
ONCE void OF(mix_10)(const Task *task, const Tiles *b, const OF(View) *in) { OF(mix)(task, b, in, 1, 10); }
ONCE void OF(mix_binary)(const Task *task, const Tiles *b, const OF(View) *in) { OF(mix)(task, b, in, 1, b->width); }
ONCE void OF(mix_any)(const Task *task, const Tiles *b, const OF(View) *in) { OF(mix)(task, b, in, 0, b->width); }

/* All models of seed or part `set` of the block. */
static void OF(step)(const Task *task, const Tiles *b, int set) {
    size_t at = (size_t)set * b->rows, peer = at * (sizeof(real) / sizeof(PEER));
    size_t width = b->width, first = peer * b->batch;
    OF(View) in = {.theta = b->theta + at * width, .own = b->own + at * width, .own_y = b->own_y + at,
                   .own_g = b->own_g, .x = (PEER *)b->x + peer * width, .y = (PEER *)b->own_y + peer,
                   .g = (PEER *)b->own_g, .mass = (PEER *)b->own_mass,
                   .xs = (PEER *)b->xs + first * width, .ys = (PEER *)b->ys + first};
    int common = task->rule == ADAPTIVE && task->similarity == SAMPLED && task->criterion == BINARY;
    if (common && width == 2) OF(mix_2)(task, b, &in);
    else if (common && width == 10) OF(mix_10)(task, b, &in);
    else if (common) OF(mix_binary)(task, b, &in);
    else OF(mix_any)(task, b, &in);
}

#undef PEER
#undef COEFFICIENT
#undef PEERS_IN_LANES
#undef OF
