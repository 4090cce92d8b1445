"""From constants to plans: one file per method, and the methods side by side."""
