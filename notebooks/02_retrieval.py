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
# # Who finds the evidence when nobody asks for it?
#
# **Question.** A memory system is usually tested with questions. People mostly do not ask: they
# mention a plan or a worry and expect to be understood. How much of what should come to mind does
# a memory system find then?
#
# **Answer.** Far less. On the real LoCoMo-Conv queries about conversation conv-26, word search
# (`bm25`) has {glue:text}`locomo_same_question_bm25` % of the gold turns among its first
# {glue:text}`locomo_k` memories when the question is asked plainly, and
# {glue:text}`locomo_same_implicit_bm25` % when the same need is only implied. Sentence vectors
# (`dense`) fall from {glue:text}`locomo_same_question_dense` % to
# {glue:text}`locomo_same_implicit_dense` %, and the hybrid of both (`rrf`) from
# {glue:text}`locomo_same_question_rrf` % to {glue:text}`locomo_same_implicit_rrf` %. Speaking to an
# assistant is not the difficulty: a direct request in the first person (*dialog*) changes `dense`
# by {glue:text}`locomo_change_dialog_dense` points and `rrf` by
# {glue:text}`locomo_change_dialog_rrf`. Not asking is. The study's own system, `unbidden`, is made
# for such messages and asks no model either ([the guide](../guide/unbidden_system)): it finds
# {glue:text}`locomo_same_question_unbidden` % when asked and
# {glue:text}`locomo_same_implicit_unbidden` % when the need is implied.

# %% tags=["remove-input"]
from unbidden.config import RetrievalConfig
from unbidden.corpus import load_corpus
from unbidden.llm.session import open_llm
from unbidden.queries.build import build_queries
from unbidden.recorded import has_recorded, recorded_items, recorded_numbers, recorded_view
from unbidden.report import figures
from unbidden.report.claims import evidence_frame
from unbidden.report.claims.retrieval import run_evidence, writers
from unbidden.report.folder import RunFolder
from unbidden.report.glue import cite, glue
from unbidden.report.headline import retrieval_numbers, systems_numbers
from unbidden.report.own_metrics import own_metrics_table
from unbidden.report.retrieval.examples import Examples, Notes, missed_queries
from unbidden.report.retrieval.inside import Inside
from unbidden.report.retrieval.run import all_items, options_of
from unbidden.report.retrieval.systems import SystemsReport, shown_measures, shown_waiting
from unbidden.report.retrieval.tables import RetrievalReport, both_protocols
from unbidden.report.summary import scored_systems, without_model
from unbidden.report.tables import NumberedTable
from unbidden.retrieval import Rules, cost_items, retrieve
from unbidden.retrieval.planned import plan_unrecorded
from unbidden.retrieval.returned import returned_items
from unbidden.retrieval.rows import gold_rows, ranking_rows
from unbidden.retrieval.sensitivity import threshold_recall

figures.use_style()

# %% tags=["parameters"]
run: str = "scratch"  # name of the run; results go to results/runs/<run>/02_retrieval
dataset: str = "harbour"  # harbour, locomo, locomo-conv, a LoCoMo-shaped JSON file, or a folder
conversations: list = []  # sample ids to keep; empty keeps all
systems: list = [
    "bm25",
    "dense",
    "rrf",
    "unbidden",
    "amem-noevo",
    "amem",
    "mem0",
    "mem0-v2",
    "anchormem",
    "memora",
    "nemori",
    "msc-retrieval",
    "theanine",
    "unbidden-llm",
]  # registry names or package.module:Class
styles: list = ["question", "dialog", "implicit", "counterfactual", "composed"]  # to ask
top_k: int = 10  # K of the headline tables
ks: list = [1, 5, 10, 20, 50]  # every K scored
turn_budgets: list = [5, 10, 20, 50]  # recall at so many distinct turns
token_budgets: list = [600]  # recall at so many shown tokens
metrics: list = []  # metrics of your own, each package.module:function
protocol: str = "paper"  # text form of a turn: paper or repaired
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
memory_model: str = "qwen2.5-coder-1.5b"  # builds the memories
memory_models: dict = {}  # models of single systems, by name, in place of memory_model
local_model: str = ""  # a local model to serve while the chapter runs, unless it only replays
concurrency: int = 8  # calls in flight at once
call_seconds: float = 180.0  # to wait for one call; more for a slow model on a slow machine
max_calls: int = None  # budget
max_money: float = None  # budget, in the price table's currency
limit: int = None  # first so many questions of each conversation
seed: int = 0  # for resampling


# %% tags=["remove-input"]
config = RetrievalConfig.of_notebook("02_retrieval", globals())
folder = RunFolder(config)
config

