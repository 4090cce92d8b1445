"""Every numbered or named statement of the paper, in its order."""

from __future__ import annotations

from ...statement import statement

_HYPOTHESIS = "it is a hypothesis, which the records that need it state"

STATEMENTS = (
    statement("(1)", "f_i(x) = E l(x, xi_i): generalisation error", reason="it is notation, the problem itself"),
    statement(
        "Section 2.1, oracle", "one round: every agent samples one gradient", reason="it says what a round T counts"
    ),
    statement("Assumption 1", "noise of variance at most sigma^2", reason=_HYPOTHESIS),
    statement("Assumption 2", "mu-strong convexity and L-smoothness", reason=_HYPOTHESIS),
    statement(
        "Definition 1",
        "d_H(D, D') = sup_h |E h(xi) - E h(xi')|",
        "definition-1-affine",
        "it is a supremum over a class of functions; of the named classes, the affine one has a closed form",
    ),
    statement("Assumption 3", "d_H(D_i, D_j) <= b_ij, weak or strong", "assumption-3-peer", _HYPOTHESIS),
    statement("Assumption 3, the line below it", "f_i(x_j*) - f_i* <= b_ij^2/(2 mu)", "assumption-3-peer"),
    statement(
        "Section 3, definition of K_i^eps",
        "oracle calls to reach the precision, and the class D",
        "sample-optimal-theorem-1-infimum",
        "it is what Theorem 1 bounds",
    ),
    statement("Theorem 1", "information-theoretic lower bound", "theorem-1*"),
    statement("(2)", "All-for-one: x_i <- x_i - eta sum_j lambda_ij g_j(x_i)", "all-for-one-fixed"),
    statement("Theorem 2", "All-for-one", "theorem-2*"),
    statement(
        "below Theorem 2",
        "the strong dissimilarity may be replaced by |grad f_i - grad f_j| <= b_ij",
        "theorem-2",
        "it is confirmed: it is the hypothesis of the record, whose proof uses nothing else of Assumption 3",
    ),
    statement("Algorithm 1", "All-for-all: x_i <- x_i - eta sum_j W_ij g_j(x_j)", "all-for-all"),
    statement("Theorem 3", "All-for-all", "theorem-3*"),
    statement("Corollary 1", "rounds with thresholded weights", "corollary-1*"),
    statement("after Corollary 1", "K_eps <= (1/N) sum_i K_eps(i); the speedup", "corollary-1"),
    statement("Remark 1", "f_i(x_j*) - f_i* for b_ij^2/(2 mu)", "theorem-3 theorem-3-misfit"),
    statement("Section 5, below Remark 1", "bias of mixtures and of full collaboration", "section-5-bias"),
    statement(
        "(3)",
        "f^Lambda(y) = fbar(Lambda y): the proof of Theorem 3",
        "theorem-3",
        "it is a step of the proof; the comments above theorem-3 derive it, with the sketch's faults as errata",
    ),
    statement(
        "Section 6",
        "dissimilarity of linear models",
        "linear-dissimilarity theorem-2-least-squares *-growth theorem-2-noise",
    ),
    statement("Assumption 4", "subgaussian second moments", "sample-optimal-assumption-4-centred", _HYPOTHESIS),
    statement(
        "below Assumption 4",
        "d_eff < 3 for MNIST, in the ambient dimension 712",
        "theorem-5-samples",
        "as printed, |Sigma|_2/nu^2 is 1 for every Sigma. trace/nu^2, which the record has, is 2.25 for the second "
        "moments of the 10,000 test images, 9.95 for their covariance (Assumption 4 is on centred xi); the images have "
        "784 pixels",
    ),
    statement("Assumption 5", "separated clusters", "sample-optimal-assumption-4-centred", _HYPOTHESIS),
    statement("Section 6, estimate of d_H", "bhat_ij = |mean_s xi_i - mean_s xi_j|", "theorem-5-samples"),
    statement(
        "Section 6, below the estimate",
        "randomised gossip computes these distances in O~(N) communications instead of N^2",
        reason="it is an order, confirmed for messages: every agent knows all means after about 1.5 N ln N random "
        "calls; refuted for vectors: each of N agents has to receive N - 1 means, N (N - 1) vectors as without gossip",
    ),
    statement("Theorem 4", "samples per agent", "theorem-4*"),
    statement("Theorem 5", "All-for-all with estimated clusters", "theorem-5*"),
    statement("Corollary 2", "rounds with estimated clusters", "corollary-2*"),
    statement(
        "below Corollary 2",
        "constant orders of S and K are enough if N = Omega~(M/eps)",
        "corollary-2-sharp theorem-5-samples",
        "it is confirmed: with 1/eps agents a cluster the rounds are a constant times ln(1 + 4 (F^0 - eps)/eps), and "
        "the samples grow with ln N; at a fixed size the rounds grow with 1/eps",
    ),
    statement(
        "Appendix A",
        "numerical illustration on synthetic data",
        reason="they are announced in Section 6; the available text ends before its appendices. `suffice figure "
        "sample-optimal-speedup` draws the theory on quadratics of its own",
    ),
)
