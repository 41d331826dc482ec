"""Billing: accounts, API tokens, the ledger, prices, budgets, and the operator's costs of machines."""
