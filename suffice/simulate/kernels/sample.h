/* Samples of one iteration: features x = root z and responses y = x . (theta*_k - theta*_0) + label noise, which
   together are a lower triangular matrix times normals. Included twice, as step.h is: COEFFICIENT is REAL where lanes
   are seeds, and `loose` where lanes are clients and have a matrix each. */

/* `rows` rows of one matrix from row a on, for `count` samples with normals z, which share the loads of the matrix. The
   very last row is the response. Returns where the next rows begin: they lie in the order in which they are read. */
INLINE const COEFFICIENT *OF(rows)(int rows, int count, int last, int a, const COEFFICIENT *m, const real *const z[2],
                                   real *const x[2], real y[2]) {
    real sum[4][2];
    const real *z0 = z[0], *z1 = z[1];
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) sum[r][0] = sum[r][1] = every(0);
    for (int e = 0; e < a + rows; e++, m += rows) {
        OPAQUE(z0);
        real u = z0[e * PARTS], v = count == 2 ? z1[e * PARTS] : u;
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            real c = WIDE(m[r]);
            sum[r][0] += u * c;
            if (count == 2) sum[r][1] += v * c;
        }
    }
#pragma GCC unroll 2
    for (int o = 0; o < count; o++) {
#pragma GCC unroll 4
        for (int r = 0; r < rows - last; r++) x[o][a + r] = sum[r][o];
        if (last) y[o] = sum[rows - 1][o];
    }
    return m;
}

/* All rows; a sum's terms come in the same order however many samples there are. */
INLINE void OF(multiply)(int count, int d, int diagonal, const COEFFICIENT *m, const real *const z[2], real *const x[2],
                         real y[2]) {
    if (diagonal) {
        for (int o = 0; o < count; o++)
            for (int a = 0; a < d; a++) x[o][a] = z[o][a * PARTS] * WIDE(m[a]);
        m += d;
        real sum[2] = {every(0), every(0)};
        for (int e = 0; e <= d; e++)
            for (int o = 0; o < count; o++) sum[o] += z[o][e * PARTS] * WIDE(m[e]);
        y[0] = sum[0], y[1] = sum[1];
        return;
    }
    int a = 0;
    for (; a + 4 < d + 1; a += 4) m = OF(rows)(4, count, 0, a, m, z, x, y);
    if (a + 4 == d + 1) OF(rows)(4, count, 1, a, m, z, x, y);
    if (a + 3 == d + 1) OF(rows)(3, count, 1, a, m, z, x, y);
    if (a + 2 == d + 1) OF(rows)(2, count, 1, a, m, z, x, y);
    if (a + 1 == d + 1) OF(rows)(1, count, 1, a, m, z, x, y);
}

#if !PEERS_IN_LANES
/* Sample j of row i of set s as scalars for the peers. */
INLINE void scatter(const Tiles *b, int s, int i, int j, const real *x, real y) {
    int d = b->features, width = b->width, last = j == b->batch, samples = last ? 1 : b->batch, f = 0;
    size_t first = ((size_t)s * b->rows + i) * VL * samples + (last ? 0 : j);
    REAL *to = (REAL *)(last ? b->x : b->xs) + first * width, *responses = (REAL *)(last ? b->own_y : b->ys) + first;
    for (int l = 0; l < VL; l++) responses[(size_t)l * samples] = y[l];
    for (; f + VL <= d; f += VL) {
        real square[VL];
        for (int l = 0; l < VL; l++) square[l] = x[f + l];
        transpose(square);
        for (int l = 0; l < VL; l++) memcpy(to + (size_t)l * samples * width + f, &square[l], BYTES);
    }
    for (; f < d; f++)
        for (int l = 0; l < VL; l++) to[(size_t)l * samples * width + f] = x[f][l];
}
#endif

/* A unit is what shares counters of random words: one client, or LANES of them. Some units' matrices serve all seeds in
   turn before the next ones'. */
ONCE void OF(sample)(const Task *task, const Tiles *b, const Lanes *lanes, int seeds, uint32_t iteration) {
    int d = b->features, width = b->width, m = b->batch, both = task->rule == ADAPTIVE, samples = m + both;
    int blocks = (m * (d + 1) + 3) / 4, more = (d + 4) / 4, stride = PEERS_IN_LANES ? 1 : LANES;
    int units = (b->clients + stride - 1) / stride;
    uint32_t key = (uint32_t)task->root_key;
    size_t size = packed(d, (int)task->diagonal);
    for (int unit = 0; unit < units; unit += b->group)
        for (int s = 0; s < (PEERS_IN_LANES ? 1 : seeds); s++) {
            int some = units - unit < b->group ? units - unit : b->group;
            real *z = b->z, *zz = z + (size_t)some * 4 * blocks * PARTS;
            uint32_t client = (uint32_t)(unit * stride);
            normals(lanes + s, key, client, stride, some, iteration, STEP_STREAM, blocks, z);
            if (both) normals(lanes + s, key, client, stride, some, iteration, SIMILARITY_STREAM, more, zz);
            for (int nth = 0; nth < some * PARTS; nth++) {
                size_t place = nth / PARTS, part = nth % PARTS;
#if PEERS_IN_LANES
                size_t i = unit + place, set = part;
                const COEFFICIENT *matrix = b->matrices + i * size;
#else
                size_t i = (unit + place) * PARTS + part, set = s;
                if ((int)i * VL >= b->clients) break;
                const COEFFICIENT *matrix = (const COEFFICIENT *)b->matrices + i * size;
#endif
                real *own = b->own + (set * b->rows + i) * width, y[2];
                for (int j = 0; j < samples; j += 2) {
                    const real *from[2];
                    real *to[2];
                    int count = samples - j < 2 ? 1 : 2;
                    for (int o = 0; o < count; o++) {
                        int similarity = j + o == m;
                        from[o] = part + (similarity ? zz + place * 4 * more * PARTS
                                                     : z + (place * 4 * blocks + (size_t)(j + o) * (d + 1)) * PARTS);
#if PEERS_IN_LANES
                        to[o] = similarity ? own : b->xs + ((set * b->peers + i) * m + j + o) * width;
#else
                        to[o] = similarity ? own : b->fresh + o * width;
#endif
                    }
                    if (count == 2) OF(multiply)(2, d, (int)task->diagonal, matrix, from, to, y);
                    else OF(multiply)(1, d, (int)task->diagonal, matrix, from, to, y);
                    for (int o = 0; o < count; o++)
#if PEERS_IN_LANES
                        *(j + o == m ? b->own_y + set * b->rows + i : b->ys + (set * b->peers + i) * m + j + o) = y[o];
#else
                        scatter(b, s, (int)i, j + o, to[o], y[o]);
#endif
                }
            }
        }
}

