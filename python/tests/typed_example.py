"""What mypy --strict must find nothing wrong with."""

import numpy as np

import lamina

x = np.random.default_rng(0).normal(size=(20, 3))
distances = lamina.cdist(x, metric="cityblock")
nearest_distances, indices = lamina.nearest(x, x, k=3)
network = lamina.Network("dot-tanh:4,dot-identity:1", inputs=3, initialization="he_normal")
loss: float = network.train_step(x, np.ones((20, 1)), optimizer="adam", learning_rate=0.01)
predictor = network.predictor()
answer = predictor(x[0].astype(np.float32))
classifier = lamina.MLPClassifier((10,), max_iter=5)
classifier.fit(x, x[:, 0] > 0)
result = lamina.train({"a": x[:, 0], "b": x[:, 1]}, "b", epochs=2)
model: lamina.Model = result.model
names: list[str] = model.columns
