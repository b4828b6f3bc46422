(** What two plans prove about the value of a game. *)

From Coq Require Import List Arith ZArith QArith Bool Ring.
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

(** The setup of a player: what a plan begins with, and as a set. *)
Definition setup_set (p : player) : positive := fold_right add (empty n) (setup G p).

Definition after_setup (p : player) (plan : tree) : tree :=
  fold_right (fun s rest => Act s 0 Stop rest Stop Unknown) plan (setup G p).

Definition begins (p : player) : bool :=
  match p, mover (start G) with Zero, Zero | One, One => true | _, _ => false end.

(** The plan, with the limits of what [me] gets against it. *)
Definition note_for (me : player) (plan : tree) : tree :=
  let theirs := setup_set (other me) in
  note n (classical G) (win me) (win (other me)) (fill n) plan theirs theirs.

(** What a player gets at most against a plan of the other, times the weight of the plan. *)
Definition most (me : player) (plan : tree) : Z :=
  let mine := setup_set me in
  let answer reached :=
    respond n (classical G) (win me) (win (other me)) (fill n) (2 * n) (Branch mine mine reached) in
  let root := Entry (total plan) plan (setup_set (other me)) in
  (if begins me then answer [root] (- total plan)
   else
     let '(v, reached) := move_all (classical G) (win (other me)) (fill n) mine [root] in
     v + answer reached (- total plan))%Z.

(** Nobody has won yet, the board is not full, and the plan of a player is in order. *)
Definition fit (p : player) (plan : tree) : bool :=
  negb (wins G Zero (first_seen G Zero)) && negb (wins G One (first_seen G One)) && negb (full G (start G)) &&
  (0 <? total plan)%Z && in_order n plan (setup_set p).

(** The interval that two plans prove, if they are in order. *)
Definition bounds (zero one : tree) : option (Q * Q) :=
  let zero := note_for One zero in
  let one := note_for Zero one in
  if fit Zero zero && fit One one
  then Some (Qmake (- most One zero) (Z.to_pos (total zero)), Qmake (most Zero one) (Z.to_pos (total one)))
  else None.

Section Proofs.
Variable F : ordered_field.

Add Ring numbers : (@field_ring F).

Lemma node_after_setup p plan : node (after_setup p plan) (first_seen G p) = plan.
Proof.
  unfold node, find, first_seen, after_setup. rewrite <- map_rev, rev_involutive.
  induction (setup G p) as [| s rest IH]; simpl; [reflexivity | now rewrite Nat.eqb_refl].
Qed.

Lemma tried_first p : tried (first_seen G p) = rev (setup G p).
Proof. unfold tried, first_seen. rewrite map_map. apply map_id. Qed.

Lemma marks_first p : marks (first_seen G p) = rev (setup G p).
Proof.
  rewrite <- tried_first. unfold marks, first_seen. f_equal.
  induction (rev (setup G p)) as [| s rest IH]; simpl; [reflexivity | now rewrite IH].
Qed.

Lemma setup_set_is p : represents (setup_set p) (rev (setup G p)).
Proof.
  intros s. unfold setup_set. induction (setup G p) as [| t rest IH]; simpl; [apply mem_empty |].
  rewrite mem_add, IH. unfold holds. rewrite existsb_app. simpl. rewrite orb_false_r. apply orb_comm.
Qed.

Lemma start_at me : start G = at_ me (if begins me then me else other me) (first_seen G me) (first_seen G (other me)).
Proof.
  replace (if begins me then me else other me) with (mover (start G)).
  - unfold at_. now destruct me.
  - unfold begins. destruct me, (mover (start G)); reflexivity.
Qed.

Lemma most_sound me plan (chance : player -> strategy F) :
  fit (other me) plan = true -> noted G (win me) (win (other me)) (fill n) plan (setup_set (other me)) ->
  is_strategy G F (chance me) -> chance (other me) = strategy_of G F (after_setup (other me) plan) ->
  (of_Z (total plan) * gain G F chance me (start G) <= of_Z (most me plan))%F.
