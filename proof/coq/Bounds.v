(** What two plans prove about the value of a game. *)

From Coq Require Import List Arith ZArith QArith Bool Lia Ring Field.
From Phantom Require Import Numbers Statement Positions Checker Plans Soundness.
Import ListNotations.
Local Close Scope Q_scope.

(** ** Whether a set of marks wins: a table of all sets *)

Inductive table := Leaf (b : bool) | Split (without with_ : table).

Fixpoint tabulate (n : nat) (f : positive -> bool) : table :=
  match n with
  | O => Leaf (f xH)
  | S less => Split (tabulate less (fun set => f (xO set))) (tabulate less (fun set => f (xI set)))
  end.

Fixpoint look (t : table) (set : positive) : option bool :=
  match t, set with
  | Leaf b, xH => Some b
  | Split t' _, xO rest => look t' rest
  | Split _ t', xI rest => look t' rest
  | _, _ => None
  end.

Lemma look_tabulate n f set b : look (tabulate n f) set = Some b -> f set = b.
Proof.
  revert f set. induction n as [| n IH]; intros f [set | set |]; simpl; try discriminate.
  - now intros [= ->].
  - apply (IH (fun set => f (xI set))).
  - apply (IH (fun set => f (xO set))).
Qed.

Definition holds_one (sets : list (list square)) (set : positive) : bool :=
  existsb (forallb (fun s => mem s set)) sets.

Definition win_in (t : table) (sets : list (list square)) (set : positive) : bool :=
  match look t set with Some b => b | None => holds_one sets set end.

Lemma forallb_equal {A} (f g : A -> bool) xs : (forall x, f x = g x) -> forallb f xs = forallb g xs.
Proof. intros E. induction xs as [| x xs IH]; simpl; [reflexivity | now rewrite E, IH]. Qed.
Lemma existsb_equal {A} (f g : A -> bool) xs : (forall x, f x = g x) -> existsb f xs = existsb g xs.
Proof. intros E. induction xs as [| x xs IH]; simpl; [reflexivity | now rewrite E, IH]. Qed.

Lemma win_in_is G p n set i :
  represents set (marks i) ->
  win_in (tabulate n (holds_one (winning_sets G p))) (winning_sets G p) set = wins G p i.
Proof.
  intros R. unfold win_in.
  assert (H : holds_one (winning_sets G p) set = wins G p i)
    by (apply existsb_equal; intros; now apply forallb_equal).
  destruct (look _ _) eqn:L; [| exact H]. apply look_tabulate in L. now rewrite <- L.
Qed.

(** ** Whether two sets fill the board *)

Definition rest_of (set : positive) : positive := match set with xI rest | xO rest => rest | xH => xH end.

Fixpoint fill (n : nat) (own set : positive) : bool :=
  match n with
  | O => true
  | S less =>
      match own, set with
      | xI a, xI b | xI a, xO b | xO a, xI b => fill less a b
      | xI a, xH => fill less a xH
      | xH, xI b => fill less xH b
      | _, _ => false
      end
  end.

Lemma fill_one less own set :
  fill (S less) own set = (mem 0 own || mem 0 set) && fill less (rest_of own) (rest_of set).
Proof. now destruct own, set. Qed.

Lemma mem_rest s set : mem (S s) set = mem s (rest_of set).
Proof. now destruct set, s. Qed.

Lemma fill_is n own set : fill n own set = forallb (fun s => mem s own || mem s set) (seq 0 n).
Proof.
  revert own set. induction n as [| n IH]; intros own set; [reflexivity |].
  rewrite fill_one, IH. cbn [seq forallb]. rewrite <- seq_shift. f_equal. generalize (seq 0 n). induction l as [| s l IHl]; cbn [map forallb]; [reflexivity |].
  now rewrite IHl, !mem_rest.
Qed.

Fixpoint empty (n : nat) : positive := match n with O => xH | S less => xO (empty less) end.

Lemma mem_empty s n : mem s (empty n) = false.
Proof. revert s. induction n as [| n IH]; intros [| s]; simpl; auto. Qed.

(** ** Bounds *)

Section Bounds.
Variable G : rules.
Notation n := (squares G).

Definition table_of (p : player) : table := tabulate n (holds_one (winning_sets G p)).

Definition win (p : player) : positive -> bool := win_in (table_of p) (winning_sets G p).

(** The plan, with the limits of what [me] gets against it. *)
Definition note_for (me : player) (plan : tree) : tree :=
  note n (classical G) (win me) (win (other me)) (fill n) plan (empty n) (empty n).

(** What a player gets at most against a plan of the other, times the weight of the plan. *)
Definition most (me : player) (plan : tree) : Z :=
  let answer reached :=
    respond n (classical G) (win me) (win (other me)) (fill n) (2 * n) (Branch (empty n) (empty n) reached) in
  let root := Entry (total plan) plan (empty n) in
  match me with
  | Zero => answer [root] (- total plan)
  | One =>
      let '(v, reached) := move_all (classical G) (win Zero) (fill n) (empty n) [root] in
      v + answer reached (- total plan)
  end%Z.

