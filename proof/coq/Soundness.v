(** No strategy gets more against a plan than [respond] says. *)

From Coq Require Import List Arith ZArith Bool Lia Ring Field.
From Phantom Require Import Numbers Statement Positions Checker Plans.
Import ListNotations.

(** ** Sets *)

Definition represents (set : positive) (l : list square) : Prop := forall s, mem s set = holds l s.

Lemma mem_add s t set : mem t (add s set) = (Nat.eqb t s || mem t set).
Proof.
  revert t set. induction s as [| s IH]; intros [| t] [set | set |]; simpl; try reflexivity; try apply IH.
  - now destruct t.
  - rewrite IH. now destruct t.
Qed.

Lemma represents_add s set l : represents set l -> represents (add s set) (s :: l).
Proof. intros R t. rewrite mem_add. simpl. now rewrite R. Qed.

Section Soundness.
Variable G : rules.
Variable F : ordered_field.
Variable me : player.       (* who responds *)
Variable plan : tree.       (* of the other *)
Variable chance : player -> strategy F.
Hypothesis strategies : forall p, is_strategy G F (chance p).
Hypothesis by_plan : chance (other me) = strategy_of G F plan.

Add Field numbers : (field_laws F).

Variable my_win their_win : positive -> bool.
Variable covered : positive -> positive -> bool.
Hypothesis my_win_is : forall set i, represents set (marks i) -> my_win set = wins G me i.
Hypothesis their_win_is : forall set j, represents set (marks j) -> their_win set = wins G (other me) j.

