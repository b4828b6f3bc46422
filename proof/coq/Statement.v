(** What is claimed: the rules of phantom games on a board, strategies, the expected payoff, and the value.

    Nothing here mentions a plan, a certificate or a program that solves games. *)

From Coq Require Import List Arith Bool.
From Phantom Require Import Numbers.
Import ListNotations.
Local Open Scope field_scope.

Inductive player := Zero | One.
Definition other (p : player) : player := match p with Zero => One | One => Zero end.

Notation square := nat.
Definition holds (squares : list square) (s : square) : bool := existsb (Nat.eqb s) squares.

(** ** The rules *)

Record rules := {
  squares : nat;                                (* the squares of the board are 0, 1, ..., squares - 1 *)
  winning_sets : player -> list (list square);  (* a player wins whose marks hold all of one of these *)
  classical : bool;                             (* after a failed attempt: the same player again, or (false) the other *)
  setup : player -> list square                 (* marks that lie before the game, each known to its owner alone *)
}.

(** What a player has seen: the own attempts, the latest first, each with whether the mark was placed. *)
Definition infoset := list (square * bool).
Definition tried (i : infoset) : list square := map fst i.
Definition marks (i : infoset) : list square := map fst (filter snd i).

Record position := { mover : player; seen_by_zero : infoset; seen_by_one : infoset }.
Definition seen (p : player) (x : position) : infoset := match p with Zero => seen_by_zero x | One => seen_by_one x end.

Section Game.
Variable G : rules.

Definition board : list square := seq 0 (squares G).

(** A player may attempt each square that the player has not attempted before. *)
Definition legal (i : infoset) : list square := filter (fun s => negb (holds (tried i) s)) board.

Definition first_seen (p : player) : infoset := map (fun s => (s, true)) (rev (setup G p)).
Definition start : position := {|
  mover := if length (setup G One) <? length (setup G Zero) then One else Zero;
  seen_by_zero := first_seen Zero;
  seen_by_one := first_seen One |}.

(** An attempt fails if the other player has a mark on the square; otherwise the mark is placed. *)
Definition attempt (x : position) (s : square) : position :=
  let me := mover x in
  let placed := negb (holds (marks (seen (other me) x)) s) in
  let mine := (s, placed) :: seen me x in
  {| mover := if negb placed && classical G then me else other me;
     seen_by_zero := match me with Zero => mine | One => seen_by_zero x end;
     seen_by_one := match me with Zero => seen_by_one x | One => mine end |}.

(** A history is the list of all attempts in their order. *)
Definition history := list square.
Definition replay (h : history) : position := fold_left attempt h start.

Definition wins (p : player) (i : infoset) : bool := existsb (forallb (holds (marks i))) (winning_sets G p).
Definition full (x : position) : bool :=
  forallb (fun s => holds (marks (seen_by_zero x)) s || holds (marks (seen_by_one x)) s) board.

Inductive outcome := Won (p : player) | Drawn.
Definition result (x : position) : option outcome :=
  if wins Zero (seen Zero x) then Some (Won Zero)
  else if wins One (seen One x) then Some (Won One)
  else if full x then Some Drawn
  else None.

(** ** Strategies and the expected payoff, in any ordered field *)

Section Play.
Variable F : ordered_field.

(** A strategy gives each attempt a chance, and knows only what its player has seen. *)
Definition strategy := infoset -> square -> F.
Definition is_strategy (chance : strategy) : Prop :=
  forall i, (forall s, In s (legal i) -> 0 <= chance i s) /\ (legal i <> [] -> sum (legal i) (chance i) = 1).

(** What player 0 gets: 1 for a win, -1 for a loss, 0 for a draw. *)
Definition points (o : outcome) : F := match o with Won Zero => 1 | Won One => - (1) | Drawn => 0 end.

(** What player 0 gets on average after a history, if at most [fuel] attempts follow. *)
Fixpoint payoff (fuel : nat) (chance : player -> strategy) (h : history) : F :=
  let x := replay h in
  match result x with
  | Some o => points o
  | None =>
      match fuel with
      | O => 0
      | S less =>
          let i := seen (mover x) x in
          sum (legal i) (fun s => chance (mover x) i s * payoff less chance (h ++ [s]))
      end
  end.

(** Each player attempts a square once at most, so that no game takes longer. *)
Definition expected_payoff (zero one : strategy) : F :=
  payoff (2 * squares G) (fun p => match p with Zero => zero | One => one end) [].

(** The value: what player 0 can get against all strategies, and what player 1 need not exceed against all. *)
Definition is_value (v : F) : Prop :=
  (exists zero, is_strategy zero /\ forall one, is_strategy one -> v <= expected_payoff zero one) /\
  (exists one, is_strategy one /\ forall zero, is_strategy zero -> expected_payoff zero one <= v).

Theorem value_is_unique (v w : F) : is_value v -> is_value w -> v = w.
Proof.
  intros [[z [Z z_gets]] [o [O o_gives]]] [[z' [Z' z'_gets]] [o' [O' o'_gives]]]. apply at_most_antisym.
  - apply at_most_trans with (expected_payoff z o'); auto.
  - apply at_most_trans with (expected_payoff z' o); auto.
Qed.

End Play.
End Game.
