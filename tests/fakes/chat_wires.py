# SPDX-License-Identifier: Apache-2.0
"""The APIs that the scripted model speaks: how each says what was asked, an answer whole or in pieces, and an error.

Each class has key(headers), problem(headers, raw), question(raw, path) -> chat-completions body, error(status, message),
whole(model, text, reasoning, finish, usage), said(...) and end(...): events of a stream as (name, value).
"""

import re

CHUNK_CHARACTERS = 48


class OpenAi:
    """Chat completions: the form that scripts, rules and the log are written in."""

    name = "openai"

    @staticmethod
    def key(headers):
        return headers.get("Authorization")

    @staticmethod
    def problem(headers, raw):
        return None if isinstance(raw.get("messages"), list) and raw.get("model") else "messages and model are required"

    @staticmethod
    def question(raw, path):
        return raw

    @staticmethod
    def error(status, message):
        return {"error": {"message": message}}

    @staticmethod
    def whole(model, text, reasoning, finish, usage):
        message = {"role": "assistant", "content": text} | ({"reasoning_content": reasoning} if reasoning else {})
        return {"id": "chatcmpl-1", "object": "chat.completion", "model": model, "usage": usage,
                "choices": [{"index": 0, "message": message, "finish_reason": finish}]}

    @staticmethod
    def chunk(model, delta, finish=None):
        return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": model,
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    @classmethod
    def said(cls, model, text, reasoning, usage):
        yield None, cls.chunk(model, {"role": "assistant", "content": ""})
        for key, whole in (("reasoning_content", reasoning), ("content", text)):
            for piece in pieces(whole):
                yield None, cls.chunk(model, {key: piece})

    @classmethod
    def end(cls, model, finish, usage, raw):
        yield None, cls.chunk(model, {}, finish)
        if usage is not None and (raw.get("stream_options") or {}).get("include_usage"):
            yield None, {"object": "chat.completion.chunk", "model": model, "choices": [], "usage": usage}
        yield None, "[DONE]"


class Anthropic:
    """The Messages API."""

    name = "anthropic"
    FINISH = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
    TYPES = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
             429: "rate_limit_error", 529: "overloaded_error"}

    @staticmethod
    def key(headers):
        return f"Bearer {headers['x-api-key']}" if "x-api-key" in headers else None

    @staticmethod
    def problem(headers, raw):
        if headers.get("anthropic-version") != "2023-06-01":
            return "anthropic-version: header is required"
        if not isinstance(raw.get("max_tokens"), int):
            return "max_tokens: Field required"
        budget = (raw.get("thinking") or {}).get("budget_tokens", 0)
        if budget and not 1024 <= budget < raw["max_tokens"]:
            return "thinking.budget_tokens must be at least 1024 and less than max_tokens"
        if budget and raw.get("temperature", 1) != 1:
            return "temperature may only be set to 1 when thinking is enabled"
        if any(message["role"] not in ("user", "assistant") for message in raw.get("messages", [])):
            return "messages: roles are user and assistant"
        return None if raw.get("messages") else "messages: at least one message is required"

    @staticmethod
    def question(raw, path):
        system = [{"role": "system", "content": raw["system"]}] if raw.get("system") else []
        return {"model": raw.get("model"), "stream": raw.get("stream", False), "messages": system + raw.get("messages", [])}

    @classmethod
    def error(cls, status, message):
        return {"type": "error", "error": {"type": cls.TYPES.get(status, "api_error"), "message": message}}

    @staticmethod
    def counts(usage):
        usage = usage or {}
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
        return {"input_tokens": usage.get("prompt_tokens", 0) - cached, "cache_read_input_tokens": cached,
                "cache_creation_input_tokens": 0, "output_tokens": usage.get("completion_tokens", 0)}

    @classmethod
    def whole(cls, model, text, reasoning, finish, usage):
        thinking = [{"type": "thinking", "thinking": reasoning, "signature": "s"}] if reasoning else []
        return {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "stop_reason": cls.FINISH[finish],
                "content": thinking + [{"type": "text", "text": text}], "usage": cls.counts(usage)}

    @classmethod
    def said(cls, model, text, reasoning, usage):
        yield "message_start", {"type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": None,
            "usage": cls.counts(usage) | {"output_tokens": 1}}}
        yield "ping", {"type": "ping"}
        blocks = [("thinking", "thinking_delta", reasoning)] if reasoning else []
        for index, (kind, delta, whole) in enumerate([*blocks, ("text", "text_delta", text)]):
            yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": {"type": kind, kind: ""}}
            for piece in pieces(whole):
                yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": {"type": delta, kind: piece}}
            yield "content_block_stop", {"type": "content_block_stop", "index": index}

    @classmethod
    def end(cls, model, finish, usage, raw):
        yield "message_delta", {"type": "message_delta", "delta": {"stop_reason": cls.FINISH[finish], "stop_sequence": None},
                                "usage": {"output_tokens": cls.counts(usage)["output_tokens"]}}
        yield "message_stop", {"type": "message_stop"}


