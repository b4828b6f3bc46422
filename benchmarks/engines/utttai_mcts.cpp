// The plain Monte Carlo tree search of ar-nowaczynski/utttai as a program for the arena's agent `engine`:
//
//   git clone https://github.com/ar-nowaczynski/utttai && cd utttai/utttcpp
//   sources="src/utttcpp/game/*.cpp src/utttcpp/helpers/*.cpp src/utttcpp/selfplay/monteCarloTreeSearch.cpp"
//   g++ -std=c++11 -O3 -march=native -Iinclude -o utttai-mcts PATH/TO/benchmarks/engines/utttai_mcts.cpp $sources
//
// Their search is used unchanged, with the exploration strength 2 of their scripts; the most visited move is chosen.
// It is asked again and again for 64 more games until the processor time is over.
#include <cstdio>
#include <cstring>
#include <ctime>

#include "utttcpp/helpers/prngMersenneTwister.hpp"
#include "utttcpp/selfplay/monteCarloTreeSearch.hpp"

using namespace utttcpp;

static double processor_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

static unsigned char result(const unsigned char *cells) {  // of a small board, or of the large one
    for (const char *line : {"012", "345", "678", "036", "147", "258", "048", "246"}) {
        const unsigned char one = cells[line[0] - '0'], two = cells[line[1] - '0'], three = cells[line[2] - '0'];
        if (one && one != DRAW_STATE_VALUE && one == two && one == three) return one;
    }
    return std::memchr(cells, 0, 9) ? 0 : DRAW_STATE_VALUE;
}

int main() {
    char line[256], cells[128], target[8], mover[8];
    unsigned char state[STATE_SIZE] = {};
    unsigned long long seed;
    double seconds;
    while (std::fgets(line, sizeof line, stdin)) {
        if (std::sscanf(line, "seed %llu", &seed) == 1) {
            InitializeMersenneTwisterPRNG(seed % 4294967295u + 1);  // from 0, all its numbers are 0
        } else if (std::sscanf(line, "position %100s %4s %4s", cells, target, mover) == 3) {
            for (int n = 0; n < 81; ++n)
                state[n] = cells[n] == '.' ? 0 : cells[n] == 'x' ? X_STATE_VALUE : O_STATE_VALUE;
            for (int n = 0; n < 9; ++n) state[81 + n] = result(state + 9 * n);
            state[NEXT_SYMBOL_STATE_INDEX] = mover[0] == 'x' ? X_STATE_VALUE : O_STATE_VALUE;
            state[CONSTRAINT_STATE_INDEX] = target[0] == '-' ? UNCONSTRAINED_STATE_VALUE : target[0] - '0';
        } else if (std::sscanf(line, "go %lf", &seconds) == 1) {
            const double until = processor_seconds() + seconds;
            UltimateTicTacToe *position = new UltimateTicTacToe();
            position->setState(state);
            MonteCarloTreeSearch search(position, 0, 2.0);
            for (; processor_seconds() < until || !search.numSimulations; search.run()) search.numSimulations += 64;
            Node *root = search.tree->root, *best = root->childNodes[0];
            for (int n = 1; n < root->childNodesLength; ++n)
                if (root->childNodes[n]->numVisits > best->numVisits) best = root->childNodes[n];
            std::printf("move %d %d\n", best->action.index / 9, best->action.index % 9);
            std::fflush(stdout);
        }
    }
}
