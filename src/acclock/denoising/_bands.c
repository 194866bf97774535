/* A band-pass of many rows at once, several times faster than by NumPy's transforms.

   pass_band(rows, count, edge, gain, turns, keep, out)

   Of every row of `count` doubles: its mean is taken off, its ends are turned around themselves
   over `edge` samples each, every frequency is scaled by its `gain`, and the last `keep` samples
   between the turned ends are written. `turns` holds exp(-2 pi i k / n) for all k below
   n = count + 2 edge, which is even and has no prime factor above 31. uncompiled_bands.py does the
   same in NumPy; the two agree to rounding.

   Four rows lie side by side in a vector. No row sees another: each gets what it gets alone. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

#include "_vectors.h"

enum { LARGEST_PRIME = 31, MOST_RADICES = 64, HALF = LARGEST_PRIME / 2 };

typedef struct {
    Py_ssize_t count, edge, keep;
    const double *gain, *turns;
    Py_ssize_t radices[MOST_RADICES];
} Job;

/* Complex points, real parts and imaginary parts by turns, are `Lanes *`. `turns` are complex too:
   one part in n of a circle, k times. Every pass takes points that lie `apart` and puts what they
   make `beside` each other, each turned by its `turn`; where `turn` is nothing, none is. */

ALWAYS_INLINE void put(Lanes *to, Lanes real, Lanes imag, const double *turn) {
    if (turn == NULL) {
        to[0] = real;
        to[1] = imag;
    } else {
        to[0] = real * turn[0] - imag * turn[1];
        to[1] = real * turn[1] + imag * turn[0];
    }
}

ALWAYS_INLINE void mix_two(const Lanes *from, Py_ssize_t apart, Lanes *to, Py_ssize_t beside,
                           const double *turn) {
    put(to, from[0] + from[apart], from[1] + from[apart + 1], NULL);
    put(to + beside, from[0] - from[apart], from[1] - from[apart + 1], turn);
}

ALWAYS_INLINE void mix_four(const Lanes *from, Py_ssize_t apart, Lanes *to, Py_ssize_t beside,
                            const double *turn, const double *turn_2, const double *turn_3) {
    const Lanes *second = from + apart, *third = second + apart, *fourth = third + apart;
    Lanes sum_real = from[0] + third[0], sum_imag = from[1] + third[1];
    Lanes gap_real = from[0] - third[0], gap_imag = from[1] - third[1];
    Lanes other_sum_real = second[0] + fourth[0], other_sum_imag = second[1] + fourth[1];
    Lanes other_gap_real = second[0] - fourth[0], other_gap_imag = second[1] - fourth[1];
    put(to, sum_real + other_sum_real, sum_imag + other_sum_imag, NULL);
    put(to + beside, gap_real + other_gap_imag, gap_imag - other_gap_real, turn);
    put(to + 2 * beside, sum_real - other_sum_real, sum_imag - other_sum_imag, turn_2);
    put(to + 3 * beside, gap_real - other_gap_imag, gap_imag + other_gap_real, turn_3);
}

/* Any odd number of points: those as far from the first as from the last share their products. */
ALWAYS_INLINE void mix(const Lanes *from, Py_ssize_t apart, Lanes *to, Py_ssize_t beside,
                       Py_ssize_t radix, const double *roots, const double *const *turn) {
    Lanes sum_real[HALF], sum_imag[HALF], gap_real[HALF], gap_imag[HALF];
    Lanes real = from[0], imag = from[1];
    Py_ssize_t j, k, half = (radix - 1) / 2;
    for (j = 0; j < half; j++) {
        const Lanes *one = from + (j + 1) * apart, *other = from + (radix - 1 - j) * apart;
        sum_real[j] = one[0] + other[0];
        sum_imag[j] = one[1] + other[1];
        gap_real[j] = one[0] - other[0];
        gap_imag[j] = one[1] - other[1];
        real += sum_real[j];
        imag += sum_imag[j];
    }
    put(to, real, imag, NULL);
    for (k = 1; k <= half; k++) {
        Lanes along_real = from[0], along_imag = from[1];
        Lanes across_real = {0}, across_imag = {0};
        for (j = 0; j < half; j++, roots += 2) {
            along_real += sum_real[j] * roots[0];
            along_imag += sum_imag[j] * roots[0];
            across_real += gap_real[j] * roots[1];
            across_imag += gap_imag[j] * roots[1];
        }
        put(to + k * beside, along_real - across_imag, along_imag + across_real, turn[k]);
        put(to + (radix - k) * beside, along_real + across_imag, along_imag - across_real,
            turn[radix - k]);
    }
}