Proof.
  unfold fit. rewrite !andb_true_iff, !negb_true_iff, Z.ltb_lt.
  intros [[[[W0 W1] N] T] O] Noted Mine By.
  assert (Both : forall p, is_strategy G F (chance p)).
  { intros p. destruct me, p; simpl in By; try exact Mine; rewrite By; apply strategy_of_is_strategy. }
  assert (Covered : forall own set i j, represents own (marks i) -> represents set (marks j) ->
            fill n own set = fills G me i j).
  { intros own set i j R R'. rewrite fill_is. unfold fills, full, at_, board.
    destruct me; simpl; apply forallb_equal; intros s; rewrite R, R'; [reflexivity | apply orb_comm]. }
  set (my_win := win me) in *. set (their_win := win (other me)) in *.
  assert (My : forall set i, represents set (marks i) -> my_win set = wins G me i)
    by (intros; now apply win_in_is).
  assert (Their : forall set j, represents set (marks j) -> their_win set = wins G (other me) j)
    by (intros; now apply win_in_is).
  set (i := first_seen G me). set (j := first_seen G (other me)).
  assert (Set_ : forall p, represents (setup_set p) (marks (first_seen G p)))
    by (intros; rewrite marks_first; apply setup_set_is).
  assert (Known : forall p, represents (setup_set p) (tried (first_seen G p)))
    by (intros; rewrite tried_first; apply setup_set_is).
  assert (Open : open_ G me i j).
  { unfold open_. repeat split; [| | rewrite <- N]; destruct me; try assumption; reflexivity. }
  set (root := Entry (total plan) plan (setup_set (other me))).
  assert (Sits : forall x, In x [(root, j)] -> sits G me (after_setup (other me) plan) my_win their_win (fill n) i x).
  { intros x [<- | []]. simpl.
    split; [symmetry; apply node_after_setup |]. split; [apply Set_ |]. split; [exact T |].
    split; [unfold deals; destruct plan; [reflexivity | apply Z.eqb_refl] |]. split; [exact Open |].
    split; [intros s X; left; unfold i in *; now rewrite marks_first, <- tried_first |]. split; [exact Noted |].
    exists (setup_set (other me)). split; [apply Known | exact O]. }
  rewrite (start_at me). fold i j. unfold most. fold my_win their_win root. destruct (begins me).
  - pose proof (respond_sound G F me (after_setup (other me) plan) chance Both By my_win their_win (fill n) My Their
      Covered (2 * n) (- total plan) (Branch (setup_set me) (setup_set me) [root]) i [(root, j)]) as R.
    rewrite value_of_one in R. apply R. repeat split; auto; [apply Set_ | apply Known].
  - destruct (move_all_sound G F me (after_setup (other me) plan) chance Both By my_win their_win (fill n) My Their
      Covered (setup_set me) i (Set_ me) [(root, j)] Sits) as [P [E [SP A]]].
    simpl map in *. destruct (move_all _ _ _ _ [root]) as [v reached]. simpl in E. subst reached. simpl fst in A.
    rewrite value_of_one in A. rewrite of_Z_plus. eapply at_most_trans; [exact A |].
    apply plus_monotone; [apply at_most_refl |].
    apply (respond_sound G F me (after_setup (other me) plan) chance Both By my_win their_win (fill n) My Their Covered
      (2 * n) (- total plan)).
    repeat split; auto; [apply Set_ | apply Known].
Qed.

Lemma at_most_quotient (w : Z) (x y : F) : (0 < w)%Z -> (of_Z w * x <= y)%F -> (x <= y / of_Z w)%F.
Proof.
  intros W A. assert (N : (of_Z w : F) <> zero) by now apply of_Z_positive_not_zero.
  replace x with (/ of_Z w * (of_Z w * x))%F by ring [(inverse_times _ N)]. rewrite over_times.
  replace (y * / of_Z w)%F with (/ of_Z w * y)%F by ring. apply times_monotone; [| exact A].
  apply inverse_nonnegative; [exact N | now apply of_Z_nonnegative, Z.lt_le_incl].
Qed.

Theorem bounds_sound zero one low high :
  bounds zero one = Some (low, high) ->
  (exists z, is_strategy G F z /\ forall o, is_strategy G F o -> of_Q low <= expected_payoff G F z o)%F /\
  (exists o, is_strategy G F o /\ forall z, is_strategy G F z -> expected_payoff G F z o <= of_Q high)%F.
Proof.
  unfold bounds.
  pose proof (note_noted G (win One) (win Zero) (fill n) zero (setup_set Zero) (setup_set Zero)) as L0.
  pose proof (note_noted G (win Zero) (win One) (fill n) one (setup_set One) (setup_set One)) as L1.
  change (noted G (win One) (win Zero) (fill n) (note_for One zero) (setup_set Zero)) in L0.
  change (noted G (win Zero) (win One) (fill n) (note_for Zero one) (setup_set One)) in L1.
  generalize dependent (note_for One zero). clear zero. intros zero L0.
  generalize dependent (note_for Zero one). clear one. intros one L1.
  destruct (fit Zero zero && fit One one)%bool eqn:B; [| discriminate]. intros [= <- <-].
  apply andb_true_iff in B as [B0 B1].
  assert (T : forall p plan, fit p plan = true -> (0 < total plan)%Z).
  { intros p plan. unfold fit. rewrite !andb_true_iff, Z.ltb_lt. tauto. }
  set (by_zero := strategy_of G F (after_setup Zero zero)). set (by_one := strategy_of G F (after_setup One one)).
  split.
  - exists by_zero. split; [apply strategy_of_is_strategy |]. intros o O.
    rewrite expected_payoff_at_start. unfold of_Q. simpl Qnum. simpl Qden. rewrite Z2Pos.id by exact (T _ _ B0).
    pose proof (most_sound One zero (fun p => match p with Zero => by_zero | One => o end) B0 L0 O eq_refl) as A.
    apply at_most_quotient in A; [| exact (T _ _ B0)]. simpl in A. rewrite of_Z_opposite.
    apply opposite_monotone in A. eapply at_most_trans; [| eapply at_most_trans; [exact A |]].
    + apply at_most_eq. rewrite !over_times. ring.
    + apply at_most_eq. ring.
  - exists by_one. split; [apply strategy_of_is_strategy |]. intros z Z.
    rewrite expected_payoff_at_start. unfold of_Q. simpl Qnum. simpl Qden. rewrite Z2Pos.id by exact (T _ _ B1).
    pose proof (most_sound Zero one (fun p => match p with Zero => z | One => by_one end) B1 L1 Z eq_refl) as A.
    now apply at_most_quotient in A; [| exact (T _ _ B1)].
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
Add Ring numbers_of_values : (@field_ring F).

Lemma of_Q_monotone (x y : Q) : (x <= y)%Q -> ((of_Q x : F) <= of_Q y)%F.
Proof.
  intros A. unfold of_Q. unfold Qle in A. apply at_most_quotient; [reflexivity |].
  assert (N : (of_Z (Zpos (Qden x)) : F) <> zero) by now apply of_Z_positive_not_zero.
  apply at_most_trans with (/ of_Z (Zpos (Qden x)) * of_Z (Qnum x * Zpos (Qden y)))%F.
  - apply at_most_eq. rewrite of_Z_times, over_times. ring.
  - apply at_most_trans with (/ of_Z (Zpos (Qden x)) * of_Z (Qnum y * Zpos (Qden x)))%F.
    + apply times_monotone; [| now apply of_Z_monotone]. apply inverse_nonnegative; [exact N |].
      now apply of_Z_nonnegative.
    + apply at_most_eq. rewrite of_Z_times. ring [(inverse_times _ N)].
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
