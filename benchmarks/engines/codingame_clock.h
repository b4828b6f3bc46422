// A clock for bots that are written for CodinGame, which think until some time on the wall has passed: it counts the
// processor time that they use, FASTER times as fast.  So the machine may be busy, and a bot with 0.1 s for a move takes
// less.  Bots of C++ that use std::chrono::steady_clock are built with it, unchanged, such as
// https://github.com/DiMasta/TicTacToe, whose 108 ms become 20 ms (and its 998 ms for the first move become 185 ms):
//
//   git clone https://github.com/DiMasta/TicTacToe
//   g++ -std=c++17 -O3 -march=native -w -DFASTER=5.4 -include PATH/TO/benchmarks/engines/codingame_clock.h
//       -o dimasta TicTacToe/TicTacToe/tic_tac_toe.cpp
#include <bits/stdc++.h>

namespace std {
namespace chrono {
struct processor_clock {
  typedef nanoseconds duration;
  typedef duration::rep rep;
  typedef duration::period period;
  typedef chrono::time_point<processor_clock> time_point;
  static const bool is_steady = true;
  static time_point now() {
    timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return time_point(duration(static_cast<rep>(FASTER * (1e9 * used.tv_sec + used.tv_nsec))));
  }
};
}  // namespace chrono
}  // namespace std

#define steady_clock processor_clock
