/* Where models meet: rounds of servers, one for each cluster, the pairs of CoBo, the coins of Scaffnew and the filter of
   All-for-all. */

INLINE int meeting(const Task *task) { return task->period || task->link || task->control || task->filter; }

/* Masks of uniforms below `odds`: (word + 1/2) / 2^32 < odds. */
INLINE words below(words coin, double odds) {
    uint64_t first = (uint64_t)ceil(odds * 0x1p32 - 0.5);
    return first >> 32 ? ~(words){} : (words)(coin < (uint32_t)first);
}

/* One part of masks of 32 bits for all lanes. */
INLINE real mask_of(const words *all, int part) {
    part_signed own;
    memcpy(&own, (const char *)all + part * sizeof own, sizeof own);
    return (real)widened(own);
}

/* The clients of a round, as masks: of each cluster those of the `participants` smallest uniforms. */
ONCE void choose_participants(const Task *task, const Block *b, const Lanes *lanes, int64_t iteration) {
    int N = (int)task->clients;
    draw_words(task, lanes, 1, (uint32_t)iteration, COIN_STREAM, b->words);
    for (int i = 0; i < N; i++) {
        words before = {};
        for (int k = 0; k < N; k++)
            if (task->cluster[k] == task->cluster[i]) before -= (words)(b->words[k] < b->words[i]);
        words mask = (words)(before < (uint32_t)task->participants);
        for (int part = 0; part < PARTS; part++) b->present[part * N + i] = mask_of(&mask, part);
    }
}

/* The weighted means of the participants' models, sent to all. */
ONCE void average(const Task *task, const Block *b, int part, int all) {
    int N = (int)task->clients, d = (int)task->features;
    real *models = (task->personal ? b->copies : b->theta) + (size_t)part * N * d, *mean = b->peers, *total = b->gap;
    for (int a = 0; a < N * d; a++) mean[a] = every(0);
    for (int i = 0; i < N; i++) total[i] = every(0);
    for (int i = 0; i < N; i++) {
        ints here = (ints)(all ? every((REAL)-0.0) : b->present[part * N + i]);
        b->weight[i] = choose(here, every(task->size[i]), every(0));
        total[task->cluster[i]] += b->weight[i];
    }
    for (int i = 0; i < N; i++) {
        real share = b->weight[i] / total[task->cluster[i]];
        for (int f = 0; f < d; f++) mean[task->cluster[i] * d + f] += share * models[(size_t)i * d + f];
    }
    for (int i = 0; i < N; i++) {
        size_t own = ((size_t)part * N + i) * d;
        memcpy(models + (size_t)i * d, mean + task->cluster[i] * d, d * sizeof *mean);
        memcpy(b->server + own, mean + task->cluster[i] * d, d * sizeof *mean);
    }
}

/* Which ordered pairs learn in iteration t: masks in place of the words of their coins, added to the seeds' counts. */
ONCE void choose_pairs(const Task *task, const Block *b, const Lanes *lanes, int64_t t, int64_t count[LANES]) {
    int N = (int)task->clients;
    double odds = t <= task->early_pairs ? *task->odds : 1 / (task->root_odds ? sqrt((double)t) : (double)t);
    words sum = {};
    draw_words(task, lanes, N, (uint32_t)t, COIN_STREAM, b->words);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            words *coin = b->words + i * N + k;
            if (task->symmetric && k < i) *coin = b->words[k * N + i];
            else *coin = i == k ? (words){} : below(*coin, odds);
            sum += *coin & 1;
        }
    for (int l = 0; l < LANES; l++) count[l] += sum[l];
}

