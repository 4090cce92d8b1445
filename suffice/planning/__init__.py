"""Plans say who collaborates with whom, at which step and how fast: guaranteed, exact, measured."""
