"""From a source to what can run: what is forbidden, builds and their cache, the compiler's words, the MI300X report."""
