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
# # Does finding it make a better reply?
#
# **Question.** A memory system is useful if what it finds makes the reply better. How good are replies
# with what each system found, beside replies that are given the right turns, or nothing at all?
#
# **Answer.** {glue:text}`answer_note` {glue:text}`trust_note`
#
# **What it does not show.** These are {glue:text}`queries` queries to the conversations of
# *{glue:text}`dataset`*, which were written for this project, answered by **{glue:text}`answer_model`**, a
# small local model. How well a larger model would use the same memories is not in it.

# %% tags=["remove-input"]
from unbidden.config import RepliesConfig
from unbidden.corpus import load_corpus
from unbidden.llm.session import asking, open_llm
from unbidden.reply.table import ALL_COLUMNS, write_answers
from unbidden.report import figures
from unbidden.report.figures import reply_scores
from unbidden.report.folder import RunFolder
from unbidden.report.glue import glue
from unbidden.report.judges import guarded
from unbidden.report.replies import checks as replychecks
from unbidden.report.replies import costs as replycosts
from unbidden.report.replies import hallucination
from unbidden.report.replies import run as replyrun
from unbidden.report.replies import tables as replies
from unbidden.report.replies import trust as replytrust
from unbidden.report.replies import use as replyuse
from unbidden.report.replies.examples import ReplyExamples
from unbidden.report.replies.numbers import reply_numbers
from unbidden.report.tables import NumberedTable, flat_note

figures.use_style()

# %% tags=["parameters"]
run: str = "scratch"  # name of the run; results go to results/runs/<run>/03_replies
dataset: str = "harbour"  # harbour, locomo, locomo-conv, a LoCoMo-shaped JSON file, or a folder
conversations: list = []  # sample ids to keep; empty keeps all
styles: list = ["question", "dialog", "implicit", "counterfactual", "composed"]  # to ask
queries_per_style: int = 8  # drawn evenly over conversations; a larger sample holds smaller ones
systems: list = ["bm25", "dense", "rrf"]  # registry names or package.module:Class
conditions: list = ["oracle", "no_memory"]  # also random, oracle_context, all_memory, compressed,
# cot_select, cot_noselect, rewrite_convergent, rewrite_facets; and always_agree, always_refuse: the
# same words to everything, without a call (refusing earns 0.5 on every wrong premise)
condition_system: str = "rrf"  # system of compressed, cot_* and rewrite_*
top_k: int = 10  # memories a system is asked for
memory_tokens: int = 300  # most tokens of the memories in a prompt, the same for every condition
answer_tokens: int = 80  # most output tokens of a reply
wording: str = "short"  # answer prompt: short, neutral, proactive, corrective or by_style
judges: list = ["model", "words", "similarity"]  # without "model" no judge is asked
judge_form: str = "json"  # how the model is asked for a verdict: json, likelihood or word
judge_protocol: str = "repaired"  # the judge's wording: repaired, or paper
rubrics: list = ["fact_use", "counterfactual", "composed"]  # asked about the replies they are for;
# trap and unsupported ask for questions of category 5 too, and whether replies make an answer up
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
config = RepliesConfig.of_notebook("03_replies", globals())
folder = RunFolder(config)
config

# %% [markdown]
# ## What is compared
#
# {glue:text}`per_style` queries of each style are drawn evenly over {glue:text}`conversations`
# conversations, the same needs in every style but *composed*. Each is replied to with the first
# {glue:text}`top_k` memories of each system, with the gold turns alone (*oracle*) and with nothing (*no
# memory*). One prompt, one way to show a turn, captions included, and the same limits serve all of
# them: {glue:text}`memory_tokens` tokens of memories and {glue:text}`answer_tokens` of the reply. Where
# {glue:text}`top_k` memories are longer, the last ones are left out ({numref}`tab-reply-lengths` says how many
# are shown). The gold answer reaches a judge and nothing else.
#
# The judge reads what a user would see. Plain questions, *dialog* and *implicit* are scored 1, 0.5 or 0
# for conveying the fact, in full or in part; *counterfactual* for correcting a wrong premise (1),
# doubting it (0.5) or neither; *composed* for the share of its facts. {glue:text}`replies` of
# {glue:text}`replies_wanted` replies are on record.

# %% tags=["remove-input"]
corpus = load_corpus(config.dataset, conversations=config.conversations)
llm = open_llm(config)
asked = asking(config, llm)
made = replyrun.make_replies(config, corpus, llm, asked)
write_answers(folder.path / "replies.parquet", made.table[list(ALL_COLUMNS)])
verdicts = replyrun.score_replies(config, corpus, made.table, asked)
folder.items(verdicts)
trust = replytrust.trust(config, llm)
items = replytrust.with_best(verdicts, trust)
scores = replies.scores(items)
folder.table("scores", scores)

