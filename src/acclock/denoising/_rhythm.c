/* How well rows repeat themselves, at the few lags that a heart can have.

   resemble(rows, count, block, hop, lag, out)

   Every row of `count` doubles is cut into blocks of `block` samples, one every `hop`. Each block,
   without its mean, is compared with itself `lag` samples later, and `lag` + 1, and so on for as
   many as a row of `out` has; one is the same, and zero is nothing alike or silence. What is
   written is the mean over the blocks. uncompiled_rhythm.py does the same by Fourier transforms;
   the two agree to rounding. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

#include "_vectors.h"

enum { VECTORS = 4, TOGETHER = LANES * VECTORS };

/* Takes the mean off; returns what is left squared and added up. */
static double center(const double *block, Py_ssize_t length, double *centered) {
    double mean = 0.0, energy = 0.0;
    Py_ssize_t i;
    for (i = 0; i < length; i++) mean += block[i];
    mean /= (double)length;
    for (i = 0; i < length; i++) {
        centered[i] = block[i] - mean;
        energy += centered[i] * centered[i];
    }
    return energy;
}

/* Adds the products of a block with itself, so many lags later; beyond its end there are zeros. */
FOR_EACH_PROCESSOR
static void compare(const double *centered, Py_ssize_t length, Py_ssize_t lag, double share,
                    double *out, Py_ssize_t lags) {
    LooseLanes sums[VECTORS] = {{0.0}};
    Py_ssize_t i, k;
    for (i = 0; i + lag < length; i++) {
        const LooseLanes *later = (const LooseLanes *)(centered + i + lag);
        for (k = 0; k < VECTORS; k++) sums[k] += centered[i] * later[k];
    }
    for (k = 0; k < TOGETHER && k < lags; k++) {
        double sum = sums[k / LANES][k % LANES];
        out[k] += share * sum / (1.0 - (double)(lag + k) / (double)length);
    }
}

static void resemble_row(const double *row, Py_ssize_t blocks, Py_ssize_t length, Py_ssize_t hop,
                         Py_ssize_t lag, Py_ssize_t lags, double *centered, double *out) {
    Py_ssize_t block, k;
    memset(out, 0, (size_t)lags * sizeof(double));
    for (block = 0; block < blocks; block++) {
        double energy = center(row + block * hop, length, centered);
        if (!(energy > 0.0)) continue;
        for (k = 0; k < lags; k += TOGETHER) {
            compare(centered, length, lag + k, 1.0 / energy / (double)blocks, out + k, lags - k);
        }
    }
}

static PyObject *resemble(PyObject *Py_UNUSED(module), PyObject *args) {
    Py_buffer rows, out;
    Py_ssize_t count, length, hop, lag, many = 0, lags = 0, row;
    double *centered = NULL;
    int fits;
    if (!PyArg_ParseTuple(args, "y*nnnnw*:resemble", &rows, &count, &length, &hop, &lag, &out)) {
        return NULL;
    }
    fits = count >= length && length > 0 && hop > 0 && lag >= 0;
    if (fits) many = rows.len / (Py_ssize_t)sizeof(double) / count;
    if (many) lags = out.len / (Py_ssize_t)sizeof(double) / many;
    fits = fits && lag + lags <= length;
    if (fits) centered = PyMem_RawCalloc((size_t)(length + lag + lags + TOGETHER), sizeof(double));
    if (centered != NULL) {
        Py_BEGIN_ALLOW_THREADS
        for (row = 0; row < many; row++) {
            resemble_row((const double *)rows.buf + row * count, 1 + (count - length) / hop, length,
                         hop, lag, lags, centered, (double *)out.buf + row * lags);
        }
        Py_END_ALLOW_THREADS
        PyMem_RawFree(centered);
    }
    PyBuffer_Release(&rows);
    PyBuffer_Release(&out);
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "a block fits into its row, and a lag into its block");
        return NULL;
    }
    if (centered == NULL) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

static PyMethodDef METHODS[] = {
    {"resemble", resemble, METH_VARARGS, "Write how well rows repeat themselves."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_rhythm", NULL, -1, METHODS};

PyMODINIT_FUNC PyInit__rhythm(void) { return PyModule_Create(&MODULE); }
