"""A-MEM step by step: analysis, evolution, links, keywords; and what happens when calls fail."""

import json

import numpy as np
import pytest

from tests.memory.hand import Words, conversation, texts
from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError, LLMError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.llm.request import json_schema
from unbidden.llm.schemas_notes import NoteAnalysis, NoteEvolution, QueryKeywords
from unbidden.memory import create_system
from unbidden.memory.amem import AMem, AMemNoEvolution
from unbidden.memory.dense import Dense
from unbidden.queries.build import build_queries
from unbidden.retrieval import retrieve

TALK = conversation(
    [("Ana", "red boat"), ("Ben", "blue boat"), ("Ana", "green cat")],
    [("Ana", "red cat"), ("Ana", "red boat again", "a pier")],
)
STAY = NoteEvolution(
    should_evolve=False,
    actions=[],
    suggested_connections=[],
    tags_to_update=[],
    new_context_neighborhood=[],
    new_tags_neighborhood=[],
)


def evolve(actions, connect=(), tags=("t",), contexts=(), neighbour_tags=()):
    return NoteEvolution(
        should_evolve=True,
        actions=list(actions),
        suggested_connections=list(connect),
        tags_to_update=list(tags),
        new_context_neighborhood=list(contexts),
        new_tags_neighborhood=[list(t) for t in neighbour_tags],
    )


def analysis(seen):
    content = seen.variables["content"]
    return NoteAnalysis(keywords=["key"], context=f"about {content[-3:]}", tags=["tag"])


def model(evolutions=None, keywords="boat", **answers):
    """Evolve by the last words of the content; all else the same."""

    def answer(seen):
        if seen.prompt_name in answers:
            return answers[seen.prompt_name]
        if seen.prompt_name.startswith("amem_analyse"):
            return analysis(seen)
        if seen.prompt_name.startswith("amem_query"):
            return QueryKeywords(keywords=keywords)
        said = seen.variables["content"].split('"')[1]
        return (evolutions or {}).get(said, STAY)

    return ScriptedLLM(answer)


def built(llm, talk=TALK, **options):
    system = AMem(llm=llm, embedder=Words(), **options)
    return system, system.ingest(talk)


def asked(llm, prompt):
    return [seen for seen in llm.seen if seen.prompt_name.startswith(prompt)]


def test_each_turn_is_analysed_and_evolved_once_with_its_nearest_notes():
    llm = model()
    system, report = built(llm, neighbours=2)
    assert [seen.prompt_name for seen in llm.seen] == ["amem_analyse.v1"] * 5 + [
        "amem_evolve.v1"
    ] * 5
    assert (report.units, report.memories, report.failed) == (5, 5, 0)
    evolutions = asked(llm, "amem_evolve")
    assert [len(seen.variables["neighbours"]) for seen in evolutions] == [0, 1, 2, 2, 2]
    assert [line["number"] for line in evolutions[4].variables["neighbours"]] == [0, 3]
    first = evolutions[1].variables["neighbours"][0]
    assert first["context"] == 'about at"' and first["time"] == "1:00 pm on 1 May, 2023"
    assert system.records()[0].index_text.startswith("content:DATE: 1:00 pm")
    assert "keywords: key tags: tag" in system.records()[0].index_text
    assert system.unstored(TALK.sessions[0]) == []
    assert [record.sources for record in system.records()][3] == ("D2:1",)


def test_the_same_requests_come_in_the_same_order():
    keys = []
    for _ in range(2):
        llm = model({"red cat": evolve(["strengthen"], [2])})
        built(llm)[0].search("boat?", k=3)
        keys.append([seen.key for seen in llm.seen])
    assert keys[0] == keys[1]


def test_evolution_never_changes_content_and_reaches_the_neighbours_as_shown():
    change = evolve(
        ["update_neighbor"], contexts=["new context"], neighbour_tags=[["new", "tags"], ["other"]]
    )
    llm = model({"red boat again": change})
    system, report = built(llm, neighbours=3)
    shown = [line["number"] for line in asked(llm, "amem_evolve")[4].variables["neighbours"]]
    texts_after = [record.text for record in system.records()]
    for record, turn in zip(system.records(), TALK.turns, strict=True):
        assert f'{turn.speaker} said, "{turn.text}"' in record.text
    assert texts_after[shown[0]].endswith("context: new context\nkeywords: key\ntags: new, tags")
    # The second has tags but no new context: it keeps its own. The third has neither.
    assert "tags: other" in texts_after[shown[1]] and "context: about" in texts_after[shown[1]]
    assert "tags: tag" in texts_after[shown[2]]
    assert report.events["neighbours_updated"] == 2
    assert "new context" not in system.records()[shown[0]].index_text, "the original goes stale"


@pytest.mark.parametrize(("refresh", "found"), [(False, False), (True, True)])
def test_what_evolved_is_found_only_when_refreshed(refresh, found):
    change = evolve(["update_neighbor"], contexts=["zebra"], neighbour_tags=[["zebra"]])
    system, _ = built(model({"blue boat": change}), query_mode="raw", refresh_on_evolve=refresh)
    best = system.search("zebra", k=1)[0]
    assert (best.sources == ("D1:1",) and best.score > 0.1) is found