(** A position, from the responder's side: the responder's infoset and the other's. *)
Definition at_ (turn : player) (i j : infoset) : position :=
  match me with
  | Zero => {| mover := turn; seen_by_zero := i; seen_by_one := j |}
  | One => {| mover := turn; seen_by_zero := j; seen_by_one := i |}
  end.

Definition fills (i j : infoset) : bool := full G (at_ me i j).
Hypothesis covered_is :
  forall own set i j, represents own (marks i) -> represents set (marks j) -> covered own set = fills i j.

Notation gain := (gain G F chance me).
Notation squares := (squares G).
Notation classical := (classical G).
Notation move := (move classical their_win covered).
Notation move_one := (move_one classical their_win covered).
Notation move_all := (move_all classical their_win covered).
Notation in_order := (in_order squares).
Notation attempt_ := (attempt_all classical my_win their_win covered).
Notation respond := (respond squares classical my_win their_win covered).

(** ** Positions from the responder's side *)

(** Nobody has won, and the board is not full. *)
Definition open_ (i j : infoset) : Prop := wins G me i = false /\ wins G (other me) j = false /\ fills i j = false.

Lemma full_at turn i j : full G (at_ turn i j) = fills i j.
Proof. unfold fills, at_. now destruct me. Qed.

Lemma result_at turn i j :
  wins G me i = false \/ wins G (other me) j = false ->
  result G (at_ turn i j) =
    if wins G me i then Some (Won me) else if wins G (other me) j then Some (Won (other me))
    else if fills i j then Some Drawn else None.
Proof.
  unfold result. rewrite full_at. unfold at_. destruct me; simpl; intros [E | E]; rewrite E;
    destruct (wins G Zero _), (wins G One _); try reflexivity; discriminate.
Qed.

Lemma gain_of_result turn i j o : result G (at_ turn i j) = Some o -> gain (at_ turn i j) = points_for F me o.
Proof. intros R. now rewrite gain_of_attempts, R. Qed.

Lemma points_for_me : points_for F me (Won me) = one.
Proof. destruct me; simpl; ring. Qed.
Lemma points_for_other : points_for F me (Won (other me)) = opposite one.
Proof. destruct me; simpl; ring. Qed.
Lemma points_for_draw : points_for F me Drawn = zero.
Proof. destruct me; simpl; ring. Qed.

Lemma my_attempt i j s :
  attempt G (at_ me i j) s =
    if holds (marks j) s then at_ (if classical then me else other me) ((s, false) :: i) j
    else at_ (other me) ((s, true) :: i) j.
Proof. unfold attempt, at_. destruct me; simpl; destruct (holds (marks j) s); reflexivity. Qed.

Lemma their_attempt i j s :
  attempt G (at_ (other me) i j) s =
    if holds (marks i) s then at_ (if classical then other me else me) i ((s, false) :: j)
    else at_ me i ((s, true) :: j).
Proof. unfold attempt, at_. destruct me; simpl; destruct (holds (marks i) s); reflexivity. Qed.

Lemma gain_of_my_attempts i j :
  open_ i j -> gain (at_ me i j) = sum (legal G i) (fun s => chance me i s * gain (attempt G (at_ me i j) s))%F.
Proof.
  intros [A [B C]]. rewrite gain_of_attempts, result_at by now left. rewrite A, B, C.
  replace (mover (at_ me i j)) with me by (unfold at_; now destruct me).
  now replace (seen me (at_ me i j)) with i by (unfold at_; now destruct me).
Qed.

Lemma gain_of_their_attempts i j :
  open_ i j ->
  gain (at_ (other me) i j) =
    sum (legal G j) (fun s => strategy_of G F plan j s * gain (attempt G (at_ (other me) i j) s))%F.
Proof.
  intros [A [B C]]. rewrite gain_of_attempts, result_at by now left. rewrite A, B, C.
  replace (mover (at_ (other me) i j)) with (other me) by (unfold at_; now destruct me).
  replace (seen (other me) (at_ (other me) i j)) with j by (unfold at_; now destruct me).
  now rewrite by_plan.
Qed.

Lemma gain_limit x : (gain x <= 1)%F.
Proof. now apply gain_at_most_one. Qed.

Lemma wins_failed p s i : wins G p ((s, false) :: i) = wins G p i.
Proof. reflexivity. Qed.
Lemma fills_failed s i j : fills ((s, false) :: i) j = fills i j.
Proof. unfold fills, at_. destruct me; reflexivity. Qed.
Lemma fills_failed_other s i j : fills i ((s, false) :: j) = fills i j.
Proof. unfold fills, at_. destruct me; reflexivity. Qed.

(** ** Plans in order *)

Fixpoint actions (t : tree) : list (nat * Z * tree * tree) :=
  match t with Stop => [] | Act s w failed placed next => (s, w, failed, placed) :: actions next end.

Lemma usable_in_order t known l : represents known l -> in_order t known = true -> usable squares t l = true.
Proof.
  intros R. induction t as [| s w f _ p _ next IH]; simpl; [reflexivity |]. rewrite !andb_true_iff, R.
  intros [[[[[[[[A B] C] D] _] _] _] _] E]. repeat split; auto. apply Z.ltb_lt in C. apply Z.leb_le. lia.
Qed.

Lemma after_action t known s w failed placed b :
  in_order t known = true -> In (s, w, failed, placed) (actions t) -> after t s b = if b then placed else failed.
Proof.
  induction t as [| s' w' f _ p _ next IH]; simpl; [easy |]. rewrite !andb_true_iff.
  intros [[[[[[[[_ _] _] D] _] _] _] _] E] [X | I].
  - injection X as -> -> -> ->. now rewrite Nat.eqb_refl.
  - destruct (Nat.eqb_spec s s') as [-> |]; [| auto].
    exfalso. apply negb_true_iff in D. clear IH E. revert D I. clear.
    induction next as [| s2 w2 f2 _ p2 _ n2 IH]; simpl; [easy |].
    rewrite orb_false_iff. intros [A B] [X | I]; [| auto]. injection X as -> _ _ _. now rewrite Nat.eqb_refl in A.
Qed.

(** What the actions of a tree in order are good for. *)
Definition action_ok (j : infoset) (known : positive) (x : nat * Z * tree * tree) : Prop :=
  let '(s, w, failed, placed) := x in
  (0 < w)%Z /\ deals w failed = true /\ deals w placed = true /\
  failed = node plan ((s, false) :: j) /\ placed = node plan ((s, true) :: j) /\
  in_order failed (add s known) = true /\ in_order placed (add s known) = true.

Lemma actions_ok t known j :
  t = node plan j -> in_order t known = true -> forall x, In x (actions t) -> action_ok j known x.
Proof.
  intros N O [[[s w] failed] placed] I.
  assert (A := after_action t known s w failed placed false O I).
  assert (B := after_action t known s w failed placed true O I).
  unfold action_ok. rewrite !node_cons, <- N, A, B. clear A B N. revert O I.
  induction t as [| s' w' f _ p _ next IH]; simpl; [easy |]. rewrite !andb_true_iff.
  intros [[[[[[[[A B] C] D] E] H] I] J] K] [X | L].
  - injection X as -> -> -> ->. apply Z.ltb_lt in C. auto 10.
  - auto.
Qed.

(** ** The other's infosets *)

Definition sits (i : infoset) (x : entry * infoset) : Prop :=
  let '(e, j) := x in
  tree_of e = node plan j /\ represents (marks_of e) (marks j) /\ (0 < weight_of e)%Z /\
  deals (weight_of e) (tree_of e) = true /\ open_ i j /\
  exists known, represents known (tried j) /\ in_order (tree_of e) known = true.

Definition value (turn : player) (i : infoset) (P : list (entry * infoset)) : F :=
  sum P (fun x => of_Z (weight_of (fst x)) * gain (at_ turn i (snd x)))%F.

Lemma value_of_one turn i e j : value turn i [(e, j)] = (of_Z (weight_of e) * gain (at_ turn i j))%F.
Proof. unfold value. cbn [sum fst snd]. ring. Qed.

(** What the other's attempt leads to. *)
Definition then_ (i j : infoset) (s : square) : F := gain (attempt G (at_ (other me) i j) s).

Lemma gain_by_actions t known i j w :
  t = node plan j -> in_order t known = true -> represents known (tried j) -> open_ i j -> (0 < w)%Z ->
  deals w t = true -> t <> Stop ->
  (of_Z w * gain (at_ (other me) i j))%F = sum_actions F t (then_ i j).
Proof.
  intros N O K Q W D S. rewrite gain_of_their_attempts by exact Q.
  assert (T : total t = w) by (destruct t; [easy | now apply Z.eqb_eq in D]).
  assert (U := usable_in_order t known _ K O).
  rewrite <- sum_times.
  rewrite <- (sum_of_weights F squares t (tried j) (legal G j)); auto using legal_no_duplicates.
  2: { intros s A B. apply in_legal. auto. }
  apply sum_equal. intros s _. unfold strategy_of, then_. rewrite <- N, U, T.
  replace (0 <? w)%Z with true by (symmetry; now apply Z.ltb_lt). simpl.
  field. now apply of_Z_positive_not_zero.
Qed.

Lemma times_limit w x : (0 <= w)%Z -> (of_Z w * gain x <= of_Z w)%F.
Proof.
  intros W. replace (of_Z w : F) with (of_Z w * 1 : F)%F at 2 by ring.
  apply times_monotone; [now apply of_Z_nonnegative | apply gain_limit].
Qed.

(** The other's moves lose nothing of what the responder gets. *)
Lemma move_sound own i (R : represents own (marks i)) t :
  forall j known marks found P,
  represents marks (Statement.marks j) -> represents known (tried j) -> open_ i j ->
  (forall x, In x (actions t) -> action_ok j known x) ->
  snd found = map fst P -> (forall x, In x P -> sits i x) ->
  exists P', snd (move own t marks found) = map fst P' /\ (forall x, In x P' -> sits i x) /\
    (of_Z (fst found) + value me i P + sum_actions F t (then_ i j)
       <= of_Z (fst (move own t marks found)) + value me i P')%F.
Proof.
  induction t as [| s w failed IHf placed _ next IHn]; intros j known marks found P RM RK Q OK E SP.
  { exists P. simpl. repeat split; auto. apply at_most_eq. ring. }
  simpl. destruct (OK (s, w, failed, placed) (or_introl eq_refl)) as [W [DF [DP [NF [NP [OF OP]]]]]].
  match goal with |- context [move own next marks ?new] => set (found1 := new) end.
  assert (Step : exists P1, snd found1 = map fst P1 /\ (forall x, In x P1 -> sits i x) /\
    (of_Z (fst found) + value me i P + of_Z w * then_ i j s <= of_Z (fst found1) + value me i P1)%F).
  { subst found1. unfold then_. rewrite their_attempt, R.
    destruct Q as [Q1 [Q2 Q3]].
    destruct (holds (Statement.marks i) s) eqn:H.
    - assert (Q' : open_ i ((s, false) :: j)) by (repeat split; auto; now rewrite fills_failed_other).
      destruct classical eqn:C.
      + change (if true then other me else me) with (other me). destruct failed as [| s2 w2 f2 p2 n2].
        * exists P. simpl. repeat split; auto. rewrite of_Z_plus.
          replace (of_Z (fst found) + of_Z w + value me i P)%F with (of_Z (fst found) + value me i P + of_Z w)%F by ring.
          apply plus_monotone; [apply at_most_refl | apply times_limit; lia].
        * rewrite (gain_by_actions _ (add s known) i (@cons (square * bool) (@pair square bool s false) j) w NF OF); auto; try discriminate.
          2: exact (represents_add s known (tried j) RK).
          apply IHf with (add s known); auto; [exact (represents_add s known (tried j) RK) |].
          apply actions_ok; auto.
      + change (if false then other me else me) with me.
        exists ((Entry w failed marks, (s, false) :: j) :: P). simpl. rewrite E. split; [reflexivity |]. split.
        * intros x [<- | I]; [| auto]. simpl. repeat split; auto; try apply Q'.
          exists (add s known). split; [exact (represents_add s known (tried j) RK) | assumption].
        * unfold value. simpl. apply at_most_eq. ring.
    - assert (R' : represents (add s marks) (Statement.marks ((s, true) :: j))) by now apply represents_add.
      rewrite (their_win_is _ _ R'), (covered_is _ _ _ _ R R').
      pose proof (result_at me i ((s, true) :: j) (or_introl Q1)) as Result. rewrite Q1 in Result.
      destruct (wins G (other me) ((s, true) :: j)) eqn:L.
      + exists P. simpl. repeat split; auto. rewrite (gain_of_result _ _ _ _ Result), points_for_other, of_Z_minus.
        apply at_most_eq. ring.
      + destruct (fills i ((s, true) :: j)) eqn:C.
        * exists P. repeat split; auto. rewrite (gain_of_result _ _ _ _ Result), points_for_draw.
          apply at_most_eq. ring.
        * exists ((Entry w placed (add s marks), (s, true) :: j) :: P). simpl. rewrite E. split; [reflexivity |]. split.
          -- intros x [<- | I]; [| auto]. simpl. repeat split; auto.
             exists (add s known). split; [exact (represents_add s known (tried j) RK) | assumption].
          -- unfold value. simpl. apply at_most_eq. ring. }
  destruct Step as [P1 [E1 [S1 A1]]].
  destruct (IHn j known marks found1 P1 RM RK Q (fun x I => OK x (or_intror I)) E1 S1) as [P2 [E2 [S2 A2]]].
  exists P2. repeat split; auto. eapply at_most_trans; [| exact A2].
  replace (of_Z (fst found) + value me i P + (of_Z w * then_ i j s + sum_actions F next (then_ i j)))%F
    with (of_Z (fst found) + value me i P + of_Z w * then_ i j s + sum_actions F next (then_ i j))%F by ring.
  apply plus_monotone; [exact A1 | apply at_most_refl].
Qed.

Lemma move_all_sound own i (R : represents own (marks i)) P :
  (forall x, In x P -> sits i x) ->
  exists P', snd (move_all own (map fst P)) = map fst P' /\ (forall x, In x P' -> sits i x) /\
    (value (other me) i P <= of_Z (fst (move_all own (map fst P))) + value me i P')%F.
Proof.
  induction P as [| [e j] P IH]; intros SP.
  - exists []. simpl. repeat split; [easy |]. unfold value. simpl. rewrite of_Z_0. apply at_most_eq. ring.
  - destruct IH as [P1 [E1 [S1 A1]]]; [intros; apply SP; now right |].
    destruct (SP (e, j) (or_introl eq_refl)) as [N [RM [W [D [Q [known [K O]]]]]]].
    simpl map. unfold move_all. simpl fold_right. fold (move_all own (map fst P)).
    remember (move_all own (map fst P)) as found eqn:Found. clear Found.
    unfold value. simpl sum. fold (value (other me) i P).
    unfold move_one. destruct (tree_of e) as [| s w f p n] eqn:T.
    + exists P1. simpl. repeat split; auto. rewrite of_Z_plus.
      replace (of_Z (fst found) + of_Z (weight_of e) + sum P1 (fun x => of_Z (weight_of (fst x)) * gain (at_ me i (snd x))))%F
        with (of_Z (weight_of e) + (of_Z (fst found) + value me i P1))%F by (unfold value; ring).
      apply plus_monotone; [apply times_limit; lia | exact A1].
    + destruct (move_sound own i R (tree_of e) j known (marks_of e) found P1) as [P2 [E2 [S2 A2]]]; auto.
      * rewrite T in *. apply actions_ok; auto.
      * exists P2. rewrite T in *. repeat split; auto. simpl fst. simpl snd.
        rewrite (gain_by_actions _ known i j _ N O K Q W D) by discriminate.
        eapply at_most_trans; [| exact A2].
        replace (sum_actions F (Act s w f p n) (then_ i j) + value (other me) i P)%F
          with (value (other me) i P + sum_actions F (Act s w f p n) (then_ i j))%F by ring.
        apply plus_monotone; [exact A1 | apply at_most_refl].
Qed.

(** ** The responder *)

Lemma weights_limit turn i P :
  (forall x, In x P -> (0 < weight_of (fst x))%Z) -> (value turn i P <= of_Z (weights (map fst P)))%F.
Proof.
  induction P as [| [e j] P IH]; intros W; unfold value; simpl.
  - rewrite of_Z_0. apply at_most_refl.
  - rewrite of_Z_plus. apply plus_monotone.
    + apply times_limit. specialize (W (e, j) (or_introl eq_refl)). simpl in W. lia.
    + apply IH. intros. apply W. now right.
Qed.

Lemma sits_weight i P : (forall x, In x P -> sits i x) -> forall x, In x P -> (0 < weight_of (fst x))%Z.
Proof. intros SP [e j] I. apply SP in I. apply I. Qed.

(** A branch, with the infosets that its sets stand for. *)
Definition stands (b : branch) (i : infoset) (P : list (entry * infoset)) : Prop :=
  represents (own_of b) (marks i) /\ represents (known_of b) (tried i) /\ entries_of b = map fst P /\
  forall x, In x P -> sits i x.

Definition covers (bound : branch -> Z) (b : branch) : Prop :=
  forall i P, stands b i P -> (value me i P <= of_Z (bound b))%F.

Lemma filter_map_fst (keep : entry -> bool) (P : list (entry * infoset)) :
  filter keep (map fst P) = map fst (filter (fun x => keep (fst x)) P).
Proof. induction P as [| [e j] P IH]; simpl; [reflexivity |]. destruct (keep e); simpl; now rewrite IH. Qed.

Lemma sum_filter {A} (keep : A -> bool) (xs : list A) (f : A -> F) :
  sum xs f = (sum (filter keep xs) f + sum (filter (fun x => negb (keep x)) xs) f)%F.
Proof. induction xs as [| x xs IH]; simpl; [ring |]. destruct (keep x); simpl; rewrite IH; ring. Qed.

Lemma worth_of_branch then' v b : worth then' (v, [b]) = (v + then' b)%Z.
Proof. unfold worth. simpl. lia. Qed.

Lemma attempt_sound (then' : branch -> Z) b i P s :
  stands b i P -> (forall b', covers then' b') ->
  (sum P (fun x => of_Z (weight_of (fst x)) * gain (attempt G (at_ me i (snd x)) s))%F
     <= of_Z (worth then' (attempt_ (own_of b) (known_of b) (entries_of b) s)))%F.
Proof.
  intros [RO [RK [E SP]]] Then. rewrite E. unfold attempt_all.
  rewrite (filter_map_fst (fun e => mem s (marks_of e))), (filter_map_fst (fun e => negb (mem s (marks_of e)))).
  set (Pf := filter (fun x : entry * infoset => mem s (marks_of (fst x))) P).
  set (Pp := filter (fun x : entry * infoset => negb (mem s (marks_of (fst x)))) P).
  set (i_f := (s, false) :: i). set (i_p := (s, true) :: i).
  assert (SPf : forall x, In x Pf -> sits i_f x).
  { intros [e j] I. apply filter_In in I as [I _]. destruct (SP _ I) as [N [RM [W [D [[Q1 [Q2 Q3]] K]]]]].
    repeat split; auto. unfold i_f. now rewrite fills_failed. }
  assert (Split : sum P (fun x => of_Z (weight_of (fst x)) * gain (attempt G (at_ me i (snd x)) s))%F
    = (value (other me) i_p Pp + value (if classical then me else other me) i_f Pf)%F).
  { rewrite (sum_filter (fun x => mem s (marks_of (fst x)))). fold Pf Pp.
    assert (A : sum Pf (fun x => of_Z (weight_of (fst x)) * gain (attempt G (at_ me i (snd x)) s))%F
                = value (if classical then me else other me) i_f Pf).
    { apply sum_equal. intros [e j] I. apply filter_In in I as [I M]. apply SP in I as [_ [RM _]].
      simpl in *. rewrite RM in M. now rewrite my_attempt, M. }
    assert (B : sum Pp (fun x => of_Z (weight_of (fst x)) * gain (attempt G (at_ me i (snd x)) s))%F
                = value (other me) i_p Pp).
    { apply sum_equal. intros [e j] I. apply filter_In in I as [I M]. apply SP in I as [_ [RM _]].
      simpl in *. rewrite RM in M. apply negb_true_iff in M. now rewrite my_attempt, M. }
    rewrite A, B. ring. }
  rewrite Split. clear Split.
  assert (RK' : forall c, represents (add s (known_of b)) (tried ((s, c) :: i))) by (intros c; now apply represents_add).
  assert (RO' : represents (add s (own_of b)) (marks i_p)) by now apply represents_add.
  assert (ROf : represents (own_of b) (marks i_f)) by exact RO.
  (* The part after the mark was placed. *)
  assert (Placed : forall a bs,
    (if my_win (add s (own_of b)) then (weights (map fst Pp), [])
     else let '(v, reached) := move_all (add s (own_of b))
              (filter (fun e => negb (covered (add s (own_of b)) (marks_of e))) (map fst Pp)) in
          (v, [Branch (add s (own_of b)) (add s (known_of b)) reached])) = (a, bs) ->
    (value (other me) i_p Pp <= of_Z (worth then' (a, bs)))%F).
  { intros a bs. rewrite (my_win_is _ _ RO').
    destruct (wins G me i_p) eqn:Win.
    - intros X. injection X as <- <-. simpl. apply weights_limit. intros x I. apply (sits_weight i P SP).
      now apply filter_In in I.
    - rewrite (filter_map_fst (fun e => negb (covered _ (marks_of e)))).
      set (keep := fun x : entry * infoset => negb (covered (add s (own_of b)) (marks_of (fst x)))).
      set (Po := filter keep Pp).
      assert (SPo : forall x, In x Po -> sits i_p x).
      { intros [e j] I. apply filter_In in I as [I C]. apply filter_In in I as [I M]. unfold keep in C. simpl in C.
        destruct (SP _ I) as [N [RM [W [D [[Q1 [Q2 Q3]] K]]]]].
        rewrite (covered_is _ _ _ _ RO' RM) in C. apply negb_true_iff in C. repeat split; auto. }
      destruct (move_all_sound _ _ RO' Po SPo) as [P' [E' [S' A']]].
      destruct (move_all (add s (own_of b)) (map fst Po)) as [v reached]. simpl in E', A'. subst reached.
      intros X. injection X as <- <-. rewrite worth_of_branch, of_Z_plus.
      assert (Drawn_ : sum (filter (fun x => negb (keep x)) Pp)
                (fun x => of_Z (weight_of (fst x)) * gain (at_ (other me) i_p (snd x)))%F = zero).
      { transitivity (sum (filter (fun x => negb (keep x)) Pp) (fun _ => zero : F)); [| apply sum_zero].
        apply sum_equal. intros [e j] I. apply filter_In in I as [I C]. apply filter_In in I as [I M].
        destruct (SP _ I) as [N [RM [W [D [[Q1 [Q2 Q3]] K]]]]]. unfold keep in C. simpl in *.
        rewrite negb_involutive, (covered_is _ _ _ _ RO' RM) in C.
        pose proof (result_at (other me) i_p j (or_introl Win)) as Result. rewrite Win, Q2, C in Result.
        rewrite (gain_of_result _ _ _ _ Result), points_for_draw. ring. }
      unfold value. rewrite (sum_filter keep), Drawn_. fold Po.
      fold (value (other me) i_p Po).
      replace (value (other me) i_p Po + zero)%F with (value (other me) i_p Po) by ring.
      eapply at_most_trans; [exact A' |].
      apply plus_monotone; [apply at_most_refl |]. apply Then. repeat split; auto. apply RK'. }
  assert (Failed : forall c a bs, c = classical ->
    (if c then (0%Z, [Branch (own_of b) (add s (known_of b)) (map fst Pf)])
     else let '(v, reached) := move_all (own_of b) (map fst Pf) in
          (v, [Branch (own_of b) (add s (known_of b)) reached])) = (a, bs) ->
    (value (if c then me else other me) i_f Pf <= of_Z (worth then' (a, bs)))%F).
  { intros [] a bs _.
    - intros X. injection X as <- <-. rewrite worth_of_branch, of_Z_plus, of_Z_0.
      apply at_most_trans with (of_Z (then' (Branch (own_of b) (add s (known_of b)) (map fst Pf)))).
      + apply Then. repeat split; auto. apply RK'.
      + apply at_most_eq. ring.
    - destruct (move_all_sound _ _ ROf Pf SPf) as [P' [E' [S' A']]].
      destruct (move_all (own_of b) (map fst Pf)) as [v reached]. simpl in E', A'. subst reached.
      intros X. injection X as <- <-. rewrite worth_of_branch, of_Z_plus. eapply at_most_trans; [exact A' |].
      apply plus_monotone; [apply at_most_refl |]. apply Then. repeat split; auto. apply RK'. }
  destruct (if my_win _ then _ else _) as [a after_placed]. specialize (Placed _ _ eq_refl).
  destruct (if classical then (_, _) else _) as [c after_failed] eqn:EF. specialize (Failed _ _ _ eq_refl EF).
  replace (worth then' (a + c, after_placed ++ after_failed)%Z)
    with (worth then' (a, after_placed) + worth then' (c, after_failed))%Z.
  - rewrite of_Z_plus. now apply plus_monotone.
  - unfold worth. simpl. clear. induction after_placed as [| x xs IH]; simpl.
    + induction after_failed as [| y ys IH]; simpl; lia.
    + lia.
Qed.

Lemma in_insert x y xs : In y (insert x xs) <-> y = x \/ In y xs.
Proof.
  induction xs as [| z xs IH]; simpl; [intuition |]. destruct (fst z <=? fst x)%Z; simpl; rewrite ?IH; intuition.
Qed.

Lemma in_sort y xs : In y (sort xs) <-> In y xs.
Proof. induction xs as [| x xs IH]; simpl; [easy |]. rewrite in_insert, IH. intuition. Qed.

Lemma best_at_least then' steps so_far : (so_far <= best then' steps so_far)%Z.
Proof.
  revert so_far. induction steps as [| [limit x] rest IH]; simpl; intros so_far; [lia |].
  destruct (limit <=? so_far)%Z; [apply IH |]. specialize (IH (Z.max so_far (worth then' x))). lia.
Qed.

(** Each attempt is counted, or its limit is no more than what was counted. *)
Lemma best_covers then' steps so_far limit x :
  In (limit, x) steps -> (worth then' x <= best then' steps so_far)%Z \/ (limit <= best then' steps so_far)%Z.
Proof.
  revert so_far. induction steps as [| [l y] rest IH]; simpl; intros so_far; [easy |]. intros [X | I].
  - injection X as -> ->. destruct (Z.leb_spec limit so_far) as [A | A].
    + right. pose proof (best_at_least then' rest so_far). lia.
    + left. pose proof (best_at_least then' rest (Z.max so_far (worth then' x))). lia.
  - destruct (l <=? so_far)%Z; apply IH, I.
Qed.

Lemma weights_cover b : covers (fun b => weights (entries_of b)) b.
Proof. intros i P [_ [_ [E SP]]]. rewrite E. apply weights_limit. now apply (sits_weight i). Qed.

Theorem respond_sound fuel : forall b, covers (respond fuel) b.
Proof.
  induction fuel as [| fuel IH]; intros b i P ST; pose proof (weights_cover b i P ST) as Limit;
    pose proof ST as [RO [RK [E SP]]]; cbv beta in Limit.
  - cbn [Checker.respond]. destruct (entries_of b) eqn:EB; [| exact Limit]. simpl in Limit. rewrite of_Z_0 in *. exact Limit.
  - cbn [Checker.respond]. destruct (entries_of b) as [| e L] eqn:EB; [simpl in Limit; rewrite of_Z_0 in *; exact Limit |]. rewrite <- EB in *.
    set (free := filter _ _). assert (Free : forall s, In s (legal G i) -> In s free).
    { intros s I. apply in_legal in I as [A B]. apply filter_In. rewrite RK, B. split; [apply in_seq; lia | reflexivity]. }
    assert (Legal : forall s, In s free -> In s (legal G i)).
    { intros s I. apply filter_In in I as [A B]. rewrite RK in B. apply negb_true_iff in B. apply in_seq in A.
      apply in_legal. split; [lia | exact B]. }
    clearbody free. destruct free as [| s0 free0] eqn:EF; [exact Limit |]. rewrite <- EF in *.
    assert (N : legal G i <> []).
    { intros X. specialize (Legal s0). rewrite X, EF in Legal. apply Legal. now left. }
    clear EF s0 free0. set (steps := sort _). set (most := best _ _ _).
    destruct (strategies me i) as [Nonnegative Sum]. specialize (Sum N).
    replace (value me i P) with
      (sum (legal G i) (fun s => chance me i s *
         sum P (fun x => of_Z (weight_of (fst x)) * gain (attempt G (at_ me i (snd x)) s)))%F).
    2: { transitivity (sum (legal G i) (fun s => sum P (fun x =>
           (chance me i s * (of_Z (weight_of (fst x)) * gain (attempt G (at_ me i (snd x)) s)))%F))).
         { apply sum_equal. intros s _. now rewrite sum_times. }
         rewrite sum_swap. apply sum_equal. intros [e' j] I. apply SP in I as [_ [_ [_ [_ [Q _]]]]]. simpl.
         rewrite gain_of_my_attempts by exact Q. rewrite <- sum_times. apply sum_equal. intros. ring. }
    apply average_at_most; [exact Nonnegative | exact Sum |]. intros s I.
    set (x := attempt_ (own_of b) (known_of b) (entries_of b) s).
    assert (J : In (bound x, x) steps).
    { subst steps x. apply in_sort. apply (in_map (fun y => (bound y, y))), (in_map (attempt_ _ _ _)), Free, I. }
    destruct (best_covers (respond fuel) steps (- weights (entries_of b)) _ _ J) as [A | A];
      (eapply at_most_trans; [| apply of_Z_monotone, A]).
    + apply attempt_sound; auto.
    + apply (attempt_sound (fun b' => weights (entries_of b'))); auto using weights_cover.
Qed.

End Soundness.
