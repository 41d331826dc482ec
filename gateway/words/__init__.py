"""The words of the interface: names of enums, instants, amounts, fields that bodies share."""
