(* Definition 1 with the continuous criterion, phi(r) = r and psi(r) = r^2, as a fact about numbers r_k in [0, 1]. *)

Require Import Reals Lra List.
From Suffice Require Import sums.
Open Scope R_scope.

Section Weights.
Context {K : Type} (variance : K -> R) (l : list K).
Implicit Types r : K -> R.

(* sigma_psi^2 *)
Definition combined r : R := / Sum (fun k => r k ^ 2 / variance k) l.
(* alpha_k *)
Definition weight r k : R := r k / variance k * combined r.

Context (noisy : forall k, In k l -> 0 < variance k).

Lemma information_positive r : (exists k, In k l /\ r k = 1) -> 0 < Sum (fun k => r k ^ 2 / variance k) l.
Proof.
  intros (k & Hk & one).
  apply Rlt_le_trans with (r k ^ 2 / variance k).
  - rewrite one. apply Rdiv_lt_0_compat; [lra|auto].
  - apply (Sum_term (fun k => r k ^ 2 / variance k)); [assumption|].
    intros b Hb. pose proof (Rinv_0_lt_compat _ (noisy b Hb)). pose proof (pow2_ge_0 (r b)). unfold Rdiv. nra.
Qed.

Lemma combined_positive r : (exists k, In k l /\ r k = 1) -> 0 < combined r.
Proof. intros H. apply Rinv_0_lt_compat, information_positive, H. Qed.

Lemma weight_nonneg r k : (exists k, In k l /\ r k = 1) -> In k l -> 0 <= r k -> 0 <= weight r k.
Proof.
  intros some Hk positive. pose proof (combined_positive r some). pose proof (Rinv_0_lt_compat _ (noisy k Hk)).
  unfold weight, Rdiv. apply Rmult_le_pos; [apply Rmult_le_pos|]; lra.
Qed.

(* sum_k alpha_k r_k = 1 *)
Lemma weights_of_similarities r : (exists k, In k l /\ r k = 1) -> Sum (fun k => weight r k * r k) l = 1.
Proof.
  intros some. pose proof (information_positive r some).
  rewrite (Sum_ext _ (fun k => combined r * (r k ^ 2 / variance k))).
  - rewrite Sum_scale. unfold combined. field. lra.
  - intros k _. unfold weight, Rdiv. ring.
Qed.

(* sum_k alpha_k^2 sigma_k^2 = sigma_psi^2 *)
Lemma variance_of_weights r : (exists k, In k l /\ r k = 1) ->
  Sum (fun k => weight r k ^ 2 * variance k) l = combined r.
Proof.
  intros some. pose proof (information_positive r some).
  rewrite (Sum_ext _ (fun k => combined r ^ 2 * (r k ^ 2 / variance k))).
  - rewrite Sum_scale. unfold combined. field. lra.
  - intros k Hk. unfold weight. pose proof (noisy k Hk). field. lra.
Qed.

(* The combined variance falls as the similarities grow. *)
Lemma combined_decreases r s : (exists k, In k l /\ r k = 1) ->
  (forall k, In k l -> 0 <= r k <= s k) -> combined s <= combined r.
Proof.
  intros some below. apply Rinv_le_contravar; [now apply information_positive|].
  apply Sum_le. intros k Hk. apply Rmult_le_compat_r.
  - left. now apply Rinv_0_lt_compat, noisy.
  - apply pow_incr. now apply below.
Qed.

End Weights.
