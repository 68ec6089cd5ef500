/* Runs an exported program: program_runner PROGRAM FLAGS FOLDER CALLS [NAME=SIZE]...
 *
 * Call i reads its inputs from FOLDER/i.input.0, FOLDER/i.input.1, ... and writes FOLDER/i.output.0, ..., as raw bytes.
 * Sizes that vary are given by their names. Prints /proc/self/maps. */
#include <lucid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "%s: %s\n", what, lucid_error());
  exit(1);
}

static size_t bytes_of(const lucid_tensor* tensor) {
  size_t bytes = lucid_dtype_size(tensor->dtype);
  for (int i = 0; i < tensor->rank; ++i) bytes *= (size_t)tensor->shape[i];
  return bytes;
}

static void transfer(const char* folder, int call, const char* kind, size_t index, const lucid_tensor* tensor) {
  char path[4096];
  const int is_input = strcmp(kind, "input") == 0;
  snprintf(path, sizeof path, "%s/%d.%s.%d", folder, call, kind, (int)index);
  FILE* file = fopen(path, is_input ? "rb" : "wb");
  require(file != NULL, path);
  const size_t bytes = bytes_of(tensor);
  const size_t done = is_input ? fread(tensor->data, 1, bytes, file) : fwrite(tensor->data, 1, bytes, file);
  require(fclose(file) == 0 && done == bytes, path);
}

int main(int argc, char** argv) {
  require(argc >= 5, "too few arguments");
  lucid_program* program = lucid_program_load(argv[1], (unsigned)atoi(argv[2]));
  require(program != NULL, "load");
  const size_t input_count = lucid_program_input_count(program), output_count = lucid_program_output_count(program);
  lucid_tensor inputs[8], outputs[8];
  for (size_t i = 0; i < input_count; ++i) {
    const lucid_spec* spec = lucid_program_input(program, i);
    inputs[i].dtype = spec->dtype, inputs[i].rank = spec->rank;
    for (int dim = 0; dim < spec->rank; ++dim) {
      inputs[i].shape[dim] = spec->shape[dim];
      for (int k = 5; k < argc && spec->shape[dim] < 0; ++k)
        if (!strncmp(argv[k], spec->size_names[dim], strcspn(argv[k], "="))) inputs[i].shape[dim] = atoi(strchr(argv[k], '=') + 1);
    }
    inputs[i].data = malloc(bytes_of(&inputs[i]) + 1);
  }
  for (int call = 0; call < atoi(argv[4]); ++call) {
    for (size_t i = 0; i < input_count; ++i) transfer(argv[3], call, "input", i, &inputs[i]);
    require(!lucid_program_run(program, inputs, input_count, outputs, output_count), "run");
    for (size_t i = 0; i < output_count; ++i) transfer(argv[3], call, "output", i, &outputs[i]);
    lucid_tensor_release(outputs, output_count);
  }
  FILE* maps = fopen("/proc/self/maps", "r");
  for (int c = fgetc(maps); c != EOF; c = fgetc(maps)) putchar(c);
  for (size_t i = 0; i < input_count; ++i) free(inputs[i].data);
  return lucid_program_free(program), fclose(maps);
}
