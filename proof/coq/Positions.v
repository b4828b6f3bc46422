(** The payoff of a position: it needs no fuel, it is an average over attempts, and it lies between -1 and 1. *)

From Coq Require Import List Arith Bool Ring ZArith.
From Phantom Require Import Numbers Statement.
Import ListNotations.

Lemma filter_shorter {A} (keep keep' : A -> bool) (xs : list A) (x : A) :
  (forall y, keep' y = true -> keep y = true) -> In x xs -> keep x = true -> keep' x = false ->
  length (filter keep' xs) < length (filter keep xs).
Proof.
  intros Less. induction xs as [| y xs IH]; simpl; [easy |].
  assert (At_most : length (filter keep' xs) <= length (filter keep xs)).
  { clear IH. induction xs as [| z xs IH]; simpl; [easy |].
    specialize (Less z). destruct (keep' z), (keep z); simpl; auto with arith; now discriminate Less. }
  intros [-> | I] K K'.
  - rewrite K, K'. simpl. auto with arith.
  - specialize (IH I K K'). specialize (Less y). destruct (keep' y), (keep y); simpl; auto with arith;
      now discriminate Less.
Qed.

Lemma holds_in (squares : list square) (s : square) : holds squares s = true <-> In s squares.
Proof.
  unfold holds. rewrite existsb_exists. split.
  - intros [t [I E]]. apply Nat.eqb_eq in E. now subst.
  - intros I. exists s. split; [exact I | apply Nat.eqb_refl].
Qed.

Section Positions.
Variable G : rules.
Variable F : ordered_field.
Variable chance : player -> strategy F.

Add Ring numbers : (@field_ring F).

Lemma in_legal i s : In s (legal G i) <-> s < squares G /\ holds (tried i) s = false.
Proof.
  unfold legal, board. rewrite filter_In, in_seq, negb_true_iff. simpl. split; [tauto |]. intros [A B].
  repeat split; [apply Nat.le_0_l | exact A | exact B].
Qed.

(** ** Fuel *)

Definition room (x : position) : nat := length (legal G (seen_by_zero x)) + length (legal G (seen_by_one x)).

Lemma legal_shrinks i s b : In s (legal G i) -> length (legal G ((s, b) :: i)) < length (legal G i).
Proof.
  intros I. unfold legal. apply filter_shorter with s; simpl.
  - intros t. rewrite !negb_true_iff, orb_false_iff. tauto.
  - unfold legal in I. now apply filter_In in I.
  - unfold legal in I. now apply filter_In in I.
  - now rewrite Nat.eqb_refl.
Qed.

Lemma room_shrinks x s : In s (legal G (seen (mover x) x)) -> room (attempt G x s) < room x.
Proof.
  unfold room, attempt. destruct x as [[] i j]; simpl; intros I.
  - now apply Nat.add_lt_mono_r, legal_shrinks.
  - now apply Nat.add_lt_mono_l, legal_shrinks.
Qed.

(** [payoff], on positions. *)
Fixpoint payoff_at (fuel : nat) (x : position) : F :=
  match result G x with
  | Some o => points F o
  | None =>
      match fuel with
      | O => zero
      | S less =>
          sum (legal G (seen (mover x) x))
            (fun s => chance (mover x) (seen (mover x) x) s * payoff_at less (attempt G x s))%F
      end
  end.

Lemma payoff_by_position fuel h : payoff G F fuel chance h = payoff_at fuel (replay G h).
Proof.
  revert h. induction fuel as [| fuel IH]; intros h; simpl; destruct (result G (replay G h)); try reflexivity.
  apply sum_equal. intros s _. rewrite IH. unfold replay. now rewrite fold_left_app.
Qed.

Lemma fuel_is_enough n m x : room x <= n -> room x <= m -> payoff_at n x = payoff_at m x.
Proof.
  assert (Empty : forall y, room y = 0 -> legal G (seen (mover y) y) = []).
  { intros [[] i j]; unfold room; simpl; intros Z; apply Nat.eq_add_0 in Z; now apply length_zero_iff_nil. }
  revert m x. induction n as [| n IH]; intros m x N M.
  - destruct m; simpl; destruct (result G x); try reflexivity. rewrite Empty by now apply Nat.le_0_r. reflexivity.
  - destruct m; simpl; destruct (result G x); try reflexivity.
    + rewrite Empty by now apply Nat.le_0_r. reflexivity.
    + apply sum_equal. intros s I. f_equal.
      apply IH; apply Nat.lt_succ_r; eapply Nat.lt_le_trans; eauto using room_shrinks.
Qed.

Definition payoff_of (x : position) : F := payoff_at (room x) x.

Lemma payoff_of_attempts x :
  payoff_of x =
    match result G x with
    | Some o => points F o
    | None =>
        sum (legal G (seen (mover x) x))
          (fun s => chance (mover x) (seen (mover x) x) s * payoff_of (attempt G x s))%F
    end.
Proof.
  unfold payoff_of at 1. rewrite (fuel_is_enough (room x) (S (room x))) by auto. simpl.
  destruct (result G x); [reflexivity |]. apply sum_equal. intros s I. f_equal.
  apply fuel_is_enough; [now apply Nat.lt_le_incl, room_shrinks | apply le_n].
Qed.

Lemma room_at_most x : room x <= 2 * squares G.
Proof.
  assert (L : forall i, length (legal G i) <= squares G).
  { intros i. replace (squares G) with (length (board G)).
    2: { unfold board. generalize 0. induction (squares G); simpl; auto. }
    unfold legal.
    induction (board G) as [| s b IH]; simpl; [easy |]. destruct negb; simpl; auto with arith. }
  unfold room. simpl. rewrite Nat.add_0_r. apply Nat.add_le_mono; apply L.
Qed.

(** ** What a player gets *)

Definition gain (me : player) (x : position) : F := match me with Zero => payoff_of x | One => opposite (payoff_of x) end.

Definition points_for (me : player) (o : outcome) : F := match me with Zero => points F o | One => opposite (points F o) end.

Lemma gain_of_attempts me x :
  gain me x =
    match result G x with
    | Some o => points_for me o
    | None =>
        sum (legal G (seen (mover x) x))
          (fun s => chance (mover x) (seen (mover x) x) s * gain me (attempt G x s))%F
    end.
Proof.
  destruct me; simpl; rewrite payoff_of_attempts; destruct (result G x); try reflexivity.
  rewrite <- sum_opposite. apply sum_equal. intros. ring.
Qed.

Hypothesis strategies : forall p, is_strategy G F (chance p).

Lemma opposite_one_at_most_one : (- (1) <= (1 : F))%F.
Proof.
  apply at_most_trans with (zero : F); [| apply zero_at_most_one].
  replace (zero : F) with (- (zero : F))%F by ring. apply opposite_monotone, zero_at_most_one.
Qed.

Lemma points_at_most_one me o : (points_for me o <= 1)%F.
Proof.
  destruct me, o as [[] |]; simpl;
    try replace (- - (1))%F with (one : F) by ring; try replace (- (0))%F with (zero : F) by ring;
    auto using opposite_one_at_most_one, at_most_refl, zero_at_most_one.
Qed.

Lemma gain_at_most_one me x : (gain me x <= 1)%F.
Proof.
  remember (room x) as n eqn:E. assert (N : room x <= n) by (rewrite E; apply le_n). clear E. revert x N.
  induction n as [| n IH]; intros x N; rewrite gain_of_attempts;
    (destruct (result G x) as [o |]; [apply points_at_most_one |]);
    destruct (legal G (seen (mover x) x)) as [| s rest] eqn:L; try apply zero_at_most_one.
  - assert (I : In s (legal G (seen (mover x) x))) by (rewrite L; now left).
    destruct (Nat.nlt_0_r _ (Nat.lt_le_trans _ _ _ (room_shrinks x s I) N)).
  - destruct (strategies (mover x) (seen (mover x) x)) as [Nonnegative Sum]. rewrite <- L in *.
    apply average_at_most; [exact Nonnegative | apply Sum; rewrite L; discriminate |].
    intros t I. apply IH, Nat.lt_succ_r. exact (Nat.lt_le_trans _ _ _ (room_shrinks x t I) N).
Qed.

End Positions.

Lemma expected_payoff_at_start G F zero one :
  expected_payoff G F zero one = payoff_of G F (fun p => match p with Zero => zero | One => one end) (start G).
Proof.
  unfold expected_payoff. rewrite payoff_by_position. simpl replay. unfold payoff_of.
  apply fuel_is_enough; [apply room_at_most | auto].
Qed.

(** More fuel changes nothing. *)
Theorem more_fuel G F chance fuel :
  2 * squares G <= fuel -> payoff G F fuel chance [] = payoff G F (2 * squares G) chance [].
Proof.
  intros. rewrite !payoff_by_position. change (replay G []) with (start G).
  apply fuel_is_enough; [apply Nat.le_trans with (2 * squares G); [apply room_at_most | assumption] | apply room_at_most].
Qed.
