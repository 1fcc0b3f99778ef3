"""Kernels for NVIDIA's GPUs: ``lamina_cuda.so``, which lamina opens when it looks for a GPU. Nothing to import."""
