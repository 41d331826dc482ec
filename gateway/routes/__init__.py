"""One module for each subject of the HTTP interface."""
