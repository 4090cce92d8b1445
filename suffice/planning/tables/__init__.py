"""Plans as tables: text, CSV."""
