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
# # What does a memory cost, and how does that grow?
#
# **Question.** Memories grow with every talk. What does it cost to write one, to find one among many,
# and to read what was found; and which of these costs grows until it hurts?
#
# **Answer.** Finding is cheap, writing with a model is not. Among a million memories, comparing a query
# with every vector takes {glue:text}`million_exact` ms of one core and {glue:text}`million_exact_mb` MB;
# comparing signs first, and only the most alike exactly, takes {glue:text}`million_bits` ms and
# {glue:text}`million_mb` MB and finds {glue:text}`million_recall` of the ten nearest. Word search takes
# {glue:text}`words_ms` ms among {glue:text}`words_n` memories. {glue:text}`link_note`
# {glue:text}`study_note` Writing with the small local model costs seconds for every call
# ({numref}`tab-calls`), which no index makes up for.
#
# **What this does not show.** Times are of one machine ({glue:text}`bench_facts`) and are given in
# processor seconds of one thread, because other programs ran beside; ratios within one run carry over
# to other machines, times do not. Sizes beyond LoCoMo are synthetic: made-up words by Zipf's law, and
# mixtures of real vectors. They say what is slow, and nothing of what is good. Not measured: money and
# speed of hosted models, many users at once, disks slower than memory, graphics cards, and the
# vector stores of other vendors.

# %% tags=["remove-input"]
from unbidden.config import CostConfig, project_root
from unbidden.corpus import load_corpus
from unbidden.queries.build import build_queries
from unbidden.report import cost, figures
from unbidden.report.folder import RunFolder
from unbidden.report.glue import cite, glue

figures.use_style()

# %% tags=["parameters"]
run: str = "scratch"  # name of the run; results go to results/runs/<run>/09_cost
dataset: str = "harbour"  # harbour, locomo, locomo-conv, a LoCoMo-shaped JSON file, or a folder
conversations: list = []  # sample ids to keep; empty keeps all
top_k: int = 10  # memories a reply is given to read
limit: int = None  # first so many questions of each conversation

# %% tags=["remove-input"]
config = CostConfig.of_notebook("09_cost", globals())
folder = RunFolder(config)
config

# %% tags=["remove-input"]
report = cost.CostReport(folder)
cite(report.numbers())

# %% [markdown]
# ## Finding: cost against size (recorded)
#
# The smallest size is LoCoMo's; the others are ten, a hundred and up to 170 times as large.

# %% tags=["remove-input"] mystnb={"figure": {"name": "fig-size", "caption": "Processor time of one query against the number of memories (recorded). The dashed line is at 100 ms. Both axes are logarithmic."}, "image": {"alt": "Milliseconds of a query against the number of memories for word search, exact vector search and search by bits, with a line at 100 milliseconds."}}
None if report.growth.empty else figures.cost_against_size(report.growth)

# %% tags=["remove-input"]
report.exponents_table(
    "tab-exponents",
    "How costs grow: the power of the size that fits best (recorded). 1 is in step with the size, "
    "0 not at all.",
)

# %% tags=["remove-input"]
report.growth_table(
    "tab-growth",
    "Processor milliseconds by size (recorded). MB is what a search reads of the index, or what an "
    "index added to the process.",
)

# %% [markdown]
# *exact* compares the query with every vector. *bits* keeps the signs of the vectors after a random
# rotation, 48 bytes each, and compares the vectors with the most equal signs exactly; the vectors
# themselves may stay on disk. *usearch* is a library's graph of neighbours, measured where it is
# installed. The study itself uses *exact*: its conversations have hundreds of turns.
#
# ## This project against a plain script (recorded)
#
# The reference is written in `tests/bench` as one would write the published protocol down: every text
# encoded in a call of its own, every turn looked for in every returned memory, one query after another.
# Both ran in one process, and had to agree.

# %% tags=["remove-input"]
report.steps_table("tab-steps", "Each step and its reference, processor seconds (recorded).")

# %% [markdown]
# ## Writing: what model calls cost
#
# From the calls on record (`results/ledger`), with the small local model on one or two cores of a
# shared machine. A call's seconds grow with the tokens it reads and writes. What is not on record has
# no row: it was not run.

# %% tags=["remove-input"]
calls = cost.ledger_costs(project_root() / "results" / "ledger")
cost.ledger_table(folder, calls, "tab-calls", "Model calls on record, by what they are for.")

# %% [markdown]
# ## Reading: the whole history, or what was found
#
# A reply that is given the whole conversation reads more with every session. One that is given
# {glue:text}`top_k` turns does not. {numref}`tab-read` counts both for *{glue:text}`dataset`*, live.

# %% tags=["remove-input"]
corpus = load_corpus(config.dataset, conversations=config.conversations)
queries = build_queries(corpus, limit=config.limit)
reading = cost.reading_costs(corpus, queries, k=config.top_k)
folder.finish(corpus, queries=len(queries))
glue(folder, {"top_k": str(config.top_k), "dataset": corpus.name})

# %% tags=["remove-input"]
cost.reading_table(
    folder,
    reading,
    "tab-read",
    f"Tokens a reply would read: the whole history, or {config.top_k} turns found by words.",
)

# %% [markdown]
# ## Run this yourself
#
# ```bash
# make bench                                  # each step against its reference, and growth
# python -m tests.bench --data locomo --sizes 5882 58820 588200 1000000 --record    # as above
# unbidden run 09_cost --run mine -p dataset=locomo
# papermill notebooks/09_cost.ipynb out.ipynb -p top_k 20
# ```