/* One pass of Stockham's transform of `half` points, of which `done` are already side by side. */
ALWAYS_INLINE void go_through(const Lanes *from, Lanes *to, Py_ssize_t half, Py_ssize_t done,
                              Py_ssize_t radix, const double *turns) {
    double roots[2 * HALF * HALF], *root = roots;
    Py_ssize_t columns = half / done / radix, column, j, k;
    for (k = 1; radix % 2 && k <= radix / 2; k++) {
        for (j = 1; j <= radix / 2; j++, root += 2) {
            memcpy(root, turns + 4 * (half / radix * (j * k % radix)), 2 * sizeof(double));
        }
    }
    for (column = 0; column < columns; column++) {
        const double *turn[LARGEST_PRIME];
        for (k = 1; k < radix; k++) turn[k] = column ? turns + 4 * column * done * k : NULL;
        for (j = 0; j < done; j++) {
            const Lanes *points = from + 2 * (column * done + j);
            Lanes *mixed = to + 2 * (column * radix * done + j);
            if (radix == 2) {
                mix_two(points, half, mixed, 2 * done, turn[1]);
            } else if (radix == 4) {
                mix_four(points, half / 2, mixed, 2 * done, turn[1], turn[2], turn[3]);
            } else {
                mix(points, 2 * half / radix, mixed, 2 * done, radix, roots, turn);
            }
        }
    }
}

/* Transforms by all `radices`; gives where the result lies, which is `from` or `to`. */
ALWAYS_INLINE Lanes *transform(Lanes *from, Lanes *to, Py_ssize_t half, const Py_ssize_t *radices,
                               const double *turns) {
    Py_ssize_t done = 1;
    for (; done < half; done *= *radices++) {
        Lanes *kept = from;
        switch (*radices) { /* a radix that the compiler knows is several times faster */
            case 2: go_through(from, to, half, done, 2, turns); break;
            case 3: go_through(from, to, half, done, 3, turns); break;
            case 4: go_through(from, to, half, done, 4, turns); break;
            case 5: go_through(from, to, half, done, 5, turns); break;
            case 17: go_through(from, to, half, done, 17, turns); break;
            default: go_through(from, to, half, done, *radices, turns);
        }
        from = to;
        to = kept;
    }
    return from;
}

/* Scales the frequencies of real samples of which the even ones were transformed as real parts and
   the odd ones as imaginary parts; leaves the imaginary parts upside down, so that transforming
   once more leads back. */
ALWAYS_INLINE void scale(Lanes *points, Py_ssize_t half, const double *gain, const double *turns) {
    Py_ssize_t k;
    for (k = 0; k <= half / 2; k++) {
        Lanes *one = points + 2 * k, *other = points + (k ? 2 * (half - k) : 0);
        const double *turn = turns + 2 * k;
        double whole = (gain[k] + gain[half - k]) / (double)(4 * half);
        double part = (gain[k] - gain[half - k]) / (double)(4 * half);
        Lanes even_real = one[0] + other[0], even_imag = one[1] - other[1];
        Lanes odd_real = one[1] + other[1], odd_imag = other[0] - one[0];
        Lanes to_real = turn[0] * odd_real - turn[1] * odd_imag;
        Lanes to_imag = turn[0] * odd_imag + turn[1] * odd_real;
        Lanes from_real = turn[0] * even_real + turn[1] * even_imag;
        Lanes from_imag = turn[0] * even_imag - turn[1] * even_real;
        even_real = whole * even_real + part * to_real;
        even_imag = whole * even_imag + part * to_imag;
        odd_real = whole * odd_real + part * from_real;
        odd_imag = whole * odd_imag + part * from_imag;
        one[0] = even_real - odd_imag;
        one[1] = -even_imag - odd_real;
        other[0] = even_real + odd_imag;
        other[1] = even_imag - odd_real;
    }
}

ALWAYS_INLINE Lanes gather(const double *const *rows, Py_ssize_t place) {
    Lanes side_by_side = {rows[0][place], rows[1][place], rows[2][place], rows[3][place]};
    return side_by_side;
}

/* Puts rows, without their means, between their turned ends. */
ALWAYS_INLINE void fill(const double *const *rows, Py_ssize_t count, Py_ssize_t edge, Lanes *to) {
    Lanes first = gather(rows, 0), mean = {0}, *middle = to + edge, *end = middle + count;
    Py_ssize_t i;
    /* from the first sample on, so that a constant leaves nothing, not even its rounding */
    for (i = 0; i < count; i++) mean += middle[i] = gather(rows, i) - first;
    mean /= (double)count;
    for (i = 0; i < count; i++) middle[i] -= mean;
    for (i = 0; i < edge; i++) {
        to[i] = 2 * middle[0] - middle[edge - i];
        end[i] = 2 * middle[count - 1] - middle[count - 2 - i];
    }
}

