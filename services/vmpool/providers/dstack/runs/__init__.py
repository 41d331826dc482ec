"""dstack's runs, each of which is a machine: our requests, the server's answers, and their meaning."""
