(** Every tree of weights is a definite strategy. *)

From Coq Require Import List Arith ZArith Bool Ring.
From Phantom Require Import Numbers Statement Positions Checker.
Import ListNotations.

Fixpoint weight (t : tree) (s : square) : Z :=
  match t with Stop => 0%Z | Act s' w _ _ next _ => if Nat.eqb s s' then w else weight next s end.

(** The tree after an attempt of [s] that has failed, or has placed a mark. *)
Fixpoint after (t : tree) (s : square) (placed_ : bool) : tree :=
  match t with
  | Stop => Stop
  | Act s' _ failed placed next _ => if Nat.eqb s s' then (if placed_ then placed else failed) else after next s placed_
  end.

Definition find (t : tree) (path : list (square * bool)) : tree :=
  fold_left (fun t step => after t (fst step) (snd step)) path t.

(** What the plan does at an infoset, which has the latest attempt first. *)
Definition node (t : tree) (i : infoset) : tree := find t (rev i).

Lemma node_cons t s b i : node t ((s, b) :: i) = after (node t i) s b.
Proof. unfold node, find. simpl. now rewrite fold_left_app. Qed.

(** Different squares on the board, none attempted before, and weights that are not negative. *)
Fixpoint usable (n : nat) (t : tree) (l : list square) : bool :=
  match t with
  | Stop => true
  | Act s w _ _ next _ => (s <? n) && negb (holds l s) && (0 <=? w)%Z && negb (plays next s) && usable n next l
  end.

(** The strategy of a plan; where the plan is of no use, all attempts have the same chance. *)
Definition strategy_of (G : rules) (F : ordered_field) (t : tree) : strategy F :=
  fun i s =>
    let here := node t i in
    if usable (squares G) here (tried i) && (0 <? total here)%Z
    then (of_Z (weight here s) / of_Z (total here))%F
    else (1 / of_Z (Z.of_nat (length (legal G i))))%F.

Section Plans.
Variable G : rules.
Variable F : ordered_field.

Add Ring numbers : (@field_ring F).

(** The sum over the actions of a tree. *)
Fixpoint sum_actions (t : tree) (f : square -> F) : F :=
  match t with
  | Stop => zero
  | Act s w _ _ next _ => (of_Z w * f s + sum_actions next f)%F
  end.

Lemma weight_of_no_action t s : plays t s = false -> weight t s = 0%Z.
Proof.
  induction t as [| s' w f _ p _ next IH limits]; simpl; [reflexivity |].
  destruct (Nat.eqb s s'); [discriminate | exact IH].
Qed.

Lemma sum_at_one (xs : list square) s (c : F) (f : square -> F) :
  NoDup xs -> In s xs -> sum xs (fun x => (if Nat.eqb x s then c else zero) * f x)%F = (c * f s)%F.
Proof.
  induction xs as [| x xs IH]; simpl; intros D I; [easy |]. apply NoDup_cons_iff in D as [N D].
  destruct (Nat.eqb_spec x s) as [-> | E].
  - replace (sum xs (fun x => (if x =? s then c else zero) * f x)%F) with (zero : F); [ring |].
    transitivity (sum xs (fun _ => zero : F)); [symmetry; apply sum_zero |]. apply sum_equal. intros y J.
    destruct (Nat.eqb_spec y s) as [-> | _]; [contradiction | ring].
  - destruct I as [-> | I]; [easy |]. rewrite IH by assumption. ring.
Qed.

Lemma sum_of_weights n t l (xs : list square) (f : square -> F) :
  usable n t l = true -> NoDup xs -> (forall s, s < n -> holds l s = false -> In s xs) ->
  sum xs (fun s => of_Z (weight t s) * f s)%F = sum_actions t f.
Proof.
  intros U D I. induction t as [| s w fa _ pl _ next IH limits]; simpl in *.
  - transitivity (sum xs (fun _ => zero : F)); [| apply sum_zero].
    apply sum_equal. intros. cbv beta. rewrite of_Z_0. ring.
  - rewrite !andb_true_iff in U. destruct U as [[[[L N] _] P] U]. rewrite <- IH by exact U.
    apply Nat.ltb_lt in L. apply negb_true_iff in N, P.
    rewrite <- (sum_at_one xs s (of_Z w) f D (I s L N)), <- sum_plus. apply sum_equal. intros x _. cbv beta.
    destruct (Nat.eqb_spec x s) as [-> | _]; [rewrite (weight_of_no_action _ _ P), of_Z_0 |]; ring.
Qed.

Lemma sum_actions_of_one t : sum_actions t (fun _ => one) = of_Z (total t).
Proof.
  induction t as [| s w f _ p _ next IH limits]; simpl; [now rewrite of_Z_0 |]. rewrite IH, of_Z_plus. ring.
Qed.

Lemma legal_no_duplicates i : NoDup (legal G i).
Proof. apply NoDup_filter, seq_NoDup. Qed.

Lemma weight_nonnegative n t l s : usable n t l = true -> (0 <= weight t s)%Z.
Proof.
  induction t as [| s' w f _ p _ next IH limits]; simpl; [easy |]. rewrite !andb_true_iff. intros [[[[_ _] W] _] U].
  destruct (Nat.eqb s s'); [now apply Z.leb_le | auto].
Qed.

Lemma strategy_of_is_strategy t : is_strategy G F (strategy_of G F t).
Proof.
  intros i. unfold strategy_of. destruct (usable _ _ _ && _)%bool eqn:U.
  - apply andb_true_iff in U as [U T]. apply Z.ltb_lt in T.
    assert (N : (of_Z (total (node t i)) : F) <> zero) by now apply of_Z_positive_not_zero.
    split.
    + intros s _. apply over_nonnegative; [apply of_Z_nonnegative, (weight_nonnegative _ _ _ _ U) | exact N |].
      now apply of_Z_nonnegative, Z.lt_le_incl.
    + intros _.
      transitivity (@sum F _ (legal G i) (fun s => / of_Z (total (node t i)) * (of_Z (weight (node t i) s) * one))%F).
      { apply sum_equal. intros. rewrite over_times. ring. }
      rewrite sum_times, (sum_of_weights _ _ _ _ _ U (legal_no_duplicates i)).
      * rewrite sum_actions_of_one. exact (inverse_times _ N).
      * intros s L H. apply in_legal. auto.
  - assert (P : legal G i <> [] -> (0 < Z.of_nat (length (legal G i)))%Z).
    { destruct (legal G i); easy. }
    split.
    + intros s I. assert (N : legal G i <> []) by (intros E; rewrite E in I; easy).
      apply over_nonnegative; [apply zero_at_most_one | now apply of_Z_positive_not_zero, P |].
      apply of_Z_nonnegative, Nat2Z.is_nonneg.
    + intros N. rewrite sum_constant, over_times.
      ring [(inverse_times (of_Z _ : F) (of_Z_positive_not_zero _ (P N)))].
Qed.

End Plans.
