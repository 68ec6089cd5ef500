"""Programs of adaptive.py: numerical functions, reinforcement learning, data that decides what is computed."""

import itertools

from adaptive_common import F, batches, lib, nn


def cart_pole(state, force):
    """One step of a cart with a pole; `state` has position, speed, angle and angular speed of each cart."""
    _, speed, angle, spin = state.unbind(-1)
    push = (force + 0.05 * spin**2 * lib.sin(angle)) / 1.1
    spin_rate = (9.8 * lib.sin(angle) - lib.cos(angle) * push) / (0.5 * (4 / 3 - 0.1 * lib.cos(angle) ** 2 / 1.1))
    acceleration = push - 0.05 * spin_rate * lib.cos(angle) / 1.1
    change = lib.stack([speed, acceleration, spin, spin_rate], dim=-1)
    state = state + 0.02 * change
    fallen = (state[..., 0].abs() > 2.4) | (state[..., 2].abs() > 0.2)
    return state, fallen


def policy_gradient(compile):
    """REINFORCE: 10 steps of 32 environments with sampled actions, then an update."""
    policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = lib.optim.Adam(policy.parameters(), lr=1e-2)

    @compile
    def episode():
        state = 0.05 * lib.randn(32, 4)
        chosen, rewards = [], []
        for _ in range(10):
            log_probabilities = F.log_softmax(policy(state), dim=-1)
            action = lib.multinomial(log_probabilities.exp(), 1)
            chosen.append(log_probabilities.gather(1, action).squeeze(1))
            state, fallen = cart_pole(state.detach(), 20.0 * action.squeeze(1) - 10.0)
            rewards.append(1.0 - fallen.float())
        returns, total = [], lib.zeros(32)
        for reward in reversed(rewards):
            total = reward + 0.99 * total
            returns.insert(0, total)
        returns = lib.stack(returns)
        advantages = (returns - returns.mean()) / (returns.std() + 1e-8)
        loss = -(lib.stack(chosen) * advantages).sum(0).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach(), returns[0].mean()

    return (episode() for _ in itertools.count())


def rollout(compile):
    """Runs one environment until the pole has fallen: a loop that ends on a value."""
    policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))

    @compile
    def run(state):
        steps = 0
        with lib.no_grad():
            while steps < 100:
                action = policy(state).argmax(-1)
                state, fallen = cart_pole(state, 20.0 * action - 10.0)
                steps += 1
                if fallen.item():
                    break
        return state, steps

    made = [0.05 * lib.randn(4) for _ in range(32)]
    return (run(state) for state in itertools.cycle(made))


def k_means(compile):
    """One iteration of k-means, then new centers."""
    points = lib.randn(2000, 16)

    @compile
    def iterate(centers):
        nearest = lib.cdist(points, centers).argmin(1)
        sums = lib.zeros(10, 16).index_add(0, nearest, points)
        counts = F.one_hot(nearest, 10).sum(0)
        moved = sums / counts.clamp(min=1).unsqueeze(1)
        return moved, (moved - centers).norm()

    def fit():
        while True:
            centers = lib.randn(10, 16)
            for _ in range(20):
                centers, shift = iterate(centers)
                yield centers, shift

    return fit()


def newton(compile):
    """Newton's iteration: a while loop on the largest error, at most 20 times."""

    @compile
    def cube_root(a):
        x, count = lib.ones_like(a), 0
        while (x**3 - a).abs().max().item() > 1e-4 and count < 20:
            x = x - (x**3 - a) / (3 * x**2)
            count += 1
        return x

    made = [lib.rand(2048) * scale + 0.5 for scale in (1, 2, 4, 8, 16, 32)]
    return (cube_root(a) for a in itertools.cycle(made))


