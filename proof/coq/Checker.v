(** A program that bounds what a best response gets against a plan.  It works on whole numbers and sets of squares.

    The machine that runs it evaluates all arguments of a function, of [&&] too.  So where time matters, [if] stands. *)

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

(** ** A function of sets that remembers its values *)

(** What is delayed is computed when it is asked for first, and then kept: that is how a machine treats such a type. *)
CoInductive delayed (A : Type) := Delay (a : A).
Arguments Delay {A} a.
Definition force {A} (x : delayed A) : A := match x with Delay a => a end.

(** [Without] and [With]: only for sets without, or with, the next square. *)
Inductive memo :=
  | Unknown
  | Known (x : delayed Z)
  | Fork (without with_ : delayed memo)
  | Without (rest : memo)
  | With (rest : memo).

(** [f] for the sets of [n] squares that have the squares of [known] just where they are not in [marks]. *)
Fixpoint remember (n : nat) (known marks : positive) (f : positive -> Z) : memo :=
  match n with
  | O => Known (cofix later := Delay (f xH))
  | S less =>
      match known, marks with
      | xI known', xO marks' => With (remember less known' marks' (fun set => f (xI set)))
      | xI known', xI marks' => Without (remember less known' marks' (fun set => f (xO set)))
      | xO known', (xO marks' | xI marks') =>
          Fork (cofix later := Delay (remember less known' marks' (fun set => f (xO set))))
               (cofix later := Delay (remember less known' marks' (fun set => f (xI set))))
      | _, _ => Unknown
      end
  end.

Fixpoint recall (m : memo) (set : positive) : option Z :=
  match set, m with
  | xH, Known x => Some (force x)
  | xO rest, Fork without _ => recall (force without) rest
  | xI rest, Fork _ with_ => recall (force with_) rest
  | xO rest, Without m' => recall m' rest
  | xI rest, With m' => recall m' rest
  | _, _ => None
  end.

(** ** Plans *)

(** The actions at an infoset, one after the other: the square, the weight of the sequence that ends with it, the infosets
    after it has failed and after it was placed, the next action, and, for each set of the responder's marks, a limit for
    what the responder gets from here on.  [Stop]: no (further) action. *)
Inductive tree := Stop | Act (s : nat) (w : Z) (failed placed next : tree) (limits : memo).

Fixpoint total (t : tree) : Z := match t with Stop => 0 | Act _ w _ _ next _ => w + total next end.
Fixpoint plays (t : tree) (s : nat) : bool :=
  match t with Stop => false | Act s' _ _ _ next _ => Nat.eqb s s' || plays next s end.

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
  | Act s w failed placed next _ =>
      (s <? squares)%nat && negb (mem s known) && (0 <? w) && negb (plays next s)
      && deals w failed && deals w placed
      && in_order failed (add s known) && in_order placed (add s known) && in_order next known
  end.