FOR_EACH_PROCESSOR
static void pass_four(const double *const *rows, double *const *out, const Job *job, Lanes *room) {
    Py_ssize_t half = job->edge + job->count / 2, first = job->edge + job->count - job->keep, i;
    Lanes *free = room + 2 * half, *points;
    int lane;
    fill(rows, job->count, job->edge, room);
    points = transform(room, free, half, job->radices, job->turns);
    scale(points, half, job->gain, job->turns);
    points = transform(points, points == room ? free : room, half, job->radices, job->turns);
    for (i = 0; i < job->keep; i++) {
        Lanes kept = (first + i) % 2 ? -points[first + i] : points[first + i];
        for (lane = 0; lane < LANES; lane++) out[lane][i] = kept[lane];
    }
}

static void pass_all(const double *rows, Py_ssize_t many, const Job *job, double *out,
                     Lanes *room) {
    Py_ssize_t row, lane;
    for (row = 0; row < many; row += LANES) {
        const double *from[LANES];
        double *to[LANES];
        for (lane = 0; lane < LANES; lane++) { /* the last ones may be one several times */
            Py_ssize_t one = row + lane < many ? row + lane : many - 1;
            from[lane] = rows + one * job->count;
            to[lane] = out + one * job->keep;
        }
        pass_four(from, to, job, room);
    }
}

/* Splits into radices, the largest last; says no where a prime factor is too large. */
static int split(Py_ssize_t half, Py_ssize_t *radices) {
    Py_ssize_t prime;
    for (; half % 4 == 0; half /= 4) *radices++ = 4;
    for (; half % 2 == 0; half /= 2) *radices++ = 2;
    for (prime = 3; prime <= LARGEST_PRIME; prime += 2) {
        for (; half % prime == 0; half /= prime) *radices++ = prime;
    }
    return half == 1;
}

static int understand(Job *job, const Py_buffer *gain, const Py_buffer *turns) {
    Py_ssize_t n = job->count + 2 * job->edge;
    job->gain = gain->buf;
    job->turns = turns->buf;
    return job->edge >= 0 && job->edge < job->count && job->keep >= 0 && job->keep <= job->count &&
           n % 2 == 0 && gain->len == (n / 2 + 1) * (Py_ssize_t)sizeof(double) &&
           turns->len == 2 * n * (Py_ssize_t)sizeof(double) && split(n / 2, job->radices);
}

static PyObject *pass_band(PyObject *Py_UNUSED(module), PyObject *args) {
    Py_buffer rows, gain, turns, out;
    Py_ssize_t many;
    Job job;
    char *room = NULL;
    int fits;
    if (!PyArg_ParseTuple(args, "y*nny*y*nw*:pass_band", &rows, &job.count, &job.edge, &gain,
                          &turns, &job.keep, &out)) {
        return NULL;
    }
    fits = understand(&job, &gain, &turns);
    many = fits ? rows.len / (Py_ssize_t)sizeof(double) / job.count : 0;
    fits = fits && out.len == many * job.keep * (Py_ssize_t)sizeof(double);
    if (fits) {
        room = PyMem_RawMalloc((size_t)(2 * (job.count + 2 * job.edge) + 1) * sizeof(Lanes));
    }
    if (room != NULL) {
        /* vectors lie at multiples of their size */
        size_t ahead = sizeof(Lanes) - (size_t)room % sizeof(Lanes);
        Py_BEGIN_ALLOW_THREADS
        pass_all(rows.buf, many, &job, out.buf, (Lanes *)(room + ahead));
        Py_END_ALLOW_THREADS
        PyMem_RawFree(room);
    }
    PyBuffer_Release(&rows);
    PyBuffer_Release(&gain);
    PyBuffer_Release(&turns);
    PyBuffer_Release(&out);
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "the band-pass takes no rows of this length");
        return NULL;
    }
    if (room == NULL) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

static PyMethodDef METHODS[] = {
    {"pass_band", pass_band, METH_VARARGS, "Write the ends of rows, frequencies scaled."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_bands", NULL, -1, METHODS};

PyMODINIT_FUNC PyInit__bands(void) { return PyModule_Create(&MODULE); }