# %% tags=["remove-input"]
recorded = has_recorded("locomo", "02_retrieval")
cite(recorded_numbers("locomo", "02_retrieval") if recorded else {})
locomo = RetrievalReport(recorded_items("locomo", "02_retrieval") if recorded else None, 10)

# %% tags=["remove-input"] mystnb={"figure": {"name": "fig-locomo-recall", "caption": "Recall@10 on LoCoMo-Conv's conversation conv-26, the same needs put in five ways. Intervals are over the items of this one conversation and say nothing about others. Category 5 is left out."}, "image": {"alt": "Recall at 10 of bm25, dense, rrf and unbidden on real LoCoMo-Conv queries of conversation conv-26 for five styles, with 95 percent intervals."}}
locomo.same_conversations().figure()

# %% [markdown]
# ## The real data, recorded
#
# {numref}`tab-locomo-recall` is over all {glue:text}`locomo_n_question` answerable LoCoMo questions
# that cite evidence. The four conversational styles are those of conv-26, the one conversation whose
# released queries were at hand here; the recorded run says on which file, by sha256. Rows are
# comparable with each other only for conv-26 ({numref}`fig-locomo-recall`).

# %% tags=["remove-input"]
locomo.recall_table("tab-locomo-recall", "Recall@10 on LoCoMo, % of gold turns (recorded).")

# %% tags=["remove-input"]
locomo.same_conversations().drop_table(
    "tab-locomo-drop",
    "Change of recall@10 from the plain question on conv-26, paired by item (recorded).",
)

# %% [markdown]
# With one conversation the tests flip the signs of single items: they tell whether the styles
# differ *in this conversation*, not in general.
#
# ## This run, live
#
# From here on, everything was computed when this page was executed, on
# *{glue:text}`dataset`*. First the systems that ask no model: each of their memories is one turn, so a
# fixed K treats them alike. In `harbour` conversations are shorter than LoCoMo's, so a fixed K covers
# more of them and all figures are higher; the fall from asked to implied is what to look at. An
# interval spans what other conversations of the same kind would give, as far as
# {glue:text}`same_conversations` conversations can tell, and is cut at 0 and 100. One conversation
# of `harbour` is Chinese, where the English MiniLM finds little ({numref}`tab-conversation`): that
# is most of the width of `dense`'s intervals.

# %% tags=["remove-input"]
corpus = load_corpus(config.dataset, conversations=config.conversations)
queries = build_queries(corpus, styles=config.styles, evidence=config.evidence, limit=config.limit)
llm = open_llm(config)
rules = Rules(max_failed=config.max_failed, unrecorded="unscored")
options = options_of(config, llm)
rankings = retrieve(corpus, queries, config.systems, depth=config.depth, rules=rules, **options)
items = all_items(config, corpus, rankings)
folder.items(items)
folder.items(ranking_rows(rankings), "rankings")
folder.items(gold_rows(queries), "gold")
folder.items(returned_items(rankings, k=config.top_k), "returned")
scored = without_model(scored_systems(items))
report = RetrievalReport(scored, config.top_k, folder, seed=config.seed)
glue(folder, {**retrieval_numbers(scored, config.top_k), "dataset": corpus.name})

# %% tags=["remove-input"] mystnb={"figure": {"name": "fig-recall", "caption": "Recall at the headline K in this run, by style and system, with 95 % intervals, clustered by conversation where there are several."}, "image": {"alt": "Recall of each memory system in this run for five query styles, with 95 percent intervals."}}
report.figure("recall_by_style")

# %% tags=["remove-input"]
report.recall_table("tab-recall", f"Recall@{config.top_k} in this run, % of gold turns.")

# %% tags=["remove-input"] mystnb={"figure": {"name": "fig-drop", "caption": "Paired change of recall from the plain question, with 95 % intervals, clustered by conversation where there are several. A composed query is paired with the mean of its two questions."}, "image": {"alt": "Change in recall from the plain question to each conversational style, for each system, with 95 percent intervals."}}
report.drop_figure()

# %% tags=["remove-input"]
report.drop_table(
    "tab-drop", f"Change of recall@{config.top_k} from the plain question, paired by item."
)

# %% [markdown]
# *p* is a sign-flip test: under no difference, the sign of each conversation's total is a coin toss.
# With few conversations even a difference seen in all of them cannot give a small p-value; *p by t*
# can, if the means of conversations are roughly normal. Both are corrected for the number of rows
# (Holm). *Yes (t)* means that only the latter could tell, and does; *cannot tell* that the two are
# not distinguishable here. *Detectable* is the true difference that a single such test at the 5 % level
# would find four times out of five.

# %% tags=["remove-input"]
report.pairs_table("tab-pairs", f"Systems against each other, recall@{config.top_k}, paired.")

