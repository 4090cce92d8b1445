/* Logistic losses over sparse rows at many models: VL models a register, WIDE registers for each entry that is read. */

#include <stdlib.h>
#include <string.h>

#include "oracle.h"

#define WIDE 4
#define BLOCK (WIDE * VL)
#define FACTORS 512 /* of at most 2 each, whose product a number holds */

/* loss += times * log(product), from 1 again */
INLINE void flush(REAL times, real *product, real *loss) {
    for (int w = 0; w < WIDE; w += 2) {
        real log[2];
        logarithms(product + w, log);
        for (int h = 0; h < 2; h++) loss[w + h] += times * log[h], product[w + h] = every(1);
    }
}

/* sum -= times a / (1 + exp(a . at)) over the rows a, and where `valued` loss += times log(1 + exp(-a . at)). */
INLINE void over_sparse(int valued, int64_t rows, const int32_t *begin, const int32_t *column, const REAL *entry,
                        const REAL *times, const real *at, real *sum, real *loss) {
    real product[WIDE];
    int factors = 0;
    for (int w = 0; w < WIDE; w++) product[w] = every(1);
            for (int64_t j = 0; j < rows; j++) {
                real z[WIDE];
                for (int w = 0; w < WIDE; w++) z[w] = every(0);
                for (int32_t q = begin[j]; q < begin[j + 1]; q++)
#pragma GCC unroll 4
                    for (int w = 0; w < WIDE; w++) z[w] += entry[q] * at[(int64_t)column[q] * WIDE + w];
                if (valued) {
                    if (factors == FACTORS || (factors && times[j] != times[j - 1]))
                        flush(times[j - 1], product, loss), factors = 0;
                    factors++;
                    for (int w = 0; w < WIDE; w++) {
                        product[w] *= 1 + decay(z[w]);
                        loss[w] += times[j] * greatest(-z[w], every(0));
                    }
                }
                for (int w = 0; w < WIDE; w++) z[w] = times[j] * probability(-z[w]);
                for (int32_t q = begin[j]; q < begin[j + 1]; q++)
#pragma GCC unroll 4
                    for (int w = 0; w < WIDE; w++) sum[(int64_t)column[q] * WIDE + w] -= entry[q] * z[w];
            }
            if (factors) flush(times[rows - 1], product, loss);
}

/* l(t) = mean_j log(1 + exp(-a_j . t)) + mu/2 |t|^2 at t = alpha x + (1 - alpha) anchor: gradients alpha grad l (models,
   d) by x, and values l (models) or null. Rows a_j, signed by their labels and each with its sum over the columns where
   `base` is 1 taken off, are CSR over 1 + d columns, of which the first stands for base . t; row j occurs times[j] times.
   Returns 1 where there is no memory. */
int64_t logistic_means(int64_t rows, int64_t d, int64_t models, const int32_t *begin, const int32_t *column,
                       const REAL *entry, const REAL *times, const REAL *base, const REAL *anchor, const REAL *mu,
                       const REAL *alpha, const REAL *x, REAL *gradient, REAL *value) {
    real *at = aligned_alloc(BYTES, 2 * (size_t)(d + 1) * WIDE * sizeof(real)), *sum = at + (d + 1) * WIDE;
    REAL total = 0;
    if (!at) return 1;
    for (int64_t j = 0; j < rows; j++) total += times[j];
    for (int64_t first = 0; first < models; first += BLOCK) {
        int64_t count = models - first < BLOCK ? models - first : BLOCK;
        real loss[WIDE];
        memset(at, 0, 2 * (size_t)(d + 1) * WIDE * sizeof(real));
        for (int w = 0; w < WIDE; w++) loss[w] = every(0);
        for (int64_t c = 0; c < count; c++)
            for (int64_t f = 0; f < d; f++)
                ((REAL *)(at + (f + 1) * WIDE))[c] = alpha[first + c] * x[(first + c) * d + f]
                                                   + (1 - alpha[first + c]) * anchor[f];
        for (int64_t f = 0; f < d; f++)
            for (int w = 0; w < WIDE; w++) at[w] += base[f] * at[(f + 1) * WIDE + w];
        if (value) over_sparse(1, rows, begin, column, entry, times, at, sum, loss);
        else over_sparse(0, rows, begin, column, entry, times, at, sum, loss);
        for (int w = 0; w < WIDE; w++) loss[w] /= total;
        for (int64_t f = 1; f <= d; f++)
            for (int w = 0; w < WIDE; w++) {
                real t = at[f * WIDE + w], slope = (sum[f * WIDE + w] + base[f - 1] * sum[w]) / total + *mu * t;
                loss[w] += *mu / 2 * (t * t);
                sum[f * WIDE + w] = slope;
            }
        for (int64_t c = 0; c < count; c++) {
            for (int64_t f = 0; f < d; f++)
                gradient[(first + c) * d + f] = alpha[first + c] * ((REAL *)(sum + (f + 1) * WIDE))[c];
            if (value) value[first + c] = ((REAL *)loss)[c];
        }
    }
    free(at);
    return 0;
}
