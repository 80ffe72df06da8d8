/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * The dispatcher for C, and for every language that can call C.
 *
 * It launches, for each problem size, the fastest kernel known on this device, or the library
 * (cuBLAS; on the cpu backend OpenBLAS). Texts are UTF-8 and end with a zero byte. A call returns
 * TUNER_OK or another tuner_status; tuner_last_error() then says why. No call throws a C++
 * exception.
 *
 * These functions are all that libtuner_dispatch.so exports. A struct that may get members in a
 * later version has a `struct_size`, which the caller sets to its sizeof; of an array that a call
 * returns, the caller passes the size of an element. A program may so be of an older or a newer
 * header than the library: members that it does not have are at their defaults, those that the
 * library does not have must be 0, and are returned as 0. All other structs, and the numbers of
 * enumerators, stay as they are.
 *
 * One dispatcher serves any number of threads and streams of one device. On cuda the context that
 * is current in the calling thread must be the stream's; a thread without one gets the device's
 * primary context, as in the CUDA runtime. On cpu, pointers are the host's and a call returns when
 * its work is done. In a process that was forked since the dispatcher was opened, every call fails
 * and tuner_close() does nothing. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** What programs see of the shared library. */
#define TUNER_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/** One device and one table of tuned results. Made by tuner_open(), freed by tuner_close(). */
typedef struct tuner_dispatcher tuner_dispatcher;
struct CUstream_st;
/** A cudaStream_t or CUstream. NULL is the default stream. Ignored on the cpu backend. */
typedef struct CUstream_st* tuner_stream;

/** What a call returns. */
typedef enum {
  TUNER_OK = 0, /**< done */
  TUNER_FAILED =
      1, /**< nothing was done, unless the function states otherwise; see tuner_last_error() */
  TUNER_NO_FAMILY = 2 /**< tuner_find_family(): the table has no such family */
} tuner_status;

/** Why the last failed call of the calling thread failed: what, where, and how to correct it.
 *
 * @return Text of the library; valid until the thread's next failed call. Empty before the first
 *         failure, and where there was no memory for the text. */
TUNER_API const char* tuner_last_error(void);

/** Where the tuned results come from. */
typedef enum {
  TUNER_TABLE_DATABASE, /**< a database of the program `tune` */
  TUNER_TABLE_FILE,     /**< a file written by `tune export --format json` */
  TUNER_TABLE_TEXT,     /**< the text of such a file */
  TUNER_TABLE_NONE      /**< nothing was tuned: the library answers */
} tuner_table_kind;

/** A table of tuned results. It is read by tuner_open() and tuner_reload(), never later. */
typedef struct {
  tuner_table_kind kind; /**< what `source` is */
  /** DATABASE: a path, or NULL for $TUNER_DB, else $XDG_DATA_HOME/tune/tune.db
   * (~/.local/share/tune/tune.db). FILE: a path. TEXT: the document; it
   * is copied. NONE: not read. */
  const char* source;
} tuner_table;

/** Where kernels are compiled for a GPU. */
typedef enum {
  /** In a helper process from the first table that is read from a file or a database. In this
   * process before that, for tables given as text, if the helper is not installed, and in set-uid
   * programs. */
  TUNER_COMPILE_AUTOMATIC,
  TUNER_COMPILE_IN_HELPER, /**< in a helper process, or tuner_open() fails */
  TUNER_COMPILE_IN_PROCESS /**< in this process, without a limit of time and memory */
} tuner_compile_in;

/** What may serve a size. */
typedef enum {
  TUNER_MODE_ANY, /**< every rung */
  /** What was tuned for the very size; else the library, or where there is none an error. Never a
   * measurement. */
  TUNER_MODE_EXACT,
  /** The choices of a file that tuner_pin() wrote: a choice that cannot be used is an error. For
   * other sizes the library, or where there is none an error. */
  TUNER_MODE_PINNED
} tuner_mode;

/** How a dispatcher is opened. Zeros behind `struct_size` mean: GPU 0, results of other drivers and
 * compilers are used, the user's cache. */