# %% [markdown]
# Intervals from resampling whole conversations are a second opinion; with so few conversations they
# are a little too narrow.

# %% tags=["remove-input"]
report.bootstrap_table(
    "tab-bootstrap", f"Recall@{config.top_k} with bootstrap intervals, % of gold turns."
)

# %% [markdown]
# ## By K, and at equal budgets
#
# One *memory* is one turn in the systems of this table, but a chunk or a whole session in others.
# Recall at a budget of distinct turns or of shown tokens treats all alike.

# %% tags=["remove-input"] mystnb={"figure": {"name": "fig-k", "caption": "Recall against K in this run, with 95 % intervals, clustered by conversation where there are several."}, "image": {"alt": "Recall of each system against the number of memories returned, one panel per query style."}}
report.k_figure()

# %% tags=["remove-input"]
report.budget_table("tab-budget", "Recall at a budget of turns or tokens, % of gold turns.")

# %% tags=["remove-input"]
own_metrics_table(items, config, folder)

# %% [markdown]
# ## By category and conversation

# %% tags=["remove-input"]
report.category_table(
    "tab-category", f"Recall@{config.top_k} by category, all styles but composed."
)

# %% tags=["remove-input"]
report.conversation_table("tab-conversation", f"Recall@{config.top_k} by conversation.")

# %% [markdown]
# ## Systems of different kinds, side by side
#
# Some systems keep turns as they were said. Others let a language model write what they keep. Here
# that model is *{glue:text}`memory_model`*. {glue:text}`model_note` The numbers below show what these
# systems do with such a model; they are not the papers' results, which used larger ones.

# %% tags=["remove-input"]
costs = cost_items(corpus.name, rankings, ks=[config.top_k], condition=config.protocol)
folder.items(costs, "costs")
systems_report = SystemsReport(items, costs, rankings, config, folder)
shared, left_out = systems_report.shared(), systems_report.left_out()
glue(folder, systems_numbers(config, rankings, shared, left_out))

# %% tags=["remove-input"] mystnb={"figure": {"name": "fig-systems", "caption": "Recall among the memories that fit the first token budget, by style and system, over the conversations that all systems drawn here share, with 95 % intervals. The colour says what wrote the memories; rows are in the order of the implied needs."}, "image": {"alt": "Recall within a token budget of every memory system that was run, one row per system and one panel per query style, coloured by the model that wrote the memories, with 95 percent intervals."}}
systems_report.figure()

# %% [markdown]
# {numref}`fig-systems` is over {glue:text}`shared_systems`. {glue:text}`shared_note`A system that knows the source of a memory
# only as the batch of turns it was made from, such as a whole session for `msc-retrieval` and
# `theanine`, is credited with all of them: its marks say that the right session was found.
# {numref}`tab-words` says whether the words were.

# %% tags=["remove-input"]
systems_report.settings_table("tab-settings", "The systems of this run and how they are set.")

# %% [markdown]
# *Turn ids* says how a system knows which turns a memory comes from: *exact*, of the *batch* of turns
# that was read when it was made, or *cited* by the model.

# %% tags=["remove-input"]
systems_report.measures_table(
    "tab-systems",
    f"Recall of gold turns, %, among {config.top_k} memories, among memories that cover at most "
    "10 turns, and among those that show at most so many tokens.",
)

# %% [markdown]
# A system that was not run, or that lost more of a conversation than
# {glue:text}`max_failed` of its units or of its model's answers, is unscored there: *conv.* says over how many conversations
# a row is. Rows over different conversations are not comparable. {numref}`tab-systems-shared` has the
# same for the conversations that the scored systems share ({glue:text}`shared_systems`). A system that
# lost a conversation takes it from no other: what it kept is no fair sample, and it stays in this table
# only where it is scored in all of them. {glue:text}`left_out`
# {numref}`tab-against` compares in pairs, each over the conversations of its system. Where those are one,
# its queries are compared: such a row says nothing about other conversations.

# %% tags=["remove-input"]
systems_report.measures_table(
    "tab-systems-shared",
    "Recall of gold turns, %, over the conversations that the systems of this table share.",
    shared=True,
)

# %% tags=["remove-input"]
systems_report.against_table(
    "dense", "tab-against", "Paired difference of each system from dense, in points."
)

# %% tags=["remove-input"]
systems_report.words_table(
    "tab-words",
    f"Recall@{config.top_k} by turn ids, and by whether the words of a gold turn are still in the "
    "text of one memory.",
)

# %% [markdown]
# A system that rewrites what was said may name the right turn and have lost the fact. By words, a turn
# counts as found if one memory holds at least three fifths of its content words; a good paraphrase
# can fail that, so the truth lies between both rows.
#
# ### What reading and writing cost

