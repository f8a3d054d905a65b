# SPDX-License-Identifier: Apache-2.0
"""What library_times.py times: calls of PyTorch and of FlashInfer for the tasks of suites/flashinfer-bench, and what they should compute."""

import importlib.util
import inspect
import math
import os

DEVICE = "cuda"


# What a sequence's attention is, in float32.
def sequences(task, given):
    """(queries, keys) of each sequence as slices."""
    offsets = given["kv_indptr on the host"]
    queries = given.get("qo_indptr on the host") or list(range(len(offsets)))
    return [(slice(queries[i], queries[i + 1]), slice(offsets[i], offsets[i + 1])) for i in range(len(offsets) - 1)]


def attention_operands(given):
    """Queries, and keys and values in the order of the sequences; of an MLA the parts side by side."""
    import torch
    if "q_nope" in given:
        pages = given["kv_indices"]
        ckv = given["ckv_cache"][:, 0].index_select(0, pages)
        keys = torch.cat([ckv, given["kpe_cache"][:, 0].index_select(0, pages)], -1)
        return torch.cat([given["q_nope"], given["q_pe"]], -1), keys[:, None], ckv[:, None]
    if "k_cache" in given:
        pages = given["kv_indices"]
        return given["q"], given["k_cache"][:, 0].index_select(0, pages), given["v_cache"][:, 0].index_select(0, pages)
    return given["q"], given["k"], given["v"]


def expected_attention(task, given):
    import torch
    q, k, v = (part.float() for part in attention_operands(given))
    out = torch.zeros(q.shape[0], q.shape[1], v.shape[-1], device=DEVICE)
    group = q.shape[1] // k.shape[1]
    for rows, keys in sequences(task, given):
        count, seen = rows.stop - rows.start, keys.stop - keys.start
        if count == 0 or seen == 0:
            continue
        visible = torch.arange(seen, device=DEVICE) <= torch.arange(count, device=DEVICE)[:, None] + (seen - count)
        for head in range(q.shape[1]):
            scores = q[rows, head] @ k[keys, head // group].T * given["sm_scale"]
            weights = scores.masked_fill(~visible, -math.inf).softmax(-1).nan_to_num(0)
            out[rows, head] = weights @ v[keys, head // group]
    return out


def expected(task, given):
    import torch
    if "sm_scale" in given:
        return expected_attention(task, given)
    if task.name == "gemm":
        return given["a"][:256].float() @ given["b"].float().T
    x = given["hidden_states"].float() + (given["residual"].float() if "residual" in given else 0)
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * given["weight"].float()


# PyTorch.
def torch_calls(task, given):
    """Calls by name, each giving the output."""
    import torch
    import torch.nn.functional as F
    if task.name == "gemm":
        a, b = given["a"], given["b"]
        out = torch.empty(a.shape[0], b.shape[0], dtype=a.dtype, device=DEVICE)
        return {"matmul": lambda: torch.matmul(a, b.T, out=out), "linear": lambda: F.linear(a, b)}
    if "hidden_states" in given:
        x, weight, residual = given["hidden_states"], given["weight"], given.get("residual")

        def plain():
            return F.rms_norm(x if residual is None else x + residual, weight.shape, weight, 1e-6)

        def formula(x, residual, weight):
            wide = x.float() + residual.float() if residual is not None else x.float()
            return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6) * weight.float()).to(torch.bfloat16)

        compiled = torch.compile(formula, dynamic=False)
        return {"rms_norm": plain, "compiled": lambda: compiled(x, residual, weight)}
    return torch_attention(task, given)


