"""Reinforcement learning: policies that act, and agents that learn."""

import collections
import copy
import random

import lucid
from lucid import nn, optim
from lucid.nn import functional as F

from ._programs import in_turn, program


@program
def dqn_train():
    class Agent:
        def __init__(self):
            self.q = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
            self.target = copy.deepcopy(self.q)
            self.optimizer = optim.Adam(self.q.parameters(), lr=1e-3)
            self.steps = 0
            self.epsilon = 1.0

        def learn(self, batch):
            x, action, reward, following, done = batch
            with lucid.no_grad():
                target = reward + 0.99 * self.target(following).max(1).values * (1 - done)
            q = self.q(x).gather(1, action.unsqueeze(1)).squeeze(1)
            loss = F.smooth_l1_loss(q, target)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.steps += 1
            if self.steps % 20 == 0:
                self.target.load_state_dict(self.q.state_dict())
            return loss.item()

    def batch():
        ends = (lucid.rand(32) > 0.9).float()
        return lucid.randn(32, 4), lucid.randint(0, 2, (32,)), lucid.randn(32), lucid.randn(32, 4), ends

    agent = Agent()
    batches = [(batch(),) for _ in range(4)]
    return agent.learn, in_turn(batches), lambda: [*agent.q.parameters(), *agent.target.parameters(), agent.steps]


@program
def rl_act():
    policy = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))

    def act(observation, epsilon):
        if random.random() < epsilon:
            return random.randrange(2)
        with lucid.no_grad():
            return policy(lucid.tensor(observation)).argmax().item()

    return act, lambda i: ([0.1 * i, 0.2, -0.3, 0.4], max(0.05, 1 - i / 200)), lambda: []


@program
def reinforce():
    policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = optim.Adam(policy.parameters(), lr=1e-2)

    def update(states, actions, returns):
        chosen = policy(states).log_softmax(-1).gather(1, actions[:, None]).squeeze(1)
        advantage = (returns - returns.mean()) / (returns.std() + 1e-8)
        loss = -(chosen * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    def episode(i):
        n = 10 + i * 13 % 40
        return lucid.randn(n, 4), lucid.randint(0, 2, (n,)), lucid.randn(n)

    return update, episode, lambda: list(policy.parameters())


class ActorCritic(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, hidden), nn.Tanh())
        self.policy = nn.Linear(hidden, 2)
        self.value = nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.body(x)
        return self.policy(h), self.value(h).squeeze(-1)


@program
def ppo_update():
    model = ActorCritic()
    optimizer = optim.Adam(model.parameters(), lr=3e-4)

    def batch():
        old = lucid.randn(64) * 0.1 - 0.7
        return lucid.randn(64, 4), lucid.randint(0, 2, (64,)), old, lucid.randn(64), lucid.randn(64)

    batches = [batch() for _ in range(4)]

    def update(observations, actions, old, advantages, returns, clip=0.2):
        logits, values = model(observations)
        log_probs = logits.log_softmax(-1)
        new = log_probs.gather(1, actions[:, None])[:, 0]
        ratio = (new - old).exp()
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        policy_loss = -lucid.min(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages).mean()
        value_loss = F.mse_loss(values, returns)
        entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
        loss = policy_loss + 0.5 * value_loss - 0.01 * entropy
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        kl = (old - new).mean().item()
        return {
            "policy": policy_loss.item(),
            "value": value_loss.item(),
            "entropy": entropy.item(),
            "kl": kl,
            "stop": kl > 0.015,
        }

    return update, in_turn(batches), lambda: list(model.parameters())


@program
def ppo_rollout():
    """Advantages of a rollout, then epochs of shuffled minibatches until the policy has moved too far."""
    model = ActorCritic(32)
    optimizer = optim.Adam(model.parameters(), lr=2.5e-4, eps=1e-5)
    updates = {"count": 0, "stopped": 0}

    def rollout(i):
        rewards, dones = [random.random() for _ in range(32)], [random.random() < 0.1 for _ in range(32)]
        return lucid.randn(33, 4), lucid.randint(0, 2, (32,)), rewards, dones

    def learn(observations, actions, rewards, dones, gamma=0.99, smoothing=0.95, clip=0.2, limit=0.02):
        with lucid.no_grad():
            logits, values = model(observations)
            old = logits[:-1].log_softmax(-1).gather(1, actions[:, None]).squeeze(1)
        advantages, running = lucid.zeros(len(rewards)), 0.0
        for t in reversed(range(len(rewards))):
            alive = 0.0 if dones[t] else 1.0
            delta = rewards[t] + gamma * values[t + 1].item() * alive - values[t].item()
            running = delta + gamma * smoothing * alive * running
            advantages[t] = running
        returns = advantages + values[:-1]
        fractions = []
        for _ in range(2):
            order = lucid.randperm(len(rewards))
            for chosen in order.split(16):
                logits, value = model(observations[chosen])
                log_probs = logits.log_softmax(-1)
                log_ratio = log_probs.gather(1, actions[chosen][:, None]).squeeze(1) - old[chosen]
                ratio = log_ratio.exp()
                fractions.append(((ratio - 1.0).abs() > clip).float().mean().item())
                part = advantages[chosen]
                part = (part - part.mean()) / (part.std() + 1e-8)
                policy_loss = lucid.max(-part * ratio, -part * ratio.clamp(1 - clip, 1 + clip)).mean()
                loss = policy_loss + 0.5 * F.mse_loss(value, returns[chosen])
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 0.5)
                optimizer.step()
                updates["count"] += 1
            if ((ratio - 1) - log_ratio).mean().item() > limit:
                updates["stopped"] += 1
                break
        return sum(fractions) / len(fractions), loss.item()

    return learn, rollout, lambda: [*model.parameters(), updates]


