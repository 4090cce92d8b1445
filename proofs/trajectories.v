(* All trajectories of T steps with their probabilities, the stopping time tau written out, and the two facts that
   join them to killed.v. *)

Require Import Reals Lra List Arith Lia.
From Suffice Require Import sums expectation setting killed.
Import ListNotations.
Open Scope R_scope.

Section Trajectories.
Context (P : Setting).

(* s_0, ..., s_T as a first state and the list of the others *)
Fixpoint trajectories (T : nat) (s : state P) : Law (list (state P)) :=
  match T with
  | O => [(1, [s])]
  | S T => flat_map
      (fun one => map (fun rest => (fst one * fst rest, s :: snd rest)) (trajectories T (next P s (snd one))))
      (law P s)
  end.

(* The least t with e_t < eps; the number of states if there is none. *)
Fixpoint tau (path : list (state P)) : nat :=
  match path with
  | [] => O
  | s :: rest => if Rle_dec (eps P) (excess P s) then S (tau rest) else O
  end.

Lemma tau_before path t s : (t < tau path)%nat -> nth_error path t = Some s -> eps P <= excess P s.
Proof.
  revert t. induction path as [|first rest IH]; simpl; intros t; [lia|].
  destruct (Rle_dec _ _) as [on|off]; [|lia].
  destruct t; simpl; intros before at_t; [now inversion at_t; subst|]. apply (IH t); [lia|assumption].
Qed.

Lemma tau_at path s : nth_error path (tau path) = Some s -> excess P s < eps P.
Proof.
  induction path as [|first rest IH]; simpl; [discriminate|].
  destruct (Rle_dec _ _) as [on|off]; simpl; [assumption|]. intros [= <-]. lra.
Qed.

Definition indicator {A B} (decided : {A} + {B}) : R := if decided then 1 else 0.

(* E[e_T 1{tau >= T}], E[e_min(T, tau)] and P(tau > T) *)
Definition excess_while_running (T : nat) (s : state P) : R :=
  Ex (trajectories T s) (fun path => excess P (nth T path s) * indicator (le_dec T (tau path))).
Definition stopped_excess (T : nat) (s : state P) : R :=
  Ex (trajectories T s) (fun path => excess P (nth (min T (tau path)) path s)).
Definition probability_still_running (T : nat) (s : state P) : R :=
  Ex (trajectories T s) (fun path => indicator (lt_dec T (tau path))).

Lemma trajectories_step T s f :
  Ex (trajectories (S T) s) f =
  Ex (law P s) (fun o => Ex (trajectories T (next P s o)) (fun path => f (s :: path))).
Proof.
  unfold Ex. simpl. rewrite Sum_flat_map. apply Sum_ext. intros one _.
  rewrite Sum_map, <- Sum_scale. apply Sum_ext. intros rest _. simpl. ring.
Qed.

Lemma trajectories_law T : (forall s, is_law (law P s)) -> forall s, is_law (trajectories T s).
Proof.
  intros laws. induction T as [|T IH]; intros s.
  - split; simpl; [intros one [<-|[]]; simpl|]; lra.
  - split.
    + simpl. intros path Hin. apply in_flat_map in Hin as (one & Hone & Hin).
      apply in_map_iff in Hin as (rest & <- & Hrest). simpl.
      apply Rmult_le_pos; [now apply (laws s)|now apply (IH (next P s (snd one)))].
    + transitivity (Ex (trajectories (S T) s) (fun _ => 1)); [apply Sum_ext; intros; ring|].
      rewrite trajectories_step, (Ex_ext _ _ (fun _ : outcome P => 1)); [now apply Ex_const|].
      intros o. now apply Ex_const.
Qed.

(* A path of T steps from s begins with s and has T states more. *)
Lemma trajectory_start T : forall s one, In one (trajectories T s) -> exists rest, snd one = s :: rest /\ length rest = T.
Proof.
  induction T as [|T IH]; simpl; intros s one Hin.
  - destruct Hin as [<-|[]]. now exists [].
  - apply in_flat_map in Hin as (first & _ & Hin).
    apply in_map_iff in Hin as (later & <- & Hin). exists (snd later). split; [reflexivity|].
    destruct (IH _ _ Hin) as (rest & -> & <-). reflexivity.
Qed.

Theorem killed_is_excess T : forall s, excess_while_running T s = killed P T (excess P) s.
Proof.
  unfold excess_while_running.
  induction T as [|T IH]; intros s.
  - unfold Ex, indicator. cbn [trajectories Sum]. destruct (le_dec _ _); [simpl; ring|lia].
  - rewrite trajectories_step. simpl killed. unfold running.
    rewrite <- Ex_scale. apply Ex_ext. intros o. rewrite <- IH, <- Ex_scale.
    apply Sum_ext. intros one Hin. destruct (trajectory_start _ _ _ Hin) as (rest & path & size).
    simpl nth. rewrite (nth_indep (snd one) s (next P s o)) by (rewrite path; simpl; lia).
    simpl tau. destruct (Rle_dec _ _); unfold indicator; repeat destruct (le_dec _ _); try lia; ring.
Qed.

Theorem killed_is_probability T : forall s, probability_still_running T s = killed P T (running P) s.
Proof.
  unfold probability_still_running.
  induction T as [|T IH]; intros s.
  - unfold Ex, running. simpl. destruct (Rle_dec _ _); simpl; ring.
  - rewrite trajectories_step. simpl killed. unfold running at 1.
    rewrite <- Ex_scale. apply Ex_ext. intros o. rewrite <- IH, <- Ex_scale.
    apply Ex_ext. intros path. simpl tau.
    destruct (Rle_dec _ _); unfold indicator; repeat destruct (lt_dec _ _); try lia; ring.
Qed.

(* Where the path stops before T, its excess is below eps; elsewhere tau >= T. *)
Theorem stopped_at_most T s : (forall s, is_law (law P s)) -> 0 <= eps P -> (forall s, 0 <= excess P s) ->
  stopped_excess T s <= eps P + excess_while_running T s.
Proof.
  intros laws positive nonneg.
  rewrite <- (Ex_const (trajectories T s) (eps P)) by now apply trajectories_law.
  unfold excess_while_running. rewrite <- Ex_plus. apply Sum_le. intros one Hin.
  apply Rmult_le_compat_l; [now apply (trajectories_law T laws s)|].
  destruct (trajectory_start _ _ _ Hin) as (rest & path & size).
  unfold indicator. destruct (le_dec T (tau (snd one))) as [late|early].
  - rewrite Nat.min_l by exact late. lra.
  - rewrite Nat.min_r by lia. rewrite Rmult_0_r, Rplus_0_r. left. apply (tau_at (snd one)).
    apply nth_error_nth'. rewrite path in *. simpl in *. lia.
Qed.

End Trajectories.
