"""Evaluation and inference."""

import dataclasses

import lucid
from lucid import nn
from lucid.nn import functional as F

from ._programs import in_turn, program


@program
def cnn_eval_loop():
    model = lucid.models.lenet_5()
    model.eval()
    stats = {"correct": 0, "total": 0}
    sizes = [16 if i % 5 else 7 for i in range(10)]
    batches = [(lucid.randn(n, 1, 32, 32), lucid.randint(0, 10, (n,))) for n in sizes]

    @lucid.no_grad()
    def evaluate(x, y):
        predicted = model(x).argmax(1)
        stats["correct"] += (predicted == y).sum().item()
        stats["total"] += len(y)
        return predicted

    return evaluate, in_turn(batches), lambda: [stats]


@program
def resnet_infer():
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(32, 10),
    ).eval()  # fmt: skip
    names = [f"class {i}" for i in range(10)]

    def predict(image):
        with lucid.no_grad():
            probabilities = model(image[None]).softmax(-1)[0]
        confidence, index = probabilities.max(0)
        return {"label": names[index.item()], "score": confidence.item()}

    return predict, lambda i: (lucid.randn(3, 32, 32),), lambda: []


@program
def config_dataclass():
    @dataclasses.dataclass
    class Config:
        dim: int = 32
        drop: float = 0.1
        activation: str = "gelu"
        residual: bool = True

    class Block(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.config = config
            self.norm = nn.LayerNorm(config.dim)
            self.linear = nn.Linear(config.dim, config.dim)
            self.drop = nn.Dropout(config.drop)

        def forward(self, x):
            h = getattr(F, self.config.activation)(self.linear(self.norm(x)))
            h = self.drop(h)
            return x + h if self.config.residual else h

    class Net(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.blocks = nn.ModuleList([Block(config) for _ in range(4)])
            self.head = nn.Linear(config.dim, 1)

        def forward(self, x, return_hidden=False):
            hidden = []
            for block in self.blocks:
                x = block(x)
                hidden.append(x)
            return (self.head(x), hidden) if return_hidden else self.head(x)

    return Net(Config()).eval(), lambda i: (lucid.randn(8 + i % 3, 32),), lambda: []


@program
def bert_embed():
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    encoder, embedding = nn.TransformerEncoder(layer, 2).eval(), nn.Embedding(100, 64)

    def embed(ids):
        mask = ids != 0
        with lucid.no_grad():
            hidden = encoder(embedding(ids), src_key_padding_mask=~mask)
            weights = mask.unsqueeze(-1).float()
            pooled = (hidden * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
        return F.normalize(pooled, dim=-1)

    return embed, lambda i: (lucid.randint(1, 100, (1 + i % 4, 5 + i * 7 % 30)),), lambda: []


@program
def top_k_meter():
    """Top-1 and top-5 accuracy over an evaluation, with a confusion count for each class."""

    class TopK:
        def __init__(self, ks, classes):
            self.ks, self.hits, self.seen = ks, dict.fromkeys(ks, 0), 0
            self.per_class = lucid.zeros(classes, dtype=lucid.int64)

        def update(self, out, y):
            _, predicted = out.topk(max(self.ks), dim=1)
            correct = predicted.t().eq(y.view(1, -1).expand_as(predicted.t()))
            result = []
            for k in self.ks:
                hits = correct[:k].reshape(-1).float().sum(0).item()
                self.hits[k] += hits
                result.append(100.0 * hits / y.size(0))
            self.per_class += lucid.bincount(y[correct[0]], minlength=len(self.per_class))
            self.seen += y.size(0)
            return result

    model = nn.Sequential(nn.Linear(40, 64), nn.ReLU(), nn.Linear(64, 20)).eval()
    meter = TopK((1, 5), 20)
    batches = [(lucid.randn(n, 40), lucid.randint(0, 20, (n,))) for n in (32, 32, 32, 32, 11)]

    def evaluate(x, y):
        with lucid.no_grad():
            out = model(x)
            return meter.update(out, y), F.cross_entropy(out, y).item()

    return evaluate, in_turn(batches), lambda: [meter.hits, meter.seen, meter.per_class]