(** ** Limits: what a responder gets who sees the other's infoset, and may pass even where no attempt can fail *)

(** The limit of an infoset at which a weight arrives.  Where the plan says nothing, the responder has won. *)
Definition see (t : tree) (w : Z) (own : positive) : Z :=
  match t with
  | Stop => w
  | Act _ _ _ _ _ limits => match recall limits own with Some z => z | None => w end
  end.

(** The same when the other is to move. *)
Fixpoint see_moves (own marks : positive) (t : tree) : Z :=
  match t with
  | Stop => 0
  | Act s w failed placed next _ =>
      (if mem s own then
         if classical then
           match failed with
           | Stop => w
           | _ => see_moves own marks failed
           end
         else see failed w own
       else
         let marks' := add s marks in
         if loses marks' then - w else if covered own marks' then 0 else see placed w own)
      + see_moves own marks next
  end.

Fixpoint can_win (own marks : positive) (board : list nat) : bool :=
  match board with
  | [] => false
  | s :: rest =>
      if mem s own then can_win own marks rest
      else if mem s marks then can_win own marks rest
      else if wins (add s own) then true
      else can_win own marks rest
  end.

Fixpoint best_seen (own marks : positive) (moves : positive -> Z) (board : list nat) (so_far : Z) : Z :=
  match board with
  | [] => so_far
  | s :: rest =>
      best_seen own marks moves rest
        (if mem s own then so_far
         else if mem s marks then so_far
         else let own' := add s own in Z.max so_far (if covered own' marks then 0 else moves own'))
  end.

(** [all]: the weight that arrives.  [moves]: what follows when the other moves, for the responder's marks then. *)
Definition limit (all : delayed Z) (marks : positive) (moves : positive -> Z) (own : positive) : Z :=
  let board := seq 0 squares in
  if can_win own marks board then force all
  else best_seen own marks moves board (if classical then - force all else moves own).

(** The plan with its limits. *)
Fixpoint note (t : tree) (known marks : positive) : tree :=
  match t with
  | Stop => Stop
  | Act s w failed placed next _ =>
      let failed' := note failed (add s known) marks in
      let placed' := note placed (add s known) (add s marks) in
      let next' := note next known marks in
      let t' := Act s w failed' placed' next' Unknown in
      Act s w failed' placed' next'
        (remember squares known marks
          (limit (cofix later := Delay (total t')) marks (fun own => see_moves own marks t')))
  end.

(** ** Moves *)

(** The other player moves, until the responder moves again.  [found] has what the responder has got so far, and the
    infosets that the other has reached.  Where the plan says nothing, the responder has won. *)
Fixpoint move (own : positive) (t : tree) (marks : positive) (found : Z * list entry) : Z * list entry :=
  match t with
  | Stop => found
  | Act s w failed placed next _ =>
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

(** What the branches bring at most, each with its limit. *)
Record option_ := Option { limit_of : Z; at_once : Z; later : Z; branches : list (Z * branch) }.

Definition see_all (b : branch) : Z :=
  fold_right (fun e v => see (tree_of e) (weight_of e) (own_of b) + v) 0 (entries_of b).

Definition option_of (x : step) : option_ :=
  let bs := map (fun b => (see_all b, b)) (snd x) in
  let later := fold_right (fun b v => fst b + v) 0 bs in
  Option (fst x + later) (fst x) later bs.

(** By falling limits, so that more is left out. *)
Fixpoint insert (x : option_) (xs : list option_) : list option_ :=
  match xs with
  | [] => [x]
  | y :: rest => if limit_of y <=? limit_of x then x :: xs else y :: insert x rest
  end.
Definition sort (xs : list option_) : list option_ := fold_right insert [] xs.

(** At least what the branches bring, beside what is [got].  [then_ b floor] is at least what the branch [b] brings; where
    that is no more than [floor], it need not be known, because then the whole is no more than [so_far]. *)
Fixpoint finish (then_ : branch -> Z -> Z) (so_far got left : Z) (bs : list (Z * branch)) : Z :=
  match bs with
  | [] => got
  | (limit, b) :: rest =>
      let left' := left - limit in
      finish then_ so_far (got + then_ b (so_far - got - left')) left' rest
  end.

Fixpoint best (then_ : branch -> Z -> Z) (xs : list option_) (so_far : Z) : Z :=
  match xs with
  | [] => so_far
  | x :: rest =>
      best then_ rest
        (if limit_of x <=? so_far then so_far
         else Z.max so_far (finish then_ so_far (at_once x) (later x) (branches x)))
  end.

(** At least what the responder gets who is to move, if that is more than [floor]; the other is at one of the infosets of
    the branch. *)
Fixpoint respond (fuel : nat) (b : branch) (floor : Z) : Z :=
  match entries_of b with
  | [] => 0
  | L =>
      match fuel with
      | O => weights L
      | S less =>
          match filter (fun s => negb (mem s (known_of b))) (seq 0 squares) with
          | [] => weights L
          | free =>
              best (respond less)
                (sort (map (fun s => option_of (attempt_all (own_of b) (known_of b) L s)) free)) floor
          end
      end
  end.

End Checker.
