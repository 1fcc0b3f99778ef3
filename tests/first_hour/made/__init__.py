"""Sixty ordinary tables as programs and people export them, with what each should become. See ../tables.py."""
