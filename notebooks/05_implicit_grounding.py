# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What does memory do when the fact is never said?
#
# **Question.** A reply can be better for what is remembered without stating it. Does memory serve
# such replies, and where do the points go that a reply with memory does not get? And which claims of
# the two papers behind this study hold on the data at hand?
#
# **Answer.** Of {glue:text}`claims` claims, {glue:text}`claims_measured` could be measured:
# {glue:text}`claims_hold` hold, {glue:text}`claims_fail` do not, {glue:text}`claims_mixed` hold on
# one data set and not on another, and {glue:text}`claims_open` cannot be told here
# ({numref}`tab-claims`). {glue:text}`losses_note` {glue:text}`silent_note`
#
# **What this does not show.** The replies and verdicts are those of **{glue:text}`answer_model`**,
# {glue:text}`model_size`, on *{glue:text}`dataset_name`*. {glue:text}`trust_note`
# {glue:text}`record_note` What is not on record is shown as *not run*. People have judged nothing
# here.

# %% tags=["remove-input"]
from unbidden.config import GroundingConfig
from unbidden.corpus import load_corpus
from unbidden.grounding import reasoned, silent
from unbidden.grounding.scored import scored_replies
from unbidden.llm.session import asking, open_llm
from unbidden.recorded import recorded_view
from unbidden.report import claims, figures
from unbidden.report.claims.grounding import Source, margin_evidence, reply_evidence
from unbidden.report.folder import RunFolder
from unbidden.report.glue import glue
from unbidden.report.grounding import judging, replying, silence, support
from unbidden.report.grounding import tables as grounding
from unbidden.report.grounding import text as words
from unbidden.report.replies import trust as replytrust
from unbidden.report.replies.run import shown_plan
from unbidden.report.tables import NumberedTable

figures.use_style()

# %% tags=["parameters"]
run: str = "scratch"  # name of the run; results go to results/runs/<run>/05_implicit_grounding
dataset: str = "harbour"  # harbour, locomo, locomo-conv, a LoCoMo-shaped JSON file, or a folder
conversations: list = []  # sample ids to keep; empty keeps all
styles: list = ["question", "dialog", "implicit", "counterfactual", "composed"]  # to ask
queries_per_style: int = 8  # of each style, as in 03_replies, whose calls are used
implicit_queries: int = 16  # implicit queries for the arms; the first are those of 03_replies
systems: list = ["bm25", "dense", "rrf"]  # registry names or package.module:Class
conditions: list = ["oracle", "no_memory"]  # further conditions of 03_replies
condition_system: str = "rrf"  # system whose memories a reply chooses from while thinking
top_k: int = 10  # memories a system is asked for
random_turns: int = 3  # turns of the random arm; the paper has 3
neighbours: int = 2  # turns on each side of a gold turn, to see whether the oracle starves
pool: str = "silent"  # arms compared where the fact is not stated (silent), or on all queries
limits: list = ["equal", "paper"]  # output limits: equal for all arms, or the random arm longer
longer_tokens: int = 213  # the random arm's longer limit; the paper has 800 against 300
quality_protocols: list = ["repaired", "paper"]  # faithful to the gold turns, or to its own memory
memory_tokens: int = 300  # most tokens of the memories in a prompt, the same for every condition
answer_tokens: int = 80  # most output tokens of a reply
wording: str = "short"  # answer prompt: short, neutral, proactive, corrective or by_style
judges: list = ["model", "words", "similarity"]  # without "model" no judge is asked
judge_form: str = "json"  # how the model is asked for a verdict: json, likelihood or word
judge_protocol: str = "repaired"  # the judge's wording: repaired, or paper
rubrics: list = ["fact_use", "counterfactual", "composed"]  # asked about the replies they are for
evidence: str = "paper"  # reading of evidence strings: paper or repaired
embedder: str = "all-MiniLM-L6-v2"  # sentence-transformers name or folder, or endpoint:MODEL
settings: str = "locomo-conv"  # how systems are set: as LoCoMo-Conv ran them, or "published"
system_options: dict = {
    "mem0": {"ingestion": "one-pass", "batch_size": 4},
    "mem0-v2": {"ingestion": "one-pass", "batch_size": 4},
    "theanine": {"dialogues": "none"},
}  # options of single systems; these ask for less than the papers, as a small model is slow
max_failed: float = 0.05  # a system that lost more units or answers of a conversation is unscored
llm_mode: str = "replay"  # replay (no call), record (calls that are not on record) or live
answer_model: str = "qwen2.5-coder-1.5b"  # writes the replies
judge_model: str = "qwen2.5-coder-1.5b"  # judges them
memory_model: str = "qwen2.5-coder-1.5b"  # builds and compresses memories
rewriter_model: str = "qwen2.5-coder-1.5b"  # rewrites queries
local_model: str = ""  # a local model to serve while the chapter runs, unless it only replays
concurrency: int = 8  # calls in flight at once
call_seconds: float = 180.0  # to wait for one call; more for a slow model on a slow machine
max_calls: int = None  # budget
max_money: float = None  # budget, in the price table's currency
limit: int = None  # first so many questions of each conversation
seed: int = 0  # of the sample, of random turns and of tests