def test_consolidation_embeds_what_evolved():
    change = evolve(["update_neighbor"], contexts=["zebra"], neighbour_tags=[["zebra"]])
    system, report = built(model({"blue boat": change}), query_mode="raw", consolidate_every=1)
    assert report.events["consolidations"] == 1
    assert " , zebra key zebra" in system.records()[0].index_text
    assert system.search("zebra", k=1)[0].sources == ("D1:1",)
    assert "content:" in system.records()[2].index_text, "a later note has the first form"


def test_links_are_made_to_shown_notes_only():
    change = evolve(["strengthen"], connect=[0, 7, -1, 0, 2], tags=["fresh"])
    llm = model({"red cat": change})
    system, report = built(llm, neighbours=2)
    shown = [line["number"] for line in asked(llm, "amem_evolve")[3].variables["neighbours"]]
    assert set(shown) == {0, 2}
    assert system.records()[3].links == ("note1", "note3")
    assert "tags: fresh" in system.records()[3].text
    assert report.events["unknown_connection"] == 2 and report.events["links"] == 2


def test_linked_notes_count_against_k_once_and_say_via():
    change = evolve(["strengthen"], connect=[1, 2])
    options = {"query_mode": "raw", "neighbours": 3, "embed": "content"}
    system, _ = built(model({"red cat": change}), **options)
    hits = system.search("ana said red cat", k=3)
    assert [hit.sources[0] for hit in hits] == ["D2:1", "D1:2", "D1:3"]
    assert [hit.via for hit in hits] == [None, "note4", "note4"]
    assert hits[1].score == hits[0].score
    everything = system.search("ana said red cat", k=9)
    assert len(everything) == len({hit.sources for hit in everything}) == 5
    repeated, _ = built(model({"red cat": change}), bug_compat=["repeated_links"], **options)
    assert len(repeated.search("ana said red cat", k=9)) == 7
    plain, _ = built(model({"red cat": change}), link_expansion=False, **options)
    assert all(hit.via is None for hit in plain.search("ana said red cat", k=5))


def test_a_search_asks_for_keywords_once_per_query():
    llm = model(keywords="green, cat")
    system, _ = built(llm, embed="content")
    system.prepare([TALK], ["my pet", "my pet", "my ship"])
    assert len(asked(llm, "amem_query")) == 2
    assert system.search("my pet", k=1)[0].sources == ("D1:3",)
    assert len(asked(llm, "amem_query")) == 2
    assert system.query_calls.counts["amem_query.v1"].calls == 2
    raw, _ = built(llm, query_mode="raw", embed="content")
    assert raw.search("blue", k=1)[0].sources == ("D1:2",)
    assert len(asked(llm, "amem_query")) == 2


@pytest.mark.parametrize("bad", ['{"keywords": "bo', "[]", '{"keywords": ["a"]}', "", "null"])
def test_unreadable_keywords_fall_back_to_the_message_and_are_counted(bad):
    system, _ = built(model(**{"amem_query.v1": bad}), embed="content", link_expansion=False)
    plain, _ = built(model(), embed="content", link_expansion=False, query_mode="raw")
    assert texts(system.search("green cat", k=5)) == texts(plain.search("green cat", k=5))
    assert sum(system.search_events.values()) == 1


def test_the_original_searches_with_the_reply_as_it_is():
    llm = model(**{"amem_query.v1": "Sure: green cat"})
    system, _ = built(llm, embed="content", bug_compat=["reply_as_query"])
    assert system.search("a boat", k=1)[0].sources == ("D1:3",)
    assert "reply" in next(iter(system.search_events))


@pytest.mark.parametrize(
    "bad",
    ['{"keywords": ["a"], "context": "c", "tags": [', "{}", '{"keywords": "a", "context": "c", '
     '"tags": []}', "no json", Outcome("refused", "no"), Outcome("timeout", "slow")],
)  # fmt: skip
def test_a_failed_analysis_keeps_the_turn_and_is_reported(bad):
    system, report = built(model(**{"amem_analyse.v1": bad}))
    assert (report.memories, report.failed) == (5, 5)
    assert [failure.turns for failure in report.failures] == [(t.id,) for t in TALK.turns]
    assert system.records()[0].text.endswith("context: General")
    assert report.calls["amem_analyse.v1"].failed == 5
    assert sum(map(len, map(system.unstored, TALK.sessions))) == 0


def test_blank_keywords_and_tags_are_dropped_and_nothing_else():
    analysis = {"keywords": ["sea", " "], "context": "c", "tags": ["", "trip"]}
    change = evolve(
        ["strengthen", "update_neighbor"], tags=[" ", "own"], contexts=["n"],
        neighbour_tags=[["near", "\n"]],
    )  # fmt: skip
    llm = model({"blue boat": change}, **{"amem_analyse.v1": json.dumps(analysis)})
    system, report = built(llm)
    assert report.failed == 0
    first, second, third = [record.text.splitlines()[-2:] for record in system.records()[:3]]
    assert first == ["keywords: sea", "tags: near"]
    assert second == ["keywords: sea", "tags: own"]
    assert third == ["keywords: sea", "tags: trip"]


