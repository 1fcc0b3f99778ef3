"""Tests that say nothing of the program for Windows, or that Wine cannot carry, each with the reason.

A file is given a reason for all of it, or names "Case.test" or "Case" with theirs.
"""

SKIPS = {
    "serve_test": {},
}
