"""Readers of client data, one file each, and what turns tables into problems."""
