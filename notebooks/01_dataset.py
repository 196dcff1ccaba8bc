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
import pandas as pd

from unbidden.config import RunConfig
from unbidden.corpus import load_corpus
from unbidden.corpus.audit import audit
from unbidden.queries import audit as queries_audit
from unbidden.queries.build import build_queries
from unbidden.queries.clusters import count_pairs
from unbidden.queries.duplicates import near_duplicates
from unbidden.queries.overlap import overlap_items
from unbidden.queries.supportive.tables import layer_overlap, layer_size
from unbidden.recorded import has_recorded, recorded_numbers, recorded_view
from unbidden.report import figures
from unbidden.report.dataset import overview
from unbidden.report.dataset import tables as shown
from unbidden.report.dataset.construction import ConstructionReport
from unbidden.report.folder import RunFolder
from unbidden.report.glue import cite, glue
from unbidden.report.headline import dataset_numbers, leak_numbers
from unbidden.report.retrieval.supportive import layer_of, supportive_recall
from unbidden.report.summary import means
from unbidden.report.tables import NumberedTable, points

figures.use_style()

# %% tags=["parameters"]
run: str = "scratch"  # name of the run; results go to results/runs/<run>/01_dataset
dataset: str = "harbour"  # harbour, locomo, locomo-conv, a LoCoMo-shaped JSON file, or a folder
conversations: list = []  # sample ids to keep; empty keeps all
evidence: str = "paper"  # paper (split on ";" only) or repaired


# %% tags=["remove-input"]
config = RunConfig.of_notebook("01_dataset", globals())
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
        **leak_numbers(corpus),
        **{f"overlap_{row.style}": points(row.mean, 0) for row in shared.itertuples(index=False)},
        "dataset": corpus.name,
    },
)

# %% tags=["remove-input"] mystnb={"figure": {"name": "fig-overlap", "caption": "Share of a query's content words that occur in its gold turns, by style, with 95 % intervals, clustered by conversation where there are several. Category 5 is left out."}, "image": {"alt": "Bar chart of the share of a query's content words that occur in its gold turns, for plain questions and the four conversational styles."}}
figure = figures.overlap_by_style(shared)
folder.table("overlap", shared)
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
folder.table("nested", overview.nested_table(corpus))
NumberedTable(counts, "tab-counts", f"What {corpus.name} holds.")

# %% tags=["remove-input"]
by_style = overview.styles_table(queries, overlap)
folder.table("styles", by_style)
NumberedTable(by_style, "tab-styles", "Queries by style.")

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
# ## Do the queries give their answers away?
#
# A query that already holds the answer tests nothing. The paper measures leaks by substrings of
# answer words of more than three letters. The *repaired* measure compares word stems, numbers and
# dates in both languages; *beyond the question* leaves out words that the plain question has too.
# The mean is the share of answer words that a query holds, in points; the other column the share of
# queries that hold more than a tenth.

# %% tags=["remove-input"]
query_table = queries_audit.query_items(corpus)
leaks = queries_audit.leak_items(query_table)
leak_rates = queries_audit.leak_rates(leaks)
folder.table("leaks", leak_rates)
NumberedTable(shown.shown_leaks(leak_rates), "tab-leaks", f"Leaks of the queries of {corpus.name}.")

# %% tags=["remove-input"]
NumberedTable(
    shown.shown_leaky(leaks, query_table),
    "tab-leaky",
    "The composed queries that give most away, by the repaired measure.",
)

# %% [markdown]
# The same for the released LoCoMo-Conv queries about conv-26, recorded. *First* are the 30 clusters
# of the paper's first build, *extension* those added later, whose leaks the paper repaired by its own
# measure. By words, the repaired extension gives away more than the first build does:
# {glue:text}`locomo_leak_extension` % of its queries hold more than a tenth of their answers' words,
# against {glue:text}`locomo_leak_first` %. {glue:text}`locomo_nested` % of all
# {glue:text}`locomo_pairs_paper` pairs are nested: one question's evidence holds the other's.

# %% tags=["remove-input"]
recorded = has_recorded("locomo", "01_dataset")
cite(recorded_numbers("locomo", "01_dataset") if recorded else {})
NumberedTable(
    recorded_view("locomo", "01_dataset", shown.shown_leaks, "leaks"),
    "tab-locomo-leaks",
    "Leaks of LoCoMo-Conv's queries about conv-26 (recorded).",
)

# %% [markdown]
# ## What the queries are like
#
# A direct request should ask for a memory; the other styles should not. A counterfactual query should
# state the wrong value it was made to assert, and hold no word of the right one.

# %% tags=["remove-input"]
lengths = queries_audit.lengths(query_table)
cues = queries_audit.cue_rates(query_table)
folder.table("lengths", lengths)
folder.table("cues", cues)
NumberedTable(shown.shown_lengths(lengths, cues), "tab-lengths", f"Length and cues, {corpus.name}.")

