"""Networks trained from files: rows in, personal models and who learns with whom out."""
