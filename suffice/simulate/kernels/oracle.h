/* Gradients over populations and excess losses: what simulate/problems computes, VL seeds or clients a register. */

#pragma once

#include "task.h"

#if REAL_BITS == 32
#define LEAST (-87.0f)
#define ROUNDER 0x1.8p23f
#define DEGREE 8
#else
#define LEAST (-708.0)
#define ROUNDER 0x1.8p52
#define DEGREE 13
#endif

/* -|z| = k log 2 + r with |r| <= log(2) / 2, and the number 2^k. */
INLINE real reduced(real z, bits *scale) {
    bits top = (bits){} + ((natural)1 << (sizeof(REAL) * 8 - 1));
    real x = greatest((real)((bits)z | top), every(LEAST));
    real shifted = x * (REAL)1.44269504088896340736 + ROUNDER, k = shifted - ROUNDER;
    *scale = ((bits)shifted << MANTISSA) + (natural)ONE;
#if REAL_BITS == 32
    return (x - k * 0.693359375f) - k * -2.12194440e-4f;
#else
    return (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
#endif
}

/* exp(-|z|) = 2^k exp(r), where the series of degree 13 is off by 4e-18, that of degree 8 by 2e-10. NaN stays. */
INLINE real decay(real z) {
    static const REAL factor[] = {1, 1, 1 / 2.0, 1 / 6.0, 1 / 24.0, 1 / 120.0, 1 / 720.0, 1 / 5040.0, 1 / 40320.0,
                                  1 / 362880.0, 1 / 3628800.0, 1 / 39916800.0, 1 / 479001600.0, 1 / 6227020800.0};
    bits scale;
    real r = reduced(z, &scale), e = every(factor[DEGREE]);
#pragma GCC unroll 16
    for (int p = DEGREE - 1; p >= 0; p--) e = e * r + factor[p];
    return e * (real)scale;
}

/* 1 / (1 + exp(-z)). With exp(-|z|) = 2^k N(r) / N(-r), Pade's approximant of degree (6, 6), which is off by 2e-19, or
   (3, 3), by 6e-9, one division is enough, and the sums are half as long as those of a series. NaN stays. */
INLINE real probability(real z) {
    bits scale;
    real r = reduced(z, &scale), s = r * r;
#if REAL_BITS == 32
    real even = 12 * s + 120, odd = r * (s + 60);
#else
    real even = ((s + 840) * s + 75600) * s + 665280, odd = r * ((42 * s + 10080) * s + 332640);
#endif
    real over = (real)scale * (even + odd), under = even - odd;
    return choose((ints)z, over, under) / (under + over);
}

/* log u of two registers, for normal u > 0; NaN stays. */
INLINE void logarithms(const real u[2], real out[2]) {
    real f[2], k[2];
    BOTH {
        bits raw = (bits)u[h] + (natural)(ONE - ROOT_HALF);
        f[h] = (real)((raw & (((natural)1 << MANTISSA) - 1)) + (natural)ROOT_HALF) - 1;
        k[h] = __builtin_convertvector((ints)(raw >> MANTISSA), real) - (REAL)(ONE >> MANTISSA);
    }
    minus_two_log(f, k, out);
    BOTH out[h] = choose((ints)(u[h] == u[h]), (REAL)-0.5 * out[h], u[h]);
}

/* `rows` rows of out = scale M delta for R models: up to twelve sums in registers, as each waits for itself. */
INLINE void rows_of_image(int R, int rows, int d, const REAL *matrix, const real *delta, REAL scale, real *out,
                          size_t apart) {
    real sum[2][6];
#pragma GCC unroll 12
    for (int n = 0; n < rows * R; n++) sum[n / rows][n % rows] = every(0);
    for (int e = 0; e < d; e++) {
#pragma GCC unroll 6
        for (int c = 0; c < rows; c++) {
            const REAL m = matrix[(size_t)c * d + e];
#pragma GCC unroll 2
            for (int r = 0; r < R; r++) sum[r][c] += delta[r * d + e] * m;
        }
    }
    real *to = out;
#pragma GCC unroll 2
    for (int r = 0; r < R; r++, to += apart)
#pragma GCC unroll 6
        for (int c = 0; c < rows; c++) to[c] = scale * sum[r][c];
}

/* out = scale M (theta - optimum) for one client's matrix and R rows of models, which share its loads; rows of `out`
   are `apart`. */
INLINE void image_at(int R, int d, const REAL *matrix, int diagonal, const real *theta, const REAL *optimum, REAL scale,
                     real *delta, real *out, size_t apart) {
    for (int f = 0; f < d; f++)
#pragma GCC unroll 2
        for (int r = 0; r < R; r++) delta[r * d + f] = theta[r * d + f] - optimum[f];
    if (diagonal) {
        for (int a = 0; a < d; a++)
            for (int r = 0; r < R; r++) out[r * apart + a] = delta[r * d + a] * (scale * matrix[(size_t)a * d + a]);
        return;
    }
    for (int a = 0, rows; a < d; a += rows, matrix += (size_t)rows * d, out += rows) {
        rows = (d - a) / ((d - a + 5) / 6); /* blocks of much the same size */
        if (rows == 6) rows_of_image(R, 6, d, matrix, delta, scale, out, apart);
        else if (rows == 5) rows_of_image(R, 5, d, matrix, delta, scale, out, apart);
        else if (rows == 4) rows_of_image(R, 4, d, matrix, delta, scale, out, apart);
        else if (rows == 3) rows_of_image(R, 3, d, matrix, delta, scale, out, apart);
        else if (rows == 2) rows_of_image(R, 2, d, matrix, delta, scale, out, apart);
        else rows_of_image(R, 1, d, matrix, delta, scale, out, apart);
    }
}

/* By itself: one copy keeps the build short. */
ONCE void image(int R, int d, const REAL *matrix, int diagonal, const real *theta, const REAL *optimum, REAL scale,
                real *delta, real *out, size_t apart) {
    if (R == 2) image_at(2, d, matrix, diagonal, theta, optimum, scale, delta, out, apart);
    else image_at(1, d, matrix, diagonal, theta, optimum, scale, delta, out, apart);
}

/* Client k's gradient over all its rows at R models. By itself, as its loop is short of registers. */
ONCE void over_rows(const Task *task, int R, int k, const real *theta, real *out, size_t apart);

/* R models as samples see them: streams count from the first client's optimum. */
INLINE const real *seen(const Task *task, const Block *b, int R, const real *theta) {
    int d = (int)task->features;
    if (task->problem != STREAM || task->relative) return theta;
    for (int r = 0; r < R; r++)
        for (int f = 0; f < d; f++) b->fresh[r * d + f] = theta[r * d + f] - task->optimum[f];
    return b->fresh;
}

/* log(q + p e^s) - p s for two rows: log(1 + e^-z) above its tangent where a label is wrong with probability p = 1 - q,
   s the way down of its margin. It is the same for q and -s: so s <= 0, and p may be near 1. Near s = 0 by the
   cumulants of problems/logistic.py; for p <= 1/2 the logarithm is that of 1 + v with what rounding took from v. */
INLINE void above_tangent(const real s[2], const REAL *wrong, const REAL *right, real out[2]) {
    real u[2], lost[2], size[2], p[2], q[2];
    BOTH {
        p[h] = choose((ints)s[h], every(wrong[h]), every(right[h]));
        q[h] = choose((ints)s[h], every(right[h]), every(wrong[h]));
        size[h] = choose((ints)s[h], -s[h], s[h]);
        real e = decay(s[h]), v = p[h] * (e - 1);
        ints small = (ints)(p[h] <= (REAL)0.5);
        u[h] = choose(small, 1 + v, q[h] + p[h] * e);
        lost[h] = choose(small, (v - (u[h] - 1)) / u[h], every(0));
    }
    logarithms(u, out);
    BOTH {
        real t = -size[h], v = p[h] * q[h], skew = q[h] - p[h];
        real rest = skew * (1 - 12 * v) / 120 + (1 - 30 * v + 120 * v * v) * t / 720;
        real near = (REAL)0.5 + skew * t / 6 + (1 - 6 * v) * t * t / 24 + rest * t * t * t;
        out[h] = choose((ints)(size[h] < (REAL)0.02), v * (near * t * t), out[h] + lost[h] + p[h] * size[h]);
    }
}

/* R_k(theta) - min R_k */
INLINE real excess(const Task *task, const Block *b, int k, const real *theta) {
    int d = (int)task->features;
    const REAL *best = task->relative ? task->zero : task->optimum + (size_t)k * d;
    real sum = every(0), *delta = b->z, *to = b->own;
    if (task->problem != LOGISTIC) {
        image(1, d, task->A + (size_t)k * d * d, (int)task->diagonal, theta, best, 1, delta, to, 0);
        for (int f = 0; f < d; f++) sum += delta[f] * to[f];
        return sum;
    }
    real mean = every(0);
    for (int f = 0; f < d; f++) delta[f] = theta[f] - best[f], sum += delta[f] * delta[f];
    int n = (int)task->rows[k], j = 0;
    const REAL *x = task->x + (size_t)task->from[k] * d, *wrong = task->wrong + task->from[k],
               *right = task->right + task->from[k];
    for (; j < n; j += 2) {
        int two = j + 1 < n; /* the last of an odd number stands twice, and counts once */
        real s[2] = {every(0), every(0)}, loss[2];
        const REAL p[2] = {wrong[j], wrong[j + two]}, q[2] = {right[j], right[j + two]};
        for (int f = 0; f < d; f++) {
            s[0] -= delta[f] * x[(size_t)j * d + f];
            s[1] -= delta[f] * x[(size_t)(j + two) * d + f];
        }
        above_tangent(s, p, q, loss);
        mean += two ? loss[0] + loss[1] : loss[0];
    }
    sum = mean / (REAL)n + sum * (task->ridge[0] / 2);
    return sum;
}