# %% tags=["remove-input"]
shares = replyuse.gold_shown(made.table, made.queries)
gaps = replies.differences(items, by_style=False, seed=config.seed)
above = replyuse.above_oracle(items, made.table, shares)
flags = guarded.guarded(replyrun.by_model(config, verdicts), "way")
made_up = hallucination.rates(items)
glue(
    folder,
    {
        **reply_numbers(config, made, items, scores, gaps, above),
        "trust_note": replytrust.trust_note(config, trust),
        "best_note": replytrust.best_note(trust),
        "guard_note": guarded.guard_note(flags),
        "flat_note": flat_note(scores),
        "hallucination_note": hallucination.hallucination_note(made_up),
    },
)

# %% [markdown]
# ## Scores
#
# {numref}`fig-replies` and the tables below show the same replies through each judge: the model
# ({glue:text}`judge`), and two floors that need none. {glue:text}`best_note` *The best judge of each
# rubric* takes that one ({numref}`tab-trust`), and is what this page's headline is of. It is chosen on
# the replies it is then rated by, so its agreement is a little flattered. Where judges disagree, the
# order of systems is a matter of the judge. A reply that only says that it does not know counts as
# doubt about a wrong premise, so *no memory* is not at 0 in *counterfactual*. {glue:text}`flat_note`

# %% tags=["remove-input"] mystnb={"figure": {"name": "fig-replies", "caption": "Mean score of the replies by what they were given to remember, for each style and judge. 95 % intervals, clustered by conversation."}, "image": {"alt": "Scores of replies with each system's memories, with the gold turns and without memory, for five styles and all together, by a model as the judge and by two rules, with 95 percent intervals."}}
drawn = reply_scores(scores)
drawn

# %% tags=["remove-input"]
NumberedTable(
    replies.shown_scores(scores, items["judge"].iloc[0]),
    "tab-scores",
    f"Scores by {items['judge'].iloc[0]}, % with 95 % intervals clustered by conversation. "
    "Unscored: the reply or the verdict failed; not run: its call is not on record.",
)

# %% tags=["remove-input"]
NumberedTable(
    replies.shown_scores(scores, verdicts["judge"].iloc[0]),
    "tab-scores-model",
    f"Scores by {verdicts['judge'].iloc[0]}.",
)

# %% tags=["remove-input"]
NumberedTable(
    replies.shown_scores(scores, replyrun.JUDGE_NAMES["words"]),
    "tab-scores-words",
    "Scores by the word rule, a floor without a model.",
)

# %% tags=["remove-input"]
NumberedTable(
    replies.shown_scores(scores, replyrun.JUDGE_NAMES["similarity"]),
    "tab-scores-similarity",
    "Scores by similarity of sentence vectors, a floor without a model; it has no rule for wrong "
    "premises.",
)

# %% tags=["remove-input"]
NumberedTable(
    replies.judge_agreement(verdicts),
    "tab-judge-agreement",
    "How far the judges agree on these replies.",
)

# %% [markdown]
# ## The oracle and the systems
#
# {glue:text}`oracle_note`

# %% tags=["remove-input"]
folder.table("oracle_gap", gaps)
NumberedTable(
    replies.shown_oracle_gap(gaps, ["judge", "way"]),
    "tab-oracle-gap",
    "The oracle's score minus each other row's, in points, paired by query, all styles a judge "
    "scores; p-values are corrected for the rows of a judge (Holm). Detectable: the true difference "
    "that such a test would find four times out of five.",
)

# %% tags=["remove-input"]
by_style = replies.differences(replies.only(items), by_style=True, seed=config.seed)
folder.table("oracle_gap_by_style", by_style)
NumberedTable(
    replies.shown_oracle_gap(by_style, ["style", "way"]),
    "tab-oracle-gap-style",
    f"The same for each style, by {replies.main_judge(items)}.",
)

# %% [markdown]
# An oracle is no upper bound for one reply: its turns are the ones annotators cited, shown without
# their neighbours, and a small model may use a longer list better or worse. {numref}`tab-above-oracle`
# lists every case in which a mean is above the oracle's.

# %% tags=["remove-input"]
folder.table("above_oracle", above)
NumberedTable(
    replyuse.shown_above_oracle(above),
    "tab-above-oracle",
    "Where a row's mean is above the oracle's, and in how many of its better replies every gold turn "
    "had been shown.",
)

# %% [markdown]
# ## Found and used
#
# The same replies by whether the gold turns were among the memories that were shown. If finding were
# all, the first row of a system would reach the oracle.

