/* What one core can do at best, by itself: numbers made as the kernels make them, and multiply-adds on registers.
   Nobody reads the results; KEPT tells the compiler that somebody might. */

#include "../simulate/kernels/oracle.h"

#define KEPT(memory) __asm__ volatile("" : : "r"(memory) : "memory")

void normal(int64_t count) {
    static real z[512 * PARTS];
    uint32_t seed = 0;
    Lanes lanes;
    fill_lanes(&seed, 1, 0, &lanes);
    for (int64_t r = 0; r < count / (512 * LANES); r++) {
        normals(&lanes, 0, 0, 1, 32, (uint32_t)r, 0, 4, z);
        KEPT(z);
    }
}

void word(int64_t count) {
    words out[4 * COUNTERS];
    uint32_t seed = 0, block[COUNTERS] = {0};
    Lanes lanes;
    fill_lanes(&seed, 1, 0, &lanes);
    for (int64_t r = 0; r < count / (4 * COUNTERS * LANES); r++) {
        wide who[COUNTERS][2];
        for (int n = 0; n < COUNTERS; n++)
            for (int half = 0; half < 2; half++) who[n][half] = lanes.keys[0][half] ^ (uint64_t)(COUNTERS * r + n);
        philox(&lanes, who, 0, block, 1, 0, out);
        KEPT(out);
    }
}

/* Eight registers at a time. */
void logistic(int64_t count) {
    real z[8];
    for (int i = 0; i < 8; i++) z[i] = every((REAL)(i - 4));
    for (int64_t r = 0; r < count / (8 * VL); r++) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) z[i] = probability(z[i]);
        KEPT(z);
    }
}

/* Ten sums, as each waits for itself. */
void multiply_add(int64_t count) {
    real sum[10], a = every((REAL)0.999), b = every((REAL)1e-3);
    for (int i = 0; i < 10; i++) sum[i] = every((REAL)i);
    for (int64_t r = 0; r < count / (10 * VL); r++)
#pragma GCC unroll 10
        for (int i = 0; i < 10; i++) sum[i] = sum[i] * a + b;
    KEPT(sum);
}
