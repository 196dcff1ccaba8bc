from unbidden.memory import IngestReport, Retrieved, SystemInfo


class Shared:
    info = SystemInfo("shared", "this guide", False, "exact", "Apache-2.0")

    def ingest(self, conversation):
        self.turns = conversation.turns
        return IngestReport(units=len(self.turns), memories=len(self.turns))

    def search(self, query, *, k, speaker=None):
        words = set(query.lower().split())
        hits = [
            Retrieved(turn.text, (turn.id,), len(words & set(turn.text.lower().split())))
            for turn in self.turns
        ]
        return sorted(hits, key=lambda hit: -hit.score)[:k]
