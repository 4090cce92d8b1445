"""Who collaborates with whom, at which step, how fast: guaranteed, exact, measured."""
