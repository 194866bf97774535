/* Numbers out of delimited text, several times faster than a general reader.

   parse(text, offset, delimiter, columns, out) reads the rows of `text` from `offset` on and
   writes the wanted columns, one after the other, into `out`, a writable buffer of doubles with
   room for the same number of rows in each column. It returns how many rows there were. The
   grammar is that of numbers.py, which does the same in Python; the two agree bit for bit. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { LONGEST_FIELD = 100, MOST_COLUMNS = 64 };

/* A product or quotient of two exactly representable numbers is rounded once: correct. */
static const double POWERS_OF_TEN[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
static const uint64_t LARGEST_EXACT = (uint64_t)1 << 53;

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static int is_word(const char *at, const char *end, const char *word) {
    for (; *word != '\0'; at++, word++) {
        if (at == end || (*at | 0x20) != *word) {
            return 0;
        }
    }
    return at == end;
}

/* Python's own conversion: correctly rounded, deaf to the locale, and slow. */
static double convert_slowly(const char *begin, const char *end) {
    char copy[LONGEST_FIELD + 1];
    size_t length = (size_t)(end - begin);
    memcpy(copy, begin, length);
    copy[length] = '\0';
    return PyOS_string_to_double(copy, NULL, NULL);
}

/* Returns 1 and sets `value`, or 0 when the field is not a number. */
static int read_number(const char *begin, const char *end, double *value) {
    const char *at = begin;
    int negative = 0, digits = 0, significant = 0, point = 0;
    long scale = 0, exponent = 0;
    uint64_t mantissa = 0;

    if (end - begin > LONGEST_FIELD) {
        return 0;
    }
    if (at < end && (*at == '+' || *at == '-')) {
        negative = *at == '-';
        at++;
    }
    if (is_word(at, end, "nan")) {
        *value = Py_NAN;
        return 1;
    }
    if (is_word(at, end, "inf") || is_word(at, end, "infinity")) {
        *value = negative ? -Py_HUGE_VAL : Py_HUGE_VAL;
        return 1;
    }
    for (; at < end && (is_digit(*at) || (*at == '.' && !point)); at++) {
        if (*at == '.') {
            point = 1;
            continue;
        }
        digits++;
        scale -= point;
        significant += significant > 0 || *at != '0';
        if (significant <= 19) { /* nineteen digits always fit */
            mantissa = mantissa * 10 + (uint64_t)(*at - '0');
        }
    }
    if (digits == 0) {
        return 0;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        int downwards = 0;
        at++;
        if (at < end && (*at == '+' || *at == '-')) {
            downwards = *at == '-';
            at++;
        }
        if (at == end) {
            return 0;
        }
        for (; at < end && is_digit(*at); at++) {
            if (exponent < 100000) {
                exponent = exponent * 10 + (*at - '0');
            }
        }
        scale += downwards ? -exponent : exponent;
    }
    if (at != end) {
        return 0;
    }
    if (significant > 19 || mantissa > LARGEST_EXACT || scale < -22 || scale > 22) {
        *value = convert_slowly(begin, end);
        return !PyErr_Occurred();
    }
    *value = scale < 0 ? (double)mantissa / POWERS_OF_TEN[-scale]
                       : (double)mantissa * POWERS_OF_TEN[scale];
    if (negative) {
        *value = -*value;
    }
    return 1;
}

static int is_blank(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) {
        at++;
    }
    return at == end;
}

static int is_padding(char c, char delimiter) {
    return c == ' ' || c == '\r' || (c == '\t' && delimiter != '\t');
}

