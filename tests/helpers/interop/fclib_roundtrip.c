/* Reads a problem with the C library of FCLib, prints all of it, and writes it again with that library.
 *
 *     fclib_roundtrip local|global IN OUT GUESSES SOLUTION
 *
 * GUESSES and SOLUTION are 1 where IN holds some, else 0: the library does not survive asking. A line of
 * output is a name and its numbers, with 17 digits; texts are printed as the codes of their characters.
 * `merit` is the library's own measure of a solution: zero if it solves the problem (local, 3D, and the
 * matrices must be compressed columns: the library leaves out others).
 * Used by tests/io/test_fclib.py.
 */
#include <fclib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_whole_numbers(const char *of, const char *name, const int *values, int count)
{
  printf("%s%s", of, name);
  for (int k = 0; k < count; k++) printf(" %d", values[k]);
  printf("\n");
}

static void print_numbers(const char *of, const char *name, const double *values, int count)
{
  if (!values) return;
  printf("%s%s", of, name);
  for (int k = 0; k < count; k++) printf(" %.17g", values[k]);
  printf("\n");
}

static void print_text(const char *name, const char *text)
{
  printf("%s", name);
  for (const char *c = text ? text : ""; *c; c++) printf(" %d", (unsigned char)*c);
  printf("\n");
}

static void print_info(const struct fclib_info *info)
{
  print_text("title", info ? info->title : NULL);
  print_text("description", info ? info->description : NULL);
  print_text("math_info", info ? info->math_info : NULL);
}

static void print_matrix(const char *name, const struct fclib_matrix *matrix)
{
  if (!matrix) return;
  int entries = matrix->nz >= 0 ? matrix->nz : matrix->nzmax;
  int pointers = matrix->nz >= 0 ? matrix->nz : (matrix->nz == -1 ? matrix->n : matrix->m) + 1;
  int sizes[4] = {matrix->m, matrix->n, matrix->nz, matrix->nzmax};
  print_whole_numbers(name, ".sizes", sizes, 4);
  print_whole_numbers(name, ".p", matrix->p, pointers);
  print_whole_numbers(name, ".i", matrix->i, entries);
  print_numbers(name, ".x", matrix->x, entries);
}

static void print_state(const char *of, const struct fclib_solution *state, int nr, int nv, int nl)
{
  print_numbers(of, ".r", state->r, nr);
  print_numbers(of, ".u", state->u, nr);
  print_numbers(of, ".v", state->v, nv);
  print_numbers(of, ".l", state->l, nl);
}

static int fail(const char *what)
{
  fprintf(stderr, "cannot %s\n", what);
  return 1;
}

int main(int count, char **argument)
{
  if (count != 6) return fail("go on: wrong number of arguments");
  const char *in = argument[2], *out = argument[3];
  int nr, nv = 0, nl = 0, dimension;
  struct fclib_local *local = NULL;
  if (strcmp(argument[1], "local") == 0)
  {
    struct fclib_local *problem = local = fclib_read_local(in);
    if (!problem) return fail("read a local problem");
    nr = problem->W->m;
    dimension = problem->spacedim;
    if (problem->R) nl = problem->R->m;
    print_matrix("W", problem->W);
    print_matrix("V", problem->V);
    print_matrix("R", problem->R);
    print_numbers("", "q", problem->q, nr);
    print_numbers("", "s", problem->s, nl);
    print_numbers("", "mu", problem->mu, nr / dimension);
    print_info(problem->info);
    if (!fclib_write_local(problem, out)) return fail("write a local problem");
  }
  else
  {
    struct fclib_global *problem = fclib_read_global(in);
    if (!problem) return fail("read a global problem");
    nv = problem->M->m;
    nr = problem->H->n;
    dimension = problem->spacedim;
    if (problem->G) nl = problem->G->n;
    print_matrix("M", problem->M);
    print_matrix("H", problem->H);
    print_matrix("G", problem->G);
    print_numbers("", "f", problem->f, nv);
    print_numbers("", "w", problem->w, nr);
    print_numbers("", "b", problem->b, nl);
    print_numbers("", "mu", problem->mu, nr / dimension);
    print_info(problem->info);
    if (!fclib_write_global(problem, out)) return fail("write a global problem");
  }
  print_whole_numbers("", "spacedim", &dimension, 1);
  if (atoi(argument[4]))
  {
    int guesses;
    struct fclib_solution *guess = fclib_read_guesses(in, &guesses);
    if (!guess) return fail("read guesses");
    for (int k = 0; k < guesses; k++)
    {
      char name[32];
      snprintf(name, sizeof name, "guess%d", k + 1);
      print_state(name, &guess[k], nr, nv, nl);
    }
    if (!fclib_write_guesses(guesses, guess, out)) return fail("write guesses");
  }
  if (atoi(argument[5]))
  {
    struct fclib_solution *solution = fclib_read_solution(in);
    if (!solution) return fail("read a solution");
    print_state("solution", solution, nr, nv, nl);
    if (local && dimension == 3)
    {
      double merit = fclib_merit_local(local, MERIT_1, solution);
      print_numbers("", "merit", &merit, 1);
    }
    if (!fclib_write_solution(solution, out)) return fail("write a solution");
  }
  return 0;
}
