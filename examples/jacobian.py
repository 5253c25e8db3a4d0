"""Sensitivities of a robot arm: Jacobians of the hand's position for many poses at once, and a Newton step that reaches a point."""

import numpy as np

import pergrad as pg

LENGTHS = np.array([1.0, 0.7, 0.4])


def hand(angles):
    """The position of the hand of an arm of three segments, given the angle of each joint."""
    directions = np.cumsum(angles)
    return np.stack([np.sum(LENGTHS * np.cos(directions)), np.sum(LENGTHS * np.sin(directions))])


def main():
    poses = np.random.default_rng(0).uniform(-1.0, 1.0, size=(1000, 3))
    jacobians = pg.vmap(pg.jacrev(hand))
    print(f"{len(poses)} poses, Jacobians of shape {jacobians(poses).shape}")
    print(jacobians.source())

    angles, goal = poses[0], np.array([1.2, 0.9])
    for step in range(8):
        gap = goal - hand(angles)
        print(f"step {step}   distance {np.linalg.norm(gap):.2e}")
        angles = angles + np.linalg.pinv(pg.jacrev(hand)(angles)) @ gap


if __name__ == "__main__":
    main()
