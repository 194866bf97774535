"""Recursive least squares whose memory shortens when the wearer moves."""

import numpy as np

from acclock.denoising.config import DenoiseConfig
from acclock.denoising.kernels import recurse
from acclock.values import FloatArray


def choose_forgetting(fluctuation: FloatArray, config: DenoiseConfig) -> FloatArray:
    r"""Give the share of its memory that the filter keeps from one sample to the next.

    .. math:: \alpha_t = e^{-\kappa \Psi(t)}

    Paper: Sec. 4.2.2, Eq. (2), where ``fluctuation`` is :math:`\Psi` and
    ``config.motion_sensitivity`` is :math:`\kappa`. Ours: never below ``least_forgetting``.

    >>> choose_forgetting(np.array([0.0, 1.0, 20.0, 1e9]), DenoiseConfig()).round(3)
    array([1.   , 0.995, 0.905, 0.5  ])
    """
    factors = np.exp(-config.motion_sensitivity * fluctuation)
    return np.maximum(factors, config.least_forgetting)


def filter_adaptively(
    inputs: FloatArray, desired: FloatArray, forgetting: FloatArray, config: DenoiseConfig
) -> FloatArray:
    r"""Give the filter's answer to each input, said before the desired sample was heard.

    .. math::
        k = \frac{P u}{\alpha + u^T P u}, \quad w \leftarrow w + k (d - w^T u), \quad
        P \leftarrow (P - k u^T P) / \alpha

    Paper: Sec. 4.2.2, the updates left out there for brevity; :math:`u` are the last
    ``config.taps`` inputs. Ours: P is kept symmetric, and forgetting may not inflate its trace
    beyond where it began, so that hours of silence do not blow it up.
    All three have the same shape; every row, along the last axis, learns for itself, from nothing.
    """
    heard, wanted, factors = (np.ascontiguousarray(row) for row in (inputs, desired, forgetting))
    answers = np.empty(heard.shape)
    recurse(heard, wanted, factors, heard.shape[-1], config.taps, config.confidence, answers)
    return answers
