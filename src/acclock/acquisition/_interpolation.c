/* Weighted sums of neighbors at fractional positions: the inner loop of resampling.py.

   interpolate(rows, count, positions, weights, taps, out): `rows` holds `count` signals one after
   the other, each continued beyond its ends by taps / 2 samples; `weights` holds the kernel, one
   line of `taps` per phase between two samples, first and last phase included. All buffers are
   doubles. The NumPy twin in resampling.py does the same, tap by tap. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef struct {
    const double *at;
    Py_ssize_t length;
} Doubles;

static Doubles view(const Py_buffer *buffer) {
    Doubles doubles = {buffer->buf, buffer->len / (Py_ssize_t)sizeof(double)};
    return doubles;
}

/* Four sums side by side, which a compiler may keep in one register. */
static double dot(const double *weights, const double *signal, Py_ssize_t taps) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    Py_ssize_t tap = 0, lane;
    for (; tap + 4 <= taps; tap += 4) {
        for (lane = 0; lane < 4; lane++) {
            sums[lane] += weights[tap + lane] * signal[tap + lane];
        }
    }
    for (; tap < taps; tap++) {
        sums[0] += weights[tap] * signal[tap];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static void sum_up(const Doubles rows, Py_ssize_t count, const Doubles positions,
                   const Doubles table, Py_ssize_t taps, double *weights, double *out) {
    Py_ssize_t width = rows.length / count, phases = table.length / taps - 1;
    Py_ssize_t i, row, tap;
    for (i = 0; i < positions.length; i++) {
        Py_ssize_t base = (Py_ssize_t)positions.at[i]; /* never negative: the same as floor */
        double place = (positions.at[i] - (double)base) * (double)phases;
        Py_ssize_t phase = (Py_ssize_t)place < phases ? (Py_ssize_t)place : phases - 1;
        double between = place - (double)phase;
        const double *here = table.at + phase * taps, *next = here + taps;
        for (tap = 0; tap < taps; tap++) {
            weights[tap] = here[tap] + between * (next[tap] - here[tap]);
        }
        for (row = 0; row < count; row++) {
            out[row * positions.length + i] = dot(weights, rows.at + row * width + base + 1, taps);
        }
    }
}

/* Every read and write of sum_up lies inside its buffer when this holds. */
static int fits(const Doubles rows, Py_ssize_t count, const Doubles positions,
                const Doubles weights, Py_ssize_t taps, const Doubles out) {
    Py_ssize_t i, width;
    if (count < 1 || taps < 1 || rows.length % count != 0 || weights.length % taps != 0 ||
        weights.length / taps < 2 || positions.length > PY_SSIZE_T_MAX / count ||
        out.length != count * positions.length) {
        return 0;
    }
    width = rows.length / count;
    for (i = 0; i < positions.length; i++) {
        double position = positions.at[i];
        if (!(position >= 0.0 && position + (double)taps < (double)width)) {
            return 0;
        }
    }
    return 1;
}

static PyObject *interpolate(PyObject *Py_UNUSED(module), PyObject *args) {
    Py_buffer rows, positions, table, out;
    Py_ssize_t count, taps;
    double *weights = NULL;

    if (!PyArg_ParseTuple(args, "y*ny*y*nw*:interpolate", &rows, &count, &positions, &table,
                          &taps, &out)) {
        return NULL;
    }
    if (!fits(view(&rows), count, view(&positions), view(&table), taps, view(&out))) {
        PyErr_SetString(PyExc_ValueError, "positions, rows, weights and room do not fit together");
    } else if ((weights = PyMem_New(double, taps)) == NULL) {
        PyErr_NoMemory();
    } else {
        Py_BEGIN_ALLOW_THREADS
        sum_up(view(&rows), count, view(&positions), view(&table), taps, weights, out.buf);
        Py_END_ALLOW_THREADS
    }
    PyMem_Free(weights);
    PyBuffer_Release(&rows);
    PyBuffer_Release(&positions);
    PyBuffer_Release(&table);
    PyBuffer_Release(&out);
    if (PyErr_Occurred()) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef METHODS[] = {
    {"interpolate", interpolate, METH_VARARGS,
     "interpolate(rows, count, positions, weights, taps, out)\n--\n\nFill out."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_interpolation", NULL, 0, METHODS,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__interpolation(void) { return PyModule_Create(&MODULE); }