# %% tags=["remove-input"]
config = GroundingConfig.of_notebook("05_implicit_grounding", globals())
folder = RunFolder(config)
config

# %% tags=["remove-input"]
corpus = load_corpus(config.dataset, conversations=config.conversations)
llm = open_llm(config)
asked = asking(config, llm)
replies = replying.make_replies(config, corpus, llm, asked)
judged = judging.judge_replies(config, corpus, replies, asked)
chosen = judging.judge_reasoned(config, corpus, replies, asked)
waiting = judging.still_to_ask(config, corpus, replies, asked)
judge = judging.first_judge(config)
facts = judged.facts[judged.facts["judge"] == judge]
folder.table("waiting", waiting)
NumberedTable(
    shown_plan(waiting),
    "tab-grounding-waiting",
    "Calls of this chapter and how many of them are on record; token counts are estimates. Where "
    "it depends on verdicts which replies are compared, all are counted.",
)

# %% [markdown]
# **How far these judges can be trusted.** {glue:text}`trust_note` The labelled replies, and what they
# cannot show, are in the chapter on judges.

# %% tags=["remove-input"]
trust, trust_note = words.judge_trust(config, llm)
folder.table("trust", trust)
NumberedTable(
    replytrust.shown_trust(trust),
    "tab-grounding-trust",
    "Agreement with the labelled replies (their test part), %, on the rubrics of this page that the "
    "word rule can judge too; the three grades below have no such floor.",
)

# %% [markdown]
# ## Does finding the evidence make the reply?
#
# Replies are sorted by the recall of the memories they were shown: all evidence found (A), some of it
# (B), none (C). If retrieval were all, A would be near 100. The replies are those of the chapter on
# replies, to all query styles; the score is the headline rubric of each style. A reply without a
# verdict is counted as unscored and not as 0.

# %% tags=["remove-input"]
scored = scored_replies(replies.base, judged.base, replies.queries)
folder.items(judging.all_items(judged, scored))
buckets = grounding.buckets_table(scored)
folder.table("buckets", buckets)
NumberedTable(
    grounding.shown_buckets(words.first_rows(buckets, judge)),
    "tab-buckets",
    "Mean score by how much of the evidence the reply was shown, in points with 95 % intervals.",
)

# %% [markdown]
# ## Where the points go
#
# Each reply is compared with the one the same model gives to the gold turns (the *oracle*).
# *Retrieval* is what the oracle has more where evidence was missing, *representation* what it has
# more although all was shown, *response* what it lacks itself. With the reply's own score the four
# sum to 100; the library asserts it to 1e-9.

# %% tags=["remove-input"] mystnb={"figure": {"name": "fig-decomposition", "caption": "Where the points of a reply go, by style and system. A part to the left of 0 means that the system does better than the gold turns."}, "image": {"alt": "Stacked bars of score, retrieval, representation and response for each query style and memory system; they sum to 100 points."}}
parts = grounding.decomposition_table(scored)
folder.table("decomposition", parts)
figures.decomposition(parts, judge=judge)

# %% tags=["remove-input"]
NumberedTable(
    grounding.shown_weighted(words.first_rows(parts, judge)),
    "tab-decomposition",
    "The weighted decomposition, in points with 95 % intervals clustered by conversation.",
)

# %% [markdown]
# The paper's table shows the differences inside each bucket instead, whatever the bucket's size, so
# its columns do not sum to anything ({numref}`tab-unweighted`). Its first version compares with the
# replies of full recall, which are the easier ones.

# %% tags=["remove-input"]
NumberedTable(
    grounding.shown_unweighted(words.first_rows(parts, judge)),
    "tab-unweighted",
    "The paper's two other decompositions of the same replies, in points.",
)

