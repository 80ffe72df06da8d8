/* SPDX-License-Identifier: Apache-2.0 */
/* The dispatcher for C, and for every language that can call C. What each call promises is written
 * at its counterpart in tuner/dispatch/dispatcher.hpp and gemm.hpp; here only what differs.
 *
 * Calls return TUNER_OK or TUNER_FAILED; why one failed says tuner_last_error(). Texts are UTF-8.
 * No call lets an exception out. */
#pragma once

#include "tuner/dispatch/api.hpp"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tuner_dispatcher tuner_dispatcher; /* for many threads at once */
struct CUstream_st;
typedef struct CUstream_st* tuner_stream; /* a cudaStream_t; NULL: the default stream */

typedef enum { TUNER_OK = 0, TUNER_FAILED = 1 } tuner_status;

/* Why the last failed call of this thread failed: what, where, and how to mend it. Valid until the
 * thread's next failed call; empty before the first. */
TUNER_API const char* tuner_last_error(void);

/* What was tuned. */
typedef enum {
  TUNER_TABLE_DATABASE, /* `where` is the path of a database, or NULL for the user's */
  TUNER_TABLE_FILE,     /* `where` is the path of a file of `tune export --format json` */
  TUNER_TABLE_TEXT,     /* `where` is the text of such a file */
  TUNER_TABLE_EMPTY     /* nothing; `where` is not read */
} tuner_table_kind;

typedef struct {
  tuner_table_kind kind;
  const char* where;
} tuner_table;

/* Zeros are good: the GPU 0, results of older drivers in use, the user's cache. */
typedef struct {
  const char* backend; /* "cuda" or "cpu"; NULL: "cuda" */
  int device;
  int refuse_stale;  /* not 0: nothing that was measured with another driver or compiler */
  const char* cache; /* folder of compiled kernels; NULL: the user's */
} tuner_options;

/* `options` may be NULL. `*dispatcher` is set only on TUNER_OK and goes to tuner_close(). */
TUNER_API tuner_status tuner_open(tuner_table table, const tuner_options* options,
                                  tuner_dispatcher** dispatcher);
TUNER_API void tuner_close(tuner_dispatcher* dispatcher); /* NULL is allowed */
TUNER_API tuner_status tuner_reload(tuner_dispatcher* dispatcher, tuner_table table);

TUNER_API tuner_status tuner_find_family(const tuner_dispatcher* dispatcher, const char* name,
                                         uint32_t* family);

/* `sizes` holds `count` sizes of `dimensions` numbers, one after the other. TUNER_FAILED when some
 * cannot be prepared; the others are. */
TUNER_API tuner_status tuner_prepare(tuner_dispatcher* dispatcher, uint32_t family,
                                     const int64_t* sizes, size_t dimensions, size_t count);

/* The same, choosing by measurement (ChooseBy::measurement) where a size was never tuned. */
TUNER_API tuner_status tuner_prepare_measured(tuner_dispatcher* dispatcher, uint32_t family,
                                              const int64_t* sizes, size_t dimensions,
                                              size_t count);

typedef enum {
  TUNER_RUNG_EXACT,
  TUNER_RUNG_STALE,
  TUNER_RUNG_NEAREST,
  TUNER_RUNG_LIBRARY,
  TUNER_RUNG_DEFAULT
} tuner_rung;

/* Its texts are valid until this thread's next tuner_answer(). */
typedef struct {
  tuner_rung rung;
  const char* kernel;        /* empty: the library */
  const char* configuration; /* a JSON object; empty: the library */
  const char* explanation;   /* lines */
  double expected_ns;        /* negative: not known */
  double distance;
  int prepared; /* not 0: a launch compiles and loads nothing any more */
} tuner_answer_info;

TUNER_API tuner_status tuner_answer(const tuner_dispatcher* dispatcher, uint32_t family,
                                    const int64_t* size, size_t dimensions,
                                    tuner_answer_info* answer);

typedef enum {
  TUNER_POINTER, /* to device memory */
  TUNER_INT,
  TUNER_UNSIGNED,
  TUNER_LONG_LONG,
  TUNER_FLOAT,
  TUNER_DOUBLE,
  TUNER_ARRAY /* by value: `pointer` is to its elements in the host's memory */
} tuner_argument_type;

typedef struct {
  tuner_argument_type type;
  union {
    const void* pointer;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    float f32;
    double f64;
  } value;
} tuner_argument;

TUNER_API tuner_status tuner_launch(tuner_dispatcher* dispatcher, uint32_t family,
                                    const int64_t* size, size_t dimensions,
                                    const tuner_argument* arguments, size_t count,
                                    tuner_stream stream);

/* Row-major, arguments as in BLAS. */
typedef enum { TUNER_NO_TRANSPOSE, TUNER_TRANSPOSE } tuner_transpose;

TUNER_API tuner_status tuner_sgemm(tuner_dispatcher* dispatcher, tuner_stream stream,
                                   tuner_transpose trans_a, tuner_transpose trans_b, int64_t m,
                                   int64_t n, int64_t k, float alpha, const float* a, int64_t lda,
                                   const float* b, int64_t ldb, float beta, float* c, int64_t ldc);

TUNER_API tuner_status tuner_sgemm_strided_batched(
    tuner_dispatcher* dispatcher, tuner_stream stream, tuner_transpose trans_a,
    tuner_transpose trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a,
    int64_t lda, int64_t stride_a, const float* b, int64_t ldb, int64_t stride_b, float beta,
    float* c, int64_t ldc, int64_t stride_c, int64_t batch);

#ifdef __cplusplus
}
#endif