typedef struct {
  size_t struct_size;  /**< sizeof(tuner_options) */
  const char* backend; /**< "cuda" or "cpu"; NULL: "cuda" */
  int device;          /**< index among the backend's devices, from 0 */
  int refuse_stale;    /**< not 0: use nothing measured with another driver or compiler */
  /** Folder of compiled kernels. NULL: $XDG_CACHE_HOME/tune/binaries (~/.cache/tune/binaries). A
   * folder that cannot be used costs compilations, and is no error. */
  const char* cache;
  tuner_compile_in compile_in;   /**< where kernels are compiled */
  int compile_deadline_s;        /**< limit of a compilation in a helper in seconds; 0: 60 */
  uint64_t compile_memory_bytes; /**< and of its address space; 0: 4 GiB */
  tuner_mode mode;               /**< what may serve a size; the environment stands before it */
  const char* pins;              /**< with TUNER_MODE_PINNED: the file */
} tuner_options;

/** Opens a device and reads a table.
 *
 * A table without results for this device is no error: the library and default configurations
 * answer.
 *
 * @param table What was tuned.
 * @param options NULL for the defaults.
 * @param[out] dispatcher Set on TUNER_OK only; pass it to tuner_close(). Not NULL.
 * @return TUNER_FAILED if the device or the table cannot be opened, or `dispatcher` is NULL. */
TUNER_API tuner_status tuner_open(tuner_table table, const tuner_options* options,
                                  tuner_dispatcher** dispatcher);

/** Frees a dispatcher with its kernels and scratch memory. No launch of it, and no graph captured
 * from its launches, may be running or used later.
 *
 * @param dispatcher NULL is allowed. */
TUNER_API void tuner_close(tuner_dispatcher* dispatcher);

/** Reads another table while other threads launch. Returns when no launch uses the old one.
 *
 * @param dispatcher Not NULL.
 * @param table What was tuned. Sizes are prepared again at their next use.
 * @return TUNER_FAILED if the table cannot be read; the old one stays in use. */
TUNER_API tuner_status tuner_reload(tuner_dispatcher* dispatcher, tuner_table table);

/** Finds a family by its name.
 *
 * @param dispatcher Not NULL.
 * @param name The family's name in its space file, such as "gemm".
 * @param[out] family Its number, constant for the dispatcher's life. Set on TUNER_OK only.
 * @return TUNER_NO_FAMILY, with a suggestion, if the table has no such family. */
TUNER_API tuner_status tuner_find_family(const tuner_dispatcher* dispatcher, const char* name,
                                         uint32_t* family);

/** A size of a family. */
typedef struct {
  const int64_t* numbers; /**< in the order of the space file's dimensions */
  size_t dimensions;      /**< of them; trailing dimensions with a default may be omitted */
} tuner_size;

/** How tuner_prepare() chooses for sizes that were never tuned. */
typedef enum {
  TUNER_CHOOSE_BY_EXPECTATION, /**< what the cost model expects to be the fastest */
  /** The members of a portfolio, or without one the eight kernels with the best expected times, the
   * library, and algorithms that the library proposes run side by side on buffers that the
   * dispatcher allocates, for some 50 ms where a launch takes less than 1 ms. The choice lasts
   * until tuner_reload(). It is kept in the cache: another process with the same device, versions
   * and table measures nothing, and waits while this one does. Where there is no memory for the
   * buffers, the expected time decides. */
  TUNER_CHOOSE_BY_MEASUREMENT
} tuner_choose_by;

/** Compiles and loads the kernels of sizes ahead of their first launch, on all cores.
 *
 * @param dispatcher Not NULL.
 * @param family From tuner_find_family().
 * @param sizes The sizes.
 * @param count Number of sizes.
 * @param choose_by How to choose for sizes that were never tuned.
 * @param[out] errors NULL, or why each size cannot be prepared, in order: an empty text where it
 * is. Valid until the calling thread's next tuner_prepare(); set to NULL where no size was tried.
 * @return TUNER_FAILED if a size cannot be prepared; the error names each. The others are prepared.
 */
TUNER_API tuner_status tuner_prepare(tuner_dispatcher* dispatcher, uint32_t family,
                                     const tuner_size* sizes, size_t count,
                                     tuner_choose_by choose_by, const char* const** errors);

/** How well an answer fits the requested size. */
typedef enum {
  TUNER_RUNG_EXACT,         /**< tuned for this size on this device */
  TUNER_RUNG_STALE,         /**< tuned for it with another driver or compiler */
  TUNER_RUNG_NEAREST,       /**< tuned for another size on this device, valid for this one */
  TUNER_RUNG_LIBRARY_TUNED, /**< the library, by the algorithm that was fastest for this size */
  TUNER_RUNG_LIBRARY,       /**< the library */
  TUNER_RUNG_DEFAULT        /**< never tuned here: the kernel's default configuration */
} tuner_rung;

