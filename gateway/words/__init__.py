"""Vocabulary of the HTTP interface: names of enums, instants, figures of a machine, the field for a GPU type."""
