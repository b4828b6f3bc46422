(** Plans are read from text, which is many times faster than from terms.

    Nothing is proven here: whatever comes out is a tree, and what a tree proves is computed. *)

From Coq Require Import List ZArith String Ascii.
From Phantom Require Import Checker.
Import ListNotations.

(** The text is a program for a stack of trees.  A point puts [Stop] on it.  A letter from g on is a square: it takes the
    next action, the tree after the mark was placed and the tree after the attempt failed off the stack, and puts the action
    on it.  Hexadecimal digits before the letter are the action's weight; without them, it is that of the trees. *)

Definition digit (c : ascii) : option nat :=
  let n := nat_of_ascii c in
  if (Nat.leb 48 n && Nat.leb n 57)%bool then Some (n - 48)
  else if (Nat.leb 97 n && Nat.leb n 102)%bool then Some (n - 87)
  else None.

Definition append_bit (z : Z) (one : bool) : Z :=
  match z with
  | Zpos p => Zpos (if one then xI p else xO p)
  | _ => if one then 1%Z else 0%Z
  end.

Inductive symbol := Bits (a b c d : bool) | Square (s : nat) | End_of_actions.

(** What each character means, in a table of the eight bits of a character. *)
Inductive trie := Known (x : option symbol) | Next (zero one : trie).

Definition meaning_of (c : ascii) : option symbol :=
  match digit c with
  | Some n => Some (Bits (Nat.testbit n 3) (Nat.testbit n 2) (Nat.testbit n 1) (Nat.testbit n 0))
  | None =>
      let n := nat_of_ascii c in
      if Nat.eqb n 46 then Some End_of_actions
      else if (Nat.leb 103 n && Nat.leb n 118)%bool then Some (Square (n - 103))
      else None
  end.

Fixpoint meanings (depth : nat) (f : list bool -> option symbol) : trie :=
  match depth with
  | O => Known (f [])
  | S less => Next (meanings less (fun bits => f (false :: bits))) (meanings less (fun bits => f (true :: bits)))
  end.

Definition of_bits (bits : list bool) : option symbol :=
  match bits with
  | [a; b; c; d; e; f; g; h] => meaning_of (Ascii a b c d e f g h)
  | _ => None
  end.

Definition all_meanings : trie := meanings 8 of_bits.

Fixpoint follow (t : trie) (bits : list bool) : option symbol :=
  match t, bits with
  | Known x, _ => x
  | Next zero one, b :: rest => follow (if b : bool then one else zero) rest
  | _, [] => None
  end.

Definition put (x : option symbol) (state : Z * list tree) : Z * list tree :=
  let '(number, stack) := state in
  match x, stack with
  | Some (Bits a b c d), _ => (append_bit (append_bit (append_bit (append_bit number a) b) c) d, stack)
  | Some End_of_actions, _ => (0%Z, Stop :: stack)
  | Some (Square s), next :: placed :: failed :: rest =>
      let w :=
        match number with
        | Zpos _ => number
        | _ => match failed with Stop => total placed | _ => total failed end
        end in
      (0%Z, Act s w failed placed next :: rest)
  | _, _ => state
  end.

Fixpoint read_piece (t : trie) (text : string) (state : Z * list tree) : Z * list tree :=
  match text with
  | EmptyString => state
  | String (Ascii a b c d e f g h) rest => read_piece t rest (put (follow t [a; b; c; d; e; f; g; h]) state)
  end.

Definition read (pieces : list string) : tree :=
  match snd (fold_left (fun state text => read_piece all_meanings text state) pieces (0%Z, [])) with
  | [t] => t
  | _ => Stop
  end.
