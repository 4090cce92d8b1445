(* Lemma 2 and Lemma 1: one step of All-for-one from a state whose excess is at least eps. *)

Require Import Reals Lra List.
From Suffice Require Import sums expectation inner_product noise weights setting.
Open Scope R_scope.

Section Step.
Context (P : Setting) (H : hypotheses P) (s : state P) (running : eps P <= excess P s).

Let x := model P s.
Let G := gradient P (self P) x.
Let r := similarity P x.
Let a := alpha P x.
Let l := clients P.

Lemma beta_positive : 0 < beta P.
Proof. pose proof (mu_positive P H). pose proof (mu_beta P H). lra. Qed.

(* |grad R_i|^2 >= 2 mu eps *)
Lemma gradient_large : 2 * mu P * eps P <= square G.
Proof.
  pose proof (lojasiewicz P H x) as PL. fold G in PL. unfold excess in running. fold x in running.
  pose proof (mu_positive P H). nra.
Qed.

Lemma gradient_positive : 0 < square G.
Proof. pose proof gradient_large. pose proof (mu_positive P H). pose proof (eps_positive P H). nra. Qed.

Lemma own_similarity : r (self P) = 1.
Proof.
  unfold r, similarity. fold G. rewrite square_minus. fold (square G).
  replace (square G - 2 * square G + square G) with 0 by ring.
  unfold Rdiv. rewrite Rmult_0_l, Rminus_0_r. apply Rmax_right. lra.
Qed.

Lemma some_similarity : exists k, In k l /\ r k = 1.
Proof. exists (self P). split; [apply H|apply own_similarity]. Qed.

Lemma own_guaranteed : guaranteed P (self P) = 1.
Proof.
  unfold guaranteed. rewrite (own_offset P H), (own_ratio P H).
  rewrite pow_i by auto with arith. unfold Rdiv. rewrite Rmult_0_l, !Rminus_0_r. apply Rmax_right. lra.
Qed.

Lemma similarity_nonneg k : 0 <= r k.
Proof. apply Rmax_l. Qed.

Lemma similarity_at_most_one k : r k <= 1.
Proof.
  apply Rmax_lub; [lra|]. fold G.
  pose proof (square_positive (minus (gradient P k x) G)). pose proof (Rinv_0_lt_compat _ gradient_positive).
  unfold Rdiv. nra.
Qed.

(* Lemma 2: r_k >= rho_k(eps), hence the variance of the weights is at most s2. *)
Lemma similarity_guaranteed k : In k l -> guaranteed P k <= r k.
Proof.
  intros Hk. apply Rle_max_compat_l. fold G.
  pose proof (similar P H k x Hk) as A3. fold G in A3.
  pose proof gradient_positive as positive. pose proof gradient_large as large.
  pose proof (mu_positive P H). pose proof (eps_positive P H).
  assert (square (minus (gradient P k x) G) / square G <= offset P k ^ 2 / square G + ratio P k).
  { apply Rmult_le_reg_r with (square G); [exact positive|]. field_simplify; [lra|lra|lra]. }
  assert (offset P k ^ 2 / square G <= offset P k ^ 2 / (2 * mu P * eps P)).
  { apply Rmult_le_compat_l; [apply pow2_ge_0|]. apply Rinv_le_contravar; [nra|exact large]. }
  lra.
Qed.

Lemma variance_at_most_s2 : Sum (fun k => a k ^ 2 * variance P k) l <= s2 P.
Proof.
  unfold a, alpha. rewrite variance_of_weights; [|apply H|exact some_similarity].
  apply combined_decreases; [apply H| |].
  - exists (self P). split; [apply H|exact own_guaranteed].
  - intros k Hk. split; [apply Rmax_l|now apply similarity_guaranteed].
Qed.

Lemma weight_positive k : In k l -> 0 <= a k.
Proof. intros Hk. apply weight_nonneg; [apply H|exact some_similarity|exact Hk|apply similarity_nonneg]. Qed.

(* r_k <= 1 and sum_k alpha_k r_k = 1 *)
Lemma weights_total : 1 <= Sum a l.
Proof.
  rewrite <- (weights_of_similarities (variance P) l (noisy P H) r some_similarity).
  apply Sum_le. intros k Hk. pose proof (weight_positive k Hk). pose proof (similarity_at_most_one k).
  change (weight (variance P) l r k) with (a k). nra.
Qed.