/** What would run for a size. Texts are valid until the calling thread's next tuner_answer(). */
typedef struct {
  size_t struct_size;        /**< sizeof(tuner_answer_info), before the call too */
  tuner_rung rung;           /**< how well it fits */
  const char* kernel;        /**< name of the kernel; empty: the library */
  const char* configuration; /**< a JSON object; empty: the library */
  const char* explanation;   /**< why; one reason for each line */
  double expected_ns;        /**< expected time of a launch in ns; negative: not known */
  double distance;           /**< from the tuned size: the largest |ln(requested / tuned)| */
  int prepared;              /**< not 0: a launch compiles and loads nothing */
  double
      saved_ns; /**< by which the library's own choice is expected to take longer; 0: not known */
} tuner_answer_info;

/** What tuner_launch() would run for a size. Runs and compiles nothing.
 *
 * @param dispatcher Not NULL.
 * @param family From tuner_find_family().
 * @param size Numbers in the order of the space file's dimensions.
 * @param dimensions Numbers in `size`.
 * @param[out] answer Not NULL; but for its `struct_size` set on TUNER_OK only.
 * @return TUNER_FAILED if the size is not one of the family's, or nothing can be launched at it. */
TUNER_API tuner_status tuner_answer(const tuner_dispatcher* dispatcher, uint32_t family,
                                    const int64_t* size, size_t dimensions,
                                    tuner_answer_info* answer);

/** What launches ran since the dispatcher was opened. */
typedef struct {
  const char* family; /**< of products without a family in the table: "gemm" */
  tuner_rung rung;    /**< what served them */
  int is_tuned;       /**< not 0: something was tuned, or pinned, at the very size */
  uint64_t sizes;     /**< that were prepared for it; a size anew after it was dropped */
  uint64_t launches;  /**< so far; in a graph, of the capture */
} tuner_served_info;

/** What served the launches so far. Where all are of tuned sizes, the table was complete for this
 * program.
 *
 * @param dispatcher Not NULL.
 * @param element_size sizeof(tuner_served_info).
 * @param[out] served A count by family, rung and whether the size was tuned. Valid until the
 * calling thread's next tuner_served(). Set on TUNER_OK only.
 * @param[out] count Number of counts. Set on TUNER_OK only.
 * @return TUNER_FAILED after a fork. */
TUNER_API tuner_status tuner_served(const tuner_dispatcher* dispatcher, size_t element_size,
                                    const tuner_served_info** served, size_t* count);

/** Writes the choices in force: what sizes that were prepared or launched lately are served by.
 * With TUNER_MODE_PINNED another process serves them in the same way, with the same results.
 *
 * @param dispatcher Not NULL.
 * @param file Where they go. Not NULL.
 * @return TUNER_FAILED if the file cannot be written. */
TUNER_API tuner_status tuner_pin(const tuner_dispatcher* dispatcher, const char* file);

/** The type of an argument. It must be the one declared in the space file; integers of 8 and 16
 * bits are passed as int or unsigned, unsigned long long as long long. */
typedef enum {
  TUNER_POINTER,   /**< value.pointer: device memory */
  TUNER_INT,       /**< value.i32 */
  TUNER_UNSIGNED,  /**< value.u32 */
  TUNER_LONG_LONG, /**< value.i64 */
  TUNER_FLOAT,     /**< value.f32 */
  TUNER_DOUBLE,    /**< value.f64 */
  /** value.pointer: elements in host memory, as many as the space file declares at the size, for an
   * array that the kernel takes by value. They are read before the call returns. */
  TUNER_ARRAY
} tuner_argument_type;

/** An argument that a launch gives, as the space file declares it. Texts are valid until the
 * calling thread's next tuner_arguments(). */
typedef struct {
  const char* name;         /**< in the space file */
  tuner_argument_type type; /**< what is passed */
  const char* element;      /**< POINTER, ARRAY: the type of an element, as in C++; else empty */
  int64_t elements;         /**< POINTER, ARRAY: how many the size needs */
  int is_written;           /**< POINTER: not 0 where a kernel changes what it points to */
} tuner_argument_info;

