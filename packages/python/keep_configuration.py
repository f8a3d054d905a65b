

def _keep_configuration(values):
    """Leaves each autotuned kernel the configuration that its speed was measured with. The values are those of the kernels in the order in
    which they are first used."""
    import itertools
    import pathlib
    import types

    folder = pathlib.Path(__file__).resolve().parent if "__file__" in globals() else None
    places = [globals()]
    for module in list(globals().values()):
        if isinstance(module, types.ModuleType) and folder and getattr(module, "__file__", None) and folder in pathlib.Path(module.__file__).resolve().parents:
            places.append(vars(module))
    tuned = []
    for kernel in [one for place in places for one in list(place.values())]:
        while kernel is not None and not isinstance(getattr(kernel, "configs", None), list):
            kernel = getattr(kernel, "fn", None)
        if kernel is not None and len(kernel.configs) > 1 and kernel not in tuned:
            tuned.append(kernel)

    def rows_of(kernel):
        """What tells its configurations apart, a row each; their places, where that is not whole numbers."""
        options = [dict(one.kwargs, **{name: getattr(one, name, None) for name in ("num_warps", "num_stages", "num_ctas")}) for one in kernel.configs]
        names = [name for name in sorted(options[0]) if any(one.get(name) != options[0][name] for one in options)]
        rows = [[one.get(name) for name in names] for one in options]
        whole = all(type(value) is int for row in rows for value in row) and len({tuple(row) for row in rows}) == len(rows)
        return rows if whole else [[place] for place in range(len(rows))]

    def kept(order):
        """The place of each kernel's configuration if they are used in this order; None: the values are not theirs."""
        found, at = [], 0
        for kernel in order:
            rows = rows_of(kernel)
            row = values[at:at + len(rows[0])]
            if row not in rows:
                return None
            found.append((kernel, rows.index(row)))
            at += len(row)
        return found if at == len(values) else None

    orders = [one for one in map(kept, itertools.permutations(tuned)) if one] if len(tuned) <= 6 else [one for one in [kept(tuned)] if one]
    ways = {tuple(sorted((tuned.index(kernel), place) for kernel, place in order)) for order in orders}
    if len(ways) == 1:
        for index, place in ways.pop():
            tuned[index].configs = [tuned[index].configs[place]]
        return
    if not ways:
        raise RuntimeError(f"the configurations of the autotuned kernels are not those that were measured: {values}")
    left = list(values)  # several kernels take the same values: who is used first takes the first ones

    def fix_at_first_use(kernel):
        run = kernel.run

        def first(*arguments, **named):
            if kernel.run is first:
                kernel.run = run
                rows = rows_of(kernel)
                row = [left.pop(0) for _ in rows[0]]
                kernel.configs = [kernel.configs[rows.index(row)]]
            return run(*arguments, **named)

        kernel.run = first

    for kernel in tuned:
        fix_at_first_use(kernel)


_keep_configuration([@VALUES@])
