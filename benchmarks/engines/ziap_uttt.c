// ziap/uttt as a program for the arena's agent `engine`; build it in a copy of their folder src:
//
//   git clone https://github.com/ziap/uttt && cd uttt
//   gcc -std=gnu11 -O3 -march=native -fshort-enums -I src -o ziap-uttt PATH/TO/benchmarks/engines/ziap_uttt.c \
//       src/node.c src/random.c src/result_table.c src/state.c -lm
//
// Their search is used unchanged; its file is included because its functions are static.  It is asked again and again
// for a short search until the processor time is over; their own program chooses the child with the best mean.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mcts.c"

void log_error(const char *text, u32 size) { fwrite(text, 1, size, stderr); }
void dump(f32 value) { (void)value; }

static Node nodes[1 << 23];
static NodeArena arena = {.nodes = nodes, .capacity = 1 << 23};

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void set_position(State *state, const char *cells, const char *target, const char *mover) {
  State_init(state);
  for (int square = 0; square < 81; ++square)
    if (cells[square] != '.') state->boards[square / 9] |= (cells[square] == 'x' ? 1u : 2u) << (square % 9 * 2);
  for (int board = 0; board < 9; ++board)
    state->boards[9] |= (u32)RESULT_TABLE[state->boards[board]] << (board * 2);
  state->last_move = target[0] == '-' ? -1 : (i8)(target[0] - '0');
  state->player = mover[0] == 'x' ? PLAYER_X : PLAYER_O;
  state->result = RESULT_TABLE[state->boards[9]];
}

int main(void) {
  static char line[256], cells[128], target[8], mover[8];
  State state;
  unsigned long long seed = 1;
  double seconds;
  create_table();
  State_init(&state);
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "seed %llu", &seed) == 1) continue;
    if (sscanf(line, "position %100s %4s %4s", cells, target, mover) == 3) {
      set_position(&state, cells, target, mover);
    } else if (sscanf(line, "go %lf", &seconds) == 1) {
      double until = processor_seconds() + seconds;
      MCTS searcher;
      mcts_init(&searcher, ++seed * 6364136223846793005ULL, &arena);
      do {
        i32 steps = 1 << 12;
        while (steps > 0) mcts_search(&searcher, state, &steps, &arena);
      } while (processor_seconds() < until);
      Node *root = arena.nodes, *chosen = NULL;
      for (u32 n = 0; n < root->children_count; ++n) {
        Node *child = root + root->children + n;
        if (child->samples &&
            (!chosen || (f32)child->value / (f32)child->samples > (f32)chosen->value / (f32)chosen->samples))
          chosen = child;
      }
      if (!chosen) chosen = root + root->children;
      printf("move %d %d\n", chosen->move.grid, chosen->move.cell);
      fflush(stdout);
    }
  }
  return 0;
}
