(* What has been proved and all that it rests on. *)

Require Import Reals.
From Suffice Require Import expectation setting killed trajectories right_side theorem_2 instance.
Open Scope R_scope.
Set Printing Width 120.

Check theorem_2_constant.
Check theorem_2_constant_running.
Check theorem_2_constant_stopped.
Check instance_meets.
Check lowered_floor_refuted.
Check tau_before.
Check tau_at.
Check trajectories_law.
Check killed_is_excess.
Check killed_is_probability.

Definition everything :=
  (theorem_2_constant, theorem_2_constant_running, theorem_2_constant_stopped, instance_meets, lowered_floor_refuted,
   (tau_before, tau_at, trajectories_law, killed_is_excess, killed_is_probability)).
Print Assumptions everything.
