(** Ordered fields, and their two instances here: the rationals and the reals. *)

From Coq Require Import List ZArith Ring Field_theory InitialRing QArith Qcanon.
Import ListNotations.

Record ordered_field := {
  number :> Type;
  zero : number;
  one : number;
  plus : number -> number -> number;
  times : number -> number -> number;
  minus : number -> number -> number;
  opposite : number -> number;
  over : number -> number -> number;
  inverse : number -> number;
  at_most : number -> number -> Prop;
  field_laws : field_theory zero one plus times minus opposite over inverse eq;
  at_most_refl : forall x, at_most x x;
  at_most_trans : forall x y z, at_most x y -> at_most y z -> at_most x z;
  at_most_antisym : forall x y, at_most x y -> at_most y x -> x = y;
  at_most_total : forall x y, at_most x y \/ at_most y x;
  at_most_plus : forall x y z, at_most x y -> at_most (plus x z) (plus y z);
  at_most_times : forall x y, at_most zero x -> at_most zero y -> at_most zero (times x y)
}.

Arguments zero {_}.
Arguments one {_}.
Arguments plus {_} _ _.
Arguments times {_} _ _.
Arguments minus {_} _ _.
Arguments opposite {_} _.
Arguments over {_} _ _.
Arguments inverse {_} _.
Arguments at_most {_} _ _.

Declare Scope field_scope.
Delimit Scope field_scope with F.
Bind Scope field_scope with number.
Notation "0" := zero : field_scope.
Notation "1" := one : field_scope.
Infix "+" := plus : field_scope.
Infix "*" := times : field_scope.
Infix "-" := minus : field_scope.
Infix "/" := over : field_scope.
Infix "<=" := at_most : field_scope.
Notation "- x" := (opposite x) : field_scope.
Notation "/ x" := (inverse x) : field_scope.

(** The sum of [f] over a list. *)
Fixpoint sum {F : ordered_field} {A} (xs : list A) (f : A -> F) : F :=
  match xs with
  | [] => zero
  | x :: rest => plus (f x) (sum rest f)
  end.

(** A whole number in a field. *)
Definition of_Z {F : ordered_field} (z : Z) : F := gen_phiZ (@zero F) one plus times opposite z.

Arguments of_Z {F} z : simpl never.

(** A fraction in a field. *)
Definition of_Q {F : ordered_field} (q : Q) : F := over (of_Z (Qnum q)) (of_Z (Zpos (Qden q))).

Section Laws.
Context {F : ordered_field}.
Open Scope field_scope.
Implicit Types x y z : F.

Lemma field_ring : ring_theory (@zero F) one plus times minus opposite eq.
Proof. exact (F_R (field_laws F)). Qed.

Add Ring numbers : field_ring.

Lemma one_not_zero : (1 : F) <> 0.
Proof. exact (F_1_neq_0 (field_laws F)). Qed.

Lemma inverse_times x : x <> 0 -> / x * x = 1.
Proof. exact (Finv_l (field_laws F) x). Qed.

Lemma at_most_eq x y : x = y -> x <= y.
Proof. intros ->. apply at_most_refl. Qed.

Lemma plus_monotone x y u v : x <= y -> u <= v -> x + u <= y + v.
Proof.
  intros A B. apply at_most_trans with (y + u).
  - apply at_most_plus, A.
  - replace (y + u) with (u + y) by ring. replace (y + v) with (v + y) by ring. apply at_most_plus, B.
Qed.

Lemma at_most_minus x y : 0 <= y - x -> x <= y.
Proof.
  intros A. replace x with (0 + x) by ring. replace y with (y - x + x) by ring. apply at_most_plus, A.
Qed.

Lemma minus_at_most x y : x <= y -> 0 <= y - x.
Proof.
  intros A. replace 0 with (x + - x) by ring. replace (y - x) with (y + - x) by ring. apply at_most_plus, A.
Qed.

Lemma opposite_monotone x y : x <= y -> - y <= - x.
Proof. intros A. apply at_most_minus. replace (- x - - y) with (y - x) by ring. apply minus_at_most, A. Qed.

