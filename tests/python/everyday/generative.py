"""Generative models: VAE, GAN, diffusion."""

import random

import lucid
from lucid import nn, optim
from lucid.nn import functional as F

from ._programs import in_turn, program


@program
def vae_train():
    encoder, decoder = nn.Linear(64, 32), nn.Linear(16, 64)
    optimizer = optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
    batches = [lucid.rand(32, 64) for _ in range(4)]

    def step(x, beta):
        mu, logvar = encoder(x).chunk(2, -1)
        z = mu + lucid.randn_like(mu) * (0.5 * logvar).exp()
        restored = decoder(z)
        rec = F.binary_cross_entropy_with_logits(restored, x, reduction="sum")
        kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum()
        loss = rec + beta * kl
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return {"loss": loss.item(), "rec": rec.item(), "kl": kl.item()}

    return step, lambda i: (batches[i % 4], min(1.0, i / 200)), lambda: list(encoder.parameters())


@program
def gan_train():
    generator = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8))
    critic = nn.Sequential(nn.Linear(8, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
    generator_optimizer = optim.Adam(generator.parameters(), lr=1e-3)
    critic_optimizer = optim.Adam(critic.parameters(), lr=1e-3)
    ones, zeros = lucid.ones(32, 1), lucid.zeros(32, 1)
    criterion = nn.BCEWithLogitsLoss()
    batches = [(lucid.randn(32, 8),) for _ in range(4)]

    def step(real):
        fake = generator(lucid.randn(32, 16))
        critic_optimizer.zero_grad()
        critic_loss = criterion(critic(real), ones) + criterion(critic(fake.detach()), zeros)
        critic_loss.backward()
        critic_optimizer.step()
        generator_optimizer.zero_grad()
        generator_loss = criterion(critic(fake), ones)
        generator_loss.backward()
        generator_optimizer.step()
        return critic_loss.item(), generator_loss.item()

    return step, in_turn(batches), lambda: [*generator.parameters(), *critic.parameters()]


@program
def diffusion_train():
    net = nn.Sequential(nn.Linear(17, 64), nn.SiLU(), nn.Linear(64, 16))
    optimizer = optim.Adam(net.parameters(), lr=1e-3)
    kept = lucid.cumprod(1 - lucid.linspace(1e-4, 0.02, 100), 0)
    batches = [(lucid.randn(32, 16),) for _ in range(4)]

    def step(x0):
        t = lucid.randint(0, 100, (32,))
        noise = lucid.randn_like(x0)
        alpha = kept[t][:, None]
        xt = alpha.sqrt() * x0 + (1 - alpha).sqrt() * noise
        loss = F.mse_loss(net(lucid.cat([xt, t[:, None].float() / 100], 1)), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step, in_turn(batches), lambda: list(net.parameters())


@program
def diffusion_sample():
    net = nn.Sequential(nn.Linear(17, 64), nn.SiLU(), nn.Linear(64, 16)).eval()
    beta = lucid.linspace(1e-4, 0.02, 100)
    alpha = 1 - beta
    kept = lucid.cumprod(alpha, 0)

    @lucid.no_grad()
    def p_sample(x, t):
        noise = net(lucid.cat([x, lucid.full((x.shape[0], 1), t / 100)], 1))
        mean = (x - beta[t] / (1 - kept[t]).sqrt() * noise) / alpha[t].sqrt()
        return mean + beta[t].sqrt() * lucid.randn_like(x) if t > 0 else mean

    return p_sample, lambda i: (lucid.randn(8, 16), 99 - i % 100), lambda: []


@program
def gan_image_pool():
    """CycleGAN's pool: the discriminator sees images of earlier steps, which Python's generator chooses."""

    class ImagePool:
        def __init__(self, size):
            self.size, self.images = size, []

        def query(self, images):
            result = []
            for image in images:
                image = image.detach()[None]
                if len(self.images) < self.size:
                    self.images.append(image)
                    result.append(image)
                elif random.uniform(0, 1) > 0.5:
                    place = random.randint(0, self.size - 1)
                    result.append(self.images[place].clone())
                    self.images[place] = image
                else:
                    result.append(image)
            return lucid.cat(result, 0)

    generator = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1), nn.Tanh())
    critic = nn.Sequential(nn.Conv2d(1, 8, 4, stride=2), nn.LeakyReLU(0.2), nn.Conv2d(8, 1, 4))
    generator_optimizer = optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
    critic_optimizer = optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
    pool = ImagePool(20)
    batches = [(lucid.randn(4, 1, 16, 16), lucid.randn(4, 1, 16, 16)) for _ in range(4)]

    def step(source, real):
        fake = generator(source)
        for p in critic.parameters():
            p.requires_grad_(False)
        generator_optimizer.zero_grad()
        judged = critic(fake)
        generator_loss = F.mse_loss(judged, lucid.ones_like(judged)) + 10.0 * F.l1_loss(fake, source)
        generator_loss.backward()
        generator_optimizer.step()
        for p in critic.parameters():
            p.requires_grad_(True)
        critic_optimizer.zero_grad()
        judged_real, judged_fake = critic(real), critic(pool.query(fake))
        critic_loss = 0.5 * (
            F.mse_loss(judged_real, lucid.ones_like(judged_real))
            + F.mse_loss(judged_fake, lucid.zeros_like(judged_fake))
        )
        critic_loss.backward()
        critic_optimizer.step()
        return {"generator": generator_loss.item(), "critic": critic_loss.item()}

    return (
        step,
        in_turn(batches),
        lambda: [*generator.parameters(), *critic.parameters(), *pool.images],
    )


@program
def vae_kl_annealing():
    """The weight of the KL term rises in cycles with the step number; means of the parts are kept for the log."""

    class VAE(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Sequential(nn.Linear(36, 32), nn.ReLU())
            self.mean, self.logvar = nn.Linear(32, 8), nn.Linear(32, 8)
            self.decoder = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 36), nn.Sigmoid())

        def forward(self, x):
            h = self.encoder(x)
            mean, logvar = self.mean(h), self.logvar(h)
            z = mean + lucid.randn_like(mean) * lucid.exp(0.5 * logvar) if self.training else mean
            return self.decoder(z), mean, logvar

    class Annealed:
        def __init__(self, cycle=100, ratio=0.5):
            self.model = VAE()
            self.optimizer = optim.Adam(self.model.parameters(), lr=1e-3)
            self.cycle, self.ratio, self.steps = cycle, ratio, 0
            self.sums = {"reconstruction": 0.0, "kl": 0.0}

        @property
        def weight(self):
            return min(1.0, (self.steps % self.cycle) / (self.cycle * self.ratio))

        def train_step(self, x):
            restored, mean, logvar = self.model(x)
            reconstruction = F.binary_cross_entropy(restored, x, reduction="sum") / x.size(0)
            kl = -0.5 * lucid.sum(1 + logvar - mean.square() - logvar.exp()) / x.size(0)
            loss = reconstruction + self.weight * kl
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.steps += 1
            self.sums["reconstruction"] += reconstruction.item()
            self.sums["kl"] += kl.item()
            if self.steps % 25 == 0:
                means = {name: value / self.steps for name, value in self.sums.items()}
                print(f"{self.steps}: weight {self.weight:.2f}", means)
            return loss.item()

    trainer = Annealed()
    batches = [(lucid.rand(16, 36),) for _ in range(4)]
    return trainer.train_step, in_turn(batches), lambda: [*trainer.model.parameters(), trainer.steps, trainer.sums]
