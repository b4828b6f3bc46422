(** A program that bounds what a best response gets against a plan.  It works on whole numbers and sets of squares. *)

From Coq Require Import List ZArith Bool.
Import ListNotations.
Local Open Scope Z_scope.

(** ** Sets of squares: the bits of a number *)

Fixpoint mem (s : nat) (set : positive) : bool :=
  match set, s with
  | xH, _ => false
  | xI _, O => true
  | xO _, O => false
  | xI rest, S less | xO rest, S less => mem less rest
  end.

Fixpoint add (s : nat) (set : positive) : positive :=
  match s, set with
  | O, xI rest | O, xO rest => xI rest
  | O, xH => xI xH
  | S less, xI rest => xI (add less rest)
  | S less, xO rest => xO (add less rest)
  | S less, xH => xO (add less xH)
  end.

(** ** Plans *)

(** The actions at an infoset, one after the other: the square, the weight of the sequence that ends with it, the infosets
    after it has failed and after it was placed, and the next action.  [Stop]: no (further) action. *)
Inductive tree := Stop | Act (s : nat) (w : Z) (failed placed next : tree).

Fixpoint total (t : tree) : Z := match t with Stop => 0 | Act _ w _ _ next => w + total next end.
Fixpoint plays (t : tree) (s : nat) : bool :=
  match t with Stop => false | Act s' _ _ _ next => Nat.eqb s s' || plays next s end.

(** The plan either says nothing here or deals out all the weight that arrives. *)
Definition deals (w : Z) (t : tree) : bool := match t with Stop => true | _ => total t =? w end.

(** One of the other player's possible infosets: the weight that arrives, what the plan does there, and the marks. *)
Record entry := Entry { weight_of : Z; tree_of : tree; marks_of : positive }.

Fixpoint weights (L : list entry) : Z := match L with [] => 0 | e :: rest => weight_of e + weights rest end.

Section Checker.
Variable squares : nat.
Variable classical : bool.
Variable wins loses : positive -> bool.         (* whether a set of marks wins: the responder's, the other's *)
Variable covered : positive -> positive -> bool.  (* whether two sets of marks fill the board *)

(** A plan is in order: each infoset attempts different squares that were not attempted before. *)
Fixpoint in_order (t : tree) (known : positive) : bool :=
  match t with
  | Stop => true
  | Act s w failed placed next =>
      (s <? squares)%nat && negb (mem s known) && (0 <? w) && negb (plays next s)
      && deals w failed && deals w placed
      && in_order failed (add s known) && in_order placed (add s known) && in_order next known
  end.

(** The other player moves, until the responder moves again.  [found] has what the responder has got so far, and the
    infosets that the other has reached.  Where the plan says nothing, the responder has won. *)
Fixpoint move (own : positive) (t : tree) (marks : positive) (found : Z * list entry) : Z * list entry :=
  match t with
  | Stop => found
  | Act s w failed placed next =>
      move own next marks
        (if mem s own then
           if classical then
             match failed with
             | Stop => (fst found + w, snd found)
             | _ => move own failed marks found
             end
           else (fst found, Entry w failed marks :: snd found)
         else
           let marks' := add s marks in
           if loses marks' then (fst found - w, snd found)
           else if covered own marks' then found
           else (fst found, Entry w placed marks' :: snd found))
  end.

Definition move_one (own : positive) (e : entry) (found : Z * list entry) : Z * list entry :=
  match tree_of e with
  | Stop => (fst found + weight_of e, snd found)
  | t => move own t (marks_of e) found
  end.

Definition move_all (own : positive) (L : list entry) : Z * list entry :=
  fold_right (move_one own) (0, []) L.

(** What an attempt of the responder brings at once, and where the game goes on: own marks, squares attempted, infosets. *)
Record branch := Branch { own_of : positive; known_of : positive; entries_of : list entry }.
Definition step := (Z * list branch)%type.

Definition attempt_all (own known : positive) (L : list entry) (s : nat) : step :=
  let known' := add s known in
  let own' := add s own in
  let failed := filter (fun e => mem s (marks_of e)) L in
  let placed := filter (fun e => negb (mem s (marks_of e))) L in
  let '(a, after_placed) :=
    if wins own' then (weights placed, [])
    else let '(v, reached) := move_all own' (filter (fun e => negb (covered own' (marks_of e))) placed) in
         (v, [Branch own' known' reached]) in
  let '(b, after_failed) :=
    if classical then (0, [Branch own known' failed])
    else let '(v, reached) := move_all own failed in (v, [Branch own known' reached]) in
  (a + b, after_placed ++ after_failed).

Definition worth (then_ : branch -> Z) (x : step) : Z :=
  fold_right (fun b v => then_ b + v) (fst x) (snd x).

(** No attempt brings more than if everything that goes on were won. *)
Definition bound (x : step) : Z := worth (fun b => weights (entries_of b)) x.

(** By falling bounds, so that more is left out. *)
Fixpoint insert (x : Z * step) (xs : list (Z * step)) : list (Z * step) :=
  match xs with
  | [] => [x]
  | y :: rest => if fst y <=? fst x then x :: xs else y :: insert x rest
  end.
Definition sort (xs : list (Z * step)) : list (Z * step) := fold_right insert [] xs.

Fixpoint best (then_ : branch -> Z) (steps : list (Z * step)) (so_far : Z) : Z :=
  match steps with
  | [] => so_far
  | (limit, x) :: rest =>
      if limit <=? so_far then best then_ rest so_far
      else best then_ rest (Z.max so_far (worth then_ x))
  end.

(** At least what the responder gets who is to move; the other is at one of the infosets of [L]. *)
Fixpoint respond (fuel : nat) (b : branch) : Z :=
  match entries_of b with
  | [] => 0
  | L =>
      match fuel with
      | O => weights L
      | S less =>
          match filter (fun s => negb (mem s (known_of b))) (seq 0 squares) with
          | [] => weights L
          | free =>
              let steps := map (attempt_all (own_of b) (known_of b) L) free in
              best (respond less) (sort (map (fun x => (bound x, x)) steps)) (- weights L)
          end
      end
  end.

End Checker.
