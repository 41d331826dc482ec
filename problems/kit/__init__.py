"""What problems are written with: the definition, inputs, tolerances, parts of answers, launch plans."""
