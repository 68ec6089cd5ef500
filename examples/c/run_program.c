/* Runs an exported program on inputs of ones and prints its first output. Sizes that vary are 1.
 *
 *   cc run_program.c -llucid_runtime && ./a.out model.lucid
 */
#include <lucid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* ones(const lucid_tensor* tensor) {
  size_t count = 1;
  for (int i = 0; i < tensor->rank; ++i) count *= (size_t)tensor->shape[i];
  char* data = calloc(count + 1, lucid_dtype_size(tensor->dtype));
  for (size_t i = 0; i < count; ++i) {
    if (tensor->dtype == LUCID_F32) ((float*)data)[i] = 1;
    if (tensor->dtype == LUCID_I64) ((int64_t*)data)[i] = 1;
  }
  return data;
}

int main(int argc, char** argv) {
  lucid_program* program = argc > 1 ? lucid_program_load(argv[1], LUCID_TRUSTED) : NULL;
  if (!program) return fprintf(stderr, "%s\n", argc > 1 ? lucid_error() : "give the path of a program"), 1;
  size_t input_count = lucid_program_input_count(program), output_count = lucid_program_output_count(program);
  lucid_tensor* inputs = calloc(input_count + 1, sizeof *inputs);
  lucid_tensor* outputs = calloc(output_count + 1, sizeof *outputs);
  for (size_t i = 0; i < input_count; ++i) {
    const lucid_spec* spec = lucid_program_input(program, i);
    inputs[i].dtype = spec->dtype;
    inputs[i].rank = spec->rank;
    for (int dim = 0; dim < spec->rank; ++dim) inputs[i].shape[dim] = spec->shape[dim] < 0 ? 1 : spec->shape[dim];
    inputs[i].data = ones(&inputs[i]);
  }
  int failed = lucid_program_run(program, inputs, input_count, outputs, output_count);
  if (failed) fprintf(stderr, "%s\n", lucid_error());
  if (!failed && outputs[0].dtype == LUCID_F32) printf("%s: %g ...\n", lucid_program_name(program), ((float*)outputs[0].data)[0]);
  lucid_tensor_release(outputs, failed ? 0 : output_count);
  for (size_t i = 0; i < input_count; ++i) free(inputs[i].data);
  free(inputs), free(outputs), lucid_program_free(program);
  return failed ? 1 : 0;
}
