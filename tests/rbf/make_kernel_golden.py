"""Usage: make_kernel_golden.py > kernel_golden.inc: a kernel machine's search, step by step in NumPy, on 40 rows.

Kernels are exp(-(|s (x - z)|_p / L)^q). Every L (in units of the median distance) and ridge is judged by the errors of
rows left out, alpha_i / ((K + ridge I)^-1)_ii. s is the root of the mean squared slope along each column, for three
rounds.
"""

import numpy as np

ROWS, NEW = 40, 6
KINDS = ((1, 1.0), (2, 1.0), (2, 1.4), (1, 0.7))
SCALES = (0.3, 1.0, 3.0, 10.0)
RIDGES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)


def distances(a, b, p):
    differences = np.abs(a[:, None, :] - b[None, :, :])
    return differences.sum(2) if p == 1 else np.sqrt((differences**2).sum(2))


def slopes(x, s, alpha, p, q, scale):
    """Mean squared slope along each column, rows having none towards themselves."""
    total = np.zeros(x.shape[1])
    for i in range(len(x)):
        difference = s * (x[i] - x)
        d = distances(s * x[i : i + 1], s * x, p)[0]
        other = d > 1e-9
        d, difference = d[other], difference[other]
        by_d = -q / scale * (d / scale) ** (q - 1) * np.exp(-((d / scale) ** q))
        direction = np.sign(difference) if p == 1 else difference / d[:, None]
        gradient = (by_d[:, None] * direction).T @ alpha[other] * s[:, None]  # columns x outputs
        total += (gradient**2).sum(1)
    return total / len(x)


def fit(x, y, p, q, rounds=3):
    s, best = np.ones(x.shape[1]), None
    for number in range(rounds + 1):
        d = distances(s * x, s * x, p)
        median, found = np.median(d[np.tril_indices(len(x), -1)]), None
        for relative in SCALES:
            for ridge in RIDGES:
                inverse = np.linalg.inv(np.exp(-((d / (relative * median)) ** q)) + ridge * np.eye(len(x)))
                alpha = inverse @ y
                error = ((alpha / np.diag(inverse)[:, None]) ** 2).mean()
                if found is None or error < found[0]:
                    found = (error, relative, relative * median, ridge, number, s.copy(), alpha)
        if best is None or found[0] < best[0]:
            best = found
        if found[0] > 1.1 * best[0]:
            break
        squares = slopes(x, s, found[6], p, q, found[2])
        s = np.sqrt(np.maximum(squares / squares.max(), 1e-6))
    return best


def rows_of(values):
    return ",\n".join("    {" + ", ".join(f"{v:.17g}" for v in row) + "}" for row in values)


def list_of(values):
    texts = [f"{v:.17g}" for v in values]
    return ",\n      ".join(", ".join(texts[i : i + 4]) for i in range(0, len(texts), 4))


def main():
    rng = np.random.default_rng(5)
    x = np.round(rng.normal(size=(ROWS + NEW, 3)), 3)
    y = np.round(np.stack([np.sin(2 * x[:, 0]) + 0.3 * x[:, 1], x[:, 0] * x[:, 1]], 1) + 0.1 * rng.normal(size=(ROWS + NEW, 2)), 3)
    x, new, y = x[:ROWS], x[ROWS:], y[:ROWS]
    print("// By make_kernel_golden.py.")
    print("const double kInputs[][3] = {\n" + rows_of(x) + "};")
    print("const double kTargets[][2] = {\n" + rows_of(y) + "};")
    print("const double kAsked[][3] = {\n" + rows_of(new) + "};")
    print("const GoldenMachine kGolden[] = {")
    for p, q in KINDS:
        error, relative, scale, ridge, number, s, alpha = fit(x, y - y.mean(0), p, q)
        answers = np.exp(-((distances(s * new, s * x, p) / scale) ** q)) @ alpha + y.mean(0)
        print(f"    {{{p}, {q}, {error:.17g}, {relative}, {scale:.17g}, {ridge}, {number},")
        print(f"     {{{list_of(s)}}},\n     {{{list_of(answers.ravel())}}}}},")
    print("};")


if __name__ == "__main__":
    main()