Lemma times_monotone x y z : 0 <= z -> x <= y -> z * x <= z * y.
Proof.
  intros A B. apply at_most_minus. replace (z * y - z * x) with (z * (y - x)) by ring.
  apply at_most_times; [exact A | apply minus_at_most, B].
Qed.

Lemma square_nonnegative x : 0 <= x * x.
Proof.
  destruct (at_most_total F 0 x) as [A | A].
  - apply at_most_times; exact A.
  - replace (x * x) with (- x * - x) by ring.
    assert (0 <= - x) by (replace 0 with (- (0 : F)) by ring; apply opposite_monotone, A).
    apply at_most_times; assumption.
Qed.

Lemma zero_at_most_one : (0 : F) <= 1.
Proof. replace (1 : F) with (1 * (1 : F)) by ring. apply square_nonnegative. Qed.

Lemma inverse_nonnegative x : x <> 0 -> 0 <= x -> 0 <= / x.
Proof.
  intros A B. replace (/ x) with (x * (/ x * / x)) by ring [(inverse_times x A)].
  apply at_most_times; [exact B | apply square_nonnegative].
Qed.

Lemma over_times x y : x / y = x * / y.
Proof. exact (Fdiv_def (field_laws F) x y). Qed.

Lemma over_nonnegative x y : 0 <= x -> y <> 0 -> 0 <= y -> 0 <= x / y.
Proof. intros. rewrite over_times. apply at_most_times; [assumption | apply inverse_nonnegative; assumption]. Qed.

(** Whole numbers *)

Definition whole_morphism := gen_phiZ_morph (Eqsth F) (Eq_ext plus times opposite) field_ring.

Lemma of_Z_0 : of_Z 0 = (0 : F).
Proof. exact (morph0 whole_morphism). Qed.
Lemma of_Z_1 : of_Z 1 = (1 : F).
Proof. exact (morph1 whole_morphism). Qed.
Lemma of_Z_plus (x y : Z) : of_Z (x + y) = (of_Z x + of_Z y : F).
Proof. exact (morph_add whole_morphism x y). Qed.
Lemma of_Z_times (x y : Z) : of_Z (x * y) = (of_Z x * of_Z y : F).
Proof. exact (morph_mul whole_morphism x y). Qed.
Lemma of_Z_minus (x y : Z) : of_Z (x - y) = (of_Z x - of_Z y : F).
Proof. exact (morph_sub whole_morphism x y). Qed.
Lemma of_Z_opposite (x : Z) : of_Z (- x) = (- of_Z x : F).
Proof. exact (morph_opp whole_morphism x). Qed.

Lemma of_Z_nonnegative (z : Z) : (0 <= z)%Z -> (0 : F) <= of_Z z.
Proof.
  revert z. apply natlike_ind.
  - rewrite of_Z_0. apply at_most_refl.
  - intros z _ A. rewrite <- Z.add_1_r, of_Z_plus, of_Z_1.
    replace (0 : F) with (0 + 0 : F) by ring. apply plus_monotone; [exact A | exact zero_at_most_one].
Qed.

Lemma of_Z_monotone (x y : Z) : (x <= y)%Z -> (of_Z x : F) <= of_Z y.
Proof.
  intros A. apply at_most_minus. rewrite <- of_Z_minus. apply of_Z_nonnegative. now apply Z.le_0_sub.
Qed.

Lemma of_Z_positive_not_zero (z : Z) : (0 < z)%Z -> (of_Z z : F) <> 0.
Proof.
  intros A B. apply one_not_zero. apply at_most_antisym; [| exact zero_at_most_one].
  rewrite <- B, <- of_Z_1. apply of_Z_monotone. now apply Zlt_le_succ in A.
Qed.

End Laws.

Section Sums.
Context {F : ordered_field}.
Open Scope field_scope.

Add Ring numbers_again : (@field_ring F).

Lemma sum_equal {A} (xs : list A) (f g : A -> F) : (forall x, In x xs -> f x = g x) -> sum xs f = sum xs g.
Proof.
  induction xs as [| x xs IH]; simpl; intros E; [reflexivity |].
  rewrite (E x) by now left. rewrite IH by (intros; apply E; now right). reflexivity.
Qed.

