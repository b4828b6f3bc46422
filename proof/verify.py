"""Verify a certificate: python verify.py certificate.txt.gz [--every-attempt]

It has the rules of a game, a claim about its value, and a plan for each player.  A plan gives each of the player's own
sequences an integer weight: divided by the plan's denominator, the probability that the player does their part of it.
A plan guarantees what it gets against a best response.  Both best responses are found here, in integers.
"""

import sys
import zlib
from fractions import Fraction
from pathlib import Path


class Certificate:
    """The rules and both plans, checked line by line.  A set of squares is an integer with a bit for each.
    An infoset is a tuple: its line, the player's marks, the weight that comes here, and its actions.  An action is a
    tuple: the square's bit, its weight, and the infosets after it has failed and after it was placed (None: never).
    """

    number = 0  # of the line

    def read(self, zipped):
        stream = zlib.decompressobj(31)
        self.lines = stream.decompress(zipped, 100 * len(zipped)).decode("ascii").split("\n")  # a limit for memory
        assert stream.eof and not stream.unused_data, "this is not one whole gzip file, or one far too dense"
        assert not self.after("phantom certificate 1"), "this is not a certificate of version 1"
        self.bits = [1 << s for s in range(1 + [str(n) for n in range(1, 17)].index(self.after("squares")))]
        self.full, self.classical = sum(self.bits), ["abrupt", "classical"].index(self.after("turns"))
        self.won = [], []  # whether a set of marks wins: it is listed, or wins without one of its squares
        for p, won in enumerate(self.won):
            sets = {sum({1 << "0123456789abcdef".index(s) for s in word}) for word in self.after(f"wins {p}").split()}
            assert max(sets, default=0) <= self.full, "a set of the winning sets is not on the board"
            for marks in range(self.full + 1):
                won.append(marks in sets or any(marks & bit and won[marks ^ bit] for bit in self.bits))
        self.claim, self.plans = self.after("claim"), []
        for p in (0, 1):
            counts, begin = self.after(f"plan {p}"), self.number
            self.plans.append(self.infoset(p, "|", 0, 0, p, whole(counts.split(" ")[-1])))
            found = f"{self.number - begin} {''.join(self.lines[begin : self.number]).count('=')} {self.plans[p][2]}"
            assert counts == found, f"the numbers of plan {p} are {found}"
        assert self.lines[self.number :] == ["end", ""], "'end' comes after this line, and nothing after it"

    def infoset(self, p, text, own, fails, hidden, weight):
        """Read an infoset and then all that may follow it; of `hidden` attempts of the opponent nothing is known."""
        played = {s: whole(weight) for s, _, weight in (word.partition("=") for word in self.after(text).split(" "))}
        legal = [f"{s:x}" for s, bit in enumerate(self.bits) if not (own | fails) & bit and played.get(f"{s:x}", 0) > 0]
        assert self.lines[self.number - 1] == " ".join([text, *(f"{s}={played[s]}" for s in legal)]), "no legal actions"
        assert sum(played.values()) == weight, f"the weights do not add up to {weight}"
        number, actions, bits = self.number, [], self.bits
        for square in legal:
            bit, part, failed, placed = 1 << int(square, 16), played[square], None, None
            if hidden and own | fails | bit != self.full and not self.won[1 - p][fails | bit]:
                failed = self.infoset(p, f"{text}{square}.", own, fails | bit, hidden - self.classical, part)
            if bin(own | fails | bit).count("1") + hidden * self.classical < len(bits) and not self.won[p][own | bit]:
                placed = self.infoset(p, f"{text}{square}*", own | bit, fails, hidden + 1, part)
            actions.append((bit, part, failed, placed))
        return number, own, weight, actions

    def after(self, start):  # the rest of the next line, which begins so
        line, self.number = "".join(self.lines[self.number : self.number + 1]), self.number + 1
        assert f"{line} ".startswith(f"{start} ") and len(line) < 100_000, f"'{start} ...' must come here"
        assert line == " ".join(line.split()), f"'{start} ...' must come here, with one space between words"
        return line[len(start) + 1 :]


def whole(digits):
    assert len(digits) <= 4000, "a number has more than 4000 digits"
    return int(digits)


