"""Instances whose truth is known without sampling: what the bounds are held against."""