def torch_attention(task, given):
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel
    scale, parts = given["sm_scale"], sequences(task, given)
    whole = [(rows, keys) for rows, keys in parts if rows.stop > rows.start and keys.stop > keys.start]
    longest_q, longest_k = (max(part[side].stop - part[side].start for part in parts) for side in (0, 1))
    offsets = given["kv_indptr"]
    queries = given["qo_indptr"] if "qo_indptr" in given else torch.arange(len(offsets), dtype=torch.int32, device=DEVICE)
    mla = "q_nope" in given
    heads = (given["q_nope"] if mla else given["q"]).shape[1]
    calls = {}

    def varlen(repeated=False):
        q, k, v = attention_operands(given)
        if repeated:
            k, v = (part.repeat_interleave(heads // part.shape[1], 1) for part in (k, v))
        return torch.ops.aten._flash_attention_forward(q, k, v, queries, offsets, longest_q, longest_k, 0.0, True, False, scale=scale)[0]

    if not mla:
        calls["flash attention of sequences of any length"] = varlen
        calls["flash attention of sequences of any length, keys and values repeated"] = lambda: varlen(True)

    # A sequence after the other; queries of one sequence that is decoded see every key.
    causal = [causal_mask(rows, keys) for rows, keys in whole]

    def by_sequence(backend):
        def call():
            q, k, v = attention_operands(given)
            out = torch.zeros(q.shape[0], heads, v.shape[-1], dtype=q.dtype, device=DEVICE)
            with sdpa_kernel(backend):
                for (rows, keys), mask in zip(whole, causal):
                    one = [part[place].transpose(0, 1)[None] for part, place in ((q, rows), (k, keys), (v, keys))]
                    if mla:
                        one[1:] = [part.expand(-1, heads, -1, -1) for part in one[1:]]
                    out[rows] = F.scaled_dot_product_attention(*one, attn_mask=mask if torch.is_tensor(mask) else None, is_causal=mask is True,
                                                               scale=scale, enable_gqa=not mla)[0].transpose(0, 1)
            return out
        return call

    for name, backend in (("cuDNN", SDPBackend.CUDNN_ATTENTION), ("flash", SDPBackend.FLASH_ATTENTION),
                          ("efficient", SDPBackend.EFFICIENT_ATTENTION), ("math", SDPBackend.MATH)):
        if not (mla and name == "flash"):
            calls[f"{name} attention, a sequence after the other"] = by_sequence(backend)

    def products():
        q, k, v = attention_operands(given)
        out = torch.zeros(q.shape[0], heads, v.shape[-1], dtype=q.dtype, device=DEVICE)
        for (rows, keys), mask in zip(whole, masks):
            count = rows.stop - rows.start
            scores = (q[rows].reshape(count * heads, -1) @ k[keys, 0].T).view(count, heads, -1).float() * scale
            if mask is not None:
                scores = scores + mask[:, None]
            weights = scores.softmax(-1)
            if count > keys.stop - keys.start:
                weights = weights.nan_to_num(0)  # of queries that see no key
            out[rows] = (weights.to(q.dtype).view(count * heads, -1) @ v[keys, 0]).view(count, heads, -1)
        return out

    if mla:
        masks = [None if rows.stop - rows.start == 1 else additive_mask(rows, keys) for rows, keys in whole]
        calls["two products and a softmax, a sequence after the other"] = products
    if longest_q == 1 and len(parts) > 1:
        calls.update(padded_calls(given, parts, longest_k, heads, mla))
    return calls


def additive_mask(rows, keys):
    import torch
    count, seen = rows.stop - rows.start, keys.stop - keys.start
    hidden = torch.arange(seen, device=DEVICE) > torch.arange(count, device=DEVICE)[:, None] + (seen - count)
    return torch.zeros(count, seen, device=DEVICE).masked_fill(hidden, -math.inf)


def causal_mask(rows, keys):
    """What scaled_dot_product_attention, whose causality is aligned at the first key, is to be told."""
    import torch
    count, seen = rows.stop - rows.start, keys.stop - keys.start
    if count == 1:
        return None
    return True if count == seen else additive_mask(rows, keys).to(torch.bfloat16)


def padded_calls(given, parts, longest, heads, mla):
    """One query a sequence: all sequences at once, as long as the longest."""
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel
    lengths = torch.tensor([keys.stop - keys.start for _, keys in parts], device=DEVICE)
    places = (torch.tensor([keys.start for _, keys in parts], device=DEVICE)[:, None] + torch.arange(longest, device=DEVICE))
    places = places.clamp_max(len(given["kv_indices"]) - 1)
    longest_of_all = -(-longest // 8) * 8
    mask = torch.full((len(parts), 1, 1, longest_of_all), -math.inf, dtype=torch.bfloat16, device=DEVICE)
    mask[..., :longest].masked_fill_(torch.arange(longest, device=DEVICE) < lengths[:, None, None, None].clamp_min(1), 0)
    mask = mask[..., :longest]

    def operands():
        pages = given["kv_indices"][places]
        if mla:
            ckv = given["ckv_cache"][:, 0][pages]
            keys = torch.cat([ckv, given["kpe_cache"][:, 0][pages]], -1)
            q = torch.cat([given["q_nope"], given["q_pe"]], -1)
            return q, keys, ckv
        return given["q"], given["k_cache"][:, 0][pages], given["v_cache"][:, 0][pages]

    empty = (lengths == 0)[:, None, None]

    def attention(backend):
        def call():
            q, k, v = operands()
            if mla:
                k, v = (part[:, None].expand(-1, heads, -1, -1) for part in (k, v))
            else:
                k, v = k.transpose(1, 2), v.transpose(1, 2)
            with sdpa_kernel(backend):
                out = F.scaled_dot_product_attention(q[:, :, None], k, v, attn_mask=mask, scale=given["sm_scale"], enable_gqa=not mla)
            return out[:, :, 0].masked_fill(empty, 0)
        return call

    def products():
        q, k, v = operands()
        scores = torch.bmm(q, k.transpose(1, 2)).float() * given["sm_scale"] + mask[:, 0]
        return torch.bmm(scores.softmax(-1).to(q.dtype), v).masked_fill(empty, 0)

    calls = {f"{name} attention, padded": attention(backend) for name, backend in (
        ("cuDNN", SDPBackend.CUDNN_ATTENTION), ("efficient", SDPBackend.EFFICIENT_ATTENTION), ("math", SDPBackend.MATH))}
    if mla:
        calls["two products and a softmax, padded"] = products
    return calls


# FlashInfer.
def flashinfer_specs():
    """What makes its modules for these tasks, by name."""
    import torch
    from flashinfer.jit import attention, norm
    half, index = torch.bfloat16, torch.int32
    prefill = (half, half, half, index, 128, 128, 0, False, False, False)
    return {
        "prefill fa2": lambda: attention.gen_batch_prefill_module("fa2", *prefill),
        "prefill fa3": lambda: attention.gen_batch_prefill_module("fa3", *prefill),
        "decode": lambda: attention.gen_batch_decode_module(half, half, half, index, 128, 128, 0, False, False),
        "mla fa2": lambda: attention.gen_batch_mla_module("fa2", half, half, half, index, 512, 64, False),
        "mla fa3": lambda: attention.gen_batch_mla_module("fa3", half, half, half, index, 512, 64, False),
        "norm": norm.gen_norm_module,
    }


def flashinfer_calls(task, given, shared):
    """Calls by name. They are planned here."""
    import torch
    os.environ.setdefault("FLASHINFER_USE_CUDA_NORM", "1")
    import flashinfer
    if "hidden_states" in given:
        x, weight = given["hidden_states"], given["weight"]
        if "residual" not in given:
            out = torch.empty_like(x)
            return {"rmsnorm": lambda: flashinfer.norm.rmsnorm(x, weight, 1e-6, out=out)}
        own, residual = x.clone(), given["residual"].clone()

        def fused():  # writes the sum as well, in place
            flashinfer.norm.fused_add_rmsnorm(own, residual, weight, 1e-6)
            return own
        return {"fused_add_rmsnorm, which also writes the sum": fused}
    if "workspace" not in shared:
        shared["workspace"] = torch.empty(384 << 20, dtype=torch.uint8, device=DEVICE)
    workspace, half, scale = shared["workspace"], torch.bfloat16, given["sm_scale"]
    offsets = given["kv_indptr"]
    count = len(offsets) - 1
    queries = given.get("qo_indptr")
    host = {name: torch.tensor(given[f"{name} on the host"], dtype=torch.int32) for name in ("kv_indptr", "qo_indptr") if f"{name} on the host" in given}
    ones = torch.ones(count, dtype=torch.int32)
    calls = {}

    def offered(name, make):
        try:
            calls[name] = make()
        except Exception as problem:  # pylint: disable=broad-except
            calls[name] = problem

    if "q_nope" in given:
        decoding = queries is None
        starts = torch.arange(count + 1, dtype=torch.int32, device=DEVICE) if decoding else queries
        out = torch.empty_like(given["q_nope"])
        lse = torch.empty(out.shape[:2], dtype=torch.float32, device=DEVICE)

        def mla(backend):
            wrapper = flashinfer.mla.BatchMLAPagedAttentionWrapper(workspace, backend=backend)
            wrapper.plan(starts, offsets, given["kv_indices"], offsets[1:] - offsets[:-1], out.shape[1], 512, 64, 1, not decoding, scale, half, half)
            return lambda: wrapper.run(given["q_nope"], given["q_pe"], given["ckv_cache"], given["kpe_cache"], out=out, lse=lse, return_lse=True)[0]
        for backend in ("fa2", "fa3"):
            offered(f"BatchMLAPagedAttentionWrapper, {backend}", lambda backend=backend: mla(backend))
        return calls
    q = given["q"]
    out, lse = torch.empty_like(q), torch.empty(q.shape[:2], dtype=torch.float32, device=DEVICE)
    kv_heads = (given["k"] if "k" in given else given["k_cache"]).shape[-2]
    shape, types = (q.shape[1], kv_heads, 128), {"q_data_type": half, "kv_data_type": half, "sm_scale": scale}
    cache = (given.get("k_cache"), given.get("v_cache"))

    def decode(tensor_cores, backend):
        wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(workspace, "NHD", use_tensor_cores=tensor_cores, backend=backend)
        wrapper.plan(host["kv_indptr"], given["kv_indices"], ones, *shape, 1, **types)
        return lambda: wrapper.run(q, cache, out=out, lse=lse, return_lse=True)[0]

    def paged(backend):
        wrapper = flashinfer.BatchPrefillWithPagedKVCacheWrapper(workspace, "NHD", backend=backend)
        starts = host.get("qo_indptr", torch.arange(count + 1, dtype=torch.int32))
        wrapper.plan(starts, host["kv_indptr"], given["kv_indices"], ones, *shape, 1, causal=True, **types)
        return lambda: wrapper.run(q, cache, out=out, lse=lse, return_lse=True)[0]

    def ragged(backend):
        wrapper = flashinfer.BatchPrefillWithRaggedKVCacheWrapper(workspace, "NHD", backend=backend)
        wrapper.plan(host["qo_indptr"], host["kv_indptr"], *shape, causal=True, **types)
        return lambda: wrapper.run(q, given["k"], given["v"], out=out, lse=lse, return_lse=True)[0]

    if "k" in given:
        for backend in ("fa2", "fa3"):
            offered(f"BatchPrefillWithRaggedKVCacheWrapper, {backend}", lambda backend=backend: ragged(backend))
        return calls
    if queries is None:
        offered("BatchDecodeWithPagedKVCacheWrapper", lambda: decode(False, "auto"))
        offered("BatchDecodeWithPagedKVCacheWrapper, tensor cores", lambda: decode(True, "fa2"))
    elif q.shape[0] == count:
        offered("BatchDecodeWithPagedKVCacheWrapper", lambda: decode(False, "auto"))
    for backend in ("fa2", "fa3"):
        offered(f"BatchPrefillWithPagedKVCacheWrapper, {backend}", lambda backend=backend: paged(backend))
    return calls


# The published function, and the routing that a task of ours has as inputs.
def moe_inputs(given):
    """What the published definition of the mixture of experts has in place of a routing."""
    import torch
    count = given["hidden_states"].shape[0]
    generator = torch.Generator(DEVICE).manual_seed(1)
    return {"routing_logits": torch.randn(count, 256, generator=generator, device=DEVICE),
            "routing_bias": torch.randn(256, generator=generator, device=DEVICE).mul(0.1).to(torch.bfloat16),
            **{name: given[name] for name in ("hidden_states", "hidden_states_scale", "gemm1_weights", "gemm1_weights_scale", "gemm2_weights",
                                              "gemm2_weights_scale", "local_expert_offset")},
            "routed_scaling_factor": 2.5}


def published_call(task, given, file):
    spec = importlib.util.spec_from_file_location("published", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    arguments = {given_input["name"]: given[given_input["name"]] for given_input in task.inputs}
    if task.name.startswith("moe"):
        arguments = moe_inputs(given)
    kinds = [one.kind for one in inspect.signature(module.run).parameters.values()]
    if inspect.Parameter.POSITIONAL_OR_KEYWORD in kinds:
        return lambda: module.run(*arguments.values())
    return lambda: module.run(**arguments)


def routed(logits, bias, groups=8, kept_groups=4, kept=8, factor=2.5):
    """Experts of each token and their weights: the best groups by their two best experts, the best experts of these."""
    import torch
    scores = logits.sigmoid()
    biased = scores + bias
    grouped = biased.view(len(logits), groups, -1)
    best = grouped.topk(2).values.sum(-1).topk(kept_groups, sorted=False).indices
    visible = torch.zeros(len(logits), groups, dtype=torch.bool, device=logits.device).scatter_(1, best, True)
    ids = grouped.masked_fill(~visible[..., None], -math.inf).flatten(1).topk(kept, sorted=False).indices
    weights = scores.gather(1, ids)
    return ids.to(torch.int32), weights / weights.sum(-1, keepdim=True) * factor