def best_response(certificate, player, bounded):
    """The player's payoff for a best response; `own` and `tried` are the player's marks and failed squares."""
    bits, full, classical = certificate.bits, certificate.full, certificate.classical
    wins, loses, plan = certificate.won[player], certificate.won[1 - player], certificate.plans[1 - player]
    far, seen, known = 4 * plan[2], {}, {}  # `far` is more than any difference of payoffs

    def respond(infosets, own, tried, need):
        """The most that the player to move gets, or if it is not above `need` a number from there to `need`.  The other
        is at one of the infosets, unknown to the player."""
        # The bound of an attempt is what it would bring if the player saw the other's infosets from here on.  Who sees
        # more can still do the same, so no attempt brings more than its bound.  An attempt is searched only if its
        # bound is above what is needed and above the best so far; each value of a part of it replaces a bound.  Nothing
        # is searched that another order of attempts has led to and shown not to be above what is needed.
        key = tuple(i[0] for i in infosets), own, tried
        if bounded and known.get(key, far) <= need:
            return known[key]
        most, free = -far, [bit for bit in bits if not (own | tried) & bit]
        for bound, bit in sorted(((limit(*attempt(infosets, own, tried, bit)), bit) for bit in free), reverse=True):
            if bound > max(most, need):
                value, after = attempt(infosets, own, tried, bit)
                parts = [see(*there) for there in after]
                for k, there in enumerate(after):
                    missing = max(most, need) - value - sum(parts) + parts[k]
                    parts[k] = respond(*there, missing) if parts[k] > missing else parts[k]
                bound = value + sum(parts)
            most = max(most, bound)
        known[key] = most
        return most

    def see(infosets, own, tried):
        """The same if the player sees the other's infosets from here on: each for itself."""
        for i in infosets if bounded else ():
            if (i[0], own) not in seen:  # an attempt on a mark of the other passes the turn, and may be done again
                free = [bit for bit in bits if not own & bit and not (classical and i[1] & bit)]
                seen[i[0], own] = max(limit(*attempt([i], own, 0, bit)) for bit in free)
        return sum(seen[i[0], own] for i in infosets) if bounded else far

    def limit(value, after):
        return value + sum(see(*there) for there in after)

    def attempt(infosets, own, tried, bit):
        """What an attempt brings at once; and where the player goes on, after it has failed and after it was placed."""
        failed, free = [i for i in infosets if i[1] & bit], [i for i in infosets if not i[1] & bit]
        lost, failed = (0, failed) if classical else moves(failed, own)
        won, free = (sum(i[2] for i in free), []) if wins[own | bit] else moves(free, own | bit)
        return lost + won, [there for there in ((failed, own, tried | bit), (free, own | bit, tried)) if there[0]]

    def moves(infosets, own):
        """What the player gets when the other moves, and the infosets that the other comes to."""
        reached, value = [], 0
        for _, marks, _, actions in infosets:
            for bit, weight, failed, placed in actions if own | marks != full else ():
                if own & bit:
                    (infosets if classical else reached).append(failed)  # if classical, they move again
                elif loses[marks | bit]:
                    value -= weight
                elif own | marks | bit != full:
                    reached.append(placed)
        return value, reached

    value, infosets = moves([plan], 0) if player else (0, [plan])
    return Fraction(value + (respond(infosets, 0, 0, -far) if infosets else 0), plan[2])


def told(low, high):
    if low != high:
        return f"{low} <= value <= {high}"
    digits = f" = {'-' * (low < 0)}0.{abs(low.numerator) * 10**15 // low.denominator:015}..."
    return f"value = {low}{digits * (low.denominator > 1)}"


if __name__ == "__main__":
    if not __debug__ or not sys.argv[1:] or sys.argv[2:] not in ([], ["--every-attempt"]):
        sys.exit(f"{__doc__}python -O would leave checks out.")
    certificate = Certificate()
    try:
        certificate.read(Path(sys.argv[1]).read_bytes())
        low, high = (best_response(certificate, p, bounded=len(sys.argv) == 2) for p in (1, 0))
        assert certificate.claim == f"{-low} <= value <= {high}", f"proven is only {-low} <= value <= {high}"
        print(*certificate.lines[1:5], f"proven: {told(-low, high)}", sep="\n")
    except (AssertionError, ValueError, OSError, zlib.error) as error:
        sys.exit(f"refused: line {certificate.number}: {error}")
