"""The jobs that wait: their order, the machines that they get, and what is asked of the pool for them."""
