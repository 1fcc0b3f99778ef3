"""``python -m lamina``: the program ``lamina``."""

from lamina_program import main

main()