Definition no_setup : bool :=
  match setup G Zero, setup G One with [], [] => true | _, _ => false end.

(** The game begins on an empty board where nobody has won yet, and the plan is in order. *)
Definition fit (plan : tree) : bool :=
  no_setup && negb (wins G Zero []) && negb (wins G One []) && negb (n =? 0) &&
  (0 <? total plan)%Z && in_order n plan (empty n).

(** The interval that two plans prove, if they are in order. *)
Definition bounds (zero one : tree) : option (Q * Q) :=
  let zero := note_for One zero in
  let one := note_for Zero one in
  if fit zero && fit one
  then Some (Qmake (- most One zero) (Z.to_pos (total zero)), Qmake (most Zero one) (Z.to_pos (total one)))
  else None.

Section Proofs.
Variable F : ordered_field.

Add Field numbers : (field_laws F).

Lemma most_sound me plan (chance : player -> strategy F) :
  fit plan = true -> noted G (win me) (win (other me)) (fill n) plan (empty n) ->
  is_strategy G F (chance me) -> chance (other me) = strategy_of G F plan ->
  (of_Z (total plan) * gain G F chance me (start G) <= of_Z (most me plan))%F.
Proof.
  unfold fit, no_setup. rewrite !andb_true_iff, !negb_true_iff, Nat.eqb_neq, Z.ltb_lt.
  intros [[[[[S W0] W1] N] T] O] Noted Mine By.
  assert (Both : forall p, is_strategy G F (chance p)).
  { intros p. destruct me, p; simpl in By; try exact Mine; rewrite By; apply strategy_of_is_strategy. }
  assert (Start : start G = at_ me Zero [] []).
  { destruct (setup G Zero) as [| ? ?] eqn:Z; [| discriminate]. destruct (setup G One) as [| ? ?] eqn:Y; [| discriminate].
    unfold start, first_seen. rewrite Z, Y. simpl. unfold at_. now destruct me. }
  assert (Covered : forall own set i j, represents own (marks i) -> represents set (marks j) ->
            fill n own set = fills G me i j).
  { intros own set i j R R'. rewrite fill_is. unfold fills, full, at_, board.
    destruct me; simpl; apply forallb_equal; intros s; rewrite R, R'; [reflexivity | apply orb_comm]. }
  set (my_win := win me) in *. set (their_win := win (other me)) in *.
  assert (My : forall set i, represents set (marks i) -> my_win set = wins G me i)
    by (intros; now apply win_in_is).
  assert (Their : forall set j, represents set (marks j) -> their_win set = wins G (other me) j)
    by (intros; now apply win_in_is).
  assert (Empty : represents (empty n) []) by (intros s; apply mem_empty).
  assert (Open : open_ G me [] []).
  { unfold open_. repeat split; try (destruct me; assumption).
    unfold fills, full, at_, board. destruct n as [| k]; [easy |]. now destruct me. }
  set (root := Entry (total plan) plan (empty n)).
  assert (Sits : forall x, In x [(root, [] : infoset)] -> sits G me plan my_win their_win (fill n) [] x).
  { intros x [<- | []]. simpl. repeat split; auto; try apply Open.
    - unfold deals. destruct plan; auto. apply Z.eqb_refl.
    - intros s X. discriminate X.
    - exists (empty n). auto. }
  rewrite Start. unfold most. fold my_win their_win root. destruct me.
  - pose proof (respond_sound G F Zero plan chance Both By my_win their_win (fill n) My Their Covered (2 * n) (- total plan)
      (Branch (empty n) (empty n) [root]) [] [(root, [])]) as R.
    rewrite value_of_one in R. apply R. repeat split; auto.
  - destruct (move_all_sound G F One plan chance Both By my_win their_win (fill n) My Their Covered (empty n) []
      Empty [(root, [])] Sits) as [P [E [SP A]]].
    simpl map in *. destruct (move_all _ _ _ _ [root]) as [v reached]. simpl in E. subst reached. simpl fst in A.
    rewrite value_of_one in A. rewrite of_Z_plus. eapply at_most_trans; [exact A |].
    apply plus_monotone; [apply at_most_refl |].
    apply (respond_sound G F One plan chance Both By my_win their_win (fill n) My Their Covered (2 * n) (- total plan)).
    repeat split; auto.
Qed.

Lemma at_most_quotient (w : Z) (x y : F) : (0 < w)%Z -> (of_Z w * x <= y)%F -> (x <= y / of_Z w)%F.
Proof.
  intros W A. assert (N : (of_Z w : F) <> zero) by now apply of_Z_positive_not_zero.
  replace x with (/ of_Z w * (of_Z w * x))%F by (field; exact N). rewrite over_times.
  replace (y * / of_Z w)%F with (/ of_Z w * y)%F by ring. apply times_monotone; [| exact A].
  apply inverse_nonnegative; [exact N | apply of_Z_nonnegative; lia].
Qed.

Theorem bounds_sound zero one low high :
  bounds zero one = Some (low, high) ->
  (exists z, is_strategy G F z /\ forall o, is_strategy G F o -> of_Q low <= expected_payoff G F z o)%F /\
  (exists o, is_strategy G F o /\ forall z, is_strategy G F z -> expected_payoff G F z o <= of_Q high)%F.
Proof.
  unfold bounds. pose proof (note_noted G (win One) (win Zero) (fill n) zero (empty n) (empty n)) as L0.
  pose proof (note_noted G (win Zero) (win One) (fill n) one (empty n) (empty n)) as L1.
  change (noted G (win One) (win Zero) (fill n) (note_for One zero) (empty n)) in L0.
  change (noted G (win Zero) (win One) (fill n) (note_for Zero one) (empty n)) in L1.
  generalize dependent (note_for One zero). clear zero. intros zero L0.
  generalize dependent (note_for Zero one). clear one. intros one L1.
  destruct (fit zero && fit one)%bool eqn:B; [| discriminate]. intros [= <- <-].
  apply andb_true_iff in B as [B0 B1].
  assert (T : forall plan, fit plan = true -> (0 < total plan)%Z).
  { intros plan. unfold fit. rewrite !andb_true_iff, Z.ltb_lt. tauto. }
  split.
  - exists (strategy_of G F zero). split; [apply strategy_of_is_strategy |]. intros o O.
    rewrite expected_payoff_at_start. unfold of_Q. simpl Qnum. simpl Qden. rewrite Z2Pos.id by auto.
    pose proof (most_sound One zero (fun p => match p with Zero => strategy_of G F zero | One => o end) B0 L0 O eq_refl) as A.
    apply at_most_quotient in A; [| auto]. simpl in A. rewrite of_Z_opposite.
    apply opposite_monotone in A. eapply at_most_trans; [| eapply at_most_trans; [exact A |]].
    + apply at_most_eq. field. now apply of_Z_positive_not_zero, T.
    + apply at_most_eq. ring.
  - exists (strategy_of G F one). split; [apply strategy_of_is_strategy |]. intros z Z.
    rewrite expected_payoff_at_start. unfold of_Q. simpl Qnum. simpl Qden. rewrite Z2Pos.id by auto.
    pose proof (most_sound Zero one (fun p => match p with Zero => z | One => strategy_of G F one end) B1 L1 Z eq_refl) as A.
    now apply at_most_quotient in A; [| auto].
Qed.

End Proofs.
End Bounds.

(** Two plans prove a value. *)
Definition proves (G : rules) (zero one : tree) (v : Q) : bool :=
  match bounds G zero one with
  | Some (low, high) => Qle_bool v low && Qle_bool high v
  | None => false
  end.

Section Values.
Variable F : ordered_field.
Add Field numbers_of_values : (field_laws F).

Lemma of_Q_monotone (x y : Q) : (x <= y)%Q -> ((of_Q x : F) <= of_Q y)%F.
Proof.
  intros A. unfold of_Q. unfold Qle in A. apply at_most_quotient; [reflexivity |].
  assert (N : (of_Z (Zpos (Qden x)) : F) <> zero) by now apply of_Z_positive_not_zero.
  apply at_most_trans with (/ of_Z (Zpos (Qden x)) * of_Z (Qnum x * Zpos (Qden y)))%F.
  - apply at_most_eq. rewrite of_Z_times, over_times. ring.
  - apply at_most_trans with (/ of_Z (Zpos (Qden x)) * of_Z (Qnum y * Zpos (Qden x)))%F.
    + apply times_monotone; [| now apply of_Z_monotone]. apply inverse_nonnegative; [exact N |].
      now apply of_Z_nonnegative.
    + apply at_most_eq. rewrite of_Z_times. field. exact N.
Qed.

End Values.

Theorem proves_sound (G : rules) (zero one : tree) (v : Q) :
  proves G zero one v = true -> forall F, is_value G F (of_Q v).
Proof.
  unfold proves. destruct (bounds G zero one) as [[low high] |] eqn:B; [| discriminate].
  rewrite andb_true_iff, !Qle_bool_iff. intros [L H] F.
  destruct (bounds_sound G F zero one low high B) as [[z [Z Gets]] [o [O Gives]]]. split.
  - exists z. split; [exact Z |]. intros o' O'. apply at_most_trans with (of_Q low); auto using of_Q_monotone.
  - exists o. split; [exact O |]. intros z' Z'. apply at_most_trans with (of_Q high); auto using of_Q_monotone.
Qed.
