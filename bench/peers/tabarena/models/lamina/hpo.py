"""Configurations to try: the default, then random ones of a kernel machine, networks, and both."""

from __future__ import annotations

import random

from tabarena.models.lamina.model import LaminaModel
from tabarena.utils.config_utils import CustomAGConfigGenerator

SEED = 1234


def _draw(draw: random.Random) -> dict:
    kind = draw.choice(["rfm", "mixed", "tabular", "tabular", "plain"])
    if kind == "rfm":
        norm = draw.choice(["l1", "l2"])
        power = draw.uniform(0.7, 1.0 if norm == "l1" else 1.6)
        return {"method": "rfm", "neuron": f"{norm}-laplace(power={power:.2f})",
                "feature_weights": draw.choice(["none", "diagonal"] if norm == "l1" else ["none", "diagonal", "full"])}
    width = draw.choice([64, 128, 256, 384])
    network = {"recipe": kind, "hidden": [width] * draw.choice([1, 2, 3]), "dropout": draw.choice([0.0, 0.05, 0.15, 0.3])}
    if kind == "plain":
        return network
    network["learning_rate"] = 10 ** draw.uniform(-2, -1)
    network["weight_decay"] = draw.choice([0.0, 0.002, 0.02])
    if draw.random() < 0.4:
        network |= {"number_embedding": "pbld", "wave_scale": 10 ** draw.uniform(-1, 1)}
    return network


def generate_configs_lamina(num_random_configs: int = 200) -> list[dict]:
    draw = random.Random(SEED)
    return [_draw(draw) for _ in range(num_random_configs)]


gen_lamina = CustomAGConfigGenerator(model_cls=LaminaModel, search_space_func=generate_configs_lamina, manual_configs=[{}])