# %% [markdown]
# ### Does the oracle starve?
#
# A gold turn alone may say too little. With {glue:text}`neighbours` turns on each side the oracle may
# win back part of the *response* loss. The paper looks only at queries whose oracle scored 0, where no
# score can fall; so the last columns count both directions.

# %% tags=["remove-input"]
starved = grounding.starvation_table(judged.facts, judging.CONTEXT, seed=config.seed)
folder.table("starvation", starved)
NumberedTable(
    grounding.shown_starvation(starved),
    "tab-starvation",
    "Fact score of replies to implicit queries from the gold turns alone, and with their neighbours.",
)

# %% [markdown]
# ## Silent grounding
#
# Of {glue:text}`implicit` implicit queries, {glue:text}`oracle_scored` have a scored reply from the
# gold turns, and {glue:text}`silent` of those replies ({glue:text}`silent_share` %) do not state the
# fact at all. {glue:text}`pool_note` Three arms are compared: the gold turns, no memory, and
# {glue:text}`random_turns` random turns. All arms have the same prompt and the same limit of
# {glue:text}`answer_tokens` tokens.

# %% tags=["remove-input"] mystnb={"figure": {"name": "fig-margins", "caption": "Wins minus losses of the first arm, on the queries the arms are compared on. 95 % intervals, clustered by conversation."}, "image": {"alt": "Margins between the arms with gold turns, no memory and random turns, graded alone and side by side, with 95 percent intervals."}}
margins = silence.margins_table(judged.contests, judged.pairs)
folder.table("margins", margins)
figures.margins(margins)

# %% [markdown]
# Put side by side, with the gold turns in view, the judge sees each pair in both orders. Only a win in
# both counts; the paper's script asks one order ({numref}`tab-side-by-side`).

# %% tags=["remove-input"]
NumberedTable(
    silence.shown_margins(margins[margins["counted"].isin([silent.BOTH_ORDERS, silent.ONE_ORDER])]),
    "tab-side-by-side",
    "Two replies side by side: wins, ties and losses of the first, and the margin in points.",
)

# %% [markdown]
# Graded alone on three questions, and the sums compared (*total*), as the paper does. *repaired* asks
# whether every arm is faithful to the gold turns. *paper* asks whether it is faithful to what it was
# shown itself, so an arm without memory can have half a point at most.

# %% tags=["remove-input"]
NumberedTable(
    silence.shown_margins(margins[margins["counted"].str.startswith("graded")]),
    "tab-graded",
    "Replies graded alone: wins, ties and losses of the first by each grade, and the margin in points.",
)

# %% [markdown]
# ### Two questions at once
#
# Another judge asks separately whether a reply uses the fact and whether it answers the situation.

# %% tags=["remove-input"]
situations = silence.situations_table(judged.situations, judged.pool)
folder.table("situations", situations)
NumberedTable(
    silence.shown_situations(situations),
    "tab-situations",
    "Fact used and situation answered, % of replies, on all implicit queries and on those the arms are "
    "compared on.",
)

# %% [markdown]
# ### The longer limit of one arm
#
# In the paper the random arm may write 800 tokens and the others 300. Here *equal* gives every arm
# {glue:text}`answer_tokens` and *paper* gives the random one {glue:text}`longer_tokens`, the same
# proportion. At temperature 0 a longer limit changes only replies that the shorter one cut; those are
# asked for again.

# %% tags=["remove-input"]
cut = silence.cut_table(replies.implicit, replies.longer)
folder.table("cut", cut)
NumberedTable(
    silence.shown_cut(cut), "tab-cut", "Replies of each arm, those the limit cut, and mean length."
)

# %% tags=["remove-input"]
arms = [silent.ORACLE, silent.NONE, silent.RANDOM]
words.SilentExamples(corpus, replies.asked, replies.implicit, judged.pool, arms)

# %% [markdown]
# *Replies of the three arms to queries they are compared on.*
#
# ## Memories chosen while thinking
#
# The model first says what the message is about, then chooses among the {glue:text}`top_k` memories of
# *{glue:text}`condition_system`*, then replies from those. It is compared with the reply from the gold
# turns, graded alone. Under *paper* it is graded against what it cites, evidence it chose itself.

# %% tags=["remove-input"]
against = silence.reasoned_table(config, chosen, facts)
folder.table("reasoned", against)
NumberedTable(
    silence.shown_reasoned(against),
    "tab-reasoned",
    "Replies that chose their memories against replies from the gold turns, on all implicit queries "
    "and where both or neither state the fact.",
)

