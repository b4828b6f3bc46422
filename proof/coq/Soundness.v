(** No strategy gets more against a plan than [respond] says. *)

From Coq Require Import List Arith ZArith Bool Ring.
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

Add Ring numbers : (@field_ring F).

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
Notation see_moves := (see_moves classical their_win covered).
Notation limit := (limit squares classical my_win covered).
Notation can_win := (can_win my_win).
Notation best_seen := (best_seen covered).

(** ** Positions from the responder's side *)

(** Nobody has won, and the board is not full. *)
Definition open_ (i j : infoset) : Prop := wins G me i = false /\ wins G (other me) j = false /\ fills i j = false.

(** Each square that the responder has attempted holds a mark. *)
Definition accounted (i j : infoset) : Prop :=
  forall s, holds (tried i) s = true -> holds (marks i) s = true \/ holds (marks j) s = true.

Lemma some_attempt i j : open_ i j -> accounted i j -> legal G i <> [].
Proof.
  intros [_ [_ N]] A E. apply diff_false_true. rewrite <- N. unfold fills, full. apply forallb_forall. intros s I.
  assert (T : holds (tried i) s = true).
  { destruct (holds (tried i) s) eqn:T; [reflexivity |]. exfalso. unfold legal in E.
    assert (J : In s (filter (fun s => negb (holds (tried i) s)) (board G))) by (apply filter_In; now rewrite T).
    now rewrite E in J. }
  unfold at_. destruct me, (A s T) as [B | B]; simpl; rewrite B; now rewrite ?orb_true_r.
Qed.

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
  match t with Stop => [] | Act s w failed placed next _ => (s, w, failed, placed) :: actions next end.

Lemma usable_in_order t known l : represents known l -> in_order t known = true -> usable squares t l = true.
Proof.
  intros R. induction t as [| s w f _ p _ next IH limits]; simpl; [reflexivity |]. rewrite !andb_true_iff, R.
  intros [[[[[[[[A B] C] D] _] _] _] _] E]. repeat split; auto. apply Z.ltb_lt in C. now apply Z.leb_le, Z.lt_le_incl.
Qed.

Lemma after_action t known s w failed placed b :
  in_order t known = true -> In (s, w, failed, placed) (actions t) -> after t s b = if b then placed else failed.
Proof.
  induction t as [| s' w' f _ p _ next IH limits]; simpl; [easy |]. rewrite !andb_true_iff.
  intros [[[[[[[[_ _] _] D] _] _] _] _] E] [X | I].
  - injection X as -> -> -> ->. now rewrite Nat.eqb_refl.
  - destruct (Nat.eqb_spec s s') as [-> |]; [| auto].
    exfalso. apply negb_true_iff in D. clear IH E. revert D I. clear.
    induction next as [| s2 w2 f2 _ p2 _ n2 IH l2]; simpl; [easy |].
    rewrite orb_false_iff. intros [A B] [X | I]; [| auto]. injection X as -> _ _ _. now rewrite Nat.eqb_refl in A.
Qed.

(** The limits of a plan are those of its infosets. *)
Fixpoint noted (t : tree) (set : positive) : Prop :=
  match t with
  | Stop => True
  | Act s w failed placed next limits =>
      (forall own z, recall limits own = Some z -> z = limit (Delay (total t)) set (fun own' => see_moves own' set t) own) /\
      noted failed set /\ noted placed (add s set) /\ noted next set
  end.

(** What the actions of a tree in order are good for. *)
Definition action_ok (j : infoset) (known set : positive) (x : nat * Z * tree * tree) : Prop :=
  let '(s, w, failed, placed) := x in
  (0 < w)%Z /\ deals w failed = true /\ deals w placed = true /\
  failed = node plan ((s, false) :: j) /\ placed = node plan ((s, true) :: j) /\
  in_order failed (add s known) = true /\ in_order placed (add s known) = true /\
  noted failed set /\ noted placed (add s set).

Lemma actions_ok t known set j :
  t = node plan j -> in_order t known = true -> noted t set -> forall x, In x (actions t) -> action_ok j known set x.
Proof.
  intros N O L [[[s w] failed] placed] I.
  assert (A := after_action t known s w failed placed false O I).
  assert (B := after_action t known s w failed placed true O I).
  unfold action_ok. rewrite !node_cons, <- N, A, B. clear A B N. revert O L I.
  induction t as [| s' w' f _ p _ next IH limits]; simpl; [easy |]. rewrite !andb_true_iff.
  intros [[[[[[[[A B] C] D] E] H] I] J] K] [_ [NF [NP NN]]] [X | L].
  - injection X as -> -> -> ->. apply Z.ltb_lt in C. auto 15.
  - auto.
Qed.

(** ** The other's infosets *)

Definition sits (i : infoset) (x : entry * infoset) : Prop :=
  let '(e, j) := x in
  tree_of e = node plan j /\ represents (marks_of e) (marks j) /\ (0 < weight_of e)%Z /\
  deals (weight_of e) (tree_of e) = true /\ open_ i j /\ accounted i j /\ noted (tree_of e) (marks_of e) /\
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
  rewrite over_times. ring [(inverse_times (of_Z w : F) (of_Z_positive_not_zero w W))].
Qed.

Lemma times_limit w x : (0 <= w)%Z -> (of_Z w * gain x <= of_Z w)%F.
Proof.
  intros W. replace (of_Z w : F) with (of_Z w * 1 : F)%F at 2 by ring.
  apply times_monotone; [now apply of_Z_nonnegative | apply gain_limit].
Qed.

(** The other's moves lose nothing of what the responder gets. *)
Lemma move_sound own i (R : represents own (marks i)) t :
  forall j known marks found P,
  represents marks (Statement.marks j) -> represents known (tried j) -> open_ i j -> accounted i j ->
  (forall x, In x (actions t) -> action_ok j known marks x) ->
  snd found = map fst P -> (forall x, In x P -> sits i x) ->
  exists P', snd (move own t marks found) = map fst P' /\ (forall x, In x P' -> sits i x) /\
    (of_Z (fst found) + value me i P + sum_actions F t (then_ i j)
       <= of_Z (fst (move own t marks found)) + value me i P')%F.
Proof.
  induction t as [| s w failed IHf placed _ next IHn limits]; intros j known marks found P RM RK Q AC OK E SP.
  { exists P. simpl. repeat split; auto. apply at_most_eq. ring. }
  simpl. destruct (OK (s, w, failed, placed) (or_introl eq_refl)) as [W [DF [DP [NF [NP [OF [OP [LF LP]]]]]]]].
  match goal with |- context [move own next marks ?new] => set (found1 := new) end.
  assert (Step : exists P1, snd found1 = map fst P1 /\ (forall x, In x P1 -> sits i x) /\
    (of_Z (fst found) + value me i P + of_Z w * then_ i j s <= of_Z (fst found1) + value me i P1)%F).
  { subst found1. unfold then_. rewrite their_attempt, R.
    destruct Q as [Q1 [Q2 Q3]].
    destruct (holds (Statement.marks i) s) eqn:H.
    - assert (Q' : open_ i ((s, false) :: j)) by (repeat split; auto; now rewrite fills_failed_other).
      destruct classical eqn:C.
      + change (if true then other me else me) with (other me). destruct failed as [| s2 w2 f2 p2 n2 l2].
        * exists P. simpl. repeat split; auto. rewrite of_Z_plus.
          replace (of_Z (fst found) + of_Z w + value me i P)%F with (of_Z (fst found) + value me i P + of_Z w)%F by ring.
          apply plus_monotone; [apply at_most_refl | now apply times_limit, Z.lt_le_incl].
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
        * assert (AC' : accounted i ((s, true) :: j)).
          { intros t T. destruct (AC t T) as [A | A]; [now left | right].
            change ((t =? s) || holds (Statement.marks j) t = true). now rewrite A, orb_true_r. }
          exists ((Entry w placed (add s marks), (s, true) :: j) :: P). simpl. rewrite E. split; [reflexivity |]. split.
          -- intros x [<- | I]; [| auto]. simpl. repeat split; auto.
             exists (add s known). split; [exact (represents_add s known (tried j) RK) | assumption].
          -- unfold value. simpl. apply at_most_eq. ring. }
  destruct Step as [P1 [E1 [S1 A1]]].
  destruct (IHn j known marks found1 P1 RM RK Q AC (fun x I => OK x (or_intror I)) E1 S1) as [P2 [E2 [S2 A2]]].
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
    destruct (SP (e, j) (or_introl eq_refl)) as [N [RM [W [D [Q [AC [L [known [K O]]]]]]]]].
    simpl map. unfold move_all. simpl fold_right. fold (move_all own (map fst P)).
    remember (move_all own (map fst P)) as found eqn:Found. clear Found.
    unfold value. simpl sum. fold (value (other me) i P).
    unfold move_one. destruct (tree_of e) as [| s w f p n l] eqn:T.
    + exists P1. simpl. repeat split; auto. rewrite of_Z_plus.
      replace (of_Z (fst found) + of_Z (weight_of e) + sum P1 (fun x => of_Z (weight_of (fst x)) * gain (at_ me i (snd x))))%F
        with (of_Z (weight_of e) + (of_Z (fst found) + value me i P1))%F by (unfold value; ring).
      apply plus_monotone; [now apply times_limit, Z.lt_le_incl | exact A1].
    + destruct (move_sound own i R (tree_of e) j known (marks_of e) found P1) as [P2 [E2 [S2 A2]]]; auto.
      * rewrite T in *. apply actions_ok; auto.
      * exists P2. rewrite T in *. repeat split; auto. simpl fst. simpl snd.
        rewrite (gain_by_actions _ known i j _ N O K Q W D) by discriminate.
        eapply at_most_trans; [| exact A2].
        replace (sum_actions F (Act s w f p n l) (then_ i j) + value (other me) i P)%F
          with (value (other me) i P + sum_actions F (Act s w f p n l) (then_ i j))%F by ring.
        apply plus_monotone; [exact A1 | apply at_most_refl].
Qed.

(** ** The responder *)

Lemma weights_limit turn i P :
  (forall x, In x P -> (0 < weight_of (fst x))%Z) -> (value turn i P <= of_Z (weights (map fst P)))%F.
Proof.
  induction P as [| [e j] P IH]; intros W; unfold value; simpl.
  - rewrite of_Z_0. apply at_most_refl.
  - rewrite of_Z_plus. apply plus_monotone.
    + apply times_limit, Z.lt_le_incl, (W (e, j)). now left.
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

(** Branches with what they stand for: the responder's infoset, and the other's. *)
Definition place := (branch * (infoset * list (entry * infoset)))%type.
Definition place_ok (i : infoset) (q : place) : Prop :=
  stands (fst q) (fst (snd q)) (snd (snd q)) /\ length (legal G (fst (snd q))) < length (legal G i).
Definition value_of_places (Q : list place) : F := sum Q (fun q => value me (fst (snd q)) (snd (snd q))).

(** What an attempt brings is what it brings at once, and what its branches bring. *)
Lemma attempt_sound b i P s :
  stands b i P -> In s (legal G i) ->
  exists Q, snd (attempt_ (own_of b) (known_of b) (entries_of b) s) = map fst Q /\
    (forall q, In q Q -> place_ok i q) /\
    (sum P (fun x => of_Z (weight_of (fst x)) * gain (attempt G (at_ me i (snd x)) s))
       <= of_Z (fst (attempt_ (own_of b) (known_of b) (entries_of b) s)) + value_of_places Q)%F.
Proof.
  intros [RO [RK [E SP]]] Legal. rewrite E. unfold attempt_all.
  rewrite (filter_map_fst (fun e => mem s (marks_of e))), (filter_map_fst (fun e => negb (mem s (marks_of e)))).
  set (Pf := filter (fun x : entry * infoset => mem s (marks_of (fst x))) P).
  set (Pp := filter (fun x : entry * infoset => negb (mem s (marks_of (fst x)))) P).
  set (i_f := (s, false) :: i). set (i_p := (s, true) :: i).
  assert (SPf : forall x, In x Pf -> sits i_f x).
  { intros [e j] I. apply filter_In in I as [I M]. destruct (SP _ I) as [N [RM [W [D [[Q1 [Q2 Q3]] [AC [L K]]]]]]].
    assert (AC' : accounted i_f j).
    { intros t T. change ((t =? s) || holds (tried i) t = true) in T. destruct (Nat.eqb_spec t s) as [X | _]; [| now apply AC].
      right. simpl in M. now rewrite X, <- RM. }
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
  assert (Shrinks : forall c, length (legal G ((s, c) :: i)) < length (legal G i)) by (intros; now apply legal_shrinks).
  (* The part after the mark was placed. *)
  assert (Placed : forall a bs,
    (if my_win (add s (own_of b)) then (weights (map fst Pp), [])
     else let '(v, reached) := move_all (add s (own_of b))
              (filter (fun e => negb (covered (add s (own_of b)) (marks_of e))) (map fst Pp)) in
          (v, [Branch (add s (own_of b)) (add s (known_of b)) reached])) = (a, bs) ->
    exists Q, bs = map fst Q /\ (forall q, In q Q -> place_ok i q) /\
      (value (other me) i_p Pp <= of_Z a + value_of_places Q)%F).
  { intros a bs. rewrite (my_win_is _ _ RO').
    destruct (wins G me i_p) eqn:Win.
    - intros X. injection X as <- <-. exists []. simpl. repeat split; try easy.
      apply at_most_trans with (of_Z (weights (map fst Pp))).
      + apply weights_limit. intros x I. apply (sits_weight i P SP). now apply filter_In in I.
      + apply at_most_eq. unfold value_of_places. simpl. ring.
    - rewrite (filter_map_fst (fun e => negb (covered _ (marks_of e)))).
      set (keep := fun x : entry * infoset => negb (covered (add s (own_of b)) (marks_of (fst x)))).
      set (Po := filter keep Pp).
      assert (SPo : forall x, In x Po -> sits i_p x).
      { intros [e j] I. apply filter_In in I as [I C]. apply filter_In in I as [I M]. unfold keep in C. simpl in C.
        destruct (SP _ I) as [N [RM [W [D [[Q1 [Q2 Q3]] [AC [L K]]]]]]].
        rewrite (covered_is _ _ _ _ RO' RM) in C. apply negb_true_iff in C.
        assert (AC' : accounted i_p j).
        { intros t T. change ((t =? s) || holds (tried i) t = true) in T.
          change ((t =? s) || holds (marks i) t = true \/ holds (marks j) t = true).
          destruct (Nat.eqb_spec t s); [now left | now apply AC]. }
        repeat split; auto. }
      destruct (move_all_sound _ _ RO' Po SPo) as [P' [E' [S' A']]].
      destruct (move_all (add s (own_of b)) (map fst Po)) as [v reached]. simpl in E', A'. subst reached.
      intros X. injection X as <- <-.
      exists [(Branch (add s (own_of b)) (add s (known_of b)) (map fst P'), (i_p, P'))]. split; [reflexivity |]. split.
      { intros q [<- | []]. split; [| apply Shrinks]. repeat split; auto. apply RK'. }
      assert (Drawn_ : sum (filter (fun x => negb (keep x)) Pp)
                (fun x => of_Z (weight_of (fst x)) * gain (at_ (other me) i_p (snd x)))%F = zero).
      { transitivity (sum (filter (fun x => negb (keep x)) Pp) (fun _ => zero : F)); [| apply sum_zero].
        apply sum_equal. intros [e j] I. apply filter_In in I as [I C]. apply filter_In in I as [I M].
        destruct (SP _ I) as [N [RM [W [D [[Q1 [Q2 Q3]] _]]]]]. unfold keep in C. simpl in *.
        rewrite negb_involutive, (covered_is _ _ _ _ RO' RM) in C.
        pose proof (result_at (other me) i_p j (or_introl Win)) as Result. rewrite Win, Q2, C in Result.
        rewrite (gain_of_result _ _ _ _ Result), points_for_draw. ring. }
      unfold value. rewrite (sum_filter keep), Drawn_. fold Po.
      fold (value (other me) i_p Po).
      replace (value (other me) i_p Po + zero)%F with (value (other me) i_p Po) by ring.
      eapply at_most_trans; [exact A' |]. apply at_most_eq. unfold value_of_places. simpl. ring. }
  assert (Failed : forall c a bs, c = classical ->
    (if c then (0%Z, [Branch (own_of b) (add s (known_of b)) (map fst Pf)])
     else let '(v, reached) := move_all (own_of b) (map fst Pf) in
          (v, [Branch (own_of b) (add s (known_of b)) reached])) = (a, bs) ->
    exists Q, bs = map fst Q /\ (forall q, In q Q -> place_ok i q) /\
      (value (if c then me else other me) i_f Pf <= of_Z a + value_of_places Q)%F).
  { intros [] a bs _.
    - intros X. injection X as <- <-.
      exists [(Branch (own_of b) (add s (known_of b)) (map fst Pf), (i_f, Pf))]. split; [reflexivity |]. split.
      + intros q [<- | []]. split; [| apply Shrinks]. repeat split; auto. apply RK'.
      + apply at_most_eq. unfold value_of_places. simpl. rewrite of_Z_0. ring.
    - destruct (move_all_sound _ _ ROf Pf SPf) as [P' [E' [S' A']]].
      destruct (move_all (own_of b) (map fst Pf)) as [v reached]. simpl in E', A'. subst reached.
      intros X. injection X as <- <-.
      exists [(Branch (own_of b) (add s (known_of b)) (map fst P'), (i_f, P'))]. split; [reflexivity |]. split.
      + intros q [<- | []]. split; [| apply Shrinks]. repeat split; auto. apply RK'.
      + eapply at_most_trans; [exact A' |]. apply at_most_eq. unfold value_of_places. simpl. ring. }
  destruct (if my_win _ then _ else _) as [a after_placed].
  destruct (Placed _ _ eq_refl) as [Qp [Ep [Kp Ap]]].
  destruct (if classical then (_, _) else _) as [c after_failed] eqn:EF.
  destruct (Failed _ _ _ eq_refl EF) as [Qf [Ef [Kf Af]]].
  exists (Qp ++ Qf). simpl. subst after_placed after_failed. split; [now rewrite map_app |]. split.
  - intros q I. apply in_app_or in I as [I | I]; auto.
  - rewrite of_Z_plus. unfold value_of_places. rewrite sum_app. fold (value_of_places Qp) (value_of_places Qf).
    replace (of_Z a + of_Z c + (value_of_places Qp + value_of_places Qf))%F
      with (of_Z a + value_of_places Qp + (of_Z c + value_of_places Qf))%F by ring.
    now apply plus_monotone.
Qed.

(** What the responder gets is an average over attempts. *)
Lemma value_at_most i P (bound : F) :
  P <> [] -> (forall x, In x P -> sits i x) ->
  (forall s, In s (legal G i) ->
     (sum P (fun x => of_Z (weight_of (fst x)) * gain (attempt G (at_ me i (snd x)) s)) <= bound)%F) ->
  (value me i P <= bound)%F.
Proof.
  intros Some_ SP Each.
  assert (N : legal G i <> []).
  { destruct P as [| [e j] P]; [easy |]. destruct (SP (e, j) (or_introl eq_refl)) as [_ [_ [_ [_ [Q [AC _]]]]]].
    now apply some_attempt with j. }
  destruct (strategies me i) as [Nonnegative Sum]. specialize (Sum N).
  replace (value me i P) with
    (sum (legal G i) (fun s => chance me i s *
       sum P (fun x => of_Z (weight_of (fst x)) * gain (attempt G (at_ me i (snd x)) s)))%F).
  2: { transitivity (sum (legal G i) (fun s => sum P (fun x =>
         (chance me i s * (of_Z (weight_of (fst x)) * gain (attempt G (at_ me i (snd x)) s)))%F))).
       { apply sum_equal. intros s _. now rewrite sum_times. }
       rewrite sum_swap. apply sum_equal. intros [e' j] I. apply SP in I as [_ [_ [_ [_ [Q _]]]]]. simpl.
       rewrite gain_of_my_attempts by exact Q. rewrite <- sum_times. apply sum_equal. intros. ring. }
  apply average_at_most; [exact Nonnegative | exact Sum | exact Each].
Qed.

(** ** Limits *)

Definition see_list (own : positive) (L : list entry) : Z :=
  fold_right (fun e v => (see (tree_of e) (weight_of e) own + v)%Z) 0%Z L.

Lemma see_moves_is own t : forall set found,
  (fst (move own t set found) + see_list own (snd (move own t set found))
   = fst found + see_list own (snd found) + see_moves own set t)%Z.
Proof.
  induction t as [| s w failed IHf placed _ next IHn limits]; intros set found; simpl; [ring |]. rewrite IHn.
  destruct (mem s own).
  - destruct classical.
    + destruct failed as [| s2 w2 f2 p2 n2 l2]; [simpl; ring |]. rewrite IHf. ring.
    + simpl. ring.
  - destruct (their_win (add s set)); [simpl; ring |]. destruct (covered own (add s set)); simpl; ring.
Qed.

Lemma can_win_not own set board s :
  can_win own set board = false -> In s board -> mem s own = false -> mem s set = false -> my_win (add s own) = false.
Proof.
  induction board as [| t board IH]; simpl; [easy |]. intros C [-> | I] A B.
  - rewrite A, B in C. now destruct (my_win (add s own)).
  - destruct (mem t own); [auto |]. destruct (mem t set); [auto |]. destruct (my_win (add t own)); [easy | auto].
Qed.

Lemma best_seen_at_least own set moves board : forall so_far, (so_far <= best_seen own set moves board so_far)%Z.
Proof.
  induction board as [| t board IH]; simpl; intros so_far; [apply Z.le_refl |]. eapply Z.le_trans; [| apply IH].
  destruct (mem t own); [apply Z.le_refl |]. destruct (mem t set); [apply Z.le_refl | apply Z.le_max_l].
Qed.

Lemma best_seen_covers own set moves board s : forall so_far,
  In s board -> mem s own = false -> mem s set = false ->
  ((if covered (add s own) set then 0 else moves (add s own)) <= best_seen own set moves board so_far)%Z.
Proof.
  induction board as [| t board IH]; simpl; intros so_far; [easy |]. intros [-> | I] A B; [| auto].
  rewrite A, B. eapply Z.le_trans; [| apply best_seen_at_least]. apply Z.le_max_r.
Qed.

Definition sees (i : infoset) : Prop := forall e j own, sits i (e, j) -> represents own (marks i) ->
  (of_Z (weight_of e) * gain (at_ me i j) <= of_Z (see (tree_of e) (weight_of e) own))%F.

Lemma see_list_sound i P own :
  sees i -> (forall x, In x P -> sits i x) -> represents own (marks i) ->
  (value me i P <= of_Z (see_list own (map fst P)))%F.
Proof.
  intros See SP R. induction P as [| [e j] P IH]; unfold value; simpl.
  - rewrite of_Z_0. apply at_most_refl.
  - rewrite of_Z_plus. apply plus_monotone; [apply See; auto; apply SP; now left |].
    apply IH. intros. apply SP. now right.
Qed.

(** What the other's moves bring at most, where the responder sees the other's infoset from there on. *)
Lemma moves_seen own i e j :
  sees i -> sits i (e, j) -> represents own (marks i) -> tree_of e <> Stop ->
  (of_Z (weight_of e) * gain (at_ (other me) i j) <= of_Z (see_moves own (marks_of e) (tree_of e)))%F.
Proof.
  intros See S R N.
  destruct (move_all_sound own i R [(e, j)]) as [P [E [SP A]]]; [intros x [<- | []]; exact S |].
  rewrite value_of_one in A. eapply at_most_trans; [exact A |].
  eapply at_most_trans; [apply plus_monotone; [apply at_most_refl | apply (see_list_sound i P own See SP R)] |].
  rewrite <- E, <- of_Z_plus. apply of_Z_monotone. simpl. unfold move_one.
  destruct (tree_of e) eqn:T; [easy |]. rewrite see_moves_is. simpl. apply Z.le_refl.
Qed.

Theorem see_sound i : sees i.
Proof.
  remember (length (legal G i)) as n eqn:Room. assert (M : length (legal G i) <= n) by (rewrite Room; apply le_n). clear Room. revert i M.
  induction n as [n IH] using lt_wf_ind. intros i M e j own S R.
  assert (Limit : (of_Z (weight_of e) * gain (at_ me i j) <= of_Z (weight_of e))%F).
  { apply times_limit. destruct S as [_ [_ [W _]]]. now apply Z.lt_le_incl. }
  unfold see. destruct (tree_of e) as [| s0 w0 f0 p0 n0 limits] eqn:T; [exact Limit |].
  destruct (recall limits own) as [z |] eqn:Recall; [| exact Limit].
  pose proof S as [N [RM [W [D [[Q1 [Q2 Q3]] [AC [L [known [K O]]]]]]]]].
  assert (Z_is : z = limit (Delay (total (tree_of e))) (marks_of e)
            (fun own' => see_moves own' (marks_of e) (tree_of e)) own).
  { rewrite T in *. simpl in L. now apply L. }
  assert (All : total (tree_of e) = weight_of e) by (rewrite T in *; now apply Z.eqb_eq in D).
  assert (See_same : see (tree_of e) (weight_of e) own = z) by (rewrite T; simpl; now rewrite Recall).
  rewrite All in Z_is. unfold Checker.limit in Z_is. cbn [force] in Z_is.
  destruct (can_win own (marks_of e) (seq 0 squares)) eqn:Win; [now rewrite Z_is |].
  rewrite <- value_of_one. apply value_at_most; [easy | intros x [<- | []]; exact S |]. intros s Legal.
  cbn [sum fst snd].
  replace (of_Z (weight_of e) * gain (attempt G (at_ me i j) s) + zero)%F
    with (of_Z (weight_of e) * gain (attempt G (at_ me i j) s))%F by ring.
  pose proof (legal_shrinks G i s) as Shrinks. pose proof Legal as Legal'. apply in_legal in Legal' as [On Untried].
  assert (On' : In s (seq 0 squares)) by (apply in_seq; split; [apply Nat.le_0_l | exact On]).
  rewrite my_attempt. destruct (holds (marks j) s) eqn:H.
  - assert (S' : sits ((s, false) :: i) (e, j)).
    { repeat split; auto; [now rewrite fills_failed | | now exists known].
      intros t A. change ((t =? s) || holds (tried i) t = true) in A.
      destruct (Nat.eqb_spec t s) as [X | _]; [right; now rewrite X | now apply AC]. }
    assert (See' : sees ((s, false) :: i)).
    { apply (IH (length (legal G ((s, false) :: i)))); [| apply le_n].
      exact (Nat.lt_le_trans _ _ _ (Shrinks false Legal) M). }
    assert (Pass : ((if classical then - weight_of e else see_moves own (marks_of e) (tree_of e)) <= z)%Z)
      by (rewrite Z_is; apply best_seen_at_least).
    assert (Moves : tree_of e <> Stop) by now rewrite T. apply (moves_seen own _ e j See' S' R) in Moves.
    specialize (See' e j own S' R). rewrite See_same in See'. clear - See' Moves Pass. destruct classical; [exact See' |].
    eapply at_most_trans; [exact Moves | now apply of_Z_monotone].
  - assert (Own : mem s own = false).
    { rewrite R. destruct (holds (marks i) s) eqn:Mine; [| reflexivity]. rewrite <- Untried. symmetry.
      apply holds_in. apply holds_in in Mine. unfold marks, tried in *. apply in_map_iff in Mine as [x [X I]].
      apply in_map_iff. exists x. apply filter_In in I. easy. }
    assert (Free : mem s (marks_of e) = false) by now rewrite RM.
    assert (R' : represents (add s own) (marks ((s, true) :: i))) by now apply represents_add.
    pose proof (can_win_not _ _ _ s Win On' Own Free) as NoWin. rewrite (my_win_is _ _ R') in NoWin.
    pose proof (best_seen_covers own (marks_of e) (fun own' => see_moves own' (marks_of e) (tree_of e)) _ s
      (if classical then - weight_of e else see_moves own (marks_of e) (tree_of e))%Z On' Own Free) as Covers.
    eapply at_most_trans; [| apply of_Z_monotone; rewrite Z_is; exact Covers].
    rewrite (covered_is _ _ _ _ R' RM).
    pose proof (result_at (other me) ((s, true) :: i) j (or_introl NoWin)) as Result. rewrite NoWin, Q2 in Result.
    destruct (fills ((s, true) :: i) j) eqn:C.
    + rewrite (gain_of_result _ _ _ _ Result), points_for_draw, of_Z_0. apply at_most_eq. ring.
    + apply moves_seen; [| | exact R' | now rewrite T].
      * apply (IH (length (legal G ((s, true) :: i)))); [| apply le_n].
        exact (Nat.lt_le_trans _ _ _ (Shrinks true Legal) M).
      * repeat split; auto; [| now exists known].
        intros t A. change ((t =? s) || holds (tried i) t = true) in A.
        change ((t =? s) || holds (marks i) t = true \/ holds (marks j) t = true).
        destruct (Nat.eqb_spec t s); [now left | now apply AC].
Qed.

Lemma see_all_sound b i P : stands b i P -> (value me i P <= of_Z (see_all b))%F.
Proof.
  intros [RO [RK [E SP]]]. unfold see_all. rewrite E. apply (see_list_sound i P (own_of b)); auto. apply see_sound.
Qed.

(** ** The responder's choice *)

Lemma in_insert x y xs : In y (insert x xs) <-> y = x \/ In y xs.
Proof.
  induction xs as [| z xs IH]; simpl; [intuition |]. destruct (limit_of z <=? limit_of x)%Z; simpl; rewrite ?IH; intuition.
Qed.

Lemma in_sort y xs : In y (sort xs) <-> In y xs.
Proof. induction xs as [| x xs IH]; simpl; [easy |]. rewrite in_insert, IH. intuition. Qed.

Lemma best_at_least then' xs so_far : (so_far <= best then' xs so_far)%Z.
Proof.
  revert so_far. induction xs as [| x rest IH]; simpl; intros so_far; [apply Z.le_refl |].
  eapply Z.le_trans; [| apply IH]. destruct (limit_of x <=? so_far)%Z; [apply Z.le_refl | apply Z.le_max_l].
Qed.

(** Each attempt is counted, or its limit is no more than what was counted. *)
Lemma best_covers then' xs so_far x :
  In x xs ->
  (exists a, finish then' a (at_once x) (later x) (branches x) <= best then' xs so_far)%Z \/
  (limit_of x <= best then' xs so_far)%Z.
Proof.
  revert so_far. induction xs as [| y rest IH]; simpl; intros so_far; [easy |]. intros [-> | I]; [| apply IH, I].
  pose proof (best_at_least then' rest) as A. destruct (Z.leb_spec (limit_of x) so_far) as [B | B].
  - right. exact (Z.le_trans _ _ _ B (A so_far)).
  - left. exists so_far. eapply Z.le_trans; [| apply A]. apply Z.le_max_r.
Qed.

Lemma finish_sound then' (Then : forall floor b, covers (fun b => then' b floor) b) i Q :
  (forall q, In q Q -> place_ok i q) ->
  forall a got left, (of_Z got + value_of_places Q
    <= of_Z (finish then' a got left (map (fun b => (see_all b, b)) (map fst Q))))%F.
Proof.
  unfold value_of_places. induction Q as [| [b [i' P']] Q IH]; intros OK a got left; simpl.
  - apply at_most_eq. ring.
  - destruct (OK _ (or_introl eq_refl)) as [St _]. simpl in St.
    eapply at_most_trans; [| apply IH; intros; apply OK; now right]. rewrite of_Z_plus.
    match goal with |- context [then' b ?floor] => pose proof (Then floor b i' P' St) as A end.
    match goal with |- (?x + (?y + ?z) <= _)%F => replace (x + (y + z))%F with (x + y + z)%F by ring end.
    apply plus_monotone; [| apply at_most_refl]. apply plus_monotone; [apply at_most_refl | exact A].
Qed.

Lemma limit_sound i Q :
  (forall q, In q Q -> place_ok i q) ->
  (value_of_places Q <= of_Z (fold_right (fun b v => fst b + v)%Z 0%Z (map (fun b => (see_all b, b)) (map fst Q))))%F.
Proof.
  unfold value_of_places. induction Q as [| [b [i' P']] Q IH]; intros OK; simpl.
  - rewrite of_Z_0. apply at_most_refl.
  - destruct (OK _ (or_introl eq_refl)) as [St _]. rewrite of_Z_plus.
    apply plus_monotone; [apply (see_all_sound _ _ _ St) | apply IH; intros; apply OK; now right].
Qed.

Lemma weights_cover b : covers (fun b => weights (entries_of b)) b.
Proof. intros i P [_ [_ [E SP]]]. rewrite E. apply weights_limit. now apply (sits_weight i). Qed.

Theorem respond_sound fuel : forall floor b, covers (fun b => respond fuel b floor) b.
Proof.
  induction fuel as [| fuel IH]; intros floor b i P ST; pose proof (weights_cover b i P ST) as Limit;
    pose proof ST as [RO [RK [E SP]]]; cbv beta in *; cbn [Checker.respond].
  - destruct (entries_of b) eqn:EB; [| exact Limit]. simpl in Limit. rewrite of_Z_0 in *. exact Limit.
  - destruct (entries_of b) as [| e L] eqn:EB; [simpl in Limit; rewrite of_Z_0 in *; exact Limit |]. rewrite <- EB in *.
    set (free := filter _ _). assert (Free : forall s, In s (legal G i) -> In s free).
    { intros s I. apply in_legal in I as [A B]. apply filter_In. rewrite RK, B. split; [apply in_seq; split; [apply Nat.le_0_l | exact A] | reflexivity]. }
    clearbody free. destruct free as [| s0 free0] eqn:EF; [exact Limit |]. rewrite <- EF in *. clear EF s0 free0.
    set (options := sort _). set (most := best _ _ _).
    apply value_at_most; [intros X; rewrite X, EB in E; discriminate | exact SP |]. intros s I.
    destruct (attempt_sound b i P s ST I) as [Q [EQ [OK A]]].
    set (x := attempt_ (own_of b) (known_of b) (entries_of b) s) in *.
    assert (J : In (option_of x) options).
    { subst options x. apply in_sort. apply (in_map (fun s => option_of (attempt_ _ _ _ s))), Free, I. }
    eapply at_most_trans; [exact A |].
    destruct (best_covers (respond fuel) options floor _ J) as [[a B] | B];
      (eapply at_most_trans; [| apply of_Z_monotone, B]); simpl; rewrite EQ.
    + apply (finish_sound (respond fuel) IH i Q OK).
    + rewrite of_Z_plus. apply plus_monotone; [apply at_most_refl | apply (limit_sound i Q OK)].
Qed.

End Soundness.

(** ** Limits are kept as they are computed *)

Lemma recall_remember n : forall known set f own z, recall (remember n known set f) own = Some z -> z = f own.
Proof.
  induction n as [| n IH]; intros known set f own z.
  - destruct own; simpl; try discriminate. intros X. now injection X as <-.
  - destruct known, set, own; simpl; try discriminate;
      first [exact (IH _ _ (fun set => f (xI set)) _ _) | exact (IH _ _ (fun set => f (xO set)) _ _)].
Qed.

Lemma note_noted G my_win their_win covered t : forall known set,
  noted G my_win their_win covered (note (squares G) (classical G) my_win their_win covered t known set) set.
Proof.
  induction t as [| s w failed IHf placed IHp next IHn limits]; intros known set; simpl; [exact I |].
  repeat split; auto. intros own z Recall. exact (recall_remember _ _ _ _ own z Recall).
Qed.
