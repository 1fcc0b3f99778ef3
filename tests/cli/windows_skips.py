"""Tests that say nothing of the program for Windows, or that Wine cannot carry: file -> "Case.test" or "Case" -> reason."""

SKIPS = {
    "serve_test": {},
}
