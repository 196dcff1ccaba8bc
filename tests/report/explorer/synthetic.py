"""Made-up items for the explorer, some of them hostile."""

from unbidden.report.explorer import Item, Judgement, Memory, Reply, Returned

HOSTILE = (
    "</script><script>window.hit = 1</script><img src=x onerror='window.hit = 2'>"
    "{{ 7 * 7 }} ${window.hit = 3} \u2028 \u202ereversed \\u003cb\\u003e "
    "[link](javascript:window.hit=4)"
)
STYLES = ("question", "dialog", "implicit", "counterfactual", "composed")


def item(number: int, *, text: str | None = None) -> Item:
    said = text or f"said number {number} of a long list about boats and tea"
    found = number % 3
    memories = tuple(
        Memory(f"{said}, memory {rank}", (f"D1:{rank}",), gold=rank == found + 1 and found < 2)
        for rank in range(10)
    )
    verdict = Judgement("word rule", "fact_use", "correct" if number % 2 else "wrong", said)
    return Item(
        id=f"talk-{number // 500}#{number}",
        conversation=f"talk-{number // 500}",
        style=STYLES[number % 5],
        query=said,
        category=str(number % 5 + 1),
        speaker=text or "Ana",
        answers=((f"{said}?", text or "Yes."),),
        gold=(("D1:1", said),),
        returned=(
            Returned("bm25", memories),
            Returned("dense", memories[::-1]),
            Returned("mem0", (), text or "not on record"),
        ),
        replies=(Reply(text or "oracle", said, None, (verdict,)),) if number % 10 == 0 else (),
    )


def items(count: int) -> list[Item]:
    """Return so many items; every fiftieth is hostile in all its texts."""
    return [item(i, text=f"{HOSTILE} {i}" if i % 50 == 0 else None) for i in range(count)]
