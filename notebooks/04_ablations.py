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
# # What really moves the numbers?
#
# **Question.** Ablations.

# %% tags=["remove-input"]
from unbidden.config_ablations import AblationsConfig
from unbidden.corpus import load_corpus
from unbidden.llm.session import open_llm
from unbidden.queries.build import build_queries
from unbidden.queries.sampling import sample_queries
from unbidden.report import figures
from unbidden.report.ablations import rewriting
from unbidden.report.folder import RunFolder
from unbidden.report.tables import NumberedTable
from unbidden.retrieval.rewriting import rewrite_grid

figures.use_style()

# %% tags=["parameters"]
run: str = "scratch"  # name of the run; results go to results/runs/<run>/04_ablations
dataset: str = "harbour"  # harbour, locomo, locomo-conv, a LoCoMo-shaped JSON file, or a folder
conversations: list = []  # sample ids to keep; empty keeps all
systems: list = [
    "bm25",
    "dense",
    "rrf",
    "msc-retrieval",
    "theanine",
]  # registry names: searched with rewritten queries, and drawn against K and budgets
variants: list = []  # searches without a model to compare; empty means all
styles: list = [
    "question",
    "dialog",
    "implicit",
    "counterfactual",
    "composed",
]  # query styles to ask
top_k: int = 10  # K of the tables
ks: list = [1, 2, 5, 10, 20, 50]  # every K of the curves
turn_budgets: list = [5, 10, 20, 40]  # recall at so many distinct turns
token_budgets: list = [150, 300, 600, 1200, 2400]  # recall at so many shown tokens
protocol: str = "paper"  # text form of a turn: paper or repaired
evidence: str = "paper"  # reading of evidence strings: paper or repaired
embedder: str = "all-MiniLM-L6-v2"  # sentence-transformers name or folder, or endpoint:MODEL
system_options: dict = {"theanine": {"dialogues": "none"}}  # options of single systems
queries_per_style: int = 6  # queries of each style that are rewritten; the plain question is not
rewrite_conversations: list = []  # whose queries are rewritten; empty means the first two
facet_depth: int = 20  # memories each rewritten text is searched for
rebuilds: int = 3  # times each index is built anew
draw_seeds: int = 5  # seeds of drawing timelines
faults: list = []  # rows of the fault ledger; empty means all
real: str = "recorded"  # effects on real data: recorded, or measure (needs the files)
fault_system: str = "bm25"  # whose recall the switches of retrieval move: bm25, dense or rrf
resamples: int = 999  # behind bootstrap intervals
llm_mode: str = "replay"  # replay (no call), record (calls that are not on record) or live
answer_model: str = "qwen2.5-coder-1.5b"  # rewrites the messages
memory_model: str = "qwen2.5-coder-1.5b"  # wrote the summaries
local_model: str = ""  # a local model to serve while the chapter runs, unless it only replays
concurrency: int = 8  # calls in flight at once
max_calls: int = None  # budget
max_money: float = None  # budget, in the price table's currency
limit: int = None  # first so many questions of each conversation
seed: int = 0  # of samples and of resampling

# %% tags=["remove-input"]
config = AblationsConfig.of(
    chapter="04_ablations",
    run=run,
    dataset=dataset,
    conversations=conversations,
    systems=systems,
    variants=variants,
    styles=styles,
    top_k=top_k,
    ks=ks,
    turn_budgets=turn_budgets,
    token_budgets=token_budgets,
    protocol=protocol,
    evidence=evidence,
    embedder=embedder,
    system_options=system_options,
    queries_per_style=queries_per_style,
    rewrite_conversations=rewrite_conversations,
    facet_depth=facet_depth,
    rebuilds=rebuilds,
    draw_seeds=draw_seeds,
    faults=faults,
    real=real,
    fault_system=fault_system,
    resamples=resamples,
    llm_mode=llm_mode,
    answer_model=answer_model,
    memory_model=memory_model,
    local_model=local_model,
    concurrency=concurrency,
    max_calls=max_calls,
    max_money=max_money,
    limit=limit,
    seed=seed,
)
folder = RunFolder(config)
config

# %% tags=["remove-input"]
corpus = load_corpus(config.dataset, conversations=config.conversations)
queries = build_queries(corpus, styles=config.styles, evidence=config.evidence, limit=config.limit)
llm = open_llm(config)
sample = rewriting.sampled(corpus, queries, config)
rewritten = rewrite_grid(
    llm,
    corpus,
    sample,
    config.systems,
    k=config.top_k,
    depth=config.facet_depth,
    protocol=config.protocol,
    embedder=config.embedder,
    per_system=config.system_options,
)
folder.items(rewritten.items, "rewritten")
effects = rewriting.rewriting_effects(rewritten, seed=config.seed)
folder.table("rewriting", effects)
NumberedTable(
    rewriting.shown_effects(effects, rewritten),
    "tab-rewriting",
    f"Recall@{config.top_k} of rewritten messages, paired with the message as written.",
)

# %% tags=["remove-cell"]
record = folder.finish(corpus, embedder=config.embedder, model=config.answer_model)
llm.close()
