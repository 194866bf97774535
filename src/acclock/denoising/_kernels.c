/* The inner loops of denoising, several times to several hundred times faster than NumPy.

   All take contiguous doubles, most of them rows of `count` samples, one after the other.
   uncompiled_kernels.py does the same in NumPy; the two agree to rounding.

   median_magnitudes(values, count, out)               one median of |value| for every row
   fade(values, thresholds, count, power, out)         Eq. (1) with one threshold for every row
   attenuate(values, powers, count, half, headroom, out)   loud stretches of every row turned down
   find_peaks(signal, distance, prominence, out)       returns how many; their places, Py_ssize_t
   roughness(values, count, out)                       one median of |second difference| per row
   liveliness(values, count, half, window, usual, highest)   of the local power of every row
   evenness(values, count, distance, closest, interval, prominence, in_time, in_height, out)
                                                       how the intervals of every row's peaks vary
   recurse(inputs, desired, forgetting, count, taps, confidence, out)   recursive least squares */

#if defined(__GNUC__) && !defined(__clang__)
/* Nobody traps here, and where no comparison can trap, several are made at once. */
#pragma GCC optimize("no-trapping-math")
#endif

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE static inline
#endif

enum { BINS = 4096 };

/* How much livelier than its calmest quarter a heartbeat usually is. */
static const double CALM_TO_USUAL = 1.5;

static void swap(double *a, double *b) {
    double kept = *a;
    *a = *b;
    *b = kept;
}

/* Moves the value of rank `rank` to its place, smaller ones before it and larger ones after it. */
static double select_rank(double *values, Py_ssize_t count, Py_ssize_t rank) {
    Py_ssize_t low = 0, high = count - 1;
    while (low < high) {
        Py_ssize_t middle = low + (high - low) / 2, i = low, j = high;
        double pivot;
        /* The median of three: sorted rows are common (silence) and must not be the worst case. */
        if (values[middle] < values[low]) swap(&values[middle], &values[low]);
        if (values[high] < values[low]) swap(&values[high], &values[low]);
        if (values[high] < values[middle]) swap(&values[high], &values[middle]);
        pivot = values[middle];
        while (i <= j) {
            while (values[i] < pivot) i++;
            while (values[j] > pivot) j--;
            if (i <= j) swap(&values[i++], &values[j--]);
        }
        if (rank <= j) {
            high = j;
        } else if (rank >= i) {
            low = i;
        } else {
            break;
        }
    }
    return values[rank];
}

/* Where a magnitude lies in a histogram with two bins per power of two. */
static size_t find_bin(double magnitude) {
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    return (size_t)(bits >> 51);
}

/* The magnitude of this rank, and that of the next. To compare them all is mostly to guess wrong
   which way a branch goes; a histogram leaves the few that lie in the right bin. `scratch` has
   room for all. */
static double find_rank(const double *magnitudes, Py_ssize_t count, Py_ssize_t rank,
                        double *scratch, double *next) {
    uint32_t sizes[BINS] = {0};
    Py_ssize_t below = 0, inside = 0, i;
    size_t bin = 0;
    double found;
    for (i = 0; i < count; i++) sizes[find_bin(magnitudes[i])]++;
    while (below + (Py_ssize_t)sizes[bin] <= rank) below += sizes[bin++];
    for (i = 0; i < count; i++) {
        scratch[inside] = magnitudes[i];
        inside += find_bin(magnitudes[i]) == bin;
    }
    found = select_rank(scratch, inside, rank - below);
    *next = Py_HUGE_VAL;
    for (i = rank - below + 1; i < inside; i++) *next = fmin(*next, scratch[i]);
    for (i = 0; i < count && rank + 1 == below + inside; i++) {
        if (find_bin(magnitudes[i]) > bin) *next = fmin(*next, magnitudes[i]);
    }
    return found;
}

static double median(const double *magnitudes, Py_ssize_t count, double *scratch) {
    double upper, lower = find_rank(magnitudes, count, (count - 1) / 2, scratch, &upper);
    return count % 2 ? lower : lower + (upper - lower) / 2;
}

/* Fills in the magnitudes of one row and says how many there are. */
typedef Py_ssize_t (*Measure)(const double *from, Py_ssize_t count, double *magnitudes);

