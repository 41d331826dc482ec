"""Machines for those who want some: leases, requests, and the loop that carries out what the policy decides."""
