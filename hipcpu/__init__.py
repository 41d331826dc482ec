"""HIP without a GPU: clang's front end for a source, kernels as machine code of the host, and the recorder.

The `cpu` device is a plug-in that uses it, and host code for every device's recorder is compiled here. It imports
nothing from the services.
"""
