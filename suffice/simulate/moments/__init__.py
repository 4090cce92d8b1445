"""Exact first and second moments of clients' models and gradients: dense, batched, by rows. NumPy."""
