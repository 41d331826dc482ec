"""Who may spend what: accounts, API tokens, the ledger, prices, budgets, and what machines cost the operator."""
