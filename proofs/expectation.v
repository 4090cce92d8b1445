(* Expectations under a law with finitely many outcomes: a list of probabilities and outcomes. *)

Require Import Reals Lra List.
From Suffice Require Import sums.
Open Scope R_scope.

Definition Law (O : Type) := list (R * O).

Definition is_law {O} (law : Law O) : Prop :=
  (forall one, In one law -> 0 <= fst one) /\ Sum fst law = 1.

Definition Ex {O} (law : Law O) (f : O -> R) : R := Sum (fun one => fst one * f (snd one)) law.

Section Expectation.
Context {O : Type} (law : Law O).

Lemma Ex_ext (f g : O -> R) : (forall o, f o = g o) -> Ex law f = Ex law g.
Proof. intros H. apply Sum_ext. intros a _. now rewrite H. Qed.

Lemma Ex_le (f g : O -> R) : is_law law -> (forall o, f o <= g o) -> Ex law f <= Ex law g.
Proof.
  intros [positive _] H. apply Sum_le. intros a Ha.
  apply Rmult_le_compat_l; [now apply positive|apply H].
Qed.

Lemma Ex_plus (f g : O -> R) : Ex law (fun o => f o + g o) = Ex law f + Ex law g.
Proof. unfold Ex. rewrite <- Sum_plus. apply Sum_ext. intros; ring. Qed.

Lemma Ex_scale c (f : O -> R) : Ex law (fun o => c * f o) = c * Ex law f.
Proof. unfold Ex. rewrite <- Sum_scale. apply Sum_ext. intros; ring. Qed.

Lemma Ex_const c : is_law law -> Ex law (fun _ => c) = c.
Proof.
  intros [_ total]. transitivity (c * Sum fst law); [|rewrite total; ring].
  unfold Ex. rewrite <- Sum_scale. apply Sum_ext. intros; ring.
Qed.

Lemma Ex_Sum {K} (f : O -> K -> R) (l : list K) :
  Ex law (fun o => Sum (f o) l) = Sum (fun k => Ex law (fun o => f o k)) l.
Proof.
  unfold Ex. rewrite <- Sum_exchange. apply Sum_ext. intros a _.
  now rewrite Sum_scale.
Qed.

End Expectation.
