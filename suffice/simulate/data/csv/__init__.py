"""CSV files: their lines, as numbers, as columns of any kind."""
