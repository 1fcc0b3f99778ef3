from __future__ import annotations

from tabarena.models._method_metadata import MethodMetadata
from tabarena.models._model_info import ModelInfo
from tabarena.models.lamina.hpo import gen_lamina
from tabarena.models.lamina.model import LaminaModel

lamina_method_metadata = MethodMetadata.config(
    method="lamina",
    ag_key="LAMINA",
    config_default="lamina_c1_BAG_L1",
    compute="cpu",
    is_bag=True,
    display_name="lamina",
)

lamina_info = ModelInfo(model_cls=LaminaModel, search_space=gen_lamina, method_metadata=lamina_method_metadata, pip_extra=("lamina",))
