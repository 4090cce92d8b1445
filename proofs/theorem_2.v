(* Theorem 2, constant step, stopped: the expectations over all trajectories are at most the right sides that
   right_side.v holds, which is written from the library's records. *)

Require Import Reals Lra List.
From Suffice Require Import expectation setting killed trajectories right_side.
Open Scope R_scope.

(* Nothing but addition, multiplication and division may differ between two forms of a right side: a power is opaque
   to `field`, so that the bases of all powers are brought to one form first. *)
Ltac same_form base T :=
  repeat match goal with
  | |- context [?other ^ T] => progress replace other with base by ring
  end;
  set (power := base ^ T); clearbody power.

Section Theorem2.
Context (P : Setting) (H : hypotheses P) (T : nat) (start : state P).

(* The three records ask the same of the constants, and it is among the hypotheses. *)
Lemma conditions :
  conditions_of_theorem_2_constant_running (eta P) (q P) (beta P) (mu P) /\
  conditions_of_theorem_2_constant_stopped (eta P) (q P) (beta P) (mu P).
Proof. split; apply (record_conditions P H). Qed.

Theorem theorem_2_constant :
  excess_while_running P T start <=
  bound_of_theorem_2_constant (eta P) (mu P) (beta P) (excess P start) (s2 P) T.
Proof.
  rewrite killed_is_excess.
  eapply Rle_trans; [now apply while_running|apply Req_le].
  unfold bound_of_theorem_2_constant. same_form (1 - eta P * mu P) T.
  field. pose proof (mu_positive P H). lra.
Qed.

Theorem theorem_2_constant_running :
  probability_still_running P T start <=
  bound_of_theorem_2_constant_running (eta P) (mu P) (beta P) (excess P start) (s2 P) T (eps P).
Proof.
  pose proof (eps_positive P H) as positive.
  apply Rmult_le_reg_l with (eps P); [exact positive|].
  rewrite killed_is_probability.
  eapply Rle_trans; [now apply still_running|]. rewrite <- killed_is_excess.
  eapply Rle_trans; [exact theorem_2_constant|apply Req_le].
  unfold bound_of_theorem_2_constant, bound_of_theorem_2_constant_running. same_form (1 - eta P * mu P) T.
  field. pose proof (mu_positive P H). lra.
Qed.

Theorem theorem_2_constant_stopped :
  stopped_excess P T start <=
  bound_of_theorem_2_constant_stopped (eta P) (mu P) (beta P) (excess P start) (s2 P) T (eps P).
Proof.
  pose proof (eps_positive P H) as positive.
  eapply Rle_trans.
  { apply stopped_at_most; [apply (laws P H)|lra|now apply excess_nonneg]. }
  eapply Rle_trans; [apply Rplus_le_compat_l, theorem_2_constant|apply Req_le].
  unfold bound_of_theorem_2_constant, bound_of_theorem_2_constant_stopped. same_form (1 - eta P * mu P) T.
  field. pose proof (mu_positive P H). lra.
Qed.

End Theorem2.
