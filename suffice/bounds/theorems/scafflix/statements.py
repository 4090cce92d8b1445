"""Every numbered or named statement of the paper, in its order."""

from __future__ import annotations

from ...statement import statement

_HYPOTHESIS = "it is a hypothesis, which the records that need it state"
_NETWORKS = "it is redone with smaller networks on Fashion-MNIST, with numbers in docs/networks.md"
_PLAYS = "it is redone on plays by speaking role, with numbers in docs/networks.md"
_PROOF = "it is a step of the proof of Theorem 2, derived above the records"

STATEMENTS = (
    statement("(ERM)", "min (1/n) sum_i f_i(x)", "scaffnew", "it is the problem that is solved"),
    statement(
        "(1)",
        "local training as a penalty on |xbar - x_i|^2",
        reason="it is another formulation, of which nothing is claimed",
    ),
    statement("(FLIX)", "min (1/n) sum_i f_i(alpha_i x + (1 - alpha_i) x_i*)", "flix flix-*"),
    statement("Algorithm 1", "Scafflix", "scafflix theorem-1 scafflix-algorithm-1-start scafflix-code-*"),
    statement(
        "Assumption 1", "L_i-smoothness and mu_i-strong convexity", "smoothness-* scafflix-weight-zero", _HYPOTHESIS
    ),
    statement("Assumption 2", "unbiased gradients", reason=_HYPOTHESIS),
    statement("Assumption 3", "(2): expected smoothness, two cases", "assumption-3-* sample-smoothness-*"),
    statement("(2)", "E|g_i - grad f_i(x_i*)|^2 <= 2 A_i D + C_i", "assumption-3-additive"),
    statement("Theorem 1", "linear convergence of Scafflix", "theorem-1* reach wide-reach equalised-* mean-noise"),
    statement("(3)", "Lyapunov function of Scafflix", "lyapunov"),
    statement("(4)", "the bound of Theorem 1", "theorem-1 noise"),
    statement("(5)", "zeta = min(min_i gamma_i mu_i, p^2)", "contraction"),
    statement(
        "below (5)",
        "the steps' range, the function Psi and the rate do not depend on the weights alpha_i",
        "contraction reach theorem-1",
        "it is confirmed for steps, rate and noise, none of which takes alpha; it is refuted for Psi, in which client "
        "i counts with alpha_i^2, as the remark after Corollary 2 says itself; all alpha_i > 0",
    ),
    statement("above (6)", "kappa_i = L_i/mu_i", "condition-number"),
    statement("(6)", "iterations with exact gradients", "corollary-1-iterations corollary-1-sharp-iterations"),
    statement("(7)", "communications with exact gradients", "corollary-1-communications"),
    statement(
        "below (7)",
        "kappa_max can be much smaller than kappa_global = max_i L_i/min_i mu_i of Scaffnew",
        "condition-number corollary-1-iterations",
        "it is confirmed, never larger; L = (1, 100), mu = (0.1, 10) have kappa_max = 10 and kappa_global = 1000, and "
        "a hundred times the iterations",
    ),
    statement("Corollary 1", "communications at the best probability", "corollary-1 corollary-1-sharp"),
    statement("(8)", "the rate of Corollary 1", "corollary-1"),
    statement("Corollary 2", "general stochastic gradients", "corollary-2-* largest-noise"),
    statement("(9)", "gamma_i = min(1/A_i, eps mu_min/(2 C_i))", "corollary-2-iterations"),
    statement("(10)", "iterations with noise", "corollary-2-iterations"),
    statement("(11)", "communications with noise", "corollary-2-communications"),
    statement("Remark after Corollary 2", "Psi^0 shrinks with alpha_i^2", "initial-lyapunov inverse-step stiffness"),
    statement("(12)", "regularised logistic losses", "smoothness-logistic* scafflix-smoothness-logistic"),
    statement("Section 4.1, below (12)", "L_i of the logistic losses", "smoothness-logistic"),
    statement(
        "Figure 1",
        "Scafflix and gradient descent on logistic losses",
        "scafflix flix",
        "`suffice figure scafflix-1` draws it on mushrooms, `a6a` and, as `w6a` was not available, `w8a`",
    ),
    statement(
        "Figure 2",
        "comparison on FEMNIST and Shakespeare",
        reason=f"{_NETWORKS}, and on plays: `suffice figure scafflix-2`",
    ),
    statement(
        "Figure 3",
        "personalisation, clients in a round and p on FEMNIST",
        reason=f"{_NETWORKS}: `suffice figure scafflix-3`",
    ),
    statement("Figure 4", "weights alpha on FEMNIST", reason=_NETWORKS),
    statement("Figure 5", "weights alpha on Shakespeare", reason=_PLAYS),
    statement(
        "Figure 6", "weights alpha on FEMNIST, batches", reason="other scales of alpha and full batches: left out"
    ),
    statement("released code", "its smoothness constants", "smoothness-*-released"),
    statement("Algorithm 2", "i-Scaffnew", "scaffnew theorem-2"),
    statement("Theorem 2", "linear convergence of i-Scaffnew", "theorem-2"),
    statement("(13)", "Lyapunov function of i-Scaffnew", "lyapunov", "it is n Psi/gamma_min at alpha_i = 1"),
    statement("(14)", "the bound of Theorem 2", "theorem-2"),
    statement("(15)", "zeta again", "contraction"),
    statement("(16)", "(ERM) as a constrained problem", reason=_PROOF),
    statement("(17)", "one iteration in the weighted norm", "theorem-2", _PROOF),
    statement("(18)", "E Psi+ <= (1 - zeta) Psi + sum_i gamma_i C_i", "theorem-2", _PROOF),
    statement("Appendix B", "Scafflix from i-Scaffnew by substitution", "theorem-1 flix-*"),
    statement(
        "(19)", "T >= ln(2 Psi^0/eps)/zeta", "corollary-2-iterations", "it is a step of the proof of Corollary 2"
    ),
)
