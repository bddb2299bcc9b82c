"""From the IR, guards included, to the text of a target.

`cuda`, `hip` and `wgsl` have a table and `emit` each; `names.entry_point` is what the text calls
its kernel, and `layout.metadata` makes the last argument of every launch.
"""
