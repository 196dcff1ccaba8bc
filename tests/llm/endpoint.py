"""A small OpenAI-compatible endpoint with faults, run as a child process on 127.0.0.1.

Prints its port, and ends when standard input is closed. ``GET /stats`` tells what it saw.
"""

import argparse
import asyncio
import collections
import itertools
import json
import re
import sys

TRANSIENT = ["429", "500", "slow", "drop", "cut_body"]
LASTING = [
    "html_502",
    "html_200",
    "refusal",
    "wrong_types",
    "empty",
    "invalid_json",
    "length",
    "filter",
    "not_chat",
]
ANSWERED = ["fenced", *TRANSIENT]
KINDS = [*TRANSIENT, "fenced", *LASTING]
LABELS = ["correct", "partial", "wrong"]


def fault_of(item: int, percent: int) -> str | None:
    """Return the fault of an item: a fixed share of the items has one."""
    return KINDS[(item // 10) % len(KINDS)] if (item % 10) * 10 < percent else None


class Endpoint:
    def __init__(self, options):
        self.options = options
        self.requests = 0
        self.by_item = collections.Counter()
        self.delivered = collections.Counter()
        self.busy = self.most_busy = 0
        self.nonce = itertools.count()

    async def serve(self, reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = re.search(rb"(?i)content-length: (\d+)", head)
                body = await reader.readexactly(int(length.group(1))) if length else b""
                if head.startswith(b"GET"):
                    await self.send(writer, 200, json.dumps(self.stats()))
                    continue
                self.busy += 1
                self.most_busy = max(self.busy, self.most_busy)
                try:
                    await self.answer(writer, head.decode("latin-1"), json.loads(body))
                finally:
                    self.busy -= 1
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def stats(self):
        return {
            "requests": self.requests,
            "by_item": self.by_item,
            "delivered": self.delivered,
            "most_busy": self.most_busy,
        }

    async def answer(self, writer, head, body):
        self.requests += 1
        item = int(re.search(r"item (\d+)", body["messages"][-1]["content"]).group(1))
        self.by_item[item] += 1
        await asyncio.sleep(self.options.latency)
        if self.options.no_schemas and "response_format" in body:
            return await self.send(writer, 400, '{"error": {"message": "unknown field"}}')
        if self.options.echo_key:
            return await self.echo(writer, head, item)
        if body.get("logprobs") and self.options.logprobs:
            self.delivered[item] += 1
            return await self.send(writer, 200, scored(item, body["top_logprobs"]))
        fault = fault_of(item, self.options.faults)
        if fault in TRANSIENT and self.by_item[item] > 1:
            fault = None
        await self.give(writer, item, fault)

    async def echo(self, writer, head, item):
        said = re.search(r"(?i)authorization: (.*)\r", head).group(1)
        choices = [
            (401, json.dumps({"error": {"message": f"bad key {said} at http://10.1.2.3:99/v1"}})),
            (403, f"<html><title>{said}</title></html>"),
            (200, f"<html><title>{said}</title>{said}</html>"),
            (200, chat(said.split()[1])),
            (404, f"no {said.split()[1]} in /home/somebody/models"),
        ]
        await self.send(writer, *choices[item % len(choices)])

    async def give(self, writer, item, fault):
        answer = json.dumps({"use": LABELS[item % 3]})
        if self.options.nonce:
            answer = f"answer {next(self.nonce)} to {item}"
        if fault == "slow":
            await asyncio.sleep(self.options.slow)
        elif fault == "drop":
            writer.transport.abort()
        elif fault == "429":
            await self.send(writer, 429, '{"error": {"message": "slow down"}}', "Retry-After: 0.1")
        elif fault == "500":
            await self.send(writer, 500, '{"error": {"message": "oops"}}')
        elif fault == "cut_body":
            await self.send(writer, 200, chat(answer), missing=40)
        elif fault == "html_502":
            await self.send(writer, 502, "<html><title>Bad Gateway</title></html>")
        else:
            self.delivered[item] += 1
            await self.send(writer, 200, content(answer, fault))

    async def send(self, writer, status, text, *headers, missing=0):
        data = text.encode()
        lines = [
            f"HTTP/1.1 {status} X",
            "Content-Type: application/json",
            f"Content-Length: {len(data) + missing}",
            *headers,
        ]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
        await writer.drain()
        if missing:
            writer.close()


def content(answer, fault):
    if fault == "html_200":
        return "<!DOCTYPE html><html><head><title>Log in</title></head></html>"
    if fault == "not_chat":
        return '{"object": "list", "data": []}'
    texts = {
        "fenced": f"```json\n{answer}\n```",
        "wrong_types": '{"use": 1}',
        "empty": "",
        "invalid_json": f"Sure! {answer}",
        "refusal": None,
    }
    finish = {"length": "length", "filter": "content_filter"}.get(fault, "stop")
    refusal = "I would rather not" if fault == "refusal" else None
    return chat(texts.get(fault, answer), finish, refusal)


def scored(item, count):
    """Return a reply of one token, the label's beginning, with its alternatives."""
    own, other = LABELS[item % 3][:4], LABELS[(item + 1) % 3]
    top = [(own, -0.2), (f" {own}", -3.0), (other, -4.0), ("Sure", -5.0)][:count]
    content = {
        "token": own,
        "logprob": -0.2,
        "top_logprobs": [{"token": token, "logprob": value} for token, value in top],
    }
    body = json.loads(chat(own, "length"))
    body["choices"][0]["logprobs"] = {"content": [content]}
    return json.dumps(body)


def chat(text, finish="stop", refusal=None):
    message = {"role": "assistant", "content": text}
    if refusal:
        message["refusal"] = refusal
    choice = {"index": 0, "finish_reason": finish, "message": message}
    return json.dumps(
        {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": "/home/somebody/m.gguf",
            "choices": [choice],
            "usage": {"prompt_tokens": 20, "completion_tokens": 5},
        }
    )


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--slow", type=float, default=2.0)
    parser.add_argument("--faults", type=int, default=0)
    for flag in ("--nonce", "--echo-key", "--no-schemas", "--logprobs"):
        parser.add_argument(flag, action="store_true")
    endpoint = Endpoint(parser.parse_args())
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
