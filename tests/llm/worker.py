"""Asks many calls and writes their table; run in a process that a test may kill."""

from pathlib import Path

from unbidden.llm import Call, LLMSettings, connect


def main(base_url, ledger, table, prompts, count, direction):
    settings = LLMSettings.of("m", base_url=base_url, concurrency=8)
    items = list(range(int(count)))[:: int(direction)]
    with connect(settings, "record", ledger=Path(ledger), prompt_folders=[Path(prompts)]) as llm:
        outcomes = llm.ask_many(Call("echo.v1", {"item": item}) for item in items)
    lines = [
        f"{item},{outcome.status},{outcome.text},{outcome.key}\n"
        for item, outcome in sorted(zip(items, outcomes, strict=True), key=lambda pair: pair[0])
    ]
    Path(table).write_text("".join(lines))
