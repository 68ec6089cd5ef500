/* Runs a program on inputs of zeros: programs <file> <calls> <size of each symbol>...
 * Prints the milliseconds of loading it, of the first call and of the fastest call. */
#include <lucid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static int fail(void) { return fprintf(stderr, "%s\n", lucid_error()), 1; }

/* The size that the command line gives a symbol: "batch=4". */
static int64_t size_of(const char* name, int argc, char** argv) {
  for (int i = 3; i < argc; ++i)
    if (strncmp(argv[i], name, strlen(name)) == 0 && argv[i][strlen(name)] == '=') return atoi(argv[i] + strlen(name) + 1);
  return 1;
}

int main(int argc, char** argv) {
  lucid_tensor inputs[8] = {0}, outputs[8] = {0};
  const double start = now();
  lucid_program* program = lucid_program_load(argv[1], LUCID_TRUSTED);
  if (!program) return fail();
  const double loaded = now();
  const size_t input_count = lucid_program_input_count(program), output_count = lucid_program_output_count(program);
  for (size_t i = 0; i < input_count; ++i) {
    const lucid_spec* spec = lucid_program_input(program, i);
    size_t count = lucid_dtype_size(spec->dtype);
    inputs[i].dtype = spec->dtype;
    inputs[i].rank = spec->rank;
    for (int dim = 0; dim < spec->rank; ++dim) {
      inputs[i].shape[dim] = spec->shape[dim] < 0 ? size_of(spec->size_names[dim], argc, argv) : spec->shape[dim];
      count *= (size_t)inputs[i].shape[dim];
    }
    inputs[i].data = calloc(count + 1, 1);
  }
  const double before = now();
  if (lucid_program_run(program, inputs, input_count, outputs, output_count)) return fail();
  const double first = now() - before;
  double best = first;
  for (int call = atoi(argv[2]); call > 0; --call) {
    lucid_tensor_release(outputs, output_count);
    if (lucid_program_reset(program)) return fail();
    const double begin = now();
    if (lucid_program_run(program, inputs, input_count, outputs, output_count)) return fail();
    const double took = now() - begin;
    if (took < best) best = took;
  }
  printf("%.4f %.4f %.5f\n", loaded - start, first, best);
  return 0;
}
