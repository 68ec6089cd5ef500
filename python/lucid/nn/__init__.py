"""Neural network modules: layers, losses and containers.

>>> net = lucid.nn.Sequential(lucid.nn.Linear(2, 8), lucid.nn.Tanh(), lucid.nn.Linear(8, 1))
>>> net(lucid.ones(3, 2)).shape
(3, 1)
"""

from . import (
    activation,
    container,
    conv,
    dropout,
    functional,
    image,
    init,
    linear,
    loss,
    norm,
    pool,
    rnn,
    sparse,
    transformer,
    utils,
)
from .activation import *
from .container import *
from .conv import *
from .dropout import *
from .hooks import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)
from .image import *
from .linear import *
from .loss import *
from .module import Module
from .norm import *
from .parameter import Buffer, Parameter
from .pool import *
from .rnn import *
from .sparse import *
from .transformer import *

__all__ = [
    "Buffer",
    "Module",
    "Parameter",
    "functional",
    "init",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "utils",
]
__all__ += activation.__all__
__all__ += container.__all__
__all__ += conv.__all__
__all__ += dropout.__all__
__all__ += image.__all__
__all__ += linear.__all__
__all__ += loss.__all__
__all__ += norm.__all__
__all__ += pool.__all__
__all__ += rnn.__all__
__all__ += sparse.__all__
__all__ += transformer.__all__
