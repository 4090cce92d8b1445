/* Logistic losses over sparse rows at many models: VL models a register, WIDE registers for each entry that is read. */

#include <stdlib.h>
#include <string.h>

#include "oracle.h"

#define WIDE 4
#define BLOCK (WIDE * VL)

/* Rows a_j, signed by their labels, as CSR, each of which occurs times[j] times; models x (models, d). Means over
   occurrences: gradient (models, d) is that of log(1 + exp(-a_j . x)), value (models) the mean itself or null. Returns 1
   where there is no memory. */
int64_t logistic_means(int64_t rows, int64_t d, int64_t models, const int32_t *begin, const int32_t *column,
                       const REAL *entry, const REAL *times, const REAL *x, REAL *gradient, REAL *value) {
    real *at = aligned_alloc(BYTES, 2 * (size_t)d * WIDE * sizeof(real)), *sum = at + d * WIDE;
    REAL total = 0;
    if (!at) return 1;
    for (int64_t j = 0; j < rows; j++) total += times[j];
    for (int64_t first = 0; first < models; first += BLOCK) {
        int64_t count = models - first < BLOCK ? models - first : BLOCK;
        real loss[WIDE];
        memset(at, 0, 2 * (size_t)d * WIDE * sizeof(real));
        memset(loss, 0, sizeof loss);
        for (int64_t c = 0; c < count; c++)
            for (int64_t f = 0; f < d; f++) ((REAL *)(at + f * WIDE))[c] = x[(first + c) * d + f];
        for (int64_t j = 0; j < rows; j++) {
            real z[WIDE];
            for (int w = 0; w < WIDE; w++) z[w] = every(0);
            for (int32_t q = begin[j]; q < begin[j + 1]; q++)
#pragma GCC unroll 4
                for (int w = 0; w < WIDE; w++) z[w] += entry[q] * at[(int64_t)column[q] * WIDE + w];
            if (value)
                for (int w = 0; w < WIDE; w += 2) {
                    real far[2] = {1 + decay(z[w]), 1 + decay(z[w + 1])}, log[2];
                    logarithms(far, log);
                    for (int h = 0; h < 2; h++) loss[w + h] += times[j] * (greatest(-z[w + h], every(0)) + log[h]);
                }
            for (int w = 0; w < WIDE; w++) z[w] = times[j] * probability(-z[w]);
            for (int32_t q = begin[j]; q < begin[j + 1]; q++)
#pragma GCC unroll 4
                for (int w = 0; w < WIDE; w++) sum[(int64_t)column[q] * WIDE + w] -= entry[q] * z[w];
        }
        for (int64_t c = 0; c < count; c++) {
            for (int64_t f = 0; f < d; f++) gradient[(first + c) * d + f] = ((REAL *)(sum + f * WIDE))[c] / total;
            if (value) value[first + c] = ((REAL *)loss)[c] / total;
        }
    }
    free(at);
    return 0;
}
