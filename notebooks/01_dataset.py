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
# # What is in the data?
#
# **Question.** What do the conversations hold, which of their questions can be scored, and how do
# the four conversational styles differ from the plain questions they were made from?
#
# **Answer.** The styles differ first of all in words. A plain question shares
# {glue:text}`overlap_question` % of its content words with the turns that answer it; an implicit
# query, which only describes a situation, shares {glue:text}`overlap_implicit` %. What word search
# can find shrinks with it. (Measured on the data set of this run, *{glue:text}`dataset`*.)

# %% tags=["remove-input"]
from unbidden.config import RunConfig
from unbidden.corpus import load_corpus
from unbidden.corpus.audit import audit
from unbidden.queries.build import build_queries
from unbidden.queries.clusters import count_pairs
from unbidden.queries.overlap import overlap_items
from unbidden.recorded import has_recorded, recorded_numbers, recorded_table
from unbidden.report import figures, overview
from unbidden.report.folder import RunFolder
from unbidden.report.glue import cite, glue
from unbidden.report.headline import dataset_numbers
from unbidden.report.summary import means
from unbidden.report.tables import NumberedTable, points

figures.use_style()

# %% tags=["parameters"]
run: str = "scratch"  # name of the run; results go to results/runs/<run>/01_dataset
dataset: str = "harbour"  # harbour, locomo, locomo-conv, a LoCoMo-shaped JSON file, or a folder
conversations: list = []  # sample ids to keep; empty keeps all
evidence: str = "paper"  # paper (split on ";" only) or repaired


# %% tags=["remove-input"]
config = RunConfig.of(
    chapter="01_dataset",
    run=run,
    dataset=dataset,
    conversations=conversations,
    evidence=evidence,
)
folder = RunFolder(config)
config

# %% tags=["remove-input"]
corpus = load_corpus(config.dataset, conversations=config.conversations)
queries = build_queries(corpus, styles=config.styles, evidence=config.evidence)
found = audit(corpus)
pairs = {policy: count_pairs(corpus.conversations, policy) for policy in ("paper", "repaired")}
overlap = overlap_items(corpus, queries)
shared = means(overlap[overlap["category"].ne(5).fillna(True)], ["style"])
glue(
    folder,
    {
        **dataset_numbers(found, pairs),
        **{f"overlap_{row.style}": points(row.mean, 0) for row in shared.itertuples(index=False)},
        "dataset": corpus.name,
    },
)

# %% tags=["remove-input"] mystnb={"figure": {"name": "fig-overlap", "caption": "Share of a query's content words that occur in its gold turns, by style, with 95 % intervals clustered by conversation. Category 5 is left out."}, "image": {"alt": "Bar chart of the share of a query's content words that occur in its gold turns, for plain questions and the four conversational styles."}}
figure = figures.overlap_by_style(shared)
folder.figure("overlap_by_style", figure)
figure

# %% [markdown]
# ## What this run's data set holds
#
# A *turn* is one utterance. A question's *gold turns* are those its annotators cite. How many
# questions a mean is taken over depends on a rule that studies seldom state, so every rule is in
# {numref}`tab-counts` by name. Ours is *answerable with evidence*: a question of category 5 has no
# answer in the conversation, and without cited turns there is nothing to find.

# %% tags=["remove-input"]
counts = overview.counts_table(found, pairs)
folder.table("counts", counts)
NumberedTable(counts, "tab-counts", f"What {corpus.name} holds.")

# %% tags=["remove-input"]
styles = overview.styles_table(queries, overlap)
folder.table("styles", styles)
NumberedTable(styles, "tab-styles", "Queries by style.")

# %% tags=["remove-input"]
categories = overview.categories_table(found)
folder.table("categories", categories)
NumberedTable(
    categories,
    "tab-categories",
    "Questions by conversation and category. The names follow LoCoMo's own evidence: multi-hop "
    "questions cite turns of several sessions, single-hop ones do not.",
)

# %% [markdown]
# ## What is irregular
#
# Nothing below was guessed or silently dropped. Under the `paper` policy evidence strings are split
# at ";" only, as in LoCoMo-Conv. Under `repaired`, several ids in one string are separated,
# `D:11:26` and `D30:05` are read as the turns they mean, and what names no turn is dropped.

# %% tags=["remove-input"]
irregular = overview.irregularities_table(found)
folder.table("irregularities", irregular)
NumberedTable(irregular, "tab-irregular", f"Irregularities of {corpus.name}.")

# %% [markdown]
# ## LoCoMo, recorded
#
# The real data may not be copied into this book. These counts were taken from the official file
# (pinned by its sha256) and kept as numbers. LoCoMo has {glue:text}`locomo_conversations`
# conversations with {glue:text}`locomo_turns` turns and {glue:text}`locomo_questions` questions, of
# which {glue:text}`locomo_scored` are answerable and cite evidence. Pairs of questions with
# overlapping evidence, from which composed queries are made, number
# {glue:text}`locomo_pairs_paper` under the paper's reading of the evidence, the paper's own figure,
# and {glue:text}`locomo_pairs_repaired` once malformed ids are repaired.

# %% tags=["remove-input"]
recorded = has_recorded("locomo", "01_dataset")
cite(recorded_numbers("locomo", "01_dataset") if recorded else {})
NumberedTable(
    recorded_table("locomo", "01_dataset", "irregularities") if recorded else irregular[:0],
    "tab-locomo-irregular",
    "Irregularities of the official LoCoMo file, as recorded.",
)

# %% [markdown]
# ## Limits
#
# * `harbour`, the embedded data set, was written for this project with the help of a language
#   model and read by a second one. It is small and cleaner than real chat: use it to try things,
#   and LoCoMo to conclude.
# * Of LoCoMo-Conv's rewritten queries, those of one conversation (conv-26) were at hand here.
# * Evidence is what annotators cited. Other turns may serve as well; LoCoMo-Conv's
#   `supportive_memory` is an attempt to list them.
#
# ## Run this yourself
#
# ```bash
# unbidden data get locomo
# unbidden run 01_dataset --run mine -p dataset=locomo
# ```

# %% tags=["remove-cell"]
folder.items(overlap.drop(columns="words"), "overlap")
record = folder.finish(corpus)
