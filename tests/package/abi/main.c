/* SPDX-License-Identifier: Apache-2.0 */
/* The application of main.cpp in C99:
 *   main TABLE */

#include "tuner/dispatch/dispatch.h"

#include <stdio.h>

static const char* const kRungs[] = {"exact",         "stale",   "nearest",
                                     "library_tuned", "library", "default"};

/* Prints why a call failed. */
static void print_error(const char* what, tuner_status status) {
  printf("%s: %s\n", what, status == TUNER_OK ? "no error" : tuner_last_error());
}

static tuner_status print_prepared(tuner_dispatcher* dispatcher, uint32_t family) {
  const int64_t good[] = {1000}, bad[] = {1, 2};
  const tuner_size sizes[] = {{good, 1}, {bad, 2}};
  const char* const* errors = NULL;
  tuner_prepare(dispatcher, family, sizes, 2, TUNER_CHOOSE_BY_EXPECTATION, &errors);
  if (errors == NULL) return TUNER_FAILED;
  for (size_t i = 0; i < 2; ++i) {
    printf("prepared %d: ", (int)sizes[i].numbers[0]);
    if (errors[i][0] != '\0') {
      printf("%s\n", errors[i]);
      continue;
    }
    tuner_answer_info answer = {.struct_size = sizeof answer};
    if (tuner_answer(dispatcher, family, sizes[i].numbers, sizes[i].dimensions, &answer) !=
        TUNER_OK) {
      return TUNER_FAILED;
    }
    printf("%s %s %s%s\n", kRungs[answer.rung], answer.kernel, answer.configuration,
           answer.explanation[0] == '\0' ? "" : ", explained");
  }
  return TUNER_OK;
}

static tuner_status launch_saxpy(tuner_dispatcher* dispatcher) {
  static float x[1000], y[1000];
  const int64_t size[] = {1000};
  uint32_t family = 0;
  if (tuner_find_family(dispatcher, "saxpy", &family) != TUNER_OK ||
      print_prepared(dispatcher, family) != TUNER_OK) {
    return TUNER_FAILED;
  }
  const tuner_argument_info* infos = NULL;
  size_t count = 0;
  if (tuner_arguments(dispatcher, family, size, 1, sizeof *infos, &infos, &count) != TUNER_OK) {
    return TUNER_FAILED;
  }
  for (size_t i = 0; i < count; ++i) {
    printf("argument %s %s %d %d\n", infos[i].name, infos[i].element, (int)infos[i].elements,
           infos[i].is_written);
  }
  for (size_t i = 0; i < 1000; ++i) {
    x[i] = 3;
    y[i] = 1;
  }
  const tuner_argument arguments[] = {
      {TUNER_FLOAT, {.f32 = 2}}, {TUNER_POINTER, {x}}, {TUNER_POINTER, {y}}};
  if (tuner_launch(dispatcher, family, size, 1, arguments, 3, NULL) != TUNER_OK) {
    return TUNER_FAILED;
  }
  printf("y: %g %g\n", (double)y[0], (double)y[999]);
  const tuner_served_info* served = NULL;
  if (tuner_served(dispatcher, sizeof *served, &served, &count) != TUNER_OK) return TUNER_FAILED;
  for (size_t i = 0; i < count; ++i) {
    printf("served: %s %s %d\n", served[i].family, kRungs[served[i].rung], (int)served[i].launches);
  }
  print_error("too few arguments", tuner_launch(dispatcher, family, size, 1, NULL, 0, NULL));
  return TUNER_OK;
}

static tuner_status multiply(tuner_dispatcher* dispatcher) {
  const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
  float c[4] = {0};
  tuner_gemm_problem problem = {.struct_size = sizeof problem,
                                .trans_a = TUNER_TRANSPOSE,
                                .m = 2,
                                .n = 2,
                                .k = 2,
                                .batch = 1};
  if (tuner_gemm(dispatcher, NULL, &problem, 1, a, b, 0, c) != TUNER_OK) return TUNER_FAILED;
  printf("c: %g %g %g %g\n", (double)c[0], (double)c[1], (double)c[2], (double)c[3]);
  problem.trans_a = TUNER_NO_TRANSPOSE;
  problem.lda = 1;
  print_error("lda", tuner_gemm(dispatcher, NULL, &problem, 1, a, b, 0, c));
  return TUNER_OK;
}

int main(int argc, char** argv) {
  const tuner_options options = {.struct_size = sizeof options, .backend = "cpu"};
  const tuner_table table = {TUNER_TABLE_FILE, argc > 1 ? argv[1] : ""};
  const tuner_table missing = {TUNER_TABLE_FILE, "no such table"}, none = {TUNER_TABLE_NONE, NULL};
  tuner_dispatcher* dispatcher = NULL;
  uint32_t family = 0;
  print_error("no table", tuner_open(missing, &options, &dispatcher));
  tuner_status status = tuner_open(table, &options, &dispatcher);
  if (status == TUNER_OK) {
    printf("gemm: %s\n",
           tuner_find_family(dispatcher, "gemm", &family) == TUNER_NO_FAMILY ? "unknown" : "known");
    print_error("family", tuner_find_family(dispatcher, "saxpi", &family));
    status = launch_saxpy(dispatcher);
  }
  if (status == TUNER_OK) status = tuner_reload(dispatcher, none);
  if (status == TUNER_OK) status = multiply(dispatcher);
  if (status != TUNER_OK) fprintf(stderr, "%s\n", tuner_last_error());
  tuner_close(dispatcher);
  return status == TUNER_OK ? 0 : 1;
}
