"""A multi-backend tensor library that anyone can extend with one declaration per operation."""

__version__ = "0.1.0"
