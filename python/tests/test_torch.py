"""Networks of PyTorch and back: what is taken over answers the same, all else is refused by name."""

import inspect
import itertools
import warnings

import numpy as np
import pytest

import lamina

torch = pytest.importorskip("torch")
nn = torch.nn

# What activations of PyTorch must be given, and parameters beside their defaults.
NEEDED = {"MultiheadAttention": [dict(embed_dim=4, num_heads=2)], "Threshold": [dict(threshold=0.1, value=0.5)]}
MORE = {
    "ReLU": [dict(inplace=True)],
    "Softplus": [dict(beta=2.0), dict(threshold=1.0), dict(beta=0.5, threshold=30.0), dict(threshold=25.0)],
    "ELU": [dict(alpha=0.3), dict(alpha=2), dict(alpha=-1.0), dict(alpha=1e-5)],
    "LeakyReLU": [dict(negative_slope=0.3), dict(negative_slope=1e-5), dict(negative_slope=-0.5), dict(negative_slope=0)],
    "GELU": [dict(approximate="tanh")],
    "Softmax": [dict(dim=0), dict(dim=1), dict(dim=-1)],
    "LogSoftmax": [dict(dim=1)],
    "Softmin": [dict(dim=1)],
    "Hardtanh": [dict(min_val=-0.5, max_val=0.2)],
    "CELU": [dict(alpha=2.0)],
    "GLU": [dict(dim=1)],
}


def activations():
    """Every class of torch.nn's activations, with each of the parameters above."""
    kinds = {name: kind for name, kind in vars(nn.modules.activation).items()
             if inspect.isclass(kind) and issubclass(kind, nn.Module) and kind is not nn.Module and hasattr(nn, name)}
    kinds = {name: kind for name, kind in kinds.items() if name not in ("Linear", "Sequential", "Identity", "Dropout", "Flatten")}
    kinds.pop("NonDynamicallyQuantizableLinear", None)
    assert len(kinds) > 20 and {"ReLU", "Softplus", "ELU", "Softmax2d", "GLU"} <= set(kinds)
    for name, kind in kinds.items():
        for parameters in NEEDED.get(name, [{}]) + MORE.get(name, []):
            yield pytest.param(lambda kind=kind, parameters=parameters: kind(**parameters), name, id=f"{name}{parameters or ''}")


def same_or_refused(module, names, sure=None):
    """from_torch answers as the module does, or refuses it and names one of ``names``; whether it was taken."""
    module = module.double().eval()
    x = torch.randn(40, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(1)) * 3
    try:
        network = lamina.Network.from_torch(module)
    except ValueError as refused:
        assert any(name in str(refused) for name in names), refused
        assert sure is not True, refused
        return False
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        expected = module(x).numpy()
    np.testing.assert_allclose(network.forward(x.numpy()), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(network.to_torch()(x).detach().numpy(), expected, rtol=1e-6, atol=1e-8)
    return True


TAKEN = {"ReLU", "Tanh", "Sigmoid", "SiLU", "Mish", "SELU", "Softplus", "ELU", "LeakyReLU", "GELU", "Softmax"}


@pytest.mark.parametrize("make, name", list(activations()))
def test_every_activation_and_its_placeholders(make, name):
    linear, after, last = (lambda: nn.Linear(6, 8)), (lambda: nn.Linear(8, 4)), nn.Identity
    taken = [
        same_or_refused(nn.Sequential(*layers), [name])
        for layers in (
            [linear(), make()],
            [linear(), make(), last()],
            [linear(), last(), make()],
            [last(), linear(), make(), last(), after()],
            [linear(), make(), after(), last(), make()],
            [nn.Sequential(linear(), make()), nn.Sequential(nn.Sequential(after()))],
            [linear(), make(), nn.Dropout(), after(), nn.Flatten()],
            [linear(), nn.BatchNorm1d(8), last(), make()],
        )
    ]
    assert name in TAKEN or not any(taken)
    for layers in ([make(), linear()], [linear(), make(), last(), nn.BatchNorm1d(8)], [linear(), make(), nn.BatchNorm1d(8), after()]):
        assert not same_or_refused(nn.Sequential(*layers), [name, "BatchNorm1d"])


def test_every_known_activation_is_taken():
    for make in (nn.ReLU, nn.Tanh, nn.Sigmoid, nn.SiLU, nn.Mish, nn.SELU, nn.Softplus, nn.ELU, lambda: nn.ELU(0.3), nn.LeakyReLU,
                 lambda: nn.LeakyReLU(1e-5), lambda: nn.GELU(approximate="tanh"), lambda: nn.Softmax(dim=1)):
        assert same_or_refused(nn.Sequential(nn.Linear(6, 8, bias=False), make(), nn.Identity()), [], sure=True)


def test_every_pair_of_activations():
    made = [parameter.values for parameter in activations()]
    for (first, first_name), (second, second_name) in itertools.product(made, made):
        for between in ((), (nn.Identity(),), (nn.Dropout(0.0),)):
            layers = nn.Sequential(nn.Linear(6, 8), first(), *between, second())
            assert not same_or_refused(layers, [first_name, second_name]), layers


class Doubled(nn.Sequential):
    """Answers otherwise than its modules do."""

    def forward(self, x):
        return 2 * super().forward(x)


class OwnReLU(nn.ReLU):
    """As above."""

    def forward(self, x):
        return super().forward(x) + 1


class Named(nn.Sequential):
    """A Sequential by another name answers as its modules do."""


def plain():
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2))


