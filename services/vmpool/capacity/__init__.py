"""Gives out machines: leases, requests for machines, and the loop that carries out the policy's decisions."""
