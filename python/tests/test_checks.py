"""scikit-learn's own checks of every estimator."""

import warnings

import pytest

sklearn = pytest.importorskip("sklearn")
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import (
    check_class_weight_classifiers,
    check_dataframe_column_names_consistency,
    check_param_validation,
    parametrize_with_checks,
)

import lamina

NETWORKS = [lamina.MLPClassifier, lamina.MLPRegressor, lamina.RBFClassifier, lamina.RBFRegressor]
DIRECT = [
    lamina.FSVCClassifier, lamina.SFSVCClassifier, lamina.ELMClassifier, lamina.ELMRegressor, lamina.RFMClassifier,
    lamina.RFMRegressor,
]
NEIGHBOURS = [
    lamina.KNeighborsClassifier, lamina.KNeighborsRegressor, lamina.KNeighborsTransformer, lamina.NearestNeighbors,
    lamina.RadiusNeighborsClassifier, lamina.RadiusNeighborsRegressor,
]
ESTIMATORS = [
    *(kind() for kind in NETWORKS),
    *(kind(solver="lbfgs") for kind in NETWORKS),
    *(kind() for kind in DIRECT),
    *(kind() for kind in NEIGHBOURS),
    *(kind(missing="mean") for kind in (lamina.MLPClassifier, lamina.MLPRegressor)),
]
MINIBATCHES = "the rows of a minibatch differ where rows are repeated; full-batch fits (lbfgs) pass"


def expected_failures(estimator):
    if getattr(estimator, "solver", "lbfgs") == "lbfgs":
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": MINIBATCHES,
        "check_sample_weight_equivalence_on_sparse_data": MINIBATCHES,
    }


def test_every_kind_of_estimator_is_checked():
    kinds = [getattr(lamina, name) for name in lamina.__all__]
    assert {type(estimator) for estimator in ESTIMATORS} == {kind for kind in kinds if hasattr(kind, "get_params")}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", NETWORKS)
def test_checks_that_scikit_learn_keeps_for_itself(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check_dataframe_column_names_consistency(kind.__name__, kind(max_iter=5))
        check_param_validation(kind.__name__, kind(max_iter=5))


@pytest.mark.parametrize("kind", DIRECT + NEIGHBOURS)
def test_those_checks_of_other_methods(kind):
    check_dataframe_column_names_consistency(kind.__name__, kind())
    check_param_validation(kind.__name__, kind())


def test_class_weights_as_scikit_learn_checks_them():
    for kind in (lamina.MLPClassifier, lamina.RBFClassifier):
        check_class_weight_classifiers(kind.__name__, kind())
