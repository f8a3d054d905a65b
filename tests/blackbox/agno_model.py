# SPDX-License-Identifier: Apache-2.0
"""A model of Agno's that answers as a function of the conversation says: a text, or a list of (tool, arguments)."""

import json
from dataclasses import dataclass
from typing import Any, Callable

from agno.models.base import Model
from agno.models.response import ModelResponse


@dataclass
class ScriptedModel(Model):
    id: str = "scripted"
    name: str = "scripted"
    provider: str = "tests"
    answer: Callable[[list], Any] = None

    def _respond(self, messages):
        said = self.answer(messages)
        if isinstance(said, str):
            return ModelResponse(role="assistant", content=said)
        calls = [{"id": f"call-{len(messages)}-{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
                 for number, (name, arguments) in enumerate(said)]
        return ModelResponse(role="assistant", tool_calls=calls)

    def invoke(self, messages, *args, **kwargs):
        return self._respond(messages)

    async def ainvoke(self, messages, *args, **kwargs):
        return self._respond(messages)

    def invoke_stream(self, messages, *args, **kwargs):
        yield self._respond(messages)

    async def ainvoke_stream(self, messages, *args, **kwargs):
        yield self._respond(messages)

    def _parse_provider_response(self, response, **kwargs):
        return response

    def _parse_provider_response_delta(self, response):
        return response
