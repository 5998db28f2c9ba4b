"""Trains a small policy with PPO on one of the Gymnasium environments, in one file: an example to start from.

    ./bazelw run //examples:train_with_gymnasium -- --problem=regalloc_eviction --corpus=/srv/corpus --steps=20000

It prints a line per update: steps so far, episodes that ended, their mean reward (the improvement over the default
heuristic), losses. Equal seeds give equal lines. The policy is not saved; //mlgo:train_regalloc trains those we ship.
"""

import argparse
import dataclasses
import sys

import gymnasium
import numpy as np
import tensorflow as tf

import mlgo.environments
from mlgo.run import locate
from mlgo.run.exit_codes import ExitCode, RunError

#: Counts in features reach from 0 to 2^62 and weights infinity: the network sees logarithms of what is below this.
LARGEST_FEATURE = 1e9
#: Logit of an illegal action; its probability is 0 in float32.
ILLEGAL = -1e9
#: Of the normal distribution that a number is drawn from, in units of the action.
NUMBER_DEVIATION = 0.1


@dataclasses.dataclass(frozen=True)
class Settings:
    """PPO (arXiv:1707.06347) as in CleanRL's ppo.py; gamma and lambda suit a reward at the end of long episodes."""

    rollout_steps: int = 256
    epochs: int = 4
    minibatches: int = 4
    gamma: float = 1.0
    gae_lambda: float = 0.99
    clip: float = 0.2
    entropy_coefficient: float = 0.01
    value_coefficient: float = 0.5
    learning_rate: float = 3e-4
    hidden: int = 64


class Agent:
    """One network for every row of an observation, one row per position (one row for binary and continuous problems).

    Its first output is the logit of the position, or the mean of the number. The second, averaged over the legal rows,
    is the value.
    """

    def __init__(self, environment: gymnasium.Env, settings: Settings):
        self.space = environment.action_space
        spaces = environment.observation_space
        self.rows = max(int(np.prod(box.shape)) for box in spaces.values())
        sizes = (len(spaces), settings.hidden, settings.hidden, 2)
        self.layers = []
        for index, (inputs, outputs) in enumerate(zip(sizes, sizes[1:])):
            orthogonal = tf.keras.initializers.Orthogonal(gain=1.4 if index < 2 else 0.01, seed=index)
            self.layers.append((tf.Variable(orthogonal((inputs, outputs))), tf.Variable(tf.zeros(outputs))))
        self.variables = [variable for layer in self.layers for variable in layer]

    def rows_of(self, observation: dict[str, np.ndarray]) -> np.ndarray:
        """float32 [rows, features]; a feature of the whole observation stands in every row."""
        columns = [np.broadcast_to(value.reshape(-1), self.rows) for value in observation.values()]
        rows = np.clip(np.stack(columns, axis=1).astype(np.float64), -LARGEST_FEATURE, LARGEST_FEATURE)
        return (np.sign(rows) * np.log1p(np.abs(rows))).astype(np.float32)

    def __call__(self, rows, legal):
        """Logits or mean [N, rows] and value [N] of rows [N, rows, features] and legal [N, rows] (1 or 0)."""
        for index, (kernel, bias) in enumerate(self.layers):
            rows = tf.tensordot(rows, kernel, 1) + bias
            if index < len(self.layers) - 1:
                rows = tf.tanh(rows)
        value = tf.reduce_sum(rows[..., 1] * legal, axis=1) / tf.reduce_sum(legal, axis=1)
        return tf.where(legal > 0, rows[..., 0], ILLEGAL), value

    def logits(self, outputs):
        """Log probabilities [N, choices]; a binary problem has the logits (0, output)."""
        if self.rows == 1:
            outputs = tf.concat([tf.zeros_like(outputs), outputs], axis=1)
        return tf.nn.log_softmax(outputs)

    def log_probability_and_entropy(self, outputs, actions):
        """Of actions [N], both [N]."""
        if isinstance(self.space, gymnasium.spaces.Discrete):
            logits = self.logits(outputs)
            chosen = tf.gather(logits, tf.cast(actions, tf.int32), batch_dims=1)
            return chosen, -tf.reduce_sum(tf.exp(logits) * logits, axis=1)
        mean = tf.sigmoid(outputs[:, 0])
        return -0.5 * ((actions - mean) / NUMBER_DEVIATION) ** 2, tf.zeros_like(mean)

    def act(self, rows: np.ndarray, legal: np.ndarray, random: np.random.Generator):
        """An action drawn from the policy for one observation: what to remember, what to do, and the value."""
        outputs, value = self(rows[None], legal[None])
        if isinstance(self.space, gymnasium.spaces.Discrete):
            probabilities = np.exp(self.logits(outputs).numpy()[0].astype(np.float64))
            action = random.choice(len(probabilities), p=probabilities / probabilities.sum())
            return float(action), int(action), float(value[0])
        drawn = float(tf.sigmoid(outputs)[0, 0]) + NUMBER_DEVIATION * random.standard_normal()
        return drawn, np.clip([drawn], 0.0, 1.0).astype(np.float32), float(value[0])


def legal_rows(info: dict) -> np.ndarray:
    """float32 [rows], 1 where a row may be chosen; binary and continuous problems have one row."""
    return info.get("action_mask", np.ones(1)).astype(np.float32)


def value_of(agent: Agent, observation: dict[str, np.ndarray], info: dict) -> float:
    """What the agent expects from here on."""
    return float(agent(agent.rows_of(observation)[None], legal_rows(info)[None])[1][0])


