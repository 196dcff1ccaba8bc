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
#
# **Question.** Somebody takes for granted what is not so: "Is your boss at the bank still so strict?"
# to a friend who has left the bank. Does an agent with a memory hold on to the truth, go along, or
# avoid the matter?
#
# **Answer.** {glue:text}`headline_note` Agents that never look at anything must have no success:
# {glue:text}`fixed_note`. {glue:text}`trust_note` {glue:text}`detectable_note`

# %% tags=["remove-input"]
from unbidden.config import TeafarmConfig
from unbidden.corpus import load_corpus
from unbidden.llm.session import open_llm
from unbidden.report import figures
from unbidden.report.folder import RunFolder
from unbidden.report.glue import glue
from unbidden.report.judges import guarded
from unbidden.report.tables import NumberedTable, flat_note, shown_differences
from unbidden.report.teafarm import by_form, by_judge
from unbidden.report.teafarm import runs as tea_runs
from unbidden.report.teafarm import tables as teafarm
from unbidden.report.teafarm import text as teafarm_text
from unbidden.report.teafarm import trust as teafarm_trust

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
evidence: str = "paper"  # reading of evidence strings, for the oracle: paper or repaired
embedder: str = "all-MiniLM-L6-v2"  # sentence-transformers name or folder, or endpoint:MODEL
llm_mode: str = "replay"  # replay (no call), record (calls that are not on record) or live
answer_model: str = "qwen2.5-coder-1.5b"  # replies, and makes questions
judge_model: str = "qwen2.5-coder-1.5b"  # judges the replies
memory_model: str = "qwen2.5-coder-1.5b"  # summarises and links memories
local_model: str = ""  # a local model to serve while the chapter runs, unless it only replays
concurrency: int = 8  # calls in flight at once
call_seconds: float = 180.0  # to wait for one call; more for a slow model on a slow machine
max_calls: int = None  # budget
max_money: float = None  # budget, in the price table's currency
seed: int = 0  # of resampling

# %% tags=["remove-input"]
config = TeafarmConfig.of_notebook("07_teafarm", globals())
folder = RunFolder(config)
config

# %% tags=["remove-input"]
corpus = load_corpus(config.dataset, conversations=config.conversations)
llm = open_llm(config)
runs = tea_runs.run_teafarm(corpus, config, llm)
trust = teafarm_trust.trust_table(runs.trust)
judge = teafarm_trust.headline_judge(runs.talk, trust, config.judge_protocols[0])
outcomes = teafarm.outcomes(teafarm.of_judge(runs.talk, judge))
differences = teafarm.differences(teafarm.of_judge(runs.talk, judge), seed=config.seed)
numbers = teafarm_text.tea_numbers(config, runs, differences, trust, judge)
looking = outcomes[outcomes["system"].isin(teafarm.agents_of(runs.talk))]
glue(folder, {**numbers, "flat_note": flat_note(looking)})

# %% [markdown]
# ## The questions
#
# TeaFarm's published procedure summarises each session, has a model write one misleading question for
# each speaker with its true answer, and then a further session that leads to it. Small models write
# such questions poorly, and LoCoMo-Conv's counterfactual queries are the same thing: a message that
# takes a wrong version of the past for granted, with the truth. So {glue:text}`questions_own` questions
# are queries of that style, written for *{glue:text}`dataset`* by hand and spread over its
# conversations; they stand alone, without a further session. {glue:text}`questions_made` were made by
# the published procedure with {glue:text}`answer_model`. {glue:text}`questions_failed` All
# {glue:text}`questions` questions come from {glue:text}`conversations` conversations.
#
# ## Who is misled
#
# Each agent is the other speaker and says the next line of the talk, with what it remembers, at most
# {glue:text}`memory_tokens` tokens of it, in one prompt for all. **{glue:text}`answer_model`** replies.
# **{glue:text}`judge_model`** and a rule without a model judge; the figure and the tables up to the
# examples are by {glue:text}`headline_judge`, {glue:text}`choice_note` ({numref}`tab-tea-trust`). {glue:text}`model_note` *no-memory* sees the talk alone,
# *oracle* the turns that show the truth, *full-history* the last turns that fit. *theanine* reads its
# timelines as they are, without rewriting, which would take three calls a question. A reply that
# changes the subject or says that it does not know is *evasive*: no success, but not misled either.

# %% tags=["remove-input"] mystnb={"figure": {"name": "fig-misled", "caption": "Replies that are not misled, misled and evasive, by agent, with 95 % intervals clustered by conversation."}, "image": {"alt": "Share of replies that agree with the truth, go along with the false premise, or avoid it, for each agent with 95 percent intervals."}}
figure = figures.misled_shares(outcomes)
None if outcomes["n"].sum() == 0 else figure

# %% tags=["remove-input"]
folder.table("outcomes", outcomes)
NumberedTable(
    teafarm.shown_outcomes(outcomes),
    "tab-outcomes",
    "What agents say to misleading questions, % of replies with 95 % intervals; the first column "
    "of shares is the success rate.",
)

# %% [markdown]
# *Unscored* replies or verdicts failed; *not run* are not on record ({numref}`tab-missing`). Neither
# counts as zero. {glue:text}`flat_note` Paired differences from the agent without memory:

# %% tags=["remove-input"]
folder.table("differences", differences)
NumberedTable(
    shown_differences(differences, ["system"]) if len(differences) else differences,
    "tab-tea-differences",
    "Success minus that without memory, in points, paired by question; p corrected (Holm). "
    "Detectable: the true difference that such a test would find four times out of five.",
)

