"""lamina as a model of TabArena (https://tabarena.ai): this folder becomes tabarena/models/lamina."""
