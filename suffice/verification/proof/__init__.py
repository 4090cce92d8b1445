"""Search for proofs and exact refutations of a bound on all quadratics; `verify.recheck` re-checks what is found."""