# %% tags=["remove-input"]
premises = queries_audit.false_premises(corpus)
folder.table("premises", premises)
NumberedTable(shown.shown_premises(premises), "tab-premises", f"False premises, {corpus.name}.")

# %% tags=["remove-input"]
naturalness = queries_audit.naturalness_counts(corpus)
folder.table("naturalness", naturalness)
NumberedTable(
    shown.shown_naturalness(naturalness),
    "tab-naturalness",
    f"How naturally a fact can be asked for outright, as the writer judged, {corpus.name}.",
)

# %% tags=["remove-input"]
NumberedTable(
    recorded_view("locomo", "01_dataset", shown.shown_lengths, "lengths", "cues"),
    "tab-locomo-lengths",
    "Length and cues of LoCoMo-Conv's queries about conv-26 (recorded).",
)

# %% tags=["remove-input"]
NumberedTable(
    recorded_view("locomo", "01_dataset", shown.shown_premises, "premises"),
    "tab-locomo-premises",
    "False premises of LoCoMo-Conv's counterfactual queries about conv-26 (recorded).",
)

# %% tags=["remove-input"]
alike = near_duplicates(queries)
folder.table("near_duplicates", alike)
glue(
    folder,
    {"near_duplicates": str(len(alike)), "same_words": str(int((alike["jaccard"] == 1).sum()))},
)

# %% [markdown]
# Near-duplicates (same style, at least half of their character five-grams shared): here
# {glue:text}`near_duplicates` pairs, {glue:text}`same_words` of them with the very same words; on
# LoCoMo and conv-26 {glue:text}`locomo_near_duplicates`, of which {glue:text}`locomo_same_words` are the
# same words, most of them category 5 twins of an answerable question.
#
# ## Supportive memory
#
# Other turns than the cited ones may help a reply. LoCoMo-Conv lists such turns: those that a system
# cited in a reply which a judge found at least as good as the reply from gold turns. The systems that
# are compared later thus choose part of what they are compared by. The held-out layer drops the votes
# of the systems under test. (Recorded, first 30 questions of conv-26.)

# %% tags=["remove-input"]
layer = layer_of(config.dataset, corpus)
if layer is not None:
    under_test = [name for name in ("BM25", "Dense") if name in layer.systems]
    layers = {"as released": layer, "BM25 and Dense held out": layer.without(under_test)}
    folder.table("supportive", layer_size(layers))
    folder.table("supportive_overlap", layer_overlap(layer))
    for name, file in (("as released", "circular"), ("BM25 and Dense held out", "held_out")):
        found_recall = supportive_recall(corpus, layers[name], ["bm25", "dense"], k=10)
        folder.table(f"supportive_recall_{file}", means(found_recall, ["metric", "system"]))
NumberedTable(
    recorded_view("locomo", "01_dataset", shown.shown_supportive, "supportive"),
    "tab-supportive",
    "Size of the supportive layer, as released and with the systems under test held out (recorded).",
)

# %% tags=["remove-input"]
NumberedTable(
    recorded_view(
        "locomo", "01_dataset", shown.shown_supportive_recall, "supportive_recall_circular"
    ),
    "tab-supportive-circular",
    "Recall@10 of implicit queries against the layer as released, % (recorded).",
)

# %% tags=["remove-input"]
NumberedTable(
    recorded_view(
        "locomo", "01_dataset", shown.shown_supportive_recall, "supportive_recall_held_out"
    ),
    "tab-supportive-held-out",
    "Recall@10 of implicit queries against the held-out layer, % (recorded).",
)

# %% [markdown]
# ## Building queries with a model
#
# The library rewrites questions, composes pairs, repairs leaks and filters by a model's verdict and
# by word checks, on any LoCoMo-shaped data. What follows replays recorded calls of a **small local
# model** ({glue:text}`construction_model`) on one conversation of `harbour`: it shows that the path
# works and how often such a model fails, and says nothing about larger ones. It wrote a query of each
# style for all {glue:text}`construction_questions` questions and {glue:text}`construction_groups`
# pairs, with {glue:text}`construction_attempts`; of {glue:text}`construction_asked` queries,
# {glue:text}`construction_kept` passed every check ({numref}`tab-construction`). For
# {glue:text}`three_questions` questions it had {glue:text}`three_attempts`, and
# {glue:text}`three_kept` of {glue:text}`three_asked` passed ({numref}`tab-construction-three`). The
# judge is the same model. The hand-written queries of `harbour` stay the ones that are measured.

# %% tags=["remove-input"]
construction = ConstructionReport("repaired")
three = ConstructionReport("repaired-three", "three")
glue(folder, {**construction.numbers, **three.numbers})
construction.table(
    "tab-construction", "Queries built by a small local model for one conversation (replayed)."
)

# %% tags=["remove-input"]
three.table(
    "tab-construction-three",
    "Queries it built for a few questions, with further attempts (replayed).",
)

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
NumberedTable(
    recorded_view("locomo", "01_dataset", pd.DataFrame, "irregularities"),
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