def hooked(register):
    module = plain()
    register(module)
    return module


def own_forward():
    module = plain()
    module[1].forward = lambda x: x
    return module


def weight_norm():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return nn.Sequential(nn.utils.weight_norm(nn.Linear(6, 8)), nn.ReLU())


CHANGED = {
    "forward hook": lambda: hooked(lambda m: m[1].register_forward_hook(lambda *given: given[-1] + 1)),
    "forward pre-hook": lambda: hooked(lambda m: m[0].register_forward_pre_hook(lambda m, x: (x[0] + 1,))),
    "hook of all": lambda: hooked(lambda m: m.register_forward_hook(lambda *given: given[-1] + 1)),
    "backward hook": lambda: hooked(lambda m: m[0].register_full_backward_hook(lambda *given: None)),
    "hook of a weight": lambda: hooked(lambda m: m[0].weight.register_hook(lambda gradient: gradient)),
    "weight norm": weight_norm,
    "parametrization": lambda: hooked(lambda m: nn.utils.parametrize.register_parametrization(m[0], "weight", nn.ReLU())),
    "own forward": own_forward,
    "own Sequential": lambda: Doubled(*plain()),
    "own activation": lambda: nn.Sequential(nn.Linear(6, 8), OwnReLU()),
    "inner Sequential": lambda: nn.Sequential(Doubled(nn.Linear(6, 8)), nn.ReLU()),
    "no Sequential": lambda: nn.ModuleList(plain()),
    "widths": lambda: nn.Sequential(nn.Linear(6, 8), nn.Linear(1, 2)),
    "types": lambda: nn.Sequential(nn.Linear(6, 8), nn.Linear(8, 2).double()),
    "half": lambda: plain().half(),
    "flat": lambda: nn.Sequential(nn.Flatten(0), *plain()),
    "softmax inside": lambda: nn.Sequential(nn.Linear(6, 8), nn.Softmax(dim=1), nn.Linear(8, 2)),
    "Conv1d": lambda: nn.Sequential(nn.Linear(4, 4), nn.Conv1d(1, 1, 1)),
}


@pytest.mark.parametrize("name", CHANGED)
def test_what_changes_the_answer_is_refused(name):
    says = {"forward hook": "ReLU.*_forward_hooks", "hook of all": "the module has", "hook of a weight": "a hook on weight",
            "weight norm": "_hooks", "parametrization": "ParametrizedLinear", "own Sequential": "Doubled", "own activation": "OwnReLU",
            "inner Sequential": "module 0 .*Doubled", "no Sequential": "ModuleList", "widths": "takes 1 inputs", "types": "float64",
            "half": "float16", "flat": "Flatten", "softmax inside": "behind a Softmax", "Conv1d": "Conv1d"}
    with pytest.raises(ValueError, match=says.get(name, "module [01] |Linear|ReLU")):
        lamina.Network.from_torch(CHANGED[name]())


def test_hooks_of_all_modules_are_refused():
    handle = nn.modules.module.register_module_forward_hook(lambda *given: None)
    try:
        with pytest.raises(ValueError, match="_global_forward_hooks"):
            lamina.Network.from_torch(plain())
    finally:
        handle.remove()
    assert same_or_refused(Named(*plain()), [], sure=True)