/** A size from its text, as `tune --size` takes it: "4096,1024,TYPE=bf16". Here the values of a
 * dimension of types have their names; in numbers they count from 0, in the order of the space
 * file.
 *
 * @param dispatcher Not NULL.
 * @param family From tuner_find_family().
 * @param text Not NULL: the required dimensions in order, then others by name.
 * @param[out] size A number for each dimension. Valid until the calling thread's next
 * tuner_parse_size(). Set on TUNER_OK only.
 * @param[out] dimensions Numbers in `size`. Set on TUNER_OK only.
 * @return TUNER_FAILED if it is no size of the family's. */
TUNER_API tuner_status tuner_parse_size(const tuner_dispatcher* dispatcher, uint32_t family,
                                        const char* text, const int64_t** size, size_t* dimensions);

/** What tuner_launch() takes at a size.
 *
 * @param dispatcher Not NULL.
 * @param family From tuner_find_family().
 * @param size Numbers in the order of the space file's dimensions.
 * @param dimensions Numbers in `size`; trailing dimensions with a default may be omitted.
 * @param element_size sizeof(tuner_argument_info).
 * @param[out] arguments The arguments in the order of tuner_launch(). Valid until the calling
 *        thread's next tuner_arguments(). Set on TUNER_OK only.
 * @param[out] count Number of arguments. Set on TUNER_OK only.
 * @return TUNER_FAILED if the size is not one of the family's. */
TUNER_API tuner_status tuner_arguments(const tuner_dispatcher* dispatcher, uint32_t family,
                                       const int64_t* size, size_t dimensions, size_t element_size,
                                       const tuner_argument_info** arguments, size_t* count);

/** The value of an argument; the argument's type says which member is set. */
typedef union {
  const void* pointer; /**< TUNER_POINTER, TUNER_ARRAY; not NULL */
  int32_t i32;         /**< TUNER_INT */
  uint32_t u32;        /**< TUNER_UNSIGNED */
  int64_t i64;         /**< TUNER_LONG_LONG */
  float f32;           /**< TUNER_FLOAT */
  double f64;          /**< TUNER_DOUBLE */
} tuner_argument_value;

/** An argument of a launch. */
typedef struct {
  tuner_argument_type type;   /**< which member of `value` is set */
  tuner_argument_value value; /**< what is passed */
} tuner_argument;

/** Enqueues the best kernel, or the library, on a stream.
 *
 * A size that is new is compiled, or read from the cache, and loaded first. During capture of the
 * stream into a graph nothing is compiled or loaded: prepare its sizes before. A kernel that cannot
 * be compiled, loaded or launched is not tried again in this process; the next best replaces it.
 *
 * @param dispatcher Not NULL.
 * @param family From tuner_find_family().
 * @param size Numbers in the order of the space file's dimensions.
 * @param dimensions Numbers in `size`; trailing dimensions with a default may be omitted.
 * @param arguments The family's arguments in the order of the space file, without those that the
 *        size decides: every buffer, every array, every number whose value is a constant there.
 * @param count Number of arguments.
 * @param stream Where the work is enqueued.
 * @return TUNER_FAILED if nothing can run, if size or arguments are not the family's, if a buffer
 *         is NULL, if it is less aligned than the space file declares and nothing else serves it,
 * or if the device has failed. */
TUNER_API tuner_status tuner_launch(tuner_dispatcher* dispatcher, uint32_t family,
                                    const int64_t* size, size_t dimensions,
                                    const tuner_argument* arguments, size_t count,
                                    tuner_stream stream);

/** Launches as tuner_launch() and writes the launch with its data into a new folder: a space file
 * whose inputs and right results are those of the launch, for `tune --space`. Waits for the stream.
 *
 * @param dispatcher Not NULL.
 * @param family From tuner_find_family().
 * @param size As of tuner_launch().
 * @param dimensions As of tuner_launch().
 * @param arguments As of tuner_launch().
 * @param count As of tuner_launch().
 * @param stream As of tuner_launch().
 * @param folder The new folder. The user alone can read it: it holds the buffers' contents. Not
 * NULL.
 * @param limit_bytes Most bytes of all buffers; 0: 4 GiB.
 * @param[out] space_file NULL, or the space file's path. Valid until the calling thread's next
 *        tuner_capture_launch(). Set on TUNER_OK only.
 * @return As tuner_launch(); also TUNER_FAILED where the stream is captured into a graph, and,
 * after the launch, where the folder exists or cannot be written. */
TUNER_API tuner_status tuner_capture_launch(tuner_dispatcher* dispatcher, uint32_t family,
                                            const int64_t* size, size_t dimensions,
                                            const tuner_argument* arguments, size_t count,
                                            tuner_stream stream, const char* folder,
                                            uint64_t limit_bytes, const char** space_file);

