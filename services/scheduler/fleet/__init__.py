"""The one picture of the machines of a GPU type: what each has, until when it is taken, and what is promised; pure."""
