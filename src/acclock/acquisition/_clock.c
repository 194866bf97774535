/* What a live clock asks of every sample: the inner loops of admission.py, slots.py and
   stretches.py. uncompiled_clock.py does the same in NumPy.

   survey(stamps, samples)                    the strongest magnitude, NaN where one is none; the
                                              shortest and the longest step between stamps
   count_steps(times, due, hz, late, catch_up, out)   slots from each sample to the one before, as
                                              Py_ssize_t; returns when the next is due, and their sum
   place(times, moments, hz, fineness, out)   between which slots moments lie; returns the largest
                                              jitter and the extremes of the offsets from whole slots

   All other buffers are doubles. Chunks are short: nobody is let in while they are looked at. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>

typedef struct {
    const double *at;
    Py_ssize_t length;
} Doubles;

static Doubles view(const Py_buffer *buffer) {
    Doubles doubles = {buffer->buf, buffer->len / (Py_ssize_t)sizeof(double)};
    return doubles;
}

static PyObject *survey(PyObject *Py_UNUSED(module), PyObject *args) {
    Py_buffer stamps, samples;
    double strongest = 0.0, shortest = Py_HUGE_VAL, longest = -Py_HUGE_VAL;
    Py_ssize_t i;

    if (!PyArg_ParseTuple(args, "y*y*:survey", &stamps, &samples)) return NULL;
    {
        Doubles when = view(&stamps), what = view(&samples);
        for (i = 0; i < what.length; i++) {
            double magnitude = fabs(what.at[i]);
            if (!(magnitude <= strongest)) strongest = magnitude;
            if (isnan(strongest)) break;
        }
        for (i = 1; i < when.length; i++) {
            double step = when.at[i] - when.at[i - 1];
            if (!(step >= shortest)) shortest = step;
            if (!(step <= longest)) longest = step;
            if (isnan(step)) break;
        }
    }
    PyBuffer_Release(&stamps);
    PyBuffer_Release(&samples);
    return Py_BuildValue("(ddd)", strongest, shortest, longest);
}

static PyObject *count_steps(PyObject *Py_UNUSED(module), PyObject *args) {
    Py_buffer stamps, out;
    double due, hz, late, catch_up, period;
    Py_ssize_t i, total = 0;

    if (!PyArg_ParseTuple(args, "y*ddddw*:count_steps", &stamps, &due, &hz, &late, &catch_up,
                          &out)) {
        return NULL;
    }
    if (out.len / (Py_ssize_t)sizeof(Py_ssize_t) != view(&stamps).length) {
        PyErr_SetString(PyExc_ValueError, "there is one step for each time");
    } else {
        Doubles times = view(&stamps);
        Py_ssize_t *steps = out.buf;
        period = 1.0 / hz;
        for (i = 0; i < times.length; i++) {
            double behind = times.at[i] - due;
            if (behind > late * period) {
                double lost = nearbyint(behind * hz);
                due = times.at[i] + period;
                steps[i] = 1 + (lost < 1.0 ? 1 : (Py_ssize_t)lost);
            } else {
                due += period + catch_up * behind;
                steps[i] = 1;
            }
            total += steps[i];
        }
    }
    PyBuffer_Release(&stamps);
    PyBuffer_Release(&out);
    return PyErr_Occurred() ? NULL : Py_BuildValue("(dn)", due, total);
}

static double measure_jitter(const Doubles times, double hz) {
    double largest = 0.0;
    Py_ssize_t i;
    for (i = 1; i < times.length; i++) {
        double jitter = fabs(times.at[i] * hz - times.at[i - 1] * hz - 1.0);
        if (jitter > largest) largest = jitter;
    }
    return largest;
}

static PyObject *place(PyObject *Py_UNUSED(module), PyObject *args) {
    Py_buffer slots, moments, out;
    double hz, fineness, least = Py_HUGE_VAL, most = 0.0, jitter = 0.0;
    Py_ssize_t i, slot = 0;

    if (!PyArg_ParseTuple(args, "y*y*ddw*:place", &slots, &moments, &hz, &fineness, &out)) {
        return NULL;
    }
    if (out.len != moments.len || view(&slots).length < 2) {
        PyErr_SetString(PyExc_ValueError, "moments lie between two slots, each in its place");
    } else {
        Doubles times = view(&slots), grid = view(&moments);
        double *places = out.buf;
        jitter = measure_jitter(times, hz);
        for (i = 0; i < grid.length; i++) {
            double share, offset;
            while (slot < times.length - 2 && times.at[slot + 1] <= grid.at[i]) slot++;
            share = (grid.at[i] - times.at[slot]) / (times.at[slot + 1] - times.at[slot]);
            share = share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share;
            places[i] = (double)slot + nearbyint(share * fineness) / fineness;
            offset = fabs(places[i] - nearbyint(places[i]));
            if (offset < least) least = offset;
            if (offset > most) most = offset;
        }
    }
    PyBuffer_Release(&slots);
    PyBuffer_Release(&moments);
    PyBuffer_Release(&out);
    return PyErr_Occurred() ? NULL : Py_BuildValue("(ddd)", jitter, least, most);
}

static PyMethodDef METHODS[] = {
    {"survey", survey, METH_VARARGS,
     "survey(stamps, samples)\n--\n\nGive the strongest magnitude and the extreme steps."},
    {"count_steps", count_steps, METH_VARARGS,
     "count_steps(times, due, hz, late, catch_up, out)\n--\n\nFill out."},
    {"place", place, METH_VARARGS, "place(times, moments, hz, fineness, out)\n--\n\nFill out."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_clock", NULL, 0, METHODS,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__clock(void) { return PyModule_Create(&MODULE); }