/** Whether a product takes a matrix as it is stored, or its transpose. */
typedef enum {
  TUNER_NO_TRANSPOSE, /**< op(X) = X */
  TUNER_TRANSPOSE     /**< op(X) = Xᵀ: the matrix is stored transposed */
} tuner_transpose;

/** C = alpha·op(A)·op(B) + beta·C in single precision, for row-major matrices in device memory.
 *
 * Served by the family "gemm", or by the library where the table has no such family or no kernel
 * can. Where m or n is 0 nothing is done. With beta = 0, C is not read; with alpha = 0, A and B are
 * not read. A matrix without elements may have the leading dimension 0.
 *
 * @param dispatcher Not NULL.
 * @param stream Where the work is enqueued.
 * @param trans_a Whether A is stored transposed (k×m instead of m×k).
 * @param trans_b Whether B is stored transposed (n×k instead of k×n).
 * @param m Rows of op(A) and C, 0 or more.
 * @param n Columns of op(B) and C, 0 or more.
 * @param k Columns of op(A), rows of op(B), 0 or more.
 * @param alpha Factor of the product.
 * @param a Matrix A, on any element's boundary, as B and C.
 * @param lda Floats from one stored row of A to the next, at least the row's length.
 * @param b Matrix B.
 * @param ldb Floats from one stored row of B to the next.
 * @param beta Factor of C.
 * @param c Matrix C, m×n; read and written.
 * @param ldc Floats from one row of C to the next.
 * @return As tuner_launch(). */
TUNER_API tuner_status tuner_sgemm(tuner_dispatcher* dispatcher, tuner_stream stream,
                                   tuner_transpose trans_a, tuner_transpose trans_b, int64_t m,
                                   int64_t n, int64_t k, float alpha, const float* a, int64_t lda,
                                   const float* b, int64_t ldb, float beta, float* c, int64_t ldc);

/** As tuner_sgemm(), for `batch` products whose matrices lie at constant strides.
 *
 * Kernels serve batches whose matrices are contiguous (stride = stored rows · leading dimension);
 * the library serves any other.
 *
 * @param dispatcher Not NULL.
 * @param stream Where the work is enqueued.
 * @param trans_a As of tuner_sgemm(), for every matrix.
 * @param trans_b As of tuner_sgemm().
 * @param m As of tuner_sgemm().
 * @param n As of tuner_sgemm().
 * @param k As of tuner_sgemm().
 * @param alpha As of tuner_sgemm().
 * @param a The first matrix A.
 * @param lda As of tuner_sgemm().
 * @param stride_a Floats from one A to the next; 0: one A for all.
 * @param b The first matrix B.
 * @param ldb As of tuner_sgemm().
 * @param stride_b Floats from one B to the next; 0: one B for all.
 * @param beta As of tuner_sgemm().
 * @param c The first matrix C.
 * @param ldc As of tuner_sgemm().
 * @param stride_c Floats from one C to the next.
 * @param batch Number of products, 0 or more.
 * @return As tuner_launch(). */
TUNER_API tuner_status tuner_sgemm_strided_batched(
    tuner_dispatcher* dispatcher, tuner_stream stream, tuner_transpose trans_a,
    tuner_transpose trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a,
    int64_t lda, int64_t stride_a, const float* b, int64_t ldb, int64_t stride_b, float beta,
    float* c, int64_t ldc, int64_t stride_c, int64_t batch);

/** The types of a product, named as in the dimension TYPE of the families "gemm" and
 * "gemm_tensor". */
typedef enum tuner_gemm_type {
  TUNER_GEMM_F32 = 0,      /**< float */
  TUNER_GEMM_BF16 = 1,     /**< matrices of __nv_bfloat16; sums and factors in float */
  TUNER_GEMM_F16 = 2,      /**< matrices of __half; sums and factors in float */
  TUNER_GEMM_F64 = 3,      /**< double */
  TUNER_GEMM_S8 = 4,       /**< A and B of signed char; C, sums and factors of int */
  TUNER_GEMM_BF16_F32 = 5, /**< A and B of __nv_bfloat16; C, sums and factors in float */
  TUNER_GEMM_F16_F32 = 6,  /**< A and B of __half; C, sums and factors in float */
  TUNER_GEMM_TF32 = 7,     /**< all float; of A and B 19 bits may be read */
  TUNER_GEMM_E4M3 = 8      /**< A and B of __nv_fp8_e4m3, C of __nv_bfloat16; else float */
} tuner_gemm_type;

