"""OpenFOAM's installed tutorials as cases: prepared by edits at run time, run with one solver or another, compared.

Bottom up: errors; yaml_text (reads case files); foam_text (edits OpenFOAM's dictionaries); case (what a case file says);
solvers (which solver a run has); results (what a run left: log, seconds, fields); workspace (prepares and runs); compare; timing (several
solvers in turn).
"""
