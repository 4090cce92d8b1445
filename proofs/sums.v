(* Finite sums over a list. *)

Require Import Reals Lra List.
Import ListNotations.
Open Scope R_scope.

Fixpoint Sum {A : Type} (f : A -> R) (l : list A) : R :=
  match l with
  | [] => 0
  | a :: rest => f a + Sum f rest
  end.

Lemma Sum_ext {A} (f g : A -> R) l : (forall a, In a l -> f a = g a) -> Sum f l = Sum g l.
Proof.
  induction l as [|a l IH]; simpl; intros H; [reflexivity|].
  rewrite (H a), IH; auto.
Qed.

Lemma Sum_le {A} (f g : A -> R) l : (forall a, In a l -> f a <= g a) -> Sum f l <= Sum g l.
Proof.
  induction l as [|a l IH]; simpl; intros H; [lra|].
  apply Rplus_le_compat; auto.
Qed.

Lemma Sum_plus {A} (f g : A -> R) l : Sum (fun a => f a + g a) l = Sum f l + Sum g l.
Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma Sum_scale {A} c (f : A -> R) l : Sum (fun a => c * f a) l = c * Sum f l.
Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma Sum_zero {A} (l : list A) : Sum (fun _ => 0) l = 0.
Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma Sum_nonneg {A} (f : A -> R) l : (forall a, In a l -> 0 <= f a) -> 0 <= Sum f l.
Proof. intros H. rewrite <- (Sum_zero l). now apply Sum_le. Qed.

(* A sum of nonnegative terms is at least each of them. *)
Lemma Sum_term {A} (f : A -> R) l a : In a l -> (forall b, In b l -> 0 <= f b) -> f a <= Sum f l.
Proof.
  induction l as [|b l IH]; simpl; [tauto|]. intros [<-|Ha] H.
  - pose proof (Sum_nonneg f l ltac:(auto)). lra.
  - pose proof (H b (or_introl eq_refl)). pose proof (IH Ha ltac:(auto)). lra.
Qed.

Lemma Sum_exchange {A B} (f : A -> B -> R) l m :
  Sum (fun a => Sum (f a) m) l = Sum (fun b => Sum (fun a => f a b) l) m.
Proof.
  induction l as [|a l IH]; simpl; [now rewrite Sum_zero|].
  now rewrite IH, Sum_plus.
Qed.

Lemma Sum_app {A} (f : A -> R) l m : Sum f (l ++ m) = Sum f l + Sum f m.
Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma Sum_map {A B} (f : B -> R) (g : A -> B) l : Sum f (map g l) = Sum (fun a => f (g a)) l.
Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma Sum_flat_map {A B} (f : B -> R) (g : A -> list B) l : Sum f (flat_map g l) = Sum (fun a => Sum f (g a)) l.
Proof. induction l as [|a l IH]; simpl; [|rewrite Sum_app, IH]; ring. Qed.
