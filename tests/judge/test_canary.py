"""A gold answer that stands nowhere else reaches no model but the judge."""

import json

from unbidden.corpus.load import load_corpus
from unbidden.judge import Case, GoldFact, judge, rubric, rubrics_for
from unbidden.judge.canary import leaks
from unbidden.llm import ScriptedLLM
from unbidden.llm.ledger.row import Row
from unbidden.memory.registry import create_system
from unbidden.queries.build import build_queries

CANARY = "zanzibar quokka 7341"


def with_canary(sample, cluster, write):
    for question in sample["qa"]:
        question["adversarial_answer" if question["category"] == 5 else "answer"] = CANARY
    place = write([sample], "mine/locomo10_dialog.json").parent
    write([cluster | {"sample_idx": 0}], "mine/locomo10_multimem_full.json")
    return load_corpus(str(place))


def answer(seen):
    if seen.prompt_name.startswith("reply"):
        return "You sold it to Rui, I think."
    properties = seen.schema.model_json_schema()["properties"]
    if "facts" in properties:
        return json.dumps({"facts": [{"number": n, "covered": False} for n in (1, 2)]})
    return json.dumps({name: value["enum"][-1] for name, value in properties.items()})


def run(corpus, llm):
    """Answer and judge every query of a corpus with word search; return the verdicts."""
    conversation = corpus.conversations[0]
    memory = create_system("bm25")
    memory.ingest(conversation)
    verdicts = []
    for query in build_queries(corpus):
        memories = [hit.text for hit in memory.search(query.text, k=2, speaker=query.speaker)]
        variables = {"speaker": query.speaker or "The user", "message": query.text}
        reply = llm.ask("reply.v1", variables | {"memories": memories})
        questions = [conversation.questions[index] for index in query.members]
        case = Case(
            id=f"{query.style}|{query.id}",
            conversation=query.conversation,
            speaker=query.speaker or "",
            message=query.text,
            reply=reply.text,
            facts=tuple(GoldFact(q.text, q.answer or "") for q in questions),
            memories=tuple(memories),
            trap=questions[0].trap,
            other="I don't know.",
        )
        for name in rubrics_for(query.style, query.category):
            verdicts.extend(judge(llm, rubric(name), [case]))
    return verdicts


def test_gold_reaches_only_the_judges_that_need_it(sample, cluster, write):
    corpus = with_canary(sample, cluster, write)
    llm = ScriptedLLM(answer)
    verdicts = run(corpus, llm)
    assert verdicts
    assert all(verdict.scored for verdict in verdicts), [v.unscored for v in verdicts]
    holding = {
        seen.prompt_name
        for seen in llm.seen
        if CANARY in " ".join(message["content"] for message in seen.messages)
    }
    asked = {seen.prompt_name for seen in llm.seen}
    assert "reply.v1" in asked - holding
    without = {"judge_quality.v1", "judge_pairwise.v1", "judge_unsupported.v1", "reply.v1"}
    assert holding == asked - without


def test_leaks_are_found_in_a_ledger():
    def row(role, text):
        request = json.dumps({"body": {"model": "m", "messages": [{"content": text}]}})
        return Row("k", request, role, "p.v1", "0", "ok", "", "x")

    rows = [
        row("judge", f"Fact: {CANARY}"),
        row("answer", f"Memories: {CANARY.upper()}".replace(" ", "\n")),
        row("memory", "nothing"),
    ]
    (leak,) = leaks(rows, [CANARY, " "])
    assert (leak.role, leak.prompt, leak.gold) == ("answer", "p.v1", CANARY)
    assert leaks(rows, []) == []
