(** Plans are read from hexadecimal digits, which is many times faster than from terms or from strings.

    Nothing is proven here: whatever comes out is a tree, and what a tree proves is computed. *)

From Coq Require Import List ZArith.
From Coq.Init Require Number Hexadecimal.
From Phantom Require Import Checker.
Import ListNotations.

(** The digits are a program for a stack of trees.  The first digit of an action says which of its three trees lie on the
    stack: the next action (1), the tree after the mark was placed (2), the tree after the attempt has failed (4); the next
    action lies on top.  The second digit is the square.  The weight is that of the trees after the attempt.  Where there
    are none, further digits say the place of the weight in a list.  Then the action lies on the stack. *)

(** Weights in a binary tree, so that digits lead to them. *)
Inductive shelf := Weight (w : Z) | Shelf (zero one : shelf).

Fixpoint shelve (depth : nat) (weights : list Z) : shelf * list Z :=
  match depth with
  | O => match weights with [] => (Weight 0, []) | w :: rest => (Weight w, rest) end
  | S less =>
      let (zero, rest) := shelve less weights in
      let (one, rest) := shelve less rest in
      (Shelf zero one, rest)
  end.

Definition pick (bit : bool) (x : shelf) : shelf :=
  match x with Weight _ => x | Shelf zero one => if bit then one else zero end.

(** What is expected: a new action; its square; its weight. *)
Inductive state := Begin | At_square (failed placed next : bool) | At_weight (s : nat) (next : bool) (x : shelf).

Definition pop (there : bool) (stack : list tree) : tree * list tree :=
  if there then match stack with [] => (Stop, []) | t :: rest => (t, rest) end else (Stop, stack).

Section Reading.
Variable weights : shelf.

Definition square_of (a b c d : bool) : nat :=
  (if a then 8 else 0) + (if b then 4 else 0) + (if c then 2 else 0) + (if d then 1 else 0).

(** The next digit, of four bits. *)
Definition put (a b c d : bool) (x : state * list tree) : state * list tree :=
  let (expected, stack) := x in
  match expected with
  | Begin => (At_square b c d, stack)
  | At_square failed placed next =>
      let s := square_of a b c d in
      if failed then
        let (n, stack) := pop next stack in
        let (p, stack) := pop placed stack in
        let (f, stack) := pop failed stack in
        (Begin, Act s (total f) f p n Unknown :: stack)
      else if placed then
        let (n, stack) := pop next stack in
        let (p, stack) := pop placed stack in
        (Begin, Act s (total p) Stop p n Unknown :: stack)
      else (At_weight s next weights, stack)
  | At_weight s next x =>
      match pick d (pick c (pick b (pick a x))) with
      | Weight w => let (n, stack) := pop next stack in (Begin, Act s w Stop Stop n Unknown :: stack)
      | x => (At_weight s next x, stack)
      end
  end.

Fixpoint read_digits (text : Hexadecimal.uint) (x : state * list tree) : state * list tree :=
  match text with
  | Hexadecimal.Nil => x
  | Hexadecimal.D0 rest => read_digits rest (put false false false false x)
  | Hexadecimal.D1 rest => read_digits rest (put false false false true x)
  | Hexadecimal.D2 rest => read_digits rest (put false false true false x)
  | Hexadecimal.D3 rest => read_digits rest (put false false true true x)
  | Hexadecimal.D4 rest => read_digits rest (put false true false false x)
  | Hexadecimal.D5 rest => read_digits rest (put false true false true x)
  | Hexadecimal.D6 rest => read_digits rest (put false true true false x)
  | Hexadecimal.D7 rest => read_digits rest (put false true true true x)
  | Hexadecimal.D8 rest => read_digits rest (put true false false false x)
  | Hexadecimal.D9 rest => read_digits rest (put true false false true x)
  | Hexadecimal.Da rest => read_digits rest (put true false true false x)
  | Hexadecimal.Db rest => read_digits rest (put true false true true x)
  | Hexadecimal.Dc rest => read_digits rest (put true true false false x)
  | Hexadecimal.Dd rest => read_digits rest (put true true false true x)
  | Hexadecimal.De rest => read_digits rest (put true true true false x)
  | Hexadecimal.Df rest => read_digits rest (put true true true true x)
  end.

End Reading.

Delimit Scope hex_uint_scope with digits.

(** Long texts come in pieces: the prover cannot read a literal of 30,000 digits. *)
Definition read (digits : nat) (weights pieces : list Number.uint) : tree :=
  let weights := fst (shelve (4 * digits) (map Z.of_num_uint weights)) in
  let put_piece x piece :=
    match piece with Number.UIntHexadecimal text => read_digits weights text x | Number.UIntDecimal _ => x end in
  match fold_left put_piece pieces (Begin, []) with
  | (Begin, [t]) => t
  | _ => Stop
  end.
