(* The second moment of a weighted sum of unbiased estimates whose errors are uncorrelated. *)

Require Import Reals Lra List.
From Suffice Require Import sums expectation inner_product.
Import ListNotations.
Open Scope R_scope.

Section Noise.
Context {V : Space} {K O : Type} (law : Law O).
(* g o k estimates m k; nothing is asked of clients outside the list. *)
Context (g : O -> K -> V) (m : K -> V) (variance a : K -> R) (l : list K).

Record uncorrelated_estimates : Prop := {
  probabilities : is_law law;
  mean : forall k v, In k l -> Ex law (fun o => inner (g o k) v) = inner (m k) v;
  error : forall k, In k l -> Ex law (fun o => square (minus (g o k) (m k))) <= variance k;
  no_correlation : forall j k, In j l -> In k l -> j <> k ->
    Ex law (fun o => inner (minus (g o j) (m j)) (minus (g o k) (m k))) = 0
}.

Context (H : uncorrelated_estimates).

Lemma product_of_two j k : In j l -> In k l ->
  Ex law (fun o => inner (g o j) (g o k)) =
  inner (m j) (m k) + Ex law (fun o => inner (minus (g o j) (m j)) (minus (g o k) (m k))).
Proof.
  intros Hj Hk.
  rewrite (Ex_ext law _ (fun o => (inner (g o j) (m k) + inner (g o k) (m j)) +
    (-1 * inner (m j) (m k) + inner (minus (g o j) (m j)) (minus (g o k) (m k))))).
  - rewrite !Ex_plus, !mean, Ex_const by (assumption || apply H).
    rewrite (inner_symmetric _ (m k)). ring.
  - intros o. rewrite inner_minus, !inner_minus_r, (inner_symmetric _ (g o k)). ring.
Qed.

Lemma mean_of_sum v : Ex law (fun o => inner (combination a (g o) l) v) = inner (combination a m l) v.
Proof.
  rewrite (Ex_ext law _ (fun o => Sum (fun k => a k * inner (g o k) v) l)).
  - rewrite Ex_Sum, inner_combination. apply Sum_ext. intros k Hk. now rewrite Ex_scale, mean.
  - intros. apply inner_combination.
Qed.

(* By induction over the clients of a part of the list: only squares leave a variance. *)
Lemma second_moment_of part : incl part l -> NoDup part ->
  Ex law (fun o => square (combination a (g o) part)) <=
  square (combination a m part) + Sum (fun k => a k ^ 2 * variance k) part.
Proof.
  induction part as [|k part IH]; intros inside distinct.
  - simpl. unfold square. rewrite inner_zero, Ex_const by apply H. lra.
  - inversion distinct as [|? ? new rest]; subst.
    assert (Hk : In k l) by (apply inside; simpl; auto).
    assert (inside' : incl part l) by (intros j Hj; apply inside; simpl; auto).
    specialize (IH inside' rest).
    rewrite (Ex_ext law _ (fun o => a k ^ 2 * inner (g o k) (g o k) +
      (2 * a k * Sum (fun j => a j * inner (g o j) (g o k)) part + square (combination a (g o) part)))).
    2: { intros o. rewrite square_combination, inner_combination. unfold square. ring. }
    rewrite !Ex_plus, !Ex_scale, Ex_Sum, product_of_two, square_combination, inner_combination by assumption.
    rewrite (Sum_ext _ (fun j => a j * inner (m j) (m k)) part).
    + pose proof (Rmult_le_compat_l _ _ _ (pow2_ge_0 (a k)) (error H k Hk)) as own.
      cbn [Sum]. unfold square in *. lra.
    + intros j Hj. rewrite Ex_scale, product_of_two, (no_correlation H j k); auto.
      * ring.
      * now intros ->.
Qed.

Lemma second_moment : NoDup l ->
  Ex law (fun o => square (combination a (g o) l)) <=
  square (combination a m l) + Sum (fun k => a k ^ 2 * variance k) l.
Proof. apply second_moment_of, incl_refl. Qed.

End Noise.
