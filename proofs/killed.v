(* Theorem 2, constant step, by induction over the horizon; Markov's inequality.

   `killed T f s` is f after T steps from s, counted as 0 as soon as a step would start below eps. No conditional
   expectation is needed: the recursion is the tower property, and trajectories.v shows that it is
   E[f(s_T) 1{tau >= T}]. *)

Require Import Reals Lra List.
From Suffice Require Import sums expectation inner_product weights setting one_step.
Open Scope R_scope.

Section Killed.
Context (P : Setting).

Definition running (s : state P) : R := if Rle_dec (eps P) (excess P s) then 1 else 0.

Fixpoint killed (T : nat) (f : state P -> R) (s : state P) : R :=
  match T with
  | O => f s
  | S T => running s * Ex (law P s) (fun o => killed T f (next P s o))
  end.

Context (H : hypotheses P).

Lemma killed_monotone T : forall f g s, (forall s, f s <= g s) -> killed T f s <= killed T g s.
Proof.
  induction T as [|T IH]; simpl; intros f g s below; [apply below|].
  apply Rmult_le_compat_l; [unfold running; destruct (Rle_dec _ _); lra|].
  apply Ex_le; [apply (laws P H)|]. intros o. now apply IH.
Qed.

Lemma killed_scale T c f : forall s, killed T (fun s => c * f s) s = c * killed T f s.
Proof.
  induction T as [|T IH]; simpl; intros s; [reflexivity|].
  rewrite (Ex_ext _ _ (fun o => c * killed T f (next P s o))) by (intros; apply IH).
  rewrite Ex_scale. ring.
Qed.

Lemma excess_nonneg s : 0 <= excess P s.
Proof. pose proof (bounded P H (model P s)). unfold excess. lra. Qed.

Let left := 1 - eta P * mu P.
Let floor := eta P * beta P * s2 P / (2 * mu P).

Lemma left_share : 0 <= left <= 1.
Proof.
  pose proof (mu_positive P H). pose proof (mu_beta P H). pose proof (eta_nonneg P H). pose proof (q_share P H).
  pose proof (step_limit P H) as limit.
  apply Rmult_le_compat_r with (r := beta P) in limit; [|lra]. unfold Rdiv in limit.
  rewrite Rmult_assoc, Rinv_l in limit by lra. unfold left. nra.
Qed.

Lemma s2_nonneg : 0 <= s2 P.
Proof. left. apply combined_positive; [apply H|]. exists (self P). split; [apply H|now apply own_guaranteed]. Qed.

Lemma floor_nonneg : 0 <= floor.
Proof.
  pose proof (mu_positive P H). pose proof (mu_beta P H). pose proof (eta_nonneg P H). pose proof s2_nonneg.
  unfold floor, Rdiv. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra].
  repeat apply Rmult_le_pos; lra.
Qed.

Theorem while_running T : forall s,
  killed T (excess P) s <= left ^ T * excess P s + floor * (1 - left ^ T).
Proof.
  pose proof left_share as share. pose proof floor_nonneg as nonneg.
  induction T as [|T IH]; intros s; simpl; [lra|].
  pose proof (excess_nonneg s) as positive.
  assert (0 <= left ^ T <= 1) as power.
  { split; [apply pow_le; lra|]. rewrite <- (pow1 T). apply pow_incr. lra. }
  unfold running. destruct (Rle_dec _ _) as [on|off].
  - rewrite Rmult_1_l.
    apply Rle_trans with (Ex (law P s) (fun o => left ^ T * excess P (next P s o) + floor * (1 - left ^ T))).
    { apply Ex_le; [apply (laws P H)|]. intros o. apply IH. }
    rewrite Ex_plus, Ex_scale, Ex_const by apply (laws P H).
    pose proof (one_step P H s on) as one. fold left in one.
    apply Rmult_le_compat_l with (r := left ^ T) in one; [|lra].
    assert (floor * (1 - left) = eta P ^ 2 * beta P * s2 P / 2) as noise.
    { unfold floor, left. field. pose proof (mu_positive P H). lra. }
    rewrite <- noise in one. lra.
  - rewrite Rmult_0_l. apply Rplus_le_le_0_compat; apply Rmult_le_pos; nra.
Qed.

(* On {tau > T} the excess is at least eps. *)
Theorem still_running T s : eps P * killed T running s <= killed T (excess P) s.
Proof.
  rewrite <- killed_scale. apply killed_monotone. intros s'. pose proof (excess_nonneg s').
  unfold running. destruct (Rle_dec _ _); lra.
Qed.

End Killed.
