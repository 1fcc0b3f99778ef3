/* lamina for C: load a trained model and ask it for answers. C99; every function is safe to call from any thread.
 * examples/predict.c is a whole program. */
#ifndef LAMINA_LAMINA_H_
#define LAMINA_LAMINA_H_

#include <stdint.h> /* NOLINT(modernize-deprecated-headers): C */

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default) /* in a library that hides everything else */
#endif

/* A trained model, ready to answer. Never changes after loading: threads share it without locks. NULL, as lamina_load
 * returns it, may be given to every function: it has no inputs, outputs and classes, and its answers are errors. */
typedef struct lamina_model lamina_model; /* NOLINT(modernize-use-using): C */

/* Reads a model file as `lamina train --model FILE` writes it. NULL if that fails; lamina_error() then says why. */
lamina_model* lamina_load(const char* path);

/* The same with weights in fewer bits, which one row reads sooner. They are rounded while loading to "exact", "bf16",
 * "f16" or "i8" (8 bits and a scale for each neuron). NULL: as the file keeps them. Returns NULL also where they do
 * not fit. */
lamina_model* lamina_load_weights(const char* path, const char* weights);
/* The same of the bytes of a model file, for example of one that is part of the program. They are copied. */
lamina_model* lamina_load_memory(const void* bytes, int64_t size);
/* How a model keeps them: one of those names. */
const char* lamina_weights(const lamina_model* model);

/* Ends the use of a model. No other call may be using it. */
void lamina_free(lamina_model* model);

/* Rows of texts: any model answers them, whatever its columns are. */

/* Cells in a row: the columns that an answer needs, in the order of the training data. Targets and left-out columns are
 * not among them; a derived column stands for those that it is made from. 0: the model has no raw rows. */
int64_t lamina_columns(const lamina_model* model);
/* Name of one of them, NULL out of range. Lives as long as the model. */
const char* lamina_column_name(const lamina_model* model, int64_t column);
/* What it holds: "number", "date" or "text" (words, categories, "true" and "false"). NULL out of range. */
const char* lamina_column_kind(const lamina_model* model, int64_t column);

/* What a column of text may hold: the number of words that training knew (0 for numbers, dates and free text), and one
 * of them. NULL out of range. Lives as long as the model. */
int64_t lamina_column_choices(const lamina_model* model, int64_t column);
const char* lamina_column_choice(const lamina_model* model, int64_t column, int64_t choice);
/* The least and the greatest number of the training rows, of dates in days since 1970-01-01. Returns 0, or 1 where the
 * model does not know them: then both are left alone. */
int lamina_column_range(const lamina_model* model, int64_t column, double* low, double* high);

/* Answers `rows` rows of cells (rows x columns, one after the other) as `lamina predict` answers a CSV file of them.
 * Numbers, dates, units and marks of missing values may be written in every way that it reads; NULL and "" are missing.
 * `outputs` (rows x outputs) are those of lamina_predict. They are NaN for a row that misses a value which the model
 * does not fill in. Returns 0, and lamina_notes() has notes on the answers. Otherwise lamina_error() names column, row
 * and value, and no row is answered. Allocates memory. */
int lamina_predict_text(const lamina_model* model, const char* const* cells, int64_t rows, double* outputs);

/* What `lamina predict` says beside its answers, for this thread's last lamina_predict_text. A line each tells of
 * values that training did not see, that were missing, or that are no numbers. "" for nothing, never NULL; lives until
 * the thread's next one. */
const char* lamina_notes(void);

/* Rows of numbers: a microsecond or so for an answer. A model with columns of text refuses them. */

/* Numbers in a raw row: the input columns in the order of the training data, the target and dropped columns left
 * out. */
int64_t lamina_inputs(const lamina_model* model);
/* Name of one of them, NULL out of range. Lives as long as the model. */
const char* lamina_input_name(const lamina_model* model, int64_t input);

/* Numbers in an answer: one for each target, or for each class (two classes may share one output). */
int64_t lamina_outputs(const lamina_model* model);
/* What a number of an answer is of: a target ("price", "price q0.1") or a class. A single number for two classes is of
 * the second. NULL out of range. Lives as long as the model. */
const char* lamina_output_name(const lamina_model* model, int64_t output);

/* Answers `rows` raw rows (rows x inputs, one after the other), and scales them as the training data was. NaN stands
 * for a missing number. A date is the days since 1970-01-01 (19783.5: noon of 2024-03-01, UTC). `outputs` (rows x
 * outputs) receives regression values in units of the target, or the outputs of the classes. Returns 0. Otherwise
 * lamina_error() says which number of which row cannot be used, or to which row the answer is not a finite number. The
 * rows before it are answered. Computes on the calling thread and takes no lock. Rows of one call read the weights
 * together, up to 64, and have the bits of calls of their own. Allocates nothing where one row, or six of several, need
 * at most 16 kB of room. Else a thread's first call for the most room that it asks for allocates. */
int lamina_predict(const lamina_model* model, const double* row, int64_t rows, double* outputs);

/* Classes of the model, 0 for regression; and the name of one, NULL out of range. */
int64_t lamina_classes(const lamina_model* model);
const char* lamina_class_name(const lamina_model* model, int64_t index);
/* The class that one row of outputs means, -1 for regression and where one of them is a NaN. */
int64_t lamina_class_of(const lamina_model* model, const double* outputs);

/* The bounds around one row of outputs that hold the true values with the probability of the training (--intervals).
 * All three have equally many numbers. Returns 0; 1 where the model has no intervals. */
int lamina_interval(const lamina_model* model, const double* outputs, double* lower, double* upper);

/* What went wrong in the last call of this thread that failed: one sentence, never NULL; lives until the thread's next
 * call. */
const char* lamina_error(void);

/* "0.1.0". */
const char* lamina_version(void);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif /* LAMINA_LAMINA_H_ */
