(* Inner-product spaces, as little of them as is used: every space with an inner product is one of these (nothing is
   said of equal vectors, and <x, x> = 0 is allowed for x other than 0). Jensen's inequality for |.|^2. *)

Require Import Reals Lra List.
From Suffice Require Import sums.
Import ListNotations.
Open Scope R_scope.

Record Space := {
  vector :> Type;
  zero : vector;
  add : vector -> vector -> vector;
  scale : R -> vector -> vector;
  inner : vector -> vector -> R;
  inner_symmetric : forall x y, inner x y = inner y x;
  inner_zero : forall y, inner zero y = 0;
  inner_add : forall x y z, inner (add x y) z = inner x z + inner y z;
  inner_scale : forall c x y, inner (scale c x) y = c * inner x y;
  inner_positive : forall x, 0 <= inner x x
}.
Arguments zero {_}. Arguments add {_}. Arguments scale {_}. Arguments inner {_}.

(* Functions on a finite list of coordinates; R^n for n coordinates. *)
Definition Euclidean (I : Type) (coordinates : list I) : Space.
Proof.
  refine {| vector := I -> R;
            zero := fun _ => 0;
            add := fun x y i => x i + y i;
            scale := fun c x i => c * x i;
            inner := fun x y => Sum (fun i => x i * y i) coordinates |}; intros.
  - apply Sum_ext; intros; ring.
  - transitivity (Sum (fun _ => 0) coordinates); [apply Sum_ext; intros; ring|apply Sum_zero].
  - rewrite <- Sum_plus. apply Sum_ext; intros; ring.
  - rewrite <- Sum_scale. apply Sum_ext; intros; ring.
  - apply Sum_nonneg. intros. nra.
Defined.

Section Inner.
Context {V : Space}.
Implicit Types x y z : V.

Definition square x := inner x x.
Definition minus x y : V := add x (scale (-1) y).

Lemma inner_add_r x y z : inner z (add x y) = inner z x + inner z y.
Proof. now rewrite !(inner_symmetric _ z), inner_add. Qed.

Lemma inner_scale_r c x y : inner y (scale c x) = c * inner y x.
Proof. now rewrite !(inner_symmetric _ y), inner_scale. Qed.

Lemma inner_minus x y z : inner (minus x y) z = inner x z - inner y z.
Proof. unfold minus. rewrite inner_add, inner_scale. ring. Qed.

Lemma inner_minus_r x y z : inner z (minus x y) = inner z x - inner z y.
Proof. unfold minus. rewrite inner_add_r, inner_scale_r. ring. Qed.

Lemma square_positive x : 0 <= square x.
Proof. apply inner_positive. Qed.

Lemma square_minus x y : square (minus x y) = square x - 2 * inner x y + square y.
Proof. unfold square. rewrite inner_minus, !inner_minus_r, (inner_symmetric _ y x). ring. Qed.

Lemma square_scale c x : square (scale c x) = c ^ 2 * square x.
Proof. unfold square. rewrite inner_scale, inner_scale_r. ring. Qed.

Context {K : Type}.
Implicit Types (a : K -> R) (v : K -> V).

(* sum_k a_k v_k *)
Fixpoint combination a v (l : list K) : V :=
  match l with
  | [] => zero
  | k :: rest => add (scale (a k) (v k)) (combination a v rest)
  end.

Lemma inner_combination a v l y : inner (combination a v l) y = Sum (fun k => a k * inner (v k) y) l.
Proof.
  induction l as [|k l IH]; simpl; [apply inner_zero|].
  now rewrite inner_add, inner_scale, IH.
Qed.

Lemma square_combination a v k l :
  square (combination a v (k :: l)) =
  a k ^ 2 * square (v k) + 2 * (a k * inner (combination a v l) (v k)) + square (combination a v l).
Proof.
  simpl. unfold square. rewrite inner_add, !inner_add_r, !inner_scale, !inner_scale_r.
  rewrite (inner_symmetric _ (v k) (combination a v l)). ring.
Qed.

(* sum_k a_k |v_k - y|^2 in terms of the sums of a_k, a_k v_k and a_k |v_k|^2 *)
Lemma spread_about a v l y :
  Sum (fun k => a k * square (minus (v k) y)) l =
  Sum (fun k => a k * square (v k)) l - 2 * inner (combination a v l) y + Sum a l * square y.
Proof.
  induction l as [|k l IH]; simpl; [rewrite inner_zero; ring|].
  rewrite IH, square_minus, inner_add, inner_scale. ring.
Qed.

Lemma Jensen a v l : (forall k, In k l -> 0 <= a k) ->
  square (combination a v l) <= Sum a l * Sum (fun k => a k * square (v k)) l.
Proof.
  induction l as [|k l IH]; intros positive.
  - simpl. unfold square. rewrite inner_zero. lra.
  - rewrite square_combination. simpl.
    specialize (IH ltac:(intros; apply positive; simpl; auto)).
    assert (0 <= a k) by (apply positive; simpl; auto).
    assert (spread : 0 <= Sum (fun j => a j * square (minus (v j) (v k))) l).
    { apply Sum_nonneg. intros j Hj. apply Rmult_le_pos; [apply positive; simpl; auto|apply square_positive]. }
    rewrite spread_about in spread. nra.
Qed.

End Inner.
