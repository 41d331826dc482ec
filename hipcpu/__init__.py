"""HIP without a GPU: clang's front end for a source, kernels as machine code of the host, and the recorder.

The `cpu` device is a plug-in on it, and every device has its host code compiled here for the recorder. It imports
nothing of the services.
"""
