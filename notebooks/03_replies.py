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

# %% tags=["remove-input"]
from unbidden.config_replies import RepliesConfig
from unbidden.corpus import load_corpus
from unbidden.llm.session import open_llm
from unbidden.report import figures, replyrun
from unbidden.report.folder import RunFolder
from unbidden.report.tables import NumberedTable

figures.use_style()

# %% tags=["parameters"]
run: str = "scratch"  # name of the run; results go to results/runs/<run>/03_replies
dataset: str = "harbour"  # harbour, locomo, locomo-conv, a LoCoMo-shaped JSON file, or a folder
conversations: list = []  # sample ids to keep; empty keeps all
styles: list = [
    "question",
    "dialog",
    "implicit",
    "counterfactual",
    "composed",
]  # query styles to ask
queries_per_style: int = 8  # drawn evenly over conversations; a larger sample holds smaller ones
systems: list = ["bm25", "dense", "rrf"]  # registry names or package.module:Class
conditions: list = ["oracle", "no_memory"]  # also random, oracle_context, all_memory, compressed,
# cot_select, cot_noselect, rewrite_convergent, rewrite_facets
condition_system: str = "rrf"  # system of compressed, cot_* and rewrite_*
top_k: int = 10  # memories a system is asked for
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
max_failed: float = 0.05  # a conversation of which a system lost more units is unscored for it
llm_mode: str = "replay"  # replay (no call), record (calls that are not on record) or live
answer_model: str = "qwen2.5-coder-1.5b"  # writes the replies
judge_model: str = "qwen2.5-coder-1.5b"  # judges them
memory_model: str = "qwen2.5-coder-1.5b"  # builds and compresses memories
rewriter_model: str = "qwen2.5-coder-1.5b"  # rewrites queries
local_model: str = ""  # a local model to serve while the chapter runs, unless it only replays
concurrency: int = 8  # calls in flight at once
max_calls: int = None  # budget
max_money: float = None  # budget, in the price table's currency
limit: int = None  # first so many questions of each conversation
seed: int = 0  # of the sample, of random turns and of tests

# %% tags=["remove-input"]
config = RepliesConfig.of(
    chapter="03_replies",
    run=run,
    dataset=dataset,
    conversations=conversations,
    styles=styles,
    queries_per_style=queries_per_style,
    systems=systems,
    conditions=conditions,
    condition_system=condition_system,
    top_k=top_k,
    memory_tokens=memory_tokens,
    answer_tokens=answer_tokens,
    wording=wording,
    judges=judges,
    judge_form=judge_form,
    judge_protocol=judge_protocol,
    rubrics=rubrics,
    evidence=evidence,
    embedder=embedder,
    settings=settings,
    system_options=system_options,
    max_failed=max_failed,
    llm_mode=llm_mode,
    answer_model=answer_model,
    judge_model=judge_model,
    memory_model=memory_model,
    rewriter_model=rewriter_model,
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
llm = open_llm(config)
replies = replyrun.make_replies(config, corpus, llm)

# %% tags=["remove-input"]
asked = replyrun.asking(config, llm)
items = replyrun.score_replies(config, corpus, replies.table, asked)
folder.items(items)
plan = replyrun.still_to_ask(config, corpus, replies.table, asked)
folder.table("plan", plan)
NumberedTable(
    replyrun.shown_plan(plan),
    "tab-plan",
    "Calls of this run and what is on record of them, estimated.",
)

# %% tags=["remove-cell"]
record = folder.finish(corpus, embedder=config.embedder, model=config.answer_model)
llm.close()