def without_caps(schema):
    if isinstance(schema, dict):
        return {key: without_caps(value) for key, value in schema.items() if key != "maxItems"}
    return schema


def test_what_is_checked_of_a_text_is_not_in_the_schema_that_is_sent():
    """A call's key holds its schema: reading a reply otherwise must not ask otherwise."""
    text = {"type": "string"}
    words = {"type": "array", "items": text}
    assert without_caps(json_schema(NoteAnalysis)["properties"]) == {
        "keywords": words, "context": text, "tags": words,
    }  # fmt: skip
    evolution = without_caps(json_schema(NoteEvolution)["properties"])
    assert evolution["tags_to_update"] == evolution["new_context_neighborhood"] == words
    assert evolution["new_tags_neighborhood"] == {"type": "array", "items": words}


@pytest.mark.parametrize("field", list(NoteEvolution.model_fields))
def test_a_malformed_evolution_stores_the_note_unevolved(field):
    reply = evolve(["strengthen"], [0]).model_dump()
    reply[field] = {"no": "such type"}
    system, report = built(model({"blue boat": json.dumps(reply)}))
    assert (report.memories, report.failed) == (5, 1)
    assert report.failures[0].reason.startswith("schema_mismatch")
    assert system.records()[1].links == () and "tags: tag" in system.records()[1].text


def test_released_faults_can_be_repeated():
    lost, report = built(model(), bug_compat=["analysis_lost"])
    assert lost.records()[0].text.endswith("context: General") and report.failed == 0
    change = evolve(["update_neighbor"], contexts=["x"] * 2, neighbour_tags=[["moved"]] * 2)
    moved, _ = built(model({"red cat": change}), bug_compat=["rank_as_position"], neighbours=2)
    assert ["moved" in record.text for record in moved.records()] == [
        True,
        True,
        False,
        False,
        False,
    ]
    right, _ = built(model({"red cat": change}), neighbours=2)
    assert ["moved" in record.text for record in right.records()] == [
        True,
        False,
        True,
        False,
        False,
    ]


def test_the_form_of_the_original():
    system, _ = built(model(), form="amem", evolution=False)
    assert system.records()[4].text.startswith(
        "time: 1:00 pm on 2 May, 2023\nSpeaker Anasays : [Image: a pier] red boat again"
    )


def test_parameters_out_of_range():
    for option in ({"embed": "al"}, {"query_mode": "llm"}, {"bug_compat": ["x"]}, {"form": "a"}):
        with pytest.raises(ConfigError, match="known: "):
            AMem(llm=ScriptedLLM([]), embedder=Words(), **option)
    with pytest.raises(ConfigError, match="out of range"):
        AMem(llm=ScriptedLLM([]), embedder=Words(), neighbours=0)
    with pytest.raises(ConfigError, match="needs a model"):
        AMem(embedder=Words())


@pytest.mark.parametrize("protocol", ["paper", "repaired"])
def test_without_evolution_it_ranks_as_dense_does(write, sample, protocol):
    talk = load_corpus(str(write([sample]))).conversations[0]
    dense = Dense(embedder=Words(), protocol=protocol)
    notes = create_system("amem-noevo", embedder=Words(), protocol=protocol, llm=ScriptedLLM([]))
    assert notes.ingest(talk).memories == dense.ingest(talk).memories == 6
    for query in ("who has the red boat", "bakery", "Rui painted", "nothing"):
        ours, theirs = notes.search(query, k=6), dense.search(query, k=6)
        assert [(h.text, h.sources, h.time) for h in ours] == [
            (h.text, h.sources, h.time) for h in theirs
        ]
        np.testing.assert_allclose([h.score for h in ours], [h.score for h in theirs], atol=1e-5)


def test_without_evolution_a_model_call_would_be_an_error():
    system = AMemNoEvolution(embedder=Words())
    assert not system.info.needs_llm
    system.prepare([TALK], ["boat"])
    system.evolution = True
    with pytest.raises(LLMError, match="asked a model"):
        system.ingest(TALK)


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize("protocol", ["paper", "repaired"])
def test_without_evolution_it_ranks_as_dense_does_on_locomo(real_data, protocol):
    pytest.importorskip("sentence_transformers", reason="needs the extra `dense`")
    corpus = load_corpus("locomo", conversations=["conv-30"])
    queries = build_queries(corpus, styles=["question"])
    dense, notes = retrieve(corpus, queries, ["dense", "amem-noevo"], depth=50, protocol=protocol)
    assert len(queries) > 80
    assert [[(h.text, h.sources) for h in hits] for hits in notes.hits] == [
        [(h.text, h.sources) for h in hits] for hits in dense.hits
    ]