def page_rank(compile):
    """Power iteration that stops when the ranks change little."""

    @compile
    def rank(links):
        size = links.shape[0]
        transitions = links / links.sum(0, keepdim=True).clamp(min=1)
        ranks = lib.full((size,), 1 / size)
        for _ in range(50):
            new = 0.15 / size + 0.85 * (transitions @ ranks)
            if (new - ranks).abs().sum() < 1e-5:
                break
            ranks = new
        return ranks / ranks.sum()

    made = [(lib.rand(400, 400) < 0.05).float() for _ in range(8)]
    return (rank(links) for links in itertools.cycle(made))


def n_body(compile):
    """One leapfrog step of 128 bodies."""
    masses = lib.rand(128)

    def acceleration(places):
        offsets = places.unsqueeze(0) - places.unsqueeze(1)
        distances = (offsets**2).sum(-1) + 0.01
        return (offsets * (masses / distances**1.5).unsqueeze(-1)).sum(1)

    @compile
    def step(places, speeds, dt=0.001):
        speeds = speeds + 0.5 * dt * acceleration(places)
        places = places + dt * speeds
        return places, speeds + 0.5 * dt * acceleration(places)

    def simulate(places, speeds):
        while True:
            places, speeds = step(places, speeds)
            yield places

    return simulate(lib.randn(128, 3), lib.zeros(128, 3))


def augmentation(compile):
    """Random flip, crop and brightness of images; random values decide the branch and the slices."""
    mean, std = lib.tensor([0.5, 0.4, 0.3]).view(3, 1, 1), lib.tensor([0.2, 0.2, 0.2]).view(3, 1, 1)

    @compile
    def augment(image):
        if lib.rand(1).item() < 0.5:
            image = image.flip(-1)
        top, left = lib.randint(0, 9, (2,)).tolist()
        image = F.pad(image, (4, 4, 4, 4))[:, :, top : top + 32, left : left + 32]
        image = image * (0.8 + 0.4 * lib.rand(image.shape[0], 1, 1, 1))
        return (image.clamp(0, 1) - mean) / std

    made = [lib.rand(16, 3, 32, 32) for _ in range(8)]
    return (augment(image) for image in itertools.cycle(made))


def valid_pixels(compile):
    """Errors over the pixels that a boolean mask selects."""

    @compile
    def errors(predicted, target):
        valid = target > 0
        difference = predicted[valid] - target[valid]
        absolute = difference.abs()
        return absolute.mean(), (difference**2).mean().sqrt(), (absolute / target[valid]).mean()

    made = [(lib.rand(4, 128, 128), lib.randn(4, 128, 128)) for _ in range(16)]
    return (errors(predicted, target) for predicted, target in itertools.cycle(made))


def adaptive_ode(compile):
    """A step of an ODE solver: the error decides whether it is accepted and how long the next is."""
    weight = 0.3 * lib.randn(64, 64)

    def slope(y):
        return lib.tanh(y @ weight) - 0.1 * y

    @compile
    def step(y, h):
        k1 = slope(y)
        k2 = slope(y + 0.5 * h * k1)
        k3 = slope(y + 0.75 * h * k2)
        new = y + h * (2 * k1 + 3 * k2 + 4 * k3) / 9
        k4 = slope(new)
        error = (h * (-5 * k1 / 72 + k2 / 12 + k3 / 9 - k4 / 8)).abs().max()
        if error > 1e-4:
            return y, h * 0.5
        if error < 1e-5:
            return new, h * 1.5
        return new, h

    def solve(starts):
        for y in starts:
            h = lib.tensor(0.1)
            for _ in range(50):
                y, h = step(y, h)
                yield y, h

    return solve(itertools.cycle([lib.randn(64, 64) for _ in range(8)]))


def annealed_softmax(compile):
    """Softmax whose temperature is a Python float that decreases at each call."""

    @compile
    def soften(scores, temperature):
        weights = F.softmax(scores / temperature, dim=-1)
        entropy = -(weights * (weights + 1e-9).log()).sum(-1).mean()
        return weights, entropy * temperature

    return (soften(scores, 5.0 / (1 + 0.01 * number)) for number, (scores, _) in enumerate(batches(128, 128)))