# %% tags=["remove-input"]
systems_report.reading_table(
    "tab-reading", f"What {config.top_k} memories bring on average: turns covered, tokens shown."
)

# %% tags=["remove-input"]
systems_report.writing_table(
    "tab-writing", "Model calls by phase and prompt, with their tokens, seconds and failures."
)

# %% [markdown]
# *Full lists* are answers with as many items as the form of the answer allows; more may have been
# left out. {numref}`tab-stores` says what became of the answers: under *events*, `unknown_id` counts
# those that name a memory or turn that was not shown. An update of such a memory is dropped, so a
# model that names many leaves a store nearly empty, and its row tells of the model more than of the
# system. *Refused* counts the conversations of which a system lost more than it may, which leaves
# their queries unscored; *not run* those whose model calls are not on record.

# %% tags=["remove-input"]
systems_report.stores_table("tab-stores", "What was stored, lost and done while storing.")

# %% tags=["remove-input"]
waiting = plan_unrecorded(corpus, rankings, **options)
systems_report.waiting_table(
    waiting,
    "tab-waiting",
    "Systems with conversations that were not run, and what they would take.",
)

# %% [markdown]
# The same on the real conversation conv-26, recorded: {numref}`tab-subset` has the systems that were
# run, {numref}`tab-subset-waiting` what the others would take there.

# %% tags=["remove-input"]
NumberedTable(
    recorded_view("subset", "02_retrieval", shown_measures, "systems"),
    "tab-subset",
    "Recall of gold turns on conv-26, %, by system and budget (recorded). Intervals are over the items "
    "of this one conversation.",
)

# %% tags=["remove-input"]
NumberedTable(
    recorded_view("subset", "02_retrieval", shown_waiting, "waiting"),
    "tab-subset-waiting",
    "Systems not run on conv-26, and what storing it would take (recorded).",
)

# %% [markdown]
# ### Thresholds set for other embedders

# %% tags=["remove-input"]
thresholds = threshold_recall(
    corpus, queries, config.systems, k=config.top_k, rules=rules, **options
)
systems_report.sensitivity_table(
    thresholds,
    "tab-thresholds",
    f"Mean recall@{config.top_k} under other thresholds of reading; empty: queries that brought nothing.",
)

# %% [markdown]
# ### A look inside
#
# The first session of the first conversation: what was said, and what each system made of it.

# %% tags=["remove-input"]
Inside(corpus, config, llm)

# %% [markdown]
# ## The paper's protocol and ours
#
# `paper` indexes a turn under its session's date string as written and reads evidence as the paper
# does. `repaired` puts the speaker first, gives the day without the clock, marks captions as images,
# and repairs evidence ids. Systems whose memories a model writes are left out here.

# %% tags=["remove-input"]
both = both_protocols(corpus, config, scored)
folder.items(both, "items_protocol")
report.protocol_table(both, "tab-protocol", f"Recall@{config.top_k} under both protocols, paired.")

# %% [markdown]
# ## Where the words do not match
#
# Needs that every system meets when asked plainly (all gold turns among the first memories) and
# none meets when they are implied. A tick marks a gold turn.

# %% tags=["remove-input"]
missed = missed_queries(scored, queries, style="implicit", k=config.top_k, most=3)
Examples(corpus, rankings, missed)

# %% [markdown]
# ## Notes on this run

# %% tags=["remove-input"]
notes = Notes(rankings)
notes

# %% [markdown]
# ## Limits
#
# * Recall counts turns that annotators cited. A system may find another turn that serves as well.
# * The memories of systems with a model were written by a small local model. A better model may
#   change their order.
# * Finding a turn is not using it. The next chapters ask what a reply makes of it.
#
# ## Run this yourself
#
# ```bash
# unbidden run 02_retrieval --run mine -p top_k=20 -p 'systems=["bm25","mymodule:MyMemory"]'
# papermill notebooks/02_retrieval.ipynb out.ipynb -p dataset locomo -p top_k 20
# unbidden plan 02_retrieval -p dataset=locomo          # calls, tokens and price of the systems
# unbidden run 02_retrieval --run mine -p llm_mode=record -p memory_model=MODEL   # OPENAI_BASE_URL
# ```

# %% tags=["remove-cell"]
report.same_conversations().figure("same_by_style")
models = writers(config.systems, config.memory_model, config.memory_models)
evidence_rows = run_evidence(items, dataset=corpus.name, models=models)
folder.table("evidence", evidence_frame(evidence_rows))
record = folder.finish(corpus, embedder=config.embedder, notes=notes.lines)
llm.close()