/* Returns the place in `wanted` up to which the line was good; all of it when all was well. */
static Py_ssize_t read_line(const char *at, const char *end, char delimiter,
                            const Py_ssize_t *wanted, Py_ssize_t count, double *out,
                            Py_ssize_t capacity) {
    Py_ssize_t column = 0, found = 0;
    while (found < count) {
        const char *stop = memchr(at, delimiter, (size_t)(end - at));
        const char *field_end = stop == NULL ? end : stop;
        if (column == wanted[found]) {
            const char *first = at, *last = field_end;
            while (first < last && is_padding(*first, delimiter)) {
                first++;
            }
            while (first < last && is_padding(last[-1], delimiter)) {
                last--;
            }
            if (first == last) {
                out[found * capacity] = Py_NAN; /* nothing was written there */
            } else if (!read_number(first, last, &out[found * capacity])) {
                return found;
            }
            found++;
        }
        if (stop == NULL) {
            return found;
        }
        at = stop + 1;
        column++;
    }
    return found;
}

static PyObject *refuse(Py_ssize_t line, Py_ssize_t found) {
    PyObject *where = Py_BuildValue("(nn)", line, found);
    if (where != NULL) {
        PyErr_SetObject(PyExc_ValueError, where);
        Py_DECREF(where);
    }
    return NULL;
}

static PyObject *read_rows(const Py_buffer *text, Py_ssize_t offset, char delimiter,
                           const Py_ssize_t *wanted, Py_ssize_t count, const Py_buffer *room) {
    const char *at = (const char *)text->buf + offset;
    const char *end = (const char *)text->buf + text->len;
    Py_ssize_t capacity = room->len / (Py_ssize_t)sizeof(double) / count;
    double *out = room->buf;
    Py_ssize_t rows = 0, line = 0;

    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = stop == NULL ? end : stop;
        if (!is_blank(at, line_end)) {
            Py_ssize_t found;
            if (rows == capacity) {
                PyErr_SetString(PyExc_BufferError, "more rows than there is room for");
                return NULL;
            }
            found = read_line(at, line_end, delimiter, wanted, count, out + rows, capacity);
            if (found < count) {
                return PyErr_Occurred() ? NULL : refuse(line, found);
            }
            rows++;
        }
        line++;
        at = stop == NULL ? end : stop + 1;
    }
    return PyLong_FromSsize_t(rows);
}

/* Columns come in ascending order, so that one walk along a line finds them all. */
static Py_ssize_t take_columns(PyObject *columns, Py_ssize_t *wanted) {
    Py_ssize_t count = PyTuple_GET_SIZE(columns), i;
    if (count < 1 || count > MOST_COLUMNS) {
        PyErr_Format(PyExc_ValueError, "between 1 and %d columns can be read", MOST_COLUMNS);
        return -1;
    }
    for (i = 0; i < count; i++) {
        wanted[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(columns, i));
        if (wanted[i] == -1 && PyErr_Occurred()) {
            return -1;
        }
        if (wanted[i] < 0 || (i > 0 && wanted[i] <= wanted[i - 1])) {
            PyErr_SetString(PyExc_ValueError, "columns are numbered upwards from 0");
            return -1;
        }
    }
    return count;
}

static PyObject *parse(PyObject *Py_UNUSED(module), PyObject *args) {
    Py_buffer text, room;
    Py_ssize_t offset, count, wanted[MOST_COLUMNS];
    char delimiter;
    PyObject *columns, *rows = NULL;

    if (!PyArg_ParseTuple(args, "y*ncO!w*:parse", &text, &offset, &delimiter, &PyTuple_Type,
                          &columns, &room)) {
        return NULL;
    }
    count = take_columns(columns, wanted);
    if (count > 0) {
        if (offset < 0 || offset > text.len || room.len % (Py_ssize_t)sizeof(double) != 0) {
            PyErr_SetString(PyExc_ValueError, "the offset lies outside of the text");
        } else {
            rows = read_rows(&text, offset, delimiter, wanted, count, &room);
        }
    }
    PyBuffer_Release(&text);
    PyBuffer_Release(&room);
    return rows;
}

static PyMethodDef METHODS[] = {
    {"parse", parse, METH_VARARGS,
     "parse(text, offset, delimiter, columns, out)\n--\n\nRead columns of numbers into out."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_numbers", NULL, 0, METHODS,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__numbers(void) { return PyModule_Create(&MODULE); }