# %% tags=["remove-input"]
teafarm_text.TeaExamples(runs, judge)

# %% [markdown]
# *The first question of some conversations, the truth, and what each agent said, with the judge's
# label.*
#
# ## Three judges
#
# The paper's judge knows *correct* and *incorrect*; ours tells evasive from wrong and treats the reply
# as data. The published judge writes an analysis before its result. Neither of ours does: what is
# called the paper's here has its classes and criteria, without that step, which may cost it accuracy.
# The word rule needs no model. The same replies, judged by each:

# %% tags=["remove-input"]
judges = by_judge.rates(runs.talk)
folder.table("by_judge", judges)
NumberedTable(
    by_judge.shown_rates(judges),
    "tab-tea-judges",
    "Success rate by judge, %, with the number of replies scored. The last two agents always say the "
    "same and should have 0.",
)

# %% tags=["remove-input"]
agree = by_judge.judges_agree(runs.talk, judge)
folder.table("judges_agree", agree)
NumberedTable(
    by_judge.shown_judges_agree(agree),
    "tab-tea-agree",
    "How often two judges agree on success, % of replies that both judged. Detectable: the true "
    "difference of their success rates, in points, that so many replies would show four times out "
    "of five.",
)

# %% [markdown]
# {glue:text}`trust_note` The labelled set, and what it cannot show, is in the chapter on judges; it was
# written by a language model.

# %% tags=["remove-input"]
folder.table("trust", trust)
NumberedTable(
    teafarm_trust.shown_trust(trust),
    "tab-tea-trust",
    "Accuracy on the labelled replies of both rubrics used here, %: over all the judge scored, and "
    "beside the word rule's where both scored.",
)

# %% [markdown]
# {glue:text}`guard_note`

# %% tags=["remove-input"]
found = teafarm_text.guarded_replies(runs.talk, config.judge_protocols[0])
folder.table("guarded", found)
flagged = guarded.shown_guarded(found, "agent")
None if flagged.empty else NumberedTable(
    flagged,
    "tab-tea-guarded",
    "Replies that the judge's guards clipped or flagged, by agent; one reply may have several flags.",
)

# %% [markdown]
# ## The same question in the other form
#
# In LoCoMo-Conv's form the agent is an assistant that is sent the same message alone, and a reply that
# only doubts the premise counts half. Does who succeeds in one form succeed in the other?

# %% tags=["remove-input"]
folder.table("messages", runs.messages)
NumberedTable(
    by_form.shown_messages(runs.messages),
    "tab-tea-messages",
    "The same questions as LoCoMo-Conv's counterfactual queries, % of replies, and the mean score.",
)

# %% tags=["remove-input"]
forms = by_form.both_forms(teafarm.of_judge(runs.talk, judge), runs.messages)
folder.table("both_forms", forms)
NumberedTable(
    by_form.shown_both_forms(forms),
    "tab-tea-forms",
    "Success in each form, % of questions scored in both, and how often both forms give the same. "
    "Detectable: the true difference of the two, in points, found four times out of five.",
)

# %% [markdown]
# ## Beside the published numbers
#
# The paper asked 100 questions of each data set, with GPT models. Data, models and questions differ
# here, so the columns cannot be compared in size. At that number of questions THEANINE's lead over
# memory retrieval is within chance (p {glue:text}`published_p`, two proportions, both sets pooled).

# %% tags=["remove-input"]
published = teafarm_text.published_beside(outcomes, config.system_options)
folder.table("published", published)
folder.table("published_lead", teafarm_text.published_lead())
NumberedTable(
    published, "tab-tea-published", "TeaFarm's success rate, %: Table 4 of the paper, and this run."
)

# %% [markdown]
# ## What is not on record

# %% tags=["remove-input"]
folder.table("missing", runs.missing)
NumberedTable(
    teafarm.shown_missing(runs.missing),
    "tab-missing",
    "What this run would still have to ask (estimated), where it only replays.",
)

# %% [markdown]
# ## What this does not show
#
# * How larger models do. A small model often avoids the question whatever it is shown.
# * How agents do on Multi-Session Chat, which the paper used: its licence does not let us ship it. With
#   the files at hand, `-p dataset=msc -p made=50` makes questions by the published procedure.
# * What small talk does. In the paper a further session of ten turns or more leads to the question,
#   and its topics mislead the search; the questions converted from LoCoMo-Conv stand alone.
# * THEANINE with its timelines rewritten, or with a larger limit: at {glue:text}`memory_tokens` tokens
#   a long timeline leaves no room for a second.
# * Anything beyond these {glue:text}`conversations` conversations.
#
# ## Run this yourself
#
# ```bash
# unbidden plan 07_teafarm -p answer_model=MODEL             # calls, tokens and price
# unbidden run 07_teafarm --run mine -p llm_mode=record -p answer_model=MODEL -p judge_model=MODEL
# unbidden run 07_teafarm --run mine -p dataset=msc -p made=50 -p llm_mode=record -p utterances=[10,15]
# papermill notebooks/07_teafarm.ipynb out.ipynb -p judge_form json
# ```

# %% tags=["remove-cell"]
folder.items(tea_runs.all_items(runs))
if outcomes["n"].sum():
    folder.figure("misled", figure)
record = folder.finish(
    corpus,
    embedder=config.embedder,
    model=config.answer_model,
    judge=config.judge_model,
)
llm.close()