@program
def dqn_with_replay():
    """An agent that acts, remembers and learns at each step of its environment; epsilon falls by a factor."""

    class Agent:
        def __init__(self):
            self.online = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 3))
            self.target = copy.deepcopy(self.online)
            self.optimizer = optim.Adam(self.online.parameters(), lr=1e-3)
            self.memory = collections.deque(maxlen=500)
            self.epsilon, self.steps = 1.0, 0

        def act(self, state):
            if random.random() < self.epsilon:
                return random.randint(0, 2)
            with lucid.no_grad():
                return self.online(state).argmax().item()

        def learn(self, size=16, gamma=0.95):
            states, actions, rewards, following, dones = zip(*random.sample(self.memory, size))
            states, following = lucid.stack(states), lucid.stack(following)
            actions, rewards = lucid.tensor(actions), lucid.tensor(rewards)
            alive = 1.0 - lucid.tensor(dones, dtype=lucid.float32)
            q = self.online(states).gather(1, actions.unsqueeze(1)).squeeze(1)
            with lucid.no_grad():
                target = rewards + gamma * alive * self.target(following).max(1).values
            loss = F.mse_loss(q, target)
            self.optimizer.zero_grad()
            loss.backward()
            for p in self.online.parameters():
                p.grad.clamp_(-1, 1)
            self.optimizer.step()
            return loss.item()

        def step(self, state, reward, following, done):
            action = self.act(state)
            self.memory.append((state, action, reward, following, done))
            self.steps += 1
            loss = self.learn() if len(self.memory) >= 16 else None
            self.epsilon = max(0.05, self.epsilon * 0.995)
            if self.steps % 25 == 0:
                for kept, new in zip(self.target.parameters(), self.online.parameters()):
                    kept.data.copy_(new.data)
            return action, loss

    agent = Agent()

    def transition(i):
        return lucid.randn(3), random.uniform(-1, 1), lucid.randn(3), random.random() < 0.05

    return (
        agent.step,
        transition,
        lambda: [*agent.online.parameters(), *agent.target.parameters(), agent.epsilon, agent.steps, len(agent.memory)],
    )


@program
def reinforce_episodes():
    """An episode in the function: the policy acts, a small environment answers, then the policy learns from returns."""

    class Corridor:
        def reset(self):
            self.place, self.time = 3, 0
            return [self.place / 6, 0.0]

        def step(self, action):
            self.place += 1 if action else -1
            self.time += 1
            done = self.place in (0, 6) or self.time == 12
            return [self.place / 6, self.time / 12], 1.0 if self.place == 6 else -0.05, done

    policy = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
    optimizer = optim.Adam(policy.parameters(), lr=5e-3)
    environment = Corridor()
    progress = {"baseline": 0.0, "episodes": 0}

    def run_episode(gamma=0.98):
        log_probs, rewards = [], []
        state, done = environment.reset(), False
        while not done:
            probabilities = policy(lucid.tensor(state)).softmax(-1)
            action = lucid.multinomial(probabilities.detach(), 1).item()
            log_probs.append(probabilities[action].log())
            state, reward, done = environment.step(action)
            rewards.append(reward)
        returns, total = [], 0.0
        for reward in reversed(rewards):
            total = reward + gamma * total
            returns.insert(0, total)
        targets = lucid.tensor(returns) - progress["baseline"]
        loss = -(lucid.stack(log_probs) * targets).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        progress["baseline"] = 0.95 * progress["baseline"] + 0.05 * returns[0]
        progress["episodes"] += 1
        return sum(rewards), len(rewards)

    return run_episode, lambda i: (), lambda: [*policy.parameters(), progress]