/** Which dimension of C indexes a bias. */
typedef enum tuner_bias {
  TUNER_BIAS_NONE = 0,       /**< there is none */
  TUNER_BIAS_PER_COLUMN = 1, /**< one number for each of the n columns of C */
  TUNER_BIAS_PER_ROW = 2     /**< one number for each of the m rows of C */
} tuner_bias;

/** A function of each element of C. */
typedef enum tuner_activation {
  TUNER_ACTIVATION_NONE = 0, /**< there is none */
  TUNER_ACTIVATION_RELU = 1, /**< ReLU */
  TUNER_ACTIVATION_GELU = 2  /**< GELU by tanh */
} tuner_activation;

/** A stride of a batch whose matrices lie one behind the other: stored rows · leading dimension. */
#define TUNER_STRIDE_PACKED INT64_MIN

/** A product C = activation(alpha·op(A)·op(B) + beta·C + bias + residual) for each matrix of a
 * batch, row-major. Each of the last four members is omitted from it if 0. */
typedef struct tuner_gemm_problem {
  size_t struct_size;      /**< sizeof(tuner_gemm_problem) */
  tuner_gemm_type type;    /**< of the matrices, sums and factors */
  tuner_transpose trans_a; /**< whether A is stored transposed (k×m) */
  tuner_transpose trans_b; /**< whether B is stored transposed (n×k) */
  int64_t m;               /**< rows of op(A) and C, 0 or more */
  int64_t n;               /**< columns of op(B) and C, 0 or more */
  int64_t k;               /**< columns of op(A), rows of op(B), 0 or more */
  int64_t lda;             /**< elements from one stored row of A to the next; 0: its length */
  int64_t ldb;             /**< elements from one stored row of B to the next; 0: its length */
  int64_t ldc;             /**< elements from one row of C to the next; 0: its length */
  int64_t batch;           /**< number of products, 0 or more */
  int64_t stride_a; /**< elements from one A to the next; 0: one A for all; not read if batch is 1;
                         or TUNER_STRIDE_PACKED */
  int64_t stride_b; /**< elements from one B to the next, as stride_a */
  int64_t stride_c; /**< elements from one C to the next, as stride_a */
  tuner_bias bias_kind;        /**< what bias is */
  tuner_activation activation; /**< what follows the sum */
  const void* bias;            /**< elements of the type of C */
  const void* residual;        /**< of the type of C, lies as C does; NULL: none */
} tuner_gemm_problem;

/** A product in the types that the problem names: by a kernel of these types, else by the library.
 *
 * @param dispatcher Not NULL.
 * @param stream Where the work is enqueued.
 * @param problem Not NULL.
 * @param alpha Factor of the product, rounded to the type of the sums; of s8 a whole number.
 * @param a The first matrix A.
 * @param b The first matrix B.
 * @param beta Factor of C, as alpha.
 * @param c The first matrix C; read and written.
 * @return As tuner_launch(). */
TUNER_API tuner_status tuner_gemm(tuner_dispatcher* dispatcher, tuner_stream stream,
                                  const tuner_gemm_problem* problem, double alpha, const void* a,
                                  const void* b, double beta, void* c);

/** Where tuner_gemm() looks a product up, if its matrices begin at multiples of 16 bytes: for
 * tuner_prepare(), tuner_prepare_measured() and tuner_answer().
 *
 * @param dispatcher Not NULL.
 * @param problem Not NULL; nothing that it points to is read.
 * @param[out] family Its family. Set on TUNER_OK, if there is one.
 * @param[out] size A number for each dimension up to the last one that tuner_gemm() gives. Valid
 *        until the calling thread's next tuner_find_gemm(). Set on TUNER_OK only.
 * @param[out] dimensions Numbers in `size`; 0: the library serves the product whatever was tuned,
 * or there is nothing to do. Set on TUNER_OK only.
 * @return TUNER_FAILED where tuner_gemm() fails whatever the matrices hold. */
TUNER_API tuner_status tuner_find_gemm(const tuner_dispatcher* dispatcher,
                                       const tuner_gemm_problem* problem, uint32_t* family,
                                       const int64_t** size, size_t* dimensions);

#ifdef __cplusplus
}
#endif
