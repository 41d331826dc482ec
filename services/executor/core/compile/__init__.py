"""From a source to an executable: forbidden names, builds and their cache, compiler messages, the MI300X report."""
