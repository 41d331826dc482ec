"""Money over HTTP: reports, statements, grants and budgets."""
