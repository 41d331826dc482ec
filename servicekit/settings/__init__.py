"""Settings: those that every service has, their names, amounts as people write them, and plug-ins."""
