"""Numerical algorithms: clustering, eigenvalues, roots, samplers."""

import math
import random

import lucid

from ._programs import program


@program
def k_means():
    """Lloyd's algorithm until the centers stay, with at most 20 iterations."""

    def cluster(x, k=4, tolerance=1e-3):
        centers = x[:k].clone()
        for iteration in range(20):
            labels = lucid.cdist(x, centers).argmin(1)
            moved = lucid.stack([x[labels == j].mean(0) if (labels == j).any() else centers[j] for j in range(k)])
            shift = (moved - centers).norm().item()
            centers = moved
            if shift < tolerance:
                break
        inertia = (x - centers[labels]).square().sum().item()
        return centers, labels, iteration, inertia

    return cluster, lambda i: (lucid.randn(60, 3) + lucid.randint(0, 4, (60, 1)).float() * 2,), lambda: []


@program
def power_iteration():
    def largest_eigenvalue(matrix, tolerance=1e-4, limit=200):
        vector = lucid.ones(matrix.shape[0]) / math.sqrt(matrix.shape[0])
        value, steps = 0.0, 0
        while steps < limit:
            product = matrix @ vector
            new_value = (vector @ product).item()
            vector = product / product.norm()
            steps += 1
            if abs(new_value - value) < tolerance * abs(new_value):
                return new_value, vector, steps
            value = new_value
        raise RuntimeError(f"no convergence after {limit} steps")

    def positive(i):
        half = lucid.randn(12, 12)
        return (half @ half.T + lucid.eye(12),)

    return largest_eigenvalue, positive, lambda: []


@program
def newton_solver():
    """Roots by Newton's method with gradients of autograd; the residuals are kept."""

    def solve(target, start=1.0, tolerance=1e-6, limit=30):
        x = lucid.full(target.shape, start, requires_grad=True)
        residuals = []
        for step in range(limit):
            value = x**3 + 2 * x - target
            residual = value.abs().max().item()
            residuals.append(residual)
            if residual < tolerance * max(1.0, target.abs().max().item()):
                break
            (slope,) = lucid.autograd.grad(value.sum(), x)
            x = (x - value / slope).detach().requires_grad_()
        return x.detach(), step, residuals

    return solve, lambda i: (lucid.rand(10) * 10,), lambda: []


@program
def hmc_sampler():
    """Hamiltonian Monte Carlo; the step size follows the rate of accepted proposals."""

    class HMC:
        def __init__(self, dim=6):
            self.precision = lucid.linspace(0.5, 3.0, dim)
            self.position = lucid.zeros(dim)
            self.step_size, self.accepted, self.proposed, self.samples = 0.1, 0, 0, []

        def energy(self, q):
            return 0.5 * (self.precision * q.square()).sum() + 0.1 * q.cos().sum()

        def gradient(self, q):
            q = q.detach().requires_grad_()
            return lucid.autograd.grad(self.energy(q), q)[0]

        def sample(self, leaps=8):
            q, p = self.position, lucid.randn_like(self.position)
            start = self.energy(q) + 0.5 * p.square().sum()
            p = p - 0.5 * self.step_size * self.gradient(q)
            for leap in range(leaps):
                q = q + self.step_size * p
                if leap < leaps - 1:
                    p = p - self.step_size * self.gradient(q)
            p = p - 0.5 * self.step_size * self.gradient(q)
            end = self.energy(q) + 0.5 * p.square().sum()
            self.proposed += 1
            if math.log(random.random()) < (start - end).item():
                self.position = q
                self.accepted += 1
            rate = self.accepted / self.proposed
            self.step_size *= 1.02 if rate > 0.8 else 0.98
            self.samples.append(self.position)
            return rate

    chain = HMC()
    return (
        chain.sample,
        lambda i: (),
        lambda: [chain.position, chain.step_size, chain.accepted, chain.proposed, len(chain.samples)],
    )


@program
def rejection_sampling():
    """Draws proposals in blocks until enough are accepted."""
    totals = {"drawn": 0, "kept": 0}

    def density(x):
        return 0.6 * lucid.exp(-0.5 * ((x - 1) / 0.5) ** 2) + 0.4 * lucid.exp(-0.5 * ((x + 1.5) / 0.8) ** 2)

    def draw(count, low=-4.0, high=4.0, block=64):
        kept, found = [], 0
        while found < count:
            x = low + (high - low) * lucid.rand(block)
            accepted = x[lucid.rand(block) < density(x)]
            kept.append(accepted)
            found += accepted.numel()
            totals["drawn"] += block
        totals["kept"] += found
        return lucid.cat(kept)[:count], totals["kept"] / totals["drawn"]

    return draw, lambda i: (40 + i % 3,), lambda: [totals]
