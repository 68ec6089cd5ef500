"""PyTorch equivalents of lucid.models, with the same parameter names."""

import math
from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn


def mlp():
    return nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))


def lenet_5():
    return nn.Sequential(
        *(nn.Conv2d(1, 6, 5), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh(), nn.AvgPool2d(2)),
        *(nn.Flatten(), nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(), nn.Linear(84, 10)),
    )


class ResidualBlock(nn.Module):
    def __init__(self, cin, channels, stride, bottleneck):
        super().__init__()
        cout = 4 * channels if bottleneck else channels
        self.bottleneck = bottleneck
        if bottleneck:
            self.conv1 = nn.Conv2d(cin, channels, 1, bias=False)
        else:
            self.conv1 = nn.Conv2d(cin, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, stride if bottleneck else 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        if bottleneck:
            self.conv3 = nn.Conv2d(channels, cout, 1, bias=False)
            self.bn3 = nn.BatchNorm2d(cout)
        self.downsample = None
        if stride != 1 or cin != cout:
            self.downsample = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        if self.bottleneck:
            y = self.bn3(self.conv3(F.relu(y)))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    def __init__(self, layers, bottleneck=False, classes=1000):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        cin = 64
        for stage, count in enumerate(layers):
            blocks = []
            for i in range(count):
                blocks.append(ResidualBlock(cin, 64 << stage, 2 if i == 0 and stage else 1, bottleneck))
                cin = (64 << stage) * (4 if bottleneck else 1)
            setattr(self, f"layer{stage + 1}", nn.Sequential(*blocks))
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(cin, classes)

    def forward(self, x):
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))


def conv_bn(cin, cout, kernel, stride=1, groups=1):
    conv = nn.Conv2d(cin, cout, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(cout), nn.ReLU6())


class InvertedResidual(nn.Module):
    def __init__(self, cin, cout, stride, expansion):
        super().__init__()
        wide = cin * expansion
        layers = [conv_bn(cin, wide, 1)] if expansion != 1 else []
        layers += [conv_bn(wide, wide, 3, stride, wide), nn.Conv2d(wide, cout, 1, bias=False), nn.BatchNorm2d(cout)]
        self.conv = nn.Sequential(*layers)
        self.adds = stride == 1 and cin == cout

    def forward(self, x):
        return x + self.conv(x) if self.adds else self.conv(x)


class MobileNetV2(nn.Module):
    def __init__(self, classes=1000, dropout=0.2):
        super().__init__()
        features, cin = [conv_bn(3, 32, 3, 2)], 32
        stages = (
            (1, 16, 1, 1),
            (6, 24, 2, 2),
            (6, 32, 3, 2),
            (6, 64, 4, 2),
            (6, 96, 3, 1),
            (6, 160, 3, 2),
            (6, 320, 1, 1),
        )
        for expansion, cout, count, stride in stages:
            for i in range(count):
                features.append(InvertedResidual(cin, cout, stride if i == 0 else 1, expansion))
                cin = cout
        self.features = nn.Sequential(*features, conv_bn(cin, 1280, 1))
        self.classifier = nn.Sequential(nn.Dropout(dropout), nn.Linear(1280, classes))

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


class GPTBlock(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.ln1(x)).reshape(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.transpose(-2, -1) / math.sqrt(d // self.heads)
        later = torch.ones(t, t, dtype=torch.bool).triu(1)
        mixed = F.softmax(scores.masked_fill(later, float("-inf")), dim=-1) @ v
        x = x + self.proj(mixed.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.ln2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, vocab_size=65, context=128, dim=128, heads=4, layers=4):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab_size, dim), nn.Embedding(context, dim)
        self.blocks = nn.ModuleList(GPTBlock(dim, heads) for _ in range(layers))
        self.ln, self.head = nn.LayerNorm(dim), nn.Linear(dim, vocab_size, bias=False)

    def forward(self, tokens):
        x = self.tok(tokens) + self.pos(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln(x))


def group(**parts):
    return nn.ModuleDict(OrderedDict(parts))


class Bert(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers, hidden, types=2, eps=1e-12):
        super().__init__()
        self.heads = heads

        def norm():
            return nn.LayerNorm(dim, eps=eps)

        self.embeddings = group(
            word_embeddings=nn.Embedding(vocab_size, dim),
            position_embeddings=nn.Embedding(context, dim),
            token_type_embeddings=nn.Embedding(types, dim),
            LayerNorm=norm(),
        )
        names = ("query", "key", "value")
        self.encoder = group(
            layer=nn.ModuleList(
                group(
                    attention=nn.ModuleDict(
                        {
                            "self": group(**{name: nn.Linear(dim, dim) for name in names}),
                            "output": group(dense=nn.Linear(dim, dim), LayerNorm=norm()),
                        }
                    ),
                    intermediate=group(dense=nn.Linear(dim, hidden)),
                    output=group(dense=nn.Linear(hidden, dim), LayerNorm=norm()),
                )
                for _ in range(layers)
            )
        )
        self.pooler = group(dense=nn.Linear(dim, dim))

    def forward(self, tokens, attention_mask=None):
        e = self.embeddings
        b, t = tokens.shape
        x = e["word_embeddings"](tokens) + e["token_type_embeddings"](torch.zeros_like(tokens))
        x = e["LayerNorm"](x + e["position_embeddings"](torch.arange(t)))
        mask = None if attention_mask is None else (attention_mask != 0)[:, None, None, :]
        for layer in self.encoder["layer"]:
            parts = layer["attention"]["self"]
            q, k, v = (
                parts[name](x).reshape(b, t, self.heads, -1).transpose(1, 2) for name in ("query", "key", "value")
            )
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(x.shape)
            after = layer["attention"]["output"]
            x = after["LayerNorm"](after["dense"](mixed) + x)
            y = layer["output"]["dense"](F.gelu(layer["intermediate"]["dense"](x)))
            x = layer["output"]["LayerNorm"](y + x)
        return x, torch.tanh(self.pooler["dense"](x[:, 0]))


class VisionTransformer(nn.Module):
    def __init__(self, image_size, patch_size, dim, heads, layers, hidden, num_classes):
        super().__init__()
        self.class_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.conv_proj = nn.Conv2d(3, dim, patch_size, patch_size)
        self.encoder = group(
            layers=group(
                **{
                    f"encoder_layer_{i}": group(
                        ln_1=nn.LayerNorm(dim, eps=1e-6),
                        self_attention=nn.MultiheadAttention(dim, heads, batch_first=True),
                        ln_2=nn.LayerNorm(dim, eps=1e-6),
                        mlp=nn.Sequential(
                            nn.Linear(dim, hidden), nn.GELU(), nn.Dropout(0), nn.Linear(hidden, dim), nn.Dropout(0)
                        ),
                    )
                    for i in range(layers)
                }
            ),
            ln=nn.LayerNorm(dim, eps=1e-6),
        )
        self.encoder.pos_embedding = nn.Parameter(torch.randn(1, (image_size // patch_size) ** 2 + 1, dim) * 0.02)
        self.heads = group(head=nn.Linear(dim, num_classes))

    def forward(self, x):
        x = self.conv_proj(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_token.expand(len(x), -1, -1), x], 1) + self.encoder.pos_embedding
        for layer in self.encoder["layers"].values():
            y = layer["ln_1"](x)
            x = x + layer["self_attention"](y, y, y, need_weights=False)[0]
            x = x + layer["mlp"](layer["ln_2"](x))
        return self.heads["head"](self.encoder["ln"](x)[:, 0])
