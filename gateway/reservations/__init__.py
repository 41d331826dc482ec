"""Reservations over HTTP: their form, their events, and the tunnels to their sessions."""
