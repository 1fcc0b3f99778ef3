# Install rules: see scripts/.
