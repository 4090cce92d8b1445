/* Rounds of servers, one for each cluster: who takes part, and the means that they send. */

#pragma once

#include "task.h"

/* The clients of a round, as masks: of each cluster those of the `participants` smallest uniforms. */
ONCE void choose_participants(const Task *task, const Block *b, const Lanes *lanes, int64_t iteration) {
    int N = (int)task->clients;
    draw_words(task, lanes, 1, (uint32_t)iteration, COIN_STREAM, b->words);
    for (int i = 0; i < N; i++) {
        words before = {};
        for (int k = 0; k < N; k++)
            if (task->cluster[k] == task->cluster[i]) before -= (words)(b->words[k] < b->words[i]);
        words mask = (words)(before < (uint32_t)task->participants);
        for (int part = 0; part < PARTS; part++) {
            part_signed own;
            memcpy(&own, (char *)&mask + part * sizeof own, sizeof own);
            b->present[part * N + i] = (real)widened(own);
        }
    }
}

/* The weighted means of the participants' models, sent to all. */
ONCE void average(const Task *task, const Block *b, int part, int all) {
    int N = (int)task->clients, d = (int)task->features;
    real *models = (task->personal ? b->copies : b->theta) + (size_t)part * N * d, *mean = b->peers, *total = b->gap;
    for (int a = 0; a < N * d; a++) mean[a] = every(0);
    for (int i = 0; i < N; i++) total[i] = every(0);
    for (int i = 0; i < N; i++) {
        b->weight[i] = choose(all ? (ints)every((REAL)-0.0) : (ints)b->present[part * N + i], every(task->size[i]), every(0));
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