(* eta beta sum_k alpha_k <= 1 *)
Lemma total_step : eta P * beta P * Sum a l <= 1.
Proof.
  pose proof beta_positive. pose proof weights_total. pose proof (eta_nonneg P H).
  pose proof (step_limit P H) as limit. pose proof (admissible P H s running) as share. fold x a l in share.
  assert (eta P * beta P <= q P).
  { apply Rmult_le_compat_r with (r := beta P) in limit; [|lra]. unfold Rdiv in limit.
    rewrite Rmult_assoc, Rinv_l in limit; lra. }
  apply Rmult_le_compat_r with (r := Sum a l) in share; [|lra]. rewrite Rinv_l in share by lra. nra.
Qed.

(* Where alpha_k is not 0, r_k has not been cut off at 0. *)
Lemma gain k : a k * (square G - square (minus (gradient P k x) G)) = a k * r k * square G.
Proof.
  pose proof gradient_positive.
  destruct (Rle_lt_dec 0 (1 - square (minus (gradient P k x) G) / square G)) as [inside|cut].
  - replace (r k) with (1 - square (minus (gradient P k x) G) / square G); [field; lra|].
    symmetry. now apply Rmax_right.
  - assert (r k = 0) as zero by (apply Rmax_left; fold G; lra).
    unfold a, alpha, weight. fold r. rewrite zero. unfold Rdiv. ring.
Qed.

Lemma total_gain :
  Sum a l * square G - Sum (fun k => a k * square (minus (gradient P k x) G)) l = square G.
Proof.
  transitivity (Sum (fun k => square G * (a k * r k)) l).
  - rewrite (Sum_ext (fun k => square G * (a k * r k))
      (fun k => square G * a k + -1 * (a k * square (minus (gradient P k x) G)))).
    + rewrite Sum_plus, !Sum_scale. ring.
    + intros k _. pose proof (gain k). lra.
  - rewrite Sum_scale. change a with (weight (variance P) l r).
    rewrite weights_of_similarities; [ring|apply H|exact some_similarity].
Qed.

Lemma one_step :
  Ex (law P s) (fun o => excess P (next P s o)) <=
  (1 - eta P * mu P) * excess P s + eta P ^ 2 * beta P * s2 P / 2.
Proof.
  pose proof (laws P H s) as is. pose proof beta_positive. pose proof (eta_nonneg P H).
  set (W := fun o => combination a (sample P s o) l).
  set (M := combination a (fun k => gradient P k x) l).
  apply Rle_trans with (Ex (law P s) (fun o =>
    excess P s + (- eta P * inner (W o) G + beta P / 2 * eta P ^ 2 * square (W o)))).
  { apply Ex_le; [exact is|]. intros o. unfold excess at 1. rewrite (step P H s o running).
    pose proof (smooth P H x (scale (- eta P) (W o))) as smooth.
    rewrite inner_scale_r, square_scale, (inner_symmetric _ _ (W o)) in smooth. fold G in smooth.
    unfold excess. fold x a l. fold (W o). lra. }
  rewrite Ex_plus, Ex_const, Ex_plus, !Ex_scale by exact is.
  pose proof (estimates P H s running) as noise. fold x l in noise.
  unfold W. rewrite (mean_of_sum _ _ _ _ a _ noise). fold M.
  pose proof (second_moment _ _ _ _ a _ noise (distinct P H)) as second. fold l M in second.
  pose proof variance_at_most_s2 as variance.
  pose proof (Jensen a (fun k => gradient P k x) l weight_positive) as jensen. fold M in jensen.
  pose proof (spread_about a (fun k => gradient P k x) l G) as about. fold M in about.
  pose proof total_gain as gained. pose proof total_step as limit.
  pose proof (lojasiewicz P H x) as PL. change (loss P x - lowest P) with (excess P s) in PL. fold G in PL.
  assert (0 <= Sum (fun k => a k * square (gradient P k x)) l) as Q.
  { apply Sum_nonneg. intros k Hk. apply Rmult_le_pos; [now apply weight_positive|apply square_positive]. }
  set (A := Sum a l) in *. set (S := Sum (fun k => a k * square (gradient P k x)) l) in *.
  assert (eta P * beta P * square M <= S) as quadratic.
  { apply Rle_trans with (eta P * beta P * A * S); [|nra]. rewrite (Rmult_assoc _ A). apply Rmult_le_compat_l; nra. }
  apply Rle_trans with (excess P s + (- eta P * inner M G +
    beta P / 2 * eta P ^ 2 * (square M + s2 P))).
  { do 2 apply Rplus_le_compat_l. apply Rmult_le_compat_l; [|lra].
    pose proof (pow2_ge_0 (eta P)). apply Rmult_le_pos; lra. }
  assert (inner M G = (square G + S) / 2) as -> by lra.
  pose proof (Rmult_le_compat_l (eta P / 2) _ _ ltac:(lra) quadratic).
  pose proof (Rmult_le_compat_l (eta P / 2) _ _ ltac:(lra) PL). lra.
Qed.

End Step.
