"""TeaFarm: whether an agent can be misled about its own past (THEANINE, section 4).

Items are made by a model (`make_items`) or taken from counterfactual queries (`items_of`), agents
reply (`tea_replies`, `fixed_replies`), and `unbidden.judge.teafarm` says whether they were misled.
"""

from unbidden.reply.fixed import FIXED
from unbidden.reply.teafarm.convert import from_question, items_of, to_question, with_items
from unbidden.reply.teafarm.items import TeaItem, read_items, write_items
from unbidden.reply.teafarm.making import make_items
from unbidden.reply.teafarm.replies import TeaReply, fixed_replies, tea_replies

__all__ = [
    "FIXED",
    "TeaItem",
    "TeaReply",
    "fixed_replies",
    "from_question",
    "items_of",
    "make_items",
    "read_items",
    "tea_replies",
    "to_question",
    "with_items",
    "write_items",
]
