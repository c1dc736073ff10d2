// Peers of `mem`: the four loops of STREAM by their published definition (McCalpin), one thread per processor, and a chase of
// pointers. `peers stream MIB THREADS` prints bytes per second of copy, scale, add, triad (the best pass, each array counted
// once); `peers chase MIB HUGE` prints nanoseconds per load (the median of stretches).
#define _GNU_SOURCE
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void *memory(size_t bytes, int huge) {
    void *p = aligned_alloc(2 << 20, bytes);
    if (!p) exit(2);
    madvise(p, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return p;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void stream(size_t bytes, int threads) {
    long n = bytes / sizeof(double);
    double *a = memory(bytes, 1), *b = memory(bytes, 1), *c = memory(bytes, 1), best[4] = {0};
    omp_set_num_threads(threads);
#pragma omp parallel for
    for (long i = 0; i < n; i++) a[i] = 1, b[i] = 2, c[i] = 0;
    for (int round = 0; round < 8; round++)
        for (int k = 0; k < 4; k++) {
            double t = now();
            if (k == 0)
#pragma omp parallel for
                for (long i = 0; i < n; i++) c[i] = a[i];
            else if (k == 1)
#pragma omp parallel for
                for (long i = 0; i < n; i++) b[i] = 3 * c[i];
            else if (k == 2)
#pragma omp parallel for
                for (long i = 0; i < n; i++) c[i] = a[i] + b[i];
            else
#pragma omp parallel for
                for (long i = 0; i < n; i++) a[i] = b[i] + 3 * c[i];
            double rate = (k < 2 ? 2.0 : 3.0) * bytes / (now() - t);
            if (round && rate > best[k]) best[k] = rate;
        }
    printf("%f %f %f %f\n", best[0], best[1], best[2], best[3]);
}

static void chase(size_t bytes, int huge) {
    size_t n = bytes / 64;
    char *p = memory(bytes, huge);
    uint32_t *order = malloc(n * sizeof *order);
    if (!order) exit(2);
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < n; i++) order[i] = i;
    for (size_t i = n - 1; i > 0; i--) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        size_t j = state % (i + 1);
        uint32_t swap = order[i];
        order[i] = order[j], order[j] = swap;
    }
    for (size_t i = 0; i < n; i++) *(void **)(p + 64 * (size_t)order[i]) = p + 64 * (size_t)order[(i + 1) % n];
    free(order);
    void *at = p;
    double times[101];
    for (int s = -20; s < 101; s++) {
        double t = now();
        for (int i = 0; i < 4096; i++) at = *(void *volatile *)at;
        if (s >= 0) times[s] = (now() - t) * 1e9 / 4096;
    }
    qsort(times, 101, sizeof *times, by_value);
    printf("%f\n", at ? times[50] : 0);
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    size_t bytes = strtoull(argv[2], 0, 10) << 20;
    if (strcmp(argv[1], "stream") == 0) stream(bytes, atoi(argv[3]));
    else chase(bytes, atoi(argv[3]));
}
