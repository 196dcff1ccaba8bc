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
# # Can an agent be misled about its own past?

# %% tags=["remove-input"]
from unbidden.config_teafarm import TeafarmConfig
from unbidden.corpus import load_corpus
from unbidden.llm.session import open_llm
from unbidden.report import figures, tea_runs
from unbidden.report.folder import RunFolder

figures.use_style()

# %% tags=["parameters"]
run: str = "scratch"  # name of the run; results go to results/runs/<run>/07_teafarm
dataset: str = "harbour"  # harbour; msc, cc or a file of their form, whose questions a model makes
conversations: list = []  # ids to keep; empty keeps all
systems: list = ["dense", "bm25", "full-history", "msc-retrieval", "theanine"]  # that reply
system_options: dict = {"theanine": {"dialogues": "none"}}  # options of single systems, by name
per_conversation: int = 7  # counterfactual queries of each conversation that are asked
made: int = 2  # first so many conversations of which a model makes two questions each
utterances: list = [4, 6]  # length of a made session; 10 to 15 as published
top_k: int = 4  # memories a system is asked for (3 timelines, 6 summary sentences as published)
memory_tokens: int = 300  # most tokens of the memories in a prompt
reply_tokens: int = 60  # most tokens of a reply
search_with: str = "dialogue"  # search with the whole further session, or the question alone
asked_systems: list = ["dense"]  # systems that are also asked in LoCoMo-Conv's form
judge_form: str = "likelihood"  # how the judge is asked: json, word or likelihood
judge_protocols: list = ["repaired", "paper"]  # our rubric and the paper's; first the headline
embedder: str = "all-MiniLM-L6-v2"  # sentence-transformers name or folder, or endpoint:MODEL
llm_mode: str = "replay"  # replay (no call), record (calls that are not on record) or live
answer_model: str = "qwen2.5-coder-1.5b"  # replies, and makes questions
judge_model: str = "qwen2.5-coder-1.5b"  # judges the replies
memory_model: str = "qwen2.5-coder-1.5b"  # summarises and links memories
local_model: str = ""  # a local model to serve while the chapter runs, unless it only replays
concurrency: int = 8  # calls in flight at once
max_calls: int = None  # budget
max_money: float = None  # budget, in the price table's currency
seed: int = 0  # of resampling

# %% tags=["remove-input"]
config = TeafarmConfig.of(
    chapter="07_teafarm",
    run=run,
    dataset=dataset,
    conversations=conversations,
    systems=systems,
    system_options=system_options,
    per_conversation=per_conversation,
    made=made,
    utterances=utterances,
    top_k=top_k,
    memory_tokens=memory_tokens,
    reply_tokens=reply_tokens,
    search_with=search_with,
    asked_systems=asked_systems,
    judge_form=judge_form,
    judge_protocols=judge_protocols,
    embedder=embedder,
    llm_mode=llm_mode,
    answer_model=answer_model,
    judge_model=judge_model,
    memory_model=memory_model,
    local_model=local_model,
    concurrency=concurrency,
    max_calls=max_calls,
    max_money=max_money,
    seed=seed,
)
folder = RunFolder(config)
config

# %% tags=["remove-input"]
corpus = load_corpus(config.dataset, conversations=config.conversations)
llm = open_llm(config)
runs = tea_runs.run_teafarm(corpus, config, llm)

# %% tags=["remove-cell"]
record = folder.finish(corpus, embedder=config.embedder, model=config.answer_model)
llm.close()
