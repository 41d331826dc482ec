"""Who may spend what: accounts, API tokens, the ledger, prices and budgets."""