/* w_ik <- clip(w_ik + gain g_i(z) . g_k(z), 0, 1) at z = (theta_i + theta_k) / 2 for the pairs chosen. */
ONCE void select_pairs(const Task *task, const Block *b, int part) {
    int N = (int)task->clients, d = (int)task->features, m = b->compare.count;
    const Drawn_of_seeds compare = drawn(task, &b->compare, part, 0);
    const real *theta = b->theta + (size_t)part * N * d;
    real *link = b->link + (size_t)part * N * N, *z = b->row, *own = b->own, *other = own + d;
    real ridge = every(task->problem >= ROWS ? *task->ridge : 0);
    for (int i = 0; i < N; i++)
        for (int k = i + 1; k < N; k++) {
            real there = mask_of(b->words + i * N + k, part), back = mask_of(b->words + k * N + i, part);
            real sum = every(0);
            int any = 0;
            for (int l = 0; l < VL; l++) any |= ((ints)there | (ints)back)[l] != 0;
            if (!any) continue;
            for (int f = 0; f < d; f++) z[f] = (theta[(size_t)i * d + f] + theta[(size_t)k * d + f]) / 2;
            const real *view = seen(task, b, 1, z);
            gradient_of_seeds(task, b, &compare, 1, i, 0, m, z, view, own, d);
            gradient_of_seeds(task, b, &compare, 1, k, 0, m, z, view, other, d);
            for (int f = 0; f < d; f++) sum += (own[f] + ridge * z[f]) * (other[f] + ridge * z[f]);
            real *w = link + i * N + k, *v = link + k * N + i;
            *w = choose((ints)there, least(greatest(*w + *task->gain * sum, every(0)), every(1)), *w);
            *v = choose((ints)back, least(greatest(*v + *task->gain * sum, every(0)), every(1)), *v);
        }
}

/* What pulls client i: theta_i - sum_k w_ik (theta_i - theta_k), as `server`. */
ONCE void meet(const Task *task, const Block *b, int part) {
    int N = (int)task->clients, d = (int)task->features;
    for (int i = 0; i < N; i++) {
        const real *models = b->theta + (size_t)part * N * d, *own = models + (size_t)i * d;
        real *to = b->server + ((size_t)part * N + i) * d;
        memcpy(to, own, d * sizeof *to);
        for (int k = 0; k < N; k++) {
            real w = b->link[((size_t)part * N + i) * N + k];
            for (int f = 0; k != i && f < d; f++) to[f] -= w * (own[f] - models[(size_t)k * d + f]);
        }
    }
}

/* Whether seeds communicate in iteration t: one coin of each, as a mask in place of its word. */
ONCE void toss(const Task *task, const Block *b, const Lanes *lanes, int64_t t, int64_t count[LANES]) {
    draw_words(task, lanes, 1, (uint32_t)t, COIN_STREAM, b->words);
    *b->words = below(*b->words, *task->odds);
    for (int l = 0; l < LANES; l++) count[l] += (*b->words)[l] & 1;
}

/* theta_i <- alpha_i mean + offset_i, of (theta_j - offset_j) alpha_j / eta_j, and the controls learn from it. */
ONCE void communicate(const Task *task, const Block *b, int part, const REAL *eta) {
    int N = (int)task->clients, d = (int)task->features;
    real *theta = b->theta + (size_t)part * N * d, *control = b->copies + (size_t)part * N * d, *mean = b->peers;
    ints coin = (ints)mask_of(b->words, part);
    REAL total = 0;
    for (int f = 0; f < d; f++) mean[f] = every(0);
    for (int i = 0; i < N; i++) {
        total += task->mixture[i] * task->mixture[i] / eta[i];
        for (int f = 0; f < d; f++)
            mean[f] += (theta[(size_t)i * d + f] - task->offset[(size_t)i * d + f]) * (task->mixture[i] / eta[i]);
    }
    for (int i = 0; i < N; i++)
        for (int f = 0; f < d; f++) {
            size_t at = (size_t)i * d + f;
            real together = mean[f] / total * task->mixture[i] + task->offset[at];
            real learned = control[at] + (REAL)(*task->odds / eta[i]) * (together - theta[at]);
            control[at] = choose(coin, learned, control[at]);
            theta[at] = choose(coin, together, theta[at]);
        }
}

/* theta_i <- theta_i - eta_i sum_j W_ij g_j, where `copies` are the gradients that clients took at their own models. */
ONCE void filter(const Task *task, const Block *b, int part, int i, const REAL *eta) {
    int N = (int)task->clients, d = (int)task->features;
    real *theta = b->theta + ((size_t)part * N + i) * d, *to = b->own;
    for (int k = 0; k < N; k++) b->weight[k] = every(task->filter[(size_t)i * N + k]);
    for (int f = 0; f < d; f++) to[f] = every(0);
    gather_of_seeds(1, b->copies + (size_t)part * N * d, b->weight, N, d, to, d);
    for (int f = 0; f < d; f++) theta[f] -= eta[i] * to[f];
}

/* The means that are recorded take `share` of the models. */
ONCE void blend(const Task *task, const Block *b, int part, REAL share) {
    size_t all = task->clients * task->features, first = part * all;
    for (size_t a = first; a < first + all; a++)
        b->mean[a] = share == 1 ? b->theta[a] : b->mean[a] + share * (b->theta[a] - b->mean[a]);
}