class Gemini:
    """generateContent."""

    name = "gemini"
    FINISH = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
    STATUSES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
                429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}

    @staticmethod
    def key(headers):
        return f"Bearer {headers['x-goog-api-key']}" if "x-goog-api-key" in headers else None

    @staticmethod
    def problem(headers, raw):
        known = {"contents", "systemInstruction", "generationConfig"}
        if unknown := set(raw) - known:
            return f"Invalid JSON payload received. Unknown name {sorted(unknown)[0]!r}: Cannot find field."
        if any(content.get("role") not in ("user", "model") for content in raw.get("contents", [])):
            return "Please use a valid role: user, model."
        return None if raw.get("contents") else "contents is not specified"

    @staticmethod
    def question(raw, path):
        def text(content):
            return "".join(part.get("text", "") for part in content.get("parts", []))

        system = [{"role": "system", "content": text(raw["systemInstruction"])}] if "systemInstruction" in raw else []
        roles = {"user": "user", "model": "assistant"}
        return {"model": path.split("/models/")[1].split(":")[0], "stream": ":streamGenerateContent" in path,
                "messages": system + [{"role": roles[c["role"]], "content": text(c)} for c in raw.get("contents", [])]}

    @classmethod
    def error(cls, status, message):
        return {"error": {"code": status, "message": message, "status": cls.STATUSES.get(status, "UNKNOWN")}}

    @staticmethod
    def counts(usage):
        usage = usage or {}
        thoughts = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens", 0)
        return {"promptTokenCount": usage.get("prompt_tokens", 0), "thoughtsTokenCount": thoughts,
                "candidatesTokenCount": usage.get("completion_tokens", 0) - thoughts,
                "cachedContentTokenCount": (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)}

    @staticmethod
    def chunk(model, parts):
        return {"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}}], "modelVersion": model}

    @classmethod
    def whole(cls, model, text, reasoning, finish, usage):
        thoughts = [{"text": reasoning, "thought": True}] if reasoning else []
        value = cls.chunk(model, [*thoughts, {"text": text}]) | {"usageMetadata": cls.counts(usage)}
        value["candidates"][0]["finishReason"] = cls.FINISH[finish]
        return value

    @classmethod
    def said(cls, model, text, reasoning, usage):
        for piece in pieces(reasoning):
            yield None, cls.chunk(model, [{"text": piece, "thought": True}])
        for piece in pieces(text):
            yield None, cls.chunk(model, [{"text": piece}])

    @classmethod
    def end(cls, model, finish, usage, raw):
        value = cls.chunk(model, [{"text": ""}]) | {"usageMetadata": cls.counts(usage)}
        value["candidates"][0]["finishReason"] = cls.FINISH[finish]
        yield None, value


def api_of(path):
    """Which API a path belongs to, or None."""
    path = path.split("?")[0]
    if path.endswith("/chat/completions"):
        return OpenAi
    if path.endswith("/messages"):
        return Anthropic
    return Gemini if re.search(r"/models/[^/:]+:(streamGenerateContent|generateContent)$", path) else None


def pieces(text):
    return (text[at:at + CHUNK_CHARACTERS] for at in range(0, len(text), CHUNK_CHARACTERS))