static Py_ssize_t measure_values(const double *from, Py_ssize_t count, double *magnitudes) {
    Py_ssize_t i;
    for (i = 0; i < count; i++) magnitudes[i] = fabs(from[i]);
    return count;
}

static Py_ssize_t measure_bends(const double *from, Py_ssize_t count, double *magnitudes) {
    Py_ssize_t i;
    for (i = 0; i < count - 2; i++) {
        magnitudes[i] = fabs((from[i + 2] - from[i + 1]) - (from[i + 1] - from[i]));
    }
    return count > 2 ? count - 2 : 0;
}

static PyObject *find_medians(PyObject *args, Measure measure) {
    Py_buffer values, out;
    Py_ssize_t count, rows, row;
    double *scratch;
    if (!PyArg_ParseTuple(args, "y*nw*", &values, &count, &out)) return NULL;
    scratch = PyMem_RawMalloc((size_t)(2 * count + 2) * sizeof(double));
    if (scratch != NULL) {
        double *magnitudes = scratch + count + 1;
        rows = out.len / (Py_ssize_t)sizeof(double);
        Py_BEGIN_ALLOW_THREADS
        for (row = 0; row < rows; row++) {
            Py_ssize_t found = measure((const double *)values.buf + row * count, count, magnitudes);
            ((double *)out.buf)[row] = found ? median(magnitudes, found, scratch) : 0.0;
        }
        Py_END_ALLOW_THREADS
        PyMem_RawFree(scratch);
    }
    PyBuffer_Release(&values);
    PyBuffer_Release(&out);
    if (scratch == NULL) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

static PyObject *median_magnitudes(PyObject *self, PyObject *args) {
    return find_medians(args, measure_values);
}

static PyObject *roughness(PyObject *self, PyObject *args) {
    return find_medians(args, measure_bends);
}

/* 1 - exp(-x) for x >= 0, to rounding. Written out without a branch or a call, so that the
   compiler does several at once: a third of the time of the library's exp. */
ALWAYS_INLINE double rise(double x) {
    static const double LOG2_E = 1.4426950408889634, LN2_HIGH = 0x1.62e42fefa0000p-1,
                        LN2_LOW = 0x1.cf79abc9e3b3ap-40, ROUNDER = 0x1.8p52;
    double bounded = x < 700.0 ? x : 700.0, shifted = ROUNDER - bounded * LOG2_E;
    double halvings = shifted - ROUNDER, rest = -bounded - halvings * LN2_HIGH, growth, scale;
    uint64_t bits;
    rest -= halvings * LN2_LOW;
    growth = 1.0 / 6227020800.0;
    growth = growth * rest + 1.0 / 479001600.0;
    growth = growth * rest + 1.0 / 39916800.0;
    growth = growth * rest + 1.0 / 3628800.0;
    growth = growth * rest + 1.0 / 362880.0;
    growth = growth * rest + 1.0 / 40320.0;
    growth = growth * rest + 1.0 / 5040.0;
    growth = growth * rest + 1.0 / 720.0;
    growth = growth * rest + 1.0 / 120.0;
    growth = growth * rest + 1.0 / 24.0;
    growth = growth * rest + 1.0 / 6.0;
    growth = growth * rest + 0.5;
    growth = (growth * rest + 1.0) * rest; /* exp(rest) - 1 */
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52; /* the exponent of 2 to the power of `halvings` */
    memcpy(&scale, &bits, sizeof scale);
    return (1.0 - scale) - scale * growth;
}

ALWAYS_INLINE void fade_row(const double *restrict from, double threshold, double power,
                            double *restrict ratios, double *restrict to, Py_ssize_t count) {
    Py_ssize_t i;
    for (i = 0; i < count; i++) ratios[i] = fabs(from[i]) / threshold;
    if (power != 1.0) {
        for (i = 0; i < count; i++) ratios[i] = pow(ratios[i], power);
    }
    for (i = 0; i < count; i++) to[i] = from[i] * rise(ratios[i]);
}

/* The same, built for processors that do four at once. */
#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_WIDE __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
__attribute__((target("avx2,fma")))
#else
#define HAS_WIDE 0
#endif
static void fade_row_wide(const double *restrict from, double threshold, double power,
                          double *restrict ratios, double *restrict to, Py_ssize_t count) {
    fade_row(from, threshold, power, ratios, to, count);
}

static PyObject *fade(PyObject *self, PyObject *args) {
    Py_buffer values, thresholds, out;
    Py_ssize_t count, rows, row;
    double power, *ratios;
    int wide = HAS_WIDE;
    if (!PyArg_ParseTuple(args, "y*y*ndw*", &values, &thresholds, &count, &power, &out)) {
        return NULL;
    }
    ratios = PyMem_RawMalloc((size_t)(count + 1) * sizeof(double));
    if (ratios != NULL) {
        rows = thresholds.len / (Py_ssize_t)sizeof(double);
        Py_BEGIN_ALLOW_THREADS
        for (row = 0; row < rows; row++) {
            const double *from = (const double *)values.buf + row * count;
            double *to = (double *)out.buf + row * count;
            double threshold = ((const double *)thresholds.buf)[row];
            if (threshold <= 0.0) {
                memcpy(to, from, (size_t)count * sizeof(double));
            } else if (wide) {
                fade_row_wide(from, threshold, power, ratios, to, count);
            } else {
                fade_row(from, threshold, power, ratios, to, count);
            }
        }
        Py_END_ALLOW_THREADS
        PyMem_RawFree(ratios);
    }
    PyBuffer_Release(&values);
    PyBuffer_Release(&thresholds);
    PyBuffer_Release(&out);
    if (ratios == NULL) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

/* The mean square over `half` samples to either side, fewer at the ends. `sums` has count + 1. */
static void average_power(const double *values, Py_ssize_t count, Py_ssize_t half, double *sums,
                          double *local) {
    Py_ssize_t i;
    sums[0] = 0.0;
    for (i = 0; i < count; i++) sums[i + 1] = sums[i] + values[i] * values[i];
    for (i = 0; i < count; i++) {
        Py_ssize_t begin = i > half ? i - half : 0, end = i + half + 1 < count ? i + half + 1 : count;
        double power = (sums[end] - sums[begin]) / (double)(end - begin);
        local[i] = power > DBL_MIN ? power : DBL_MIN;
    }
}

/* What a row has a quarter of the time or less. Every eighth sample will do: neighbors share most
   of the samples that they are averages of. */
static double find_calm_power(const double *local, Py_ssize_t count, double *scratch) {
    Py_ssize_t some = (count + 7) / 8, i;
    double next;
    for (i = 0; i < some; i++) scratch[i] = local[8 * i];
    return find_rank(scratch, some, (some - 1) / 4, scratch + some, &next);
}

/* The usual is a median of every eighth, for the same reason. */
static PyObject *liveliness(PyObject *self, PyObject *args) {
    Py_buffer values, usual, highest;
    Py_ssize_t count, half, window, rows, row, i;
    double *sums, *local;
    if (!PyArg_ParseTuple(args, "y*nnnw*w*", &values, &count, &half, &window, &usual, &highest)) {
        return NULL;
    }
    sums = PyMem_RawMalloc((size_t)(3 * count + 4) * sizeof(double));
    if (sums != NULL) {
        local = sums + count + 1;
        rows = usual.len / (Py_ssize_t)sizeof(double);
        Py_BEGIN_ALLOW_THREADS
        for (row = 0; row < rows; row++) {
            double most = 0.0, *some = local + count;
            average_power((const double *)values.buf + row * count, count, half, sums, local);
            for (i = count - window; i < count; i++) most = local[i] > most ? local[i] : most;
            for (i = 0; 8 * i < count; i++) some[i] = local[8 * i];
            ((double *)usual.buf)[row] = median(some, i, sums);
            ((double *)highest.buf)[row] = most;
        }
        Py_END_ALLOW_THREADS
        PyMem_RawFree(sums);
    }
    PyBuffer_Release(&values);
    PyBuffer_Release(&usual);
    PyBuffer_Release(&highest);
    if (sums == NULL) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

static PyObject *attenuate(PyObject *self, PyObject *args) {
    Py_buffer values, powers, out;
    Py_ssize_t count, half, rows, row, i;
    double headroom, *sums, *local;
    if (!PyArg_ParseTuple(args, "y*y*nndw*", &values, &powers, &count, &half, &headroom, &out)) {
        return NULL;
    }
    sums = PyMem_RawMalloc((size_t)(2 * count + 1) * sizeof(double));
    if (sums != NULL) {
        local = sums + count + 1;
        rows = powers.len / (Py_ssize_t)sizeof(double);
        Py_BEGIN_ALLOW_THREADS
        for (row = 0; row < rows; row++) {
            const double *from = (const double *)values.buf + row * count;
            double *to = (double *)out.buf + row * count;
            double usual = ((const double *)powers.buf)[row];
            average_power(from, count, half, sums, local);
            if (usual <= 0.0) usual = CALM_TO_USUAL * find_calm_power(local, count, sums);
            for (i = 0; i < count; i++) {
                double gain = headroom * usual / local[i];
                to[i] = from[i] * (gain < 1.0 ? gain : 1.0);
            }
        }
        Py_END_ALLOW_THREADS
        PyMem_RawFree(sums);
    }
    PyBuffer_Release(&values);
    PyBuffer_Release(&powers);
    PyBuffer_Release(&out);
    if (sums == NULL) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

typedef struct {
    double height;
    Py_ssize_t rank;
} Top;

/* Highest first; of two alike the later one. */
static int compare_tops(const void *left, const void *right) {
    const Top *a = left, *b = right;
    if (a->height != b->height) return a->height > b->height ? -1 : 1;
    return a->rank > b->rank ? -1 : 1;
}

/* The middles of the stretches, flat or of one sample, that are higher than both sides. */
static Py_ssize_t find_tops(const double *signal, Py_ssize_t count, Py_ssize_t *places) {
    Py_ssize_t found = 0, rise = -1, i;
    for (i = 1; i < count; i++) {
        if (signal[i] > signal[i - 1]) {
            rise = i;
        } else if (signal[i] < signal[i - 1]) {
            if (rise >= 0) places[found++] = (rise + i - 1) / 2;
            rise = -1;
        }
    }
    return found;
}

/* Keeps the highest, drops its neighbors, then the highest of the rest, and so on. */
static void keep_apart(const Py_ssize_t *places, Py_ssize_t found, Py_ssize_t distance,
                       const Top *tops, char *keep) {
    Py_ssize_t turn, other;
    memset(keep, 1, (size_t)found);
    for (turn = 0; turn < found; turn++) {
        Py_ssize_t here = tops[turn].rank;
        if (!keep[here]) continue;
        for (other = here - 1; other >= 0 && places[here] - places[other] < distance; other--) {
            keep[other] = 0;
        }
        for (other = here + 1; other < found && places[other] - places[here] < distance; other++) {
            keep[other] = 0;
        }
    }
}

static double measure_prominence(const double *signal, Py_ssize_t count, Py_ssize_t place) {
    double height = signal[place], left = height, right = height;
    Py_ssize_t i;
    for (i = place; i >= 0 && signal[i] <= height; i--) {
        if (signal[i] < left) left = signal[i];
    }
    for (i = place; i < count && signal[i] <= height; i++) {
        if (signal[i] < right) right = signal[i];
    }
    return height - (left > right ? left : right);
}

/* `tops` has room for all of them, and `count` bytes behind that. */
static Py_ssize_t pick_peaks(const double *samples, Py_ssize_t count, Py_ssize_t distance,
                             double prominence, Top *tops, Py_ssize_t *places) {
    Py_ssize_t found = find_tops(samples, count, places), kept = 0, i;
    char *keep = (char *)(tops + count + 1);
    if (found <= 0) return 0;
    for (i = 0; i < found; i++) tops[i] = (Top){samples[places[i]], i};
    qsort(tops, (size_t)found, sizeof(Top), compare_tops);
    keep_apart(places, found, distance, tops, keep);
    for (i = 0; i < found; i++) {
        if (keep[i] && measure_prominence(samples, count, places[i]) >= prominence) {
            places[kept++] = places[i];
        }
    }
    return kept;
}

static PyObject *find_peaks(PyObject *self, PyObject *args) {
    Py_buffer signal, out;
    Py_ssize_t distance, count, kept = 0;
    double prominence;
    Top *tops;
    if (!PyArg_ParseTuple(args, "y*ndw*", &signal, &distance, &prominence, &out)) return NULL;
    count = signal.len / (Py_ssize_t)sizeof(double);
    tops = PyMem_RawMalloc((size_t)(count + 1) * (sizeof(Top) + 1));
    if (tops != NULL) {
        kept = pick_peaks(signal.buf, count, distance, prominence, tops, out.buf);
        PyMem_RawFree(tops);
    }
    PyBuffer_Release(&signal);
    PyBuffer_Release(&out);
    if (tops == NULL) return PyErr_NoMemory();
    return PyLong_FromSsize_t(kept);
}

typedef struct {
    double in_time, in_height, mean_interval;
} Rhythm;

/* The coefficient of variation from sums. */
static double vary(double sum, double squares, Py_ssize_t count) {
    double mean = sum / (double)count;
    return mean > 0 ? sqrt(squares / (double)count) / mean : Py_HUGE_VAL;
}

static Rhythm measure_rhythm(const double *samples, const Py_ssize_t *peaks, Py_ssize_t found) {
    Rhythm rhythm = {Py_HUGE_VAL, Py_HUGE_VAL, 0.0};
    double sum = 0.0, squares = 0.0, mean, off;
    Py_ssize_t i;
    if (found < 3) return rhythm;
    rhythm.mean_interval = mean = (double)(peaks[found - 1] - peaks[0]) / (double)(found - 1);
    for (i = 1; i < found; i++) {
        off = (double)(peaks[i] - peaks[i - 1]) - mean;
        squares += off * off;
    }
    rhythm.in_time = vary((double)(peaks[found - 1] - peaks[0]), squares, found - 1);
    for (i = 0; i < found; i++) sum += samples[peaks[i]];
    squares = 0.0;
    for (i = 0; i < found; i++) {
        off = samples[peaks[i]] - sum / (double)found;
        squares += off * off;
    }
    rhythm.in_height = vary(sum, squares, found);
    return rhythm;
}

/* Writes the row in units of its own spread; says whether it has one. */
static int normalize(const double *from, Py_ssize_t count, double *to) {
    double sum = 0.0, squares = 0.0, spread;
    Py_ssize_t i;
    for (i = 0; i < count; i++) sum += from[i];
    for (i = 0; i < count; i++) {
        to[i] = from[i] - sum / (double)count;
        squares += to[i] * to[i];
    }
    spread = sqrt(squares / (double)count);
    for (i = 0; i < count && spread > 0.0; i++) to[i] /= spread;
    return spread > 0.0;
}

/* periodicity.py tells why there is a second look with peaks that may be closer. */
static PyObject *evenness(PyObject *self, PyObject *args) {
    Py_buffer values, out;
    Py_ssize_t count, distance, closest, rows, row, *places;
    double interval, prominence, in_time, in_height, *samples;
    Top *tops;
    if (!PyArg_ParseTuple(args, "y*nnnddddw*", &values, &count, &distance, &closest, &interval,
                          &prominence, &in_time, &in_height, &out)) {
        return NULL;
    }
    tops = PyMem_RawMalloc((size_t)(count + 1) *
                           (sizeof(Top) + sizeof(double) + sizeof(Py_ssize_t) + 1));
    if (tops != NULL) {
        samples = (double *)(tops + count + 1) + (count + 8) / 8;
        places = (Py_ssize_t *)(samples + count);
        rows = out.len / (Py_ssize_t)sizeof(double);
        Py_BEGIN_ALLOW_THREADS
        for (row = 0; row < rows; row++) {
            Rhythm usual = {Py_HUGE_VAL, Py_HUGE_VAL, 0.0}, fast;
            if (normalize((const double *)values.buf + row * count, count, samples)) {
                usual = measure_rhythm(
                    samples, places, pick_peaks(samples, count, distance, prominence, tops, places));
                if (!(usual.in_time < in_time && usual.in_height < in_height)) {
                    fast = measure_rhythm(samples, places, pick_peaks(samples, count, closest,
                                                                      prominence, tops, places));
                    if (fast.in_time < in_time && fast.in_height < in_height &&
                        fast.mean_interval < interval) {
                        usual = fast;
                    }
                }
            }
            ((double *)out.buf)[row] = usual.in_time;
        }
        Py_END_ALLOW_THREADS
        PyMem_RawFree(tops);
    }
    PyBuffer_Release(&values);
    PyBuffer_Release(&out);
    if (tops == NULL) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

/* One sample. `inverse` is the symmetric inverse correlation matrix, `recent` the newest inputs. */
static double learn(double *restrict weights, double *restrict inverse, double *restrict gain,
                    const double *restrict recent, double desired, double forgetting,
                    double confidence, Py_ssize_t taps) {
    double answer = 0.0, spread = forgetting, trace = 0.0, error, scale, growth;
    Py_ssize_t i, j;
    for (i = 0; i < taps; i++) gain[i] = 0.0;
    /* Column by column, which are the rows of a symmetric matrix: no sum waits for another. */
    for (j = 0; j < taps; j++) {
        for (i = 0; i < taps; i++) gain[i] += inverse[j * taps + i] * recent[j];
    }
    for (i = 0; i < taps; i++) {
        answer += weights[i] * recent[i];
        spread += gain[i] * recent[i];
    }
    error = (desired - answer) / spread;
    scale = 1.0 / sqrt(spread);
    for (i = 0; i < taps; i++) {
        weights[i] += gain[i] * error;
        gain[i] *= scale;
        trace += inverse[i * taps + i] - gain[i] * gain[i];
    }
    /* Forgetting inflates the matrix; without new input it would do so for ever. */
    growth = trace <= confidence * (double)taps * forgetting ? 1.0 / forgetting : 1.0;
    for (i = 0; i < taps; i++) {
        /* The product of two scaled gains is the same both ways: the matrix stays symmetric. */
        for (j = 0; j < taps; j++) {
            inverse[i * taps + j] = (inverse[i * taps + j] - gain[i] * gain[j]) * growth;
        }
    }
    return answer;
}

static void recurse_row(const double *inputs, const double *desired, const double *forgetting,
                        Py_ssize_t count, Py_ssize_t taps, double confidence, double *out,
                        double *scratch) {
    double *weights = scratch, *gain = weights + taps, *recent = gain + taps;
    double *inverse = recent + taps;
    Py_ssize_t i;
    memset(scratch, 0, (size_t)(3 * taps + taps * taps) * sizeof(double));
    for (i = 0; i < taps; i++) inverse[i * taps + i] = confidence;
    for (i = 0; i < count; i++) {
        memmove(recent + 1, recent, (size_t)(taps - 1) * sizeof(double));
        recent[0] = inputs[i];
        out[i] = learn(weights, inverse, gain, recent, desired[i], forgetting[i], confidence, taps);
    }
}

static PyObject *recurse(PyObject *self, PyObject *args) {
    Py_buffer inputs, desired, forgetting, out;
    Py_ssize_t count, taps, start;
    double confidence, *scratch;
    if (!PyArg_ParseTuple(args, "y*y*y*nndw*", &inputs, &desired, &forgetting, &count, &taps,
                          &confidence, &out)) {
        return NULL;
    }
    scratch = PyMem_RawMalloc((size_t)(3 * taps + taps * taps) * sizeof(double));
    if (scratch != NULL) {
        Py_BEGIN_ALLOW_THREADS
        for (start = 0; (start + count) * (Py_ssize_t)sizeof(double) <= out.len && count > 0;
             start += count) {
            recurse_row((const double *)inputs.buf + start, (const double *)desired.buf + start,
                        (const double *)forgetting.buf + start, count, taps, confidence,
                        (double *)out.buf + start, scratch);
        }
        Py_END_ALLOW_THREADS
        PyMem_RawFree(scratch);
    }
    PyBuffer_Release(&inputs);
    PyBuffer_Release(&desired);
    PyBuffer_Release(&forgetting);
    PyBuffer_Release(&out);
    if (scratch == NULL) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

static PyMethodDef METHODS[] = {
    {"median_magnitudes", median_magnitudes, METH_VARARGS, "Write the median of |value| per row."},
    {"fade", fade, METH_VARARGS, "Write the values, small ones faded towards zero."},
    {"attenuate", attenuate, METH_VARARGS, "Write the values, loud stretches turned down."},
    {"find_peaks", find_peaks, METH_VARARGS, "Write where the signal peaks; return how often."},
    {"roughness", roughness, METH_VARARGS, "Write the median of |second difference| per row."},
    {"liveliness", liveliness, METH_VARARGS, "Write the usual and the highest local power."},
    {"evenness", evenness, METH_VARARGS, "Write how the intervals between peaks vary."},
    {"recurse", recurse, METH_VARARGS, "Write what recursive least squares answers."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_kernels", NULL, -1, METHODS};

PyMODINIT_FUNC PyInit__kernels(void) { return PyModule_Create(&MODULE); }