def test_torch_and_back():
    module = nn.Sequential(
        nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Dropout(0.0), nn.Linear(8, 8, bias=False), nn.GELU(approximate="tanh"),
        nn.Linear(8, 6), nn.SiLU(), nn.Linear(6, 3), nn.Softmax(dim=1),
    )
    x = torch.randn(20, 4)
    expected = module.eval()(x).detach().numpy()
    net = lamina.Network.from_torch(module)
    np.testing.assert_allclose(net.forward(x), expected, atol=1e-5)
    np.testing.assert_allclose(net.to_torch()(x).detach().numpy(), expected, atol=1e-5)
    normalized = nn.Sequential(
        nn.Linear(4, 8, bias=False), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 5), nn.BatchNorm1d(5, affine=False), nn.Linear(5, 2)
    ).double()
    for _ in range(3):  # running statistics, and a scale and shift of their own
        normalized(torch.randn(30, 4).double() * 2 + 1).square().sum().backward()
        for parameter in normalized.parameters():
            parameter.data -= 1e-3 * parameter.grad
    expected = normalized.eval()(x.double()).detach().numpy()
    np.testing.assert_allclose(lamina.Network.from_torch(normalized).forward(x.double()), expected, atol=1e-12)
    for module, says in (
        (nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.BatchNorm1d(4)), "BatchNorm1d.*before it"),
        (nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4, track_running_stats=False)), "running statistics"),
    ):
        with pytest.raises(ValueError, match=says):
            lamina.Network.from_torch(module)
    with pytest.raises(ValueError, match="Conv1d"):
        lamina.Network.from_torch(nn.Sequential(nn.Linear(4, 4), nn.Conv1d(1, 1, 1)))


class Adds(nn.Sequential):
    def forward(self, x):
        return x + super().forward(x)


class AddsTwice(nn.Sequential):
    def forward(self, x):
        return x + 2 * super().forward(x)


def blocks(kind):
    return nn.Sequential(
        nn.Linear(6, 5), nn.ReLU(), kind(nn.Linear(5, 7), nn.Tanh(), nn.Dropout(0.2), nn.Linear(7, 5)),
        kind(nn.Linear(5, 5), nn.SiLU()), nn.Linear(5, 2))


def test_residual_blocks_go_there_and_back():
    module = blocks(Adds).double().eval()
    network = lamina.Network.from_torch(module, residual=Adds)
    assert network.text == "dot-relu:5,residual(dot-tanh:7,dot-identity:5),residual(dot-silu:5),dot-identity:2"
    x = torch.randn(40, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    expected = module(x).detach().numpy()
    np.testing.assert_allclose(network.forward(x.numpy()), expected, rtol=1e-10)
    back = network.to_torch()
    np.testing.assert_allclose(back(x).detach().numpy(), expected, rtol=1e-10)
    assert lamina.Network.from_torch(back).text == network.text  # its own blocks are known
    np.testing.assert_array_equal(network.copy().forward(x.numpy()), network.forward(x.numpy()))


@pytest.mark.parametrize("module, residual, words", [
    (blocks(Adds), None, "none of torch.nn"),
    (blocks(AddsTwice), AddsTwice, "x plus what its modules make"),
    (nn.Sequential(nn.Linear(6, 5), Adds(nn.ReLU(), nn.Linear(5, 5)), nn.Linear(5, 2)), Adds, "beginning of a residual block"),
    (nn.Sequential(nn.Linear(6, 5), Adds(nn.Linear(5, 5)), nn.ReLU(), nn.Linear(5, 2)), Adds, "a residual block"),
    (nn.Sequential(nn.Linear(6, 5), Adds(nn.Linear(5, 4)), nn.Linear(5, 2)), Adds, "cannot be a residual block"),
    (nn.Sequential(nn.Linear(6, 5), Adds(nn.Dropout()), nn.Linear(5, 2)), Adds, "no Linear in it"),
    (nn.Sequential(nn.Linear(6, 5), Adds(Adds(nn.Linear(5, 5))), nn.Linear(5, 2)), Adds, "inside one"),
])
def test_what_is_no_residual_block_is_refused(module, residual, words):
    with pytest.raises(ValueError, match=words):
        lamina.Network.from_torch(module, residual=residual)
