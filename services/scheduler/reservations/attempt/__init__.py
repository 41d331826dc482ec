"""An attempt at a reservation: its session on leased machines."""
