/* Runs programs that lucid.export() wrote. C99.
 *
 * Link with -llucid_runtime, which has no compiler and runs the machine code in the file, or with -llucid, which can
 * also compile the program from its graph. Any thread may call any function, except that no thread may use a program
 * while it is freed. Programs compute no gradients.
 */
#ifndef LUCID_H
#define LUCID_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

typedef enum {
  LUCID_BOOL,
  LUCID_U8,
  LUCID_I8,
  LUCID_I16,
  LUCID_I32,
  LUCID_I64,
  LUCID_F16,
  LUCID_BF16,
  LUCID_F32,
  LUCID_F64
} lucid_dtype;

#define LUCID_MAX_RANK 16

/* A tensor in memory, its elements in row-major order without gaps. */
typedef struct {
  lucid_dtype dtype;
  int32_t rank;
  int64_t shape[LUCID_MAX_RANK];
  void* data;
  void* owner; /* of a result; NULL for other tensors */
} lucid_tensor;

/* What a program takes or returns. A size that varies is -1; size_names then has its name, or NULL if it has none,
 * such as twice the batch in an output. The strings live as long as the program. */
typedef struct {
  const char* name;
  lucid_dtype dtype;
  int32_t rank;
  int64_t shape[LUCID_MAX_RANK];
  const char* size_names[LUCID_MAX_RANK];
} lucid_spec;

typedef struct lucid_program lucid_program;

/* Flags of lucid_program_load(). The machine code in a file can do anything that the process can: it runs only if the
 * caller trusts the file. */
enum { LUCID_TRUSTED = 1 };

/* Loads a program from a file; `flags` is 0 or LUCID_TRUSTED. Without it, liblucid compiles the program from its graph,
 * and liblucid_runtime, which cannot, fails. Returns NULL on failure; lucid_error() then says why. */
lucid_program* lucid_program_load(const char* path, unsigned flags);
/* A program in an object file, which lucid.export(ahead_of_time=True) wrote together with a header. */
typedef struct {
  const void* bytes;
  size_t size;
  void* const* kernels;
  size_t kernel_count;
} lucid_linked_program;

/* Returns NULL on failure. The linked program must stay in memory. */
lucid_program* lucid_program_open(const lucid_linked_program* linked);
/* Another instance, which shares the weights and the machine code, with its own state, as in the file. Returns NULL on
 * failure. */
lucid_program* lucid_program_copy(const lucid_program* program);
/* Does nothing for NULL. No other thread may be using the program. */
void lucid_program_free(lucid_program* program);

/* What a program is. For NULL these return NULL or 0, and set no error. */
const char* lucid_program_name(const lucid_program* program);
size_t lucid_program_input_count(const lucid_program* program);
size_t lucid_program_output_count(const lucid_program* program);
/* NULL if there is no such input or output. */
const lucid_spec* lucid_program_input(const lucid_program* program, size_t index);
const lucid_spec* lucid_program_output(const lucid_program* program, size_t index);

/* Runs the program. Returns 0, or -1 on failure, such as a program that is NULL: then the outputs are not set, and the
 * state is as before. The caller releases the outputs. Calls of one program that write its state wait for each other.
 */
int lucid_program_run(lucid_program* program, const lucid_tensor* inputs, size_t input_count, lucid_tensor* outputs,
                      size_t output_count);
/* Gives the state the contents that it had in the file. Returns 0, or -1 on failure. */
int lucid_program_reset(lucid_program* program);

/* Frees the memory of results and sets `data` and `owner` to NULL. */
void lucid_tensor_release(lucid_tensor* tensors, size_t count);

/* The size of an element in bytes. */
size_t lucid_dtype_size(lucid_dtype dtype);

/* Sets the number of threads that run kernels, at least 1; by default one for each CPU. Returns 0, or -1 on failure. */
int lucid_set_threads(int threads);

/* Why the last function of this thread failed, in English. Valid until the thread calls another function. */
const char* lucid_error(void);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