# %% [markdown]
# A turn that such a reply cites and that is no gold evidence is *supportive* if the reply is judged no
# worse than the oracle's. Recall can count these turns too. The system whose replies voted is then
# measured by its own choice; the others are not.

# %% tags=["remove-input"]
original = {name: found["original"] for name, found in replies.found.items()}
thinking = [one for one in replies.answers if one.condition == "cot_select"]
repaired = chosen[chosen["protocol"] == "repaired"]
layer = reasoned.votes(thinking, original[config.condition_system], repaired)
supportive = support.supportive_table(
    reasoned.recall_with(layer, original, replies.asked, k=config.top_k)
)
folder.table("supportive", supportive)
NumberedTable(
    support.shown_supportive(supportive),
    "tab-supportive-recall",
    "Recall of gold turns and of supportive ones by implicit queries, % with 95 % intervals.",
)

# %% [markdown]
# The authors released such turns for the questions of one real conversation, with the systems that
# voted for them; word search and sentence vectors were among the voters. Without their own votes the
# turns that count are fewer, and others.

# %% tags=["remove-input"]
NumberedTable(
    recorded_view(
        "locomo",
        "01_dataset",
        support.shown_released_support,
        "supportive_recall_circular",
        "supportive_recall_held_out",
    ),
    "tab-supportive-released",
    "Recall@10 by the implicit queries of conv-26 that have supportive turns, with all votes and "
    "without those of the two systems, % with 95 % intervals over items (recorded).",
)

# %% [markdown]
# ## The papers' claims
#
# Each claim is put as a bound on a quantity, and the verdict follows from a rule: it *holds* if the
# whole 95 % interval of every part lies on the claimed side, *does not hold* if that of one part lies
# on the other, and *cannot be told here* otherwise: also where there is no interval, where it
# has no width, or with fewer than ten items. Ten points are the least that counts as a gap. What was
# counted and not sampled is compared as it is. Numbers are in points.

# %% tags=["remove-input"]
model = f"{config.answer_model}, judged by {config.judge_model or config.answer_model}"
source = Source(corpus.name, model if "model" in config.judges else f"{model} and words")
own = [
    *reply_evidence(
        source, scored[scored["judge"] == judge], judged.base[judged.base["judge"] == judge]
    ),
    *margin_evidence(source, margins, against, silent_only=config.pool == "silent"),
]
folder.table("evidence", claims.evidence_frame(own))
recorded = claims.recorded_evidence(except_for=(config.chapter, corpus.name))
verdicts = claims.claim_rows([*recorded, *own])
folder.table("claims", verdicts)
folder.table("verdicts", claims.claim_verdicts(verdicts))
claims.ClaimsTable(
    verdicts,
    "tab-claims",
    "Claims of the two papers, on which data, with which model, and the verdict by the rule.",
)

# %% tags=["remove-input"]
folder.table("silent", words.silent_table(facts))
numbers = words.grounding_numbers(
    config,
    decomposition=parts[parts["judge"] == judge],
    margins=margins,
    facts=facts,
    pool=judged.pool,
    waiting=waiting,
)
glue(folder, {**numbers, **claims.claim_numbers(verdicts), "trust_note": trust_note})

# %% [markdown]
# ## Limits
#
# * A small model's replies and verdicts show that each path works and how wide the intervals are. They
#   do not show what a larger model would do.
# * The pool of silent grounding is chosen by a judge's verdict. A judge that misses a stated fact puts
#   a reply in it that is not silent; the two-dimensional judge shows how often.
# * The decomposition calls *representation* whatever differs from the oracle at full recall, also the
#   other memories around the gold ones.
# * A claim that holds on one conversation holds there.
#
# ## Run this yourself
#
# ```bash
# unbidden plan 05_implicit_grounding
# unbidden run 05_implicit_grounding --run mine -p llm_mode=record -p answer_model=MODEL   # OPENAI_BASE_URL
# unbidden run 05_implicit_grounding --run mine -p implicit_queries=24 -p pool=all
# papermill notebooks/05_implicit_grounding.ipynb out.ipynb -p neighbours 5
# ```

# %% tags=["remove-cell"]
for name, drawing in (
    ("decomposition", figures.decomposition(parts, judge=judge)),
    ("margins", figures.margins(margins)),
):
    if drawing is not None:
        folder.figure(name, drawing)
record = folder.finish(
    corpus, embedder=config.embedder, model=config.answer_model, judge=config.judge_model
)
llm.close()
