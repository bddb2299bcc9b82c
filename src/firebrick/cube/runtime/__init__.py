"""Runtimes: one folder each behind one narrow interface (`base.py`)."""
