import numpy as np


def lstm_loss_per_sample_grad(params, xs, target):
    w = params["w"]
    b = params["b"]
    # forward
    batch = len(xs)
    h = np.zeros((batch, 3))
    c = np.zeros((batch, 3))
    t = np.empty((9, batch, 3))
    o_tape = np.empty((9, batch, 3))
    u = np.empty((9, batch, 3))
    i_tape = np.empty((9, batch, 3))
    c_tape = np.empty((9, batch, 3))
    f_tape = np.empty((9, batch, 3))
    v = np.empty((9, batch, 5))
    for i in range(9):
        c_tape[i] = c
        p = np.concatenate([xs[:, i], h], axis=-1)
        v[i] = p
        z = p @ w.T + b
        i1 = 1 / (1 + np.exp(-z[:, :3]))
        i_tape[i] = i1
        f = 1 / (1 + np.exp(-z[:, 3:6]))
        f_tape[i] = f
        o = 1 / (1 + np.exp(-z[:, 6:9]))
        o_tape[i] = o
        p = np.tanh(z[:, 9:])
        u[i] = p
        c = f * c + i1 * p
        p = np.tanh(c)
        t[i] = p
        h = o * p
    # backward
    d_b = np.zeros((batch, 12))
    d_h = 0.6666666666666666 * (h - target)
    d_c = np.zeros((batch, 3))
    d_z = np.empty((9, batch, 12))
    for i in reversed(range(9)):
        o = o_tape[i]
        i1 = i_tape[i]
        f = f_tape[i]
        d_c += d_h * o * (1 - t[i] * t[i])
        d_z_1 = np.zeros((batch, 12))
        d_z_1[:, 9:] = d_c * i1 * (1 - u[i] * u[i])
        d_c_1 = d_c * f
        d_z_1[:, 6:9] = d_h * t[i] * (o * (1 - o))
        d_z_1[:, 3:6] = d_c * c_tape[i] * (f * (1 - f))
        d_z_1[:, :3] = d_c * u[i] * (i1 * (1 - i1))
        d_z[i] = d_z_1
        d_b += d_z_1
        d_h = (d_z_1 @ w)[:, 2:]
        d_c = d_c_1
    return {"w": d_z.transpose(1, 2, 0) @ v.transpose(1, 0, 2), "b": d_b}
