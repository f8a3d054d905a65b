

def _keep_configuration(values):
    """Leaves the autotuned kernel the configuration that its speed was measured with."""
    tuned = []
    for kernel in list(globals().values()):
        while kernel is not None and not isinstance(getattr(kernel, "configs", None), list):
            kernel = getattr(kernel, "fn", None)
        if kernel is not None and len(kernel.configs) > 1 and kernel not in tuned:
            tuned.append(kernel)
    if len(tuned) != 1:
        raise RuntimeError(f"{len(tuned)} kernels of several configurations: leave each the one that was measured, of {values}")
    options = [dict(one.kwargs, **{name: getattr(one, name, None) for name in ("num_warps", "num_stages", "num_ctas")}) for one in tuned[0].configs]
    names = [name for name in sorted(options[0]) if any(one.get(name) != options[0][name] for one in options)]
    rows = [[one.get(name) for name in names] for one in options]
    whole = all(type(value) is int for row in rows for value in row) and len({tuple(row) for row in rows}) == len(rows)
    kept = rows.index(values) if whole else values[0]
    tuned[0].configs = [tuned[0].configs[kept]]


_keep_configuration([@VALUES@])