Lemma sum_monotone {A} (xs : list A) (f g : A -> F) : (forall x, In x xs -> f x <= g x) -> sum xs f <= sum xs g.
Proof.
  induction xs as [| x xs IH]; simpl; intros E; [apply at_most_refl |].
  apply plus_monotone; [apply E; now left | apply IH; intros; apply E; now right].
Qed.

Lemma sum_plus {A} (xs : list A) (f g : A -> F) : sum xs (fun x => f x + g x) = sum xs f + sum xs g.
Proof. induction xs as [| x xs IH]; simpl; [| rewrite IH]; ring. Qed.

Lemma sum_times {A} (xs : list A) (c : F) (f : A -> F) : sum xs (fun x => c * f x) = c * sum xs f.
Proof. induction xs as [| x xs IH]; simpl; [| rewrite IH]; ring. Qed.

Lemma sum_opposite {A} (xs : list A) (f : A -> F) : sum xs (fun x => - f x) = - sum xs f.
Proof. induction xs as [| x xs IH]; simpl; [| rewrite IH]; ring. Qed.

Lemma sum_zero {A} (xs : list A) : sum xs (fun _ => 0) = (0 : F).
Proof. induction xs as [| x xs IH]; simpl; [| rewrite IH]; ring. Qed.

Lemma sum_app {A} (xs ys : list A) (f : A -> F) : sum (xs ++ ys) f = sum xs f + sum ys f.
Proof. induction xs as [| x xs IH]; simpl; [| rewrite IH]; ring. Qed.

Lemma sum_swap {A B} (xs : list A) (ys : list B) (f : A -> B -> F) :
  sum xs (fun x => sum ys (f x)) = sum ys (fun y => sum xs (fun x => f x y)).
Proof.
  induction xs as [| x xs IH]; simpl.
  - now rewrite sum_zero.
  - now rewrite IH, <- sum_plus.
Qed.

Lemma sum_constant {A} (xs : list A) (c : F) : sum xs (fun _ => c) = of_Z (Z.of_nat (length xs)) * c.
Proof.
  induction xs as [| x xs IH]; simpl length.
  - rewrite of_Z_0. simpl. ring.
  - rewrite Nat2Z.inj_succ, <- Z.add_1_r, of_Z_plus, of_Z_1. simpl. rewrite IH. ring.
Qed.

(** An average is at most a common bound. *)
Lemma average_at_most {A} (xs : list A) (chance f : A -> F) (bound : F) :
  (forall x, In x xs -> 0 <= chance x) -> sum xs chance = 1 -> (forall x, In x xs -> f x <= bound) ->
  sum xs (fun x => chance x * f x) <= bound.
Proof.
  intros N S B. apply at_most_trans with (sum xs (fun x => bound * chance x)).
  - apply sum_monotone. intros x I. replace (bound * chance x) with (chance x * bound) by ring.
    apply times_monotone; [apply N, I | apply B, I].
  - rewrite sum_times, S. apply at_most_eq. ring.
Qed.

End Sums.

(** The rationals, in lowest terms, so that equal numbers are the same. *)
Lemma Qc_total (x y : Qc) : (x <= y \/ y <= x)%Qc.
Proof. destruct (Qc_dec x y) as [[A | A] | ->]; [left | right | left]; auto using Qclt_le_weak, Qcle_refl. Qed.

Lemma Qc_le_plus (x y z : Qc) : (x <= y -> x + z <= y + z)%Qc.
Proof. intros A. apply Qcplus_le_compat; [exact A | apply Qcle_refl]. Qed.

Lemma Qc_le_times (x y : Qc) : (0 <= x -> 0 <= y -> 0 <= x * y)%Qc.
Proof.
  intros A B. replace 0%Qc with (0 * y)%Qc by ring. now apply Qcmult_le_compat_r.
Qed.

Definition rationals : ordered_field := {|
  number := Qc; zero := 0%Qc; one := 1%Qc; plus := Qcplus; times := Qcmult; minus := Qcminus; opposite := Qcopp;
  over := Qcdiv; inverse := Qcinv; at_most := Qcle; field_laws := Qcft; at_most_refl := Qcle_refl;
  at_most_trans := Qcle_trans; at_most_antisym := Qcle_antisym; at_most_total := Qc_total;
  at_most_plus := Qc_le_plus; at_most_times := Qc_le_times |}.
