(** The reals: no strategy with irrational chances does better.

    The reals of Coq's library rest on axioms, which [Print Assumptions] names; the rationals rest on none. *)

From Coq Require Import ZArith QArith Qcanon Reals Qreals RealField Ring.
From Phantom Require Import Numbers Statement Checker Bounds.

Lemma R_total (x y : R) : (x <= y \/ y <= x)%R.
Proof. destruct (Rle_or_lt x y) as [A | A]; [now left | right; now apply Rlt_le]. Qed.

Lemma R_plus (x y z : R) : (x <= y -> x + z <= y + z)%R.
Proof. apply Rplus_le_compat_r. Qed.

Definition reals : ordered_field := {|
  number := R; zero := 0%R; one := 1%R; plus := Rplus; times := Rmult; minus := Rminus; opposite := Ropp;
  over := Rdiv; inverse := Rinv; at_most := Rle; field_laws := Rfield; at_most_refl := Rle_refl;
  at_most_trans := Rle_trans; at_most_antisym := Rle_antisym; at_most_total := R_total;
  at_most_plus := R_plus; at_most_times := Rmult_le_pos |}.

(** Fractions are what they should be. *)

Lemma of_Z_reals (z : Z) : @of_Z reals z = IZR z.
Proof.
  induction z as [| z IH | z IH] using Z.peano_ind.
  - exact of_Z_0.
  - rewrite <- Z.add_1_r, plus_IZR, of_Z_plus, of_Z_1, IH. reflexivity.
  - rewrite <- Z.sub_1_r, minus_IZR, of_Z_minus, of_Z_1, IH. reflexivity.
Qed.

Lemma of_Q_reals (q : Q) : @of_Q reals q = Q2R q.
Proof. unfold of_Q, Q2R. rewrite !of_Z_reals. reflexivity. Qed.

Lemma Qc_plus (x y : Q) : (Q2Qc x + Q2Qc y)%Qc = Q2Qc (x + y).
Proof. apply Qc_is_canon. unfold Qcplus, Q2Qc. cbn [this]. now rewrite !Qred_correct. Qed.

Lemma Qc_minus (x y : Q) : (Q2Qc x - Q2Qc y)%Qc = Q2Qc (x - y).
Proof. apply Qc_is_canon. unfold Qcminus, Qcplus, Qcopp, Q2Qc. cbn [this]. now rewrite !Qred_correct. Qed.

Lemma Qc_over (x y : Q) : (Q2Qc x / Q2Qc y)%Qc = Q2Qc (x / y).
Proof. apply Qc_is_canon. unfold Qcdiv, Qcmult, Qcinv, Q2Qc. cbn [this]. now rewrite !Qred_correct. Qed.

Lemma of_Z_rationals (z : Z) : @of_Z rationals z = Q2Qc (inject_Z z).
Proof.
  induction z as [| z IH | z IH] using Z.peano_ind.
  - exact of_Z_0.
  - rewrite <- Z.add_1_r, of_Z_plus, of_Z_1, IH, inject_Z_plus. exact (Qc_plus (inject_Z z) 1).
  - rewrite <- Z.sub_1_r, of_Z_minus, of_Z_1, IH. unfold Z.sub. rewrite inject_Z_plus, inject_Z_opp.
    exact (Qc_minus (inject_Z z) 1).
Qed.

Lemma of_Q_rationals (q : Q) : @of_Q rationals q = Q2Qc q.
Proof.
  unfold of_Q. rewrite !of_Z_rationals.
  transitivity (Q2Qc (inject_Z (Qnum q) / inject_Z (Zpos (Qden q)))); [apply Qc_over |].
  apply Qc_is_canon. unfold Q2Qc. cbn [this]. rewrite !Qred_correct, <- Qmake_Qdiv. now destruct q.
Qed.

(** What two plans prove is the value among all strategies with real chances, and it is the only one. *)
Theorem proves_real_value (G : rules) (zero one : tree) (v : Q) :
  proves G zero one v = true -> forall x : R, is_value G reals x <-> x = Q2R v.
Proof.
  intros P x. pose proof (proves_sound G zero one v P reals) as V. rewrite of_Q_reals in V. split.
  - intros X. now apply (value_is_unique G reals).
  - now intros ->.
Qed.