# %% tags=["remove-input"]
found = replyuse.by_found(items, made.table, shares)
folder.table("by_found", found)
NumberedTable(
    replyuse.shown_by_found(found, replies.main_judge(items)),
    "tab-found",
    f"Scores by {replies.main_judge(items)}, by how many of the gold turns were shown.",
)

# %% tags=["remove-input"]
lengths = replyuse.lengths(made.table, shares)
folder.table("lengths", lengths)
NumberedTable(
    replyuse.shown_lengths(lengths),
    "tab-reply-lengths",
    "How long the replies are, how many say that they do not know (by rule), and what they were shown.",
)

# %% [markdown]
# ## Questions without an answer
#
# Category 5 asks for what was never said: how often does a reply make it up?
# {glue:text}`hallucination_note`

# %% tags=["remove-input"]
folder.table("hallucination", made_up)
NumberedTable(
    hallucination.shown_rates(made_up),
    "tab-hallucination",
    "Replies that hallucinate, %, by judge, rubric and what they were given to remember.",
)

# %% [markdown]
# ## Examples
#
# The first query of each style to which every row has a reply.

# %% tags=["remove-input"]
ReplyExamples(made, verdicts)

# %% [markdown]
# ## How far these judges can be trusted
#
# {glue:text}`trust_note` The labelled set and what it can tell are described in the chapter on judges;
# a language model wrote and labelled it. Its replies are clearer than those above.

# %% tags=["remove-input"]
folder.table("trust", trust)
NumberedTable(
    replytrust.shown_trust(trust),
    "tab-trust",
    "Agreement of this chapter's judges with the labelled set (its test part), %: over all a judge "
    "scored, and beside the word rule's where both scored.",
)

# %% [markdown]
# {glue:text}`guard_note`

# %% tags=["remove-input"]
folder.table("guarded", flags)
flagged = guarded.shown_guarded(flags, "memories")
None if flagged.empty else NumberedTable(
    flagged,
    "tab-guarded",
    "Replies that the judge's guards clipped or flagged, by what they were given to remember; one "
    "reply may have several flags.",
)

# %% [markdown]
# ## The paper's rules
#
# LoCoMo-Conv's judges read the whole output of a model that thinks first, thoughts and all, and replies
# that the limit cut; its buckets count errors as 0. What each rule changes here, on the same calls:

# %% tags=["remove-input"]
effects = replychecks.rule_effects(config, made, verdicts, llm)
folder.table("rule_effects", effects)
NumberedTable(
    replychecks.shown_rule_effects(effects),
    "tab-rules",
    "Scores under our rules and under single rules of the paper, all rows and styles.",
)

# %% [markdown]
# The paper shows gold turns without captions and in a form of their own, which lowers its oracle; here
# all rows share one form, so that this cannot be seen on these calls.
#
# ## What it costs

# %% tags=["remove-input"]
plan = replyrun.still_to_ask(config, corpus, made.table, asked)
folder.table("plan", plan)
NumberedTable(
    replyrun.shown_plan(plan),
    "tab-plan",
    "Calls of this run by prompt, and what is still to be asked; tokens are those of the latter, "
    "estimated.",
)

# %% tags=["remove-input"]
spent = replycosts.costs(config, made, llm)
folder.table("costs", spent)
NumberedTable(
    replycosts.shown_costs(spent),
    "tab-costs-replies",
    "What the recorded calls took, as the endpoint counted.",
)

# %% [markdown]
# ## Limits
#
# * {glue:text}`per_style` queries a style are few: {numref}`tab-oracle-gap-style` says which differences
#   could be seen at all. The rows can be ranked only where a difference is marked.
# * The oracle's turns are those that annotators cited.
# * A reply that brings the fact up where nobody wanted it would score as well as a welcome one.
# * Only conditions named in the parameters were run. Random turns, neighbours of the gold turns, the
#   whole conversation, compressed memories, thinking first, rewritten queries and agents that never
#   look are further values of `conditions`.
#
# ## Run this yourself
#
# ```bash
# unbidden plan 03_replies -p answer_model=MODEL                  # calls and tokens
# unbidden run 03_replies --run mine -p llm_mode=record -p answer_model=MODEL -p judge_model=JUDGE
# unbidden run 03_replies --run mine -p 'conditions=["oracle","no_memory","random"]'
# unbidden run 03_replies --run mine -p 'rubrics=["fact_use","trap","unsupported"]' # and made up?
# papermill notebooks/03_replies.ipynb out.ipynb -p queries_per_style 20
# ```

# %% tags=["remove-cell"]
folder.figure("reply_scores", drawn)
record = folder.finish(
    corpus, embedder=config.embedder, model=config.answer_model, judge=config.judge_model
)
llm.close()
