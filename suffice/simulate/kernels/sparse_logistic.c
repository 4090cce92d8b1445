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

/* sum -= times a / (1 + exp(a . at)) over the rows a, and loss += times log(1 + exp(-a . at)). */
INLINE void over_sparse(int64_t rows, const int32_t *begin, const int32_t *column, const REAL *entry,
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
        if (factors == FACTORS || (factors && times[j] != times[j - 1]))
            flush(times[j - 1], product, loss), factors = 0;
        factors++;
        for (int w = 0; w < WIDE; w++) {
            real e = decay(z[w]), over = choose((ints)z[w], every(1), e); /* exp(-|z|) */
            product[w] *= 1 + e;
            loss[w] += times[j] * greatest(-z[w], every(0));
            z[w] = times[j] * (over / (1 + e));
        }
        for (int32_t q = begin[j]; q < begin[j + 1]; q++)
#pragma GCC unroll 4
            for (int w = 0; w < WIDE; w++) sum[(int64_t)column[q] * WIDE + w] -= entry[q] * z[w];
    }
    if (factors) flush(times[rows - 1], product, loss);
}

/* mean_j log(1 + exp(-a_j . x)) + mu/2 |x|^2 at every model x: gradients (models, d) and values (models). Rows a_j,
   signed by their labels, are CSR over d columns; row j occurs times[j] times. Returns 1 where there is no memory. */
int64_t logistic_means(int64_t rows, int64_t d, int64_t models, const int32_t *begin, const int32_t *column,
                       const REAL *entry, const REAL *times, const REAL *mu, const REAL *x, REAL *gradient,
                       REAL *value) {
    real *at = aligned_alloc(BYTES, 2 * (size_t)d * WIDE * sizeof(real)), *sum = at + d * WIDE;
    REAL total = 0;
    if (!at) return 1;
    for (int64_t j = 0; j < rows; j++) total += times[j];
    for (int64_t first = 0; first < models; first += BLOCK) {
        int64_t count = models - first < BLOCK ? models - first : BLOCK;
        real loss[WIDE];
        memset(at, 0, 2 * (size_t)d * WIDE * sizeof(real));
        for (int w = 0; w < WIDE; w++) loss[w] = every(0);
        for (int64_t c = 0; c < count; c++)
            for (int64_t f = 0; f < d; f++) ((REAL *)(at + f * WIDE))[c] = x[(first + c) * d + f];
        over_sparse(rows, begin, column, entry, times, at, sum, loss);
        for (int w = 0; w < WIDE; w++) loss[w] /= total;
        for (int64_t f = 0; f < d * WIDE; f++) {
            loss[f % WIDE] += *mu / 2 * (at[f] * at[f]);
            sum[f] = sum[f] / total + *mu * at[f];
        }
        for (int64_t c = 0; c < count; c++) {
            for (int64_t f = 0; f < d; f++) gradient[(first + c) * d + f] = ((REAL *)(sum + f * WIDE))[c];
            value[first + c] = ((REAL *)loss)[c];
        }
    }
    free(at);
    return 0;
}
