import numpy as np


def lstm_loss_per_sample_grad(params, xs, target):
    w = params["w"]
    b = params["b"]
    # forward
    batch = len(xs)
    h = np.zeros((batch, 3))
    c = np.zeros((batch, 3))
    tape = np.empty((9, batch, 3))
    o_tape = np.empty((9, batch, 3))
    tape_1 = np.empty((9, batch, 3))
    i_tape = np.empty((9, batch, 3))
    c_tape = np.empty((9, batch, 3))
    f_tape = np.empty((9, batch, 3))
    tape_2 = np.empty((9, batch, 5))
    for i in range(9):
        c_tape[i] = c
        t = np.concatenate([xs[:, i], h], axis=-1)
        tape_2[i] = t
        z = t @ w.T + b
        i1 = 1 / (1 + np.exp(-z[:, :3]))
        i_tape[i] = i1
        f = 1 / (1 + np.exp(-z[:, 3:6]))
        f_tape[i] = f
        o = 1 / (1 + np.exp(-z[:, 6:9]))
        o_tape[i] = o
        t = np.tanh(z[:, 9:])
        tape_1[i] = t
        c = f * c + i1 * t
        t = np.tanh(c)
        tape[i] = t
        h = o * t
    # backward
    d_b = np.zeros((batch, 12))
    d_h = 0.6666666666666666 * (h - target)
    d_c = np.zeros((batch, 3))
    d_z = np.empty((9, batch, 12))
    for i in reversed(range(9)):
        o = o_tape[i]
        i1 = i_tape[i]
        f = f_tape[i]
        d_c += d_h * o * (1 - tape[i] * tape[i])
        d_z_1 = np.zeros((batch, 12))
        d_z_1[:, 9:] = d_c * i1 * (1 - tape_1[i] * tape_1[i])
        d_c_1 = d_c * f
        d_z_1[:, 6:9] = d_h * tape[i] * (o * (1 - o))
        d_z_1[:, 3:6] = d_c * c_tape[i] * (f * (1 - f))
        d_z_1[:, :3] = d_c * tape_1[i] * (i1 * (1 - i1))
        d_z[i] = d_z_1
        d_b += d_z_1
        d_h = (d_z_1 @ w)[:, 2:]
        d_c = d_c_1
    return {"w": d_z.transpose(1, 2, 0) @ tape_2.transpose(1, 0, 2), "b": d_b}
