"""Every numbered or named statement of the paper, in its order."""

from __future__ import annotations

from ...statement import statement

_HYPOTHESIS = "it is a hypothesis, which the records that need it state"
_NETWORKS = "it is redone with smaller networks on Fashion-MNIST, with numbers in docs/networks.md"

STATEMENTS = (
    statement(
        "(Model-Training)",
        "min sum_i f_i(x_i) + (rho/2) sum w*_ij |x_i - x_j|^2",
        "cobo",
        "it is the problem that is solved",
    ),
    statement("(Client-Selection)", "w*_ij maximises w <grad f_i(z_ij), grad f_j(z_ij)> over [0, 1]", "alignment"),
    statement(
        "Remark 1", "weights on a simplex", "cobo", "it is its option simplex, as in Section 4.3; no theorem covers it"
    ),
    statement("(1)", "weights by projected ascent, exact gradients", "cobo"),
    statement("(2)", "models by gradient steps with the penalty", "cobo"),
    statement("Algorithm 1", "CoBo", "cobo algorithm-1-output cobo-code-order cobo-code-sampling cobo-code-momentum"),
    statement(
        "Algorithm 1, cost of its weights",
        "pairs sampled with probability 1/n cost O(n) gradients an iteration",
        "cobo",
        "it is confirmed: the algorithm counts 2 (n - 1) on average, beside the n of its steps",
    ),
    statement("(3)", "models by stochastic gradients", "cobo"),
    statement("(4)", "weights by stochastic gradients", "cobo cobo-selection-sampling"),
    statement("(A1)", "L-smoothness", reason=_HYPOTHESIS),
    statement("(A2)", "noise of variance at most sigma^2", reason=_HYPOTHESIS),
    statement("(A3)", "global lower bounds", reason=_HYPOTHESIS),
    statement("(A4)", "collaborativeness: (5) inside, (6) between clusters", "assumption-4-* cluster-dissimilarity"),
    statement("(5)", "|grad f_i - grad f_j| <= M |grad f_i + grad f_j|", "assumption-4-similarity"),
    statement("(6)", "|grad f_i|^2 + |grad f_j|^2 >= zeta^2", "assumption-4-dissimilarity"),
    statement("Example 2", "M and zeta of isotropic quadratics", "example-2-*"),
    statement("(A5)", "clients of one cluster share stationary points", reason=_HYPOTHESIS),
    statement("Theorem I", "the rate, at the midpoints and of the consensus", "theorem-1* consensus-distance"),
    statement(
        "Section 3, below Theorem I",
        "M_ij = 0 leads to identical data distribution",
        "cobo-theorem-1-identical-data",
        "it is a remark on (A4); M_ij = 0 says that gradients are identical",
    ),
    statement("Corollary II", "the rate of every client", "corollary-2*"),
    statement(
        "Section 4, other algorithms",
        "Local, FedAvg, fine-tuned FedAvg, Ditto, IFCA, Federated Clustering, oracle",
        "local fedavg ditto ifca federated-clustering validation-based cobo-code-ditto cobo-code-federated-clustering "
        "cobo-code-ifca",
        "the validation-based baseline of Table 2 was written from the abstract of its paper",
    ),
    statement("Figure 1", "a diagram of the inner problem", reason="`suffice figure cobo-1` computes and draws it"),
    statement(
        "Table 1",
        "ways of sampling pairs come close to sampling all",
        "cobo",
        f"{_NETWORKS}; `suffice figure cobo-5` has the shares of right pairs on quadratics",
    ),
    statement(
        "Figure 2",
        "accuracies of clients on CIFAR-100",
        reason=f"{_NETWORKS}, its part b alone: `suffice figure cobo-2`; part a, with other splits, is left out",
    ),
    statement(
        "Figure 3",
        "matrices of CoBo, IFCA and Federated Clustering, 8 clients",
        reason=f"{_NETWORKS}: `suffice figure cobo-3`; `suffice figure cobo-5` draws CoBo's on quadratics",
    ),
    statement(
        "Table 2",
        "accuracies, perplexities and fairness",
        reason=f"{_NETWORKS}, but not for language models",
    ),
    statement(
        "Figure 4",
        "weights of four languages",
        reason="it is of language models and of texts that the library does not hold, and is not redone",
    ),
    statement(
        "Figure 5",
        "matrices of CoBo, 80 clients",
        reason="`suffice figure cobo-5` draws them on Example 2's quadratics in place of networks",
    ),
    statement("Figure 6", "accuracies of 80 clients on CIFAR-100", reason=f"{_NETWORKS}: `suffice figure cobo-2`"),
    statement("Lemma 3", "one step at the midpoints", "lemma-3 mean-descent"),
    statement("(7)", "the proof of Lemma 3: one pair", "lemma-3", "it is a step of the proof"),
    statement(
        "(8)",
        "the proof of Lemma 3: the sum over pairs",
        "lemma-3 cobo-lemma-3-weight-variance",
        "it is a step of the proof",
    ),
    statement("Lemma 4", "one step of the consensus distance", "lemma-4 cobo-lemma-4-unsettled-weights"),
    statement("Appendix A.2, case 1", "gradients of one cluster are aligned", "alignment"),
    statement("Appendix A.2, case 2", "weights between clusters vanish", "selection-*"),
    statement(
        "(9)", "the proof of Theorem I: the consensus bound", "theorem-1-consensus", "it is the first bound again"
    ),
    statement(
        "(10)", "|grad f_i|^2 + |grad f_j|^2 <= 2 (1 + M^2) |grad f_ij|^2", "alignment", "it is a step of the proof"
    ),
    statement("(11)", "the proof of Corollary II: midpoints", "corollary-2", "it is a step of the proof"),
)
