"""Backends: siblings that execute the built-in operations, each on its own tensor type.

Nothing is imported here: dispatch imports a backend's package at its first use. None of them
imports another; the two that compute with NumPy share `array`.
"""
