(* All-for-one with a constant step, for client `self` (the paper's i): what there is, and what Theorem 2 assumes. *)

Require Import Reals List.
From Suffice Require Import sums expectation inner_product noise weights right_side.
Open Scope R_scope.

Record Setting := {
  space : Space;
  client : Type;
  clients : list client;
  self : client;
  loss : space -> R;                       (* R_i *)
  lowest : R;                              (* R_i^* *)
  gradient : client -> space -> space;     (* grad R_k *)
  beta : R; mu : R; eps : R; eta : R; q : R;
  variance : client -> R;                  (* sigma_k^2 *)
  offset : client -> R;                    (* b_k *)
  ratio : client -> R;                     (* c_k *)
  state : Type;                            (* the model and as much of its history as the noise depends on *)
  model : state -> space;
  outcome : Type;
  law : state -> Law outcome;
  sample : state -> outcome -> client -> space;   (* g_k *)
  next : state -> outcome -> state
}.

Section Definitions.
Context (P : Setting).

Definition excess (s : state P) : R := loss P (model P s) - lowest P.

(* r_k = (1 - |grad R_k - grad R_i|^2 / |grad R_i|^2)_+ *)
Definition similarity (x : space P) (k : client P) : R :=
  Rmax 0 (1 - square (minus (gradient P k x) (gradient P (self P) x)) / square (gradient P (self P) x)).

(* Definition 1, continuous criterion *)
Definition alpha (x : space P) : client P -> R := weight (variance P) (clients P) (similarity x).

(* Definition 2: rho_k(eps) and the sufficient variance, continuous criterion *)
Definition guaranteed (k : client P) : R := Rmax 0 (1 - offset P k ^ 2 / (2 * mu P * eps P) - ratio P k).
Definition s2 : R := combined (variance P) (clients P) guaranteed.

(* Nothing is assumed of the noise, of the weights or of the step once the precision has been reached. *)
Record hypotheses : Prop := {
  distinct : NoDup (clients P);
  member : In (self P) (clients P);
  mu_positive : 0 < mu P;
  eps_positive : 0 < eps P;
  eta_nonneg : 0 <= eta P;
  q_share : q P <= 1;
  (* what the library's record asks of the constants: eta <= q/beta and mu <= beta *)
  record_conditions : conditions_of_theorem_2_constant (eta P) (q P) (beta P) (mu P);
  admissible : forall s, eps P <= excess s -> q P <= / Sum (alpha (model P s)) (clients P);
  (* beta-smoothness and the Polyak-Lojasiewicz condition of R_i *)
  smooth : forall x v, loss P (add x v) <= loss P x + inner (gradient P (self P) x) v + beta P / 2 * square v;
  bounded : forall x, lowest P <= loss P x;
  lojasiewicz : forall x, 2 * mu P * (loss P x - lowest P) <= square (gradient P (self P) x);
  (* Assumption 3; client i is like itself *)
  similar : forall k x, In k (clients P) ->
    square (minus (gradient P k x) (gradient P (self P) x)) <= offset P k ^ 2 + ratio P k * square (gradient P (self P) x);
  own_offset : offset P (self P) = 0;
  own_ratio : ratio P (self P) = 0;
  (* gradients are unbiased, of total variance at most sigma_k^2, uncorrelated across clients *)
  noisy : forall k, In k (clients P) -> 0 < variance P k;
  estimates : forall s, eps P <= excess s ->
    uncorrelated_estimates (law P s) (sample P s) (fun k => gradient P k (model P s)) (variance P) (clients P);
  laws : forall s, is_law (law P s);
  (* All-for-one: theta - eta sum_k alpha_k g_k *)
  step : forall s o, eps P <= excess s -> model P (next P s o) =
    add (model P s) (scale (- eta P) (combination (alpha (model P s)) (sample P s o) (clients P)))
}.

Context (H : hypotheses).

Lemma step_limit : eta P <= q P / beta P.
Proof. destruct (record_conditions H) as (? & ?). assumption. Qed.

Lemma mu_beta : mu P <= beta P.
Proof. destruct (record_conditions H) as (? & ?). assumption. Qed.

End Definitions.
