import numpy as np


def root_loss_per_sample_grad(a, x):
    batch = len(x)
    # forward
    r = a
    r_tape = []
    tape = []
    count = 0
    while np.abs(r * r - a) > 1e-12:
        r_tape.append(r)
        t = a / r
        tape.append(t)
        r = 0.5 * (r + t)
        count += 1
    # backward
    d_a = -2.0 * (x - r).sum(axis=1)
    d_a_1 = np.zeros(batch)
    for i in reversed(range(count)):
        d_r = 0.5 * d_a
        g = d_r / r_tape[i]
        d_a_1 += g
        d_r -= g * tape[i]
        d_a = d_r
    return d_a_1 + d_a
