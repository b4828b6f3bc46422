(** Numbers of a game, and payoffs of definite strategies, computed from the statement alone.

    Other programs compute the same numbers by other means: that the games are the right ones is shown so. *)

From Coq Require Import List Arith ZArith Bool FSets.FSetPositive.
From Phantom Require Import Numbers Statement.
Import ListNotations.

Section Counts.
Variable G : rules.

(** All histories that begin so. *)
Fixpoint histories (fuel : nat) (h : history) : list history :=
  let x := replay G h in
  h :: match result G x, fuel with
       | None, S less => flat_map (fun s => histories less (h ++ [s])) (legal G (seen (mover x) x))
       | _, _ => []
       end.

Definition all_histories : list history := histories (2 * squares G) [].

Definition over_at (h : history) : bool := match result G (replay G h) with Some _ => true | None => false end.

(** A number for each infoset of a game of at most 15 squares. *)
Definition number_of (i : infoset) : positive :=
  fold_right (fun (x : square * bool) rest => (rest * 32 + Pos.of_nat (1 + 2 * fst x + (if snd x then 1 else 0)))%positive) 1%positive i.

(** The infosets at which the player is to move, by the number of own attempts. *)
Definition infosets_by_length (p : player) : list nat :=
  let moves (h : history) :=
    match result G (replay G h), mover (replay G h), p with None, Zero, Zero | None, One, One => true | _, _, _ => false end in
  let seen_there := map (fun h => seen p (replay G h)) (filter moves all_histories) in
  let number k := PositiveSet.cardinal (fold_left (fun set i => PositiveSet.add (number_of i) set)
                    (filter (fun i => length i =? k) seen_there) PositiveSet.empty) in
  map number (seq 0 (S (squares G))).

(** Histories, those at the end of a game, and infosets of both players by length. *)
Definition counts : nat * nat * list nat * list nat :=
  (length all_histories, length (filter over_at all_histories), infosets_by_length Zero, infosets_by_length One).

(** A definite strategy for each seed: chances that look random, and that any program can compute. *)
Definition mixed (seed : Z) (i : infoset) (s : square) : Z :=
  let code := fold_right (fun (x : square * bool) c => (31 * c + 2 * Z.of_nat (fst x) + (if snd x then 1 else 0) + 7) mod 10007)%Z seed i in
  ((code * (Z.of_nat s + 3) + 5 * Z.of_nat s) mod 1009 mod 6)%Z.

Definition sample (seed : Z) : strategy rationals := fun i s =>
  let total := fold_right (fun s sum => (mixed seed i s + 1 + sum)%Z) 0%Z (legal G i) in
  (of_Z (mixed seed i s + 1) / of_Z total)%F.

Definition sample_payoff (a b : Z) : Qcanon.Qc := expected_payoff G rationals (sample a) (sample b).

End Counts.