def advantages(rewards, values, ends, last_value: float, settings: Settings) -> np.ndarray:
    """Generalised advantage estimation (arXiv:1506.02438); ends[t]: the episode ended with step t."""
    result = np.zeros_like(rewards)
    following = 0.0
    for step in reversed(range(len(rewards))):
        next_value = last_value if step == len(rewards) - 1 else values[step + 1]
        goes_on = 1.0 - ends[step]
        delta = rewards[step] + settings.gamma * next_value * goes_on - values[step]
        following = delta + settings.gamma * settings.gae_lambda * goes_on * following
        result[step] = following
    return result


def update(agent: Agent, optimizer, batch: dict[str, np.ndarray], settings: Settings, random: np.random.Generator):
    """Several epochs of PPO on one rollout; returns the last minibatch's losses (policy, value)."""
    count = len(batch["actions"])
    losses = (0.0, 0.0)
    for _ in range(settings.epochs):
        for part in np.array_split(random.permutation(count), settings.minibatches):
            if len(part) == 0:
                continue
            piece = {name: tf.constant(array[part]) for name, array in batch.items()}
            advantage = piece["advantages"]
            advantage = (advantage - tf.reduce_mean(advantage)) / (tf.math.reduce_std(advantage) + 1e-8)
            with tf.GradientTape() as tape:
                outputs, value = agent(piece["rows"], piece["legal"])
                log_probability, entropy = agent.log_probability_and_entropy(outputs, piece["actions"])
                ratio = tf.exp(log_probability - piece["log_probabilities"])
                clipped = tf.clip_by_value(ratio, 1 - settings.clip, 1 + settings.clip)
                policy_loss = -tf.reduce_mean(tf.minimum(ratio * advantage, clipped * advantage))
                value_loss = tf.reduce_mean((value - piece["returns"]) ** 2)
                loss = policy_loss + settings.value_coefficient * value_loss
                loss -= settings.entropy_coefficient * tf.reduce_mean(entropy)
            gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, agent.variables), 0.5)
            optimizer.apply_gradients(zip(gradients, agent.variables))
            losses = (float(policy_loss), float(value_loss))
    return losses


def train(environment: gymnasium.Env, steps: int, seed: int, settings: Settings, report) -> None:
    """Takes `steps` steps in rollouts of `settings.rollout_steps`; `report` gets a line after each."""
    random = np.random.default_rng(seed)
    agent = Agent(environment, settings)
    optimizer = tf.keras.optimizers.Adam(settings.learning_rate, epsilon=1e-5)
    observation, info = environment.reset(seed=seed)
    done = 0
    while done < steps:
        taken = min(settings.rollout_steps, steps - done)
        batch = {
            "rows": np.zeros((taken, agent.rows, len(environment.observation_space)), np.float32),
            "legal": np.zeros((taken, agent.rows), np.float32),
            **{name: np.zeros(taken, np.float32) for name in ("actions", "rewards", "values", "ends")},
        }
        endings = []
        for step in range(taken):
            rows = batch["rows"][step] = agent.rows_of(observation)
            legal = batch["legal"][step] = legal_rows(info)
            batch["actions"][step], action, batch["values"][step] = agent.act(rows, legal, random)
            observation, batch["rewards"][step], terminated, truncated, info = environment.step(action)
            if terminated or truncated:
                batch["ends"][step] = 1.0
                endings.append(float(batch["rewards"][step]))
                if truncated:
                    # Cut off, not over: what is missing is worth what the agent expects of it.
                    batch["rewards"][step] += settings.gamma * value_of(agent, observation, info)
                observation, info = environment.reset()
        last_value = value_of(agent, observation, info)
        rewards, values, ends = batch.pop("rewards"), batch.pop("values"), batch.pop("ends")
        batch["advantages"] = advantages(rewards, values, ends, last_value, settings)
        batch["returns"] = batch["advantages"] + values
        outputs, _ = agent(batch["rows"], batch["legal"])
        batch["log_probabilities"] = agent.log_probability_and_entropy(outputs, batch["actions"])[0].numpy()
        policy_loss, value_loss = update(agent, optimizer, batch, settings, random)
        done += taken
        mean = f"{np.mean(endings):+.4f}" if endings else "none ended"
        report(
            f"{done} steps, {len(endings)} episodes, mean reward {mean}, policy loss {policy_loss:+.4f},"
            f" value loss {value_loss:.4f}"
        )


def main(arguments: list[str]) -> int:
    names = {problem: name for name, problem in mlgo.environments.ENVIRONMENTS.items()}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--problem",
        choices=sorted(names),
        default="regalloc_eviction",
        help="what the agent decides (default: regalloc_eviction)",
    )
    parser.add_argument(
        "--corpus", required=True, metavar="CORPUS", help="modules to compile: a path or a label (docs/corpora.md)"
    )
    parser.add_argument("--steps", type=int, default=20_000, help="decisions to take in all (default: 20000)")
    parser.add_argument(
        "--rollout_steps", type=int, default=Settings.rollout_steps, help="decisions per update (default: 256)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of modules, weights and actions (default: 1)")
    flags = parser.parse_args(arguments)
    if flags.steps < 1 or flags.rollout_steps < 1:
        parser.error("--steps and --rollout_steps must be at least 1")
    try:
        environment = gymnasium.make(names[flags.problem], corpus=locate.user_path(flags.corpus))
        try:
            settings = Settings(rollout_steps=flags.rollout_steps)
            train(environment, flags.steps, flags.seed, settings, lambda line: print(line, flush=True))
        finally:
            environment.close()
    except RunError as error:
        print(f"train_with_gymnasium: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    return ExitCode.DONE


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
