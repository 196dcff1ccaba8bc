"""The files of the public releases: address, licence, sha256 and size of each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """One file of one public release.

    Attributes
    ----------
    sha256 : str or None
        None where we could not obtain the file to measure it; then `get` wants the hash from the
        reader, and the content checks stand in for it.
    size : int or None
        Bytes.
    """

    folder: str
    file: str
    url: str
    licence: str
    sha256: str | None = None
    size: int | None = None


_LOCOMO = "https://raw.githubusercontent.com/snap-research/locomo"
_CONV = "https://raw.githubusercontent.com/MiuLab/LoCoMo-Conv"
_CONV_COMMIT = "d133260c021d5ba763628a5d00fe5364c94787a1"

_THEANINE = "https://raw.githubusercontent.com/talzoomanzoo/theanine-geval"
_THEANINE_COMMIT = "efa0d5e9974bbde3e8845dc5717ad160f086ab36"
_THEANINE_FILES = (
    (
        "session_5/session_5/cc_comedy.json",
        "466f2e0068012d8ac5a48f4ad287ed67b248b979cb4d1fcdaa8aa66df1b04895",
        1_536_804,
    ),
    (
        "session_5/session_5/cc_memochat_transform.json",
        "73826a844daf99c7f58800a389f887d871fc7f8b0b4632e2a17d82834380283a",
        2_357_083,
    ),
    (
        "session_5/session_5/cc_ret_summary.json",
        "5ee15ae8afe4c56b5c098b73075cffd8a4915fab1fe5282452f1f49ac1db08dc",
        1_568_440,
    ),
    (
        "session_5/session_5/cc_ret_update_transform.json",
        "d284daedf5963ce19cf6fa37ea78400872d493440d1954e8d9b941b9f2de52b1",
        954_385,
    ),
    (
        "memory_file/cc_summary.json",
        "63d86c342ef4cb5d085af98bda8ca21d64ad3212294874a87e72fc5c4e056294",
        652_085,
    ),
    (
        "session_5/session_5/cc_theanine.json",
        "13f062169959ff0b83a3005ad4c3ceaab7076a909fccdbaf4f90d5ee1192ff46",
        951_345,
    ),
    (
        "session_5/session_5/msc_comedy.json",
        "f3bcb46c3f58185f125b4941ba334e3391bd773248a57f192fef5551d1bc93a9",
        1_472_155,
    ),
    (
        "session_5/session_5/msc_memochat_transform.json",
        "1558aef1e3bc1db862cede8f5a68be047d953499b807d76d51e112d25599633f",
        2_535_959,
    ),
    (
        "session_5/session_5/msc_ret_summary.json",
        "80faa31a75d20a15733679e9f19541f1550f42424c6ae0aaf68d47446bf4f058",
        1_503_565,
    ),
    (
        "session_5/session_5/msc_ret_update_transform.json",
        "2da79a24304db339fec2d72e7957121d3af5119e250438c307e59e84b61420ce",
        979_797,
    ),
    (
        "memory_file/msc_summary.json",
        "a03728b7f357daa1cda913a3584311113c19e9e4c0f878fa5d4c09860d818d68",
        705_524,
    ),
    (
        "session_5/session_5/msc_theanine.json",
        "808b691f07083f9a50bf811a1c2c147e19120f69460a7ac054fbe21052b594c7",
        949_706,
    ),
)
_SAMPLE = Source(
    "theanine",
    "msc_sample_episode.json",
    "https://raw.githubusercontent.com/kimnamssya/Theanine/"
    "650797962eacd28f07b34a351b655303f1c8533d/resources/data/sample_dialogue.json",
    "none stated",
    "2a8a953bc3f32d87fee7c87e5699a424635f4ec9506ae8eb90a42052bd9d9597",
    10_095,
)
_AUDIT = "https://raw.githubusercontent.com/dial481/locomo-audit/9493fb4b4af4256ed17a18e8fd0b3cfdeec29539"
_AUDIT_FILES = (
    (
        "full_context.gpt-4.1-mini-cot.json",
        "fc-baseline/results/gpt-4.1-mini-cot/eval_results.json",
        "7fa10ba1d8976bdc215172f9d4e1840c015644b28e8e97de840b690051e354f3",
        1_234_689,
    ),
    (
        "full_context.gpt-4o-mini-memos.json",
        "fc-baseline/results/gpt-4o-mini-memos/eval_results.json",
        "1c55eb0ee66f9eb784c222ec54492cc39702652baa4e6c66b7fb89a7bb8a3d8f",
        632_147,
    ),
    (
        "plausible_wrong.v1.json",
        "ap-baseline/v1/ap_eval_results_scored.json",
        "a83882eda3ff02fd04dace6edddd0ceed533a245fedb3069ffde02a9503c4e3a",
        656_280,
    ),
    (
        "plausible_wrong.v2.json",
        "ap-baseline/v2/ap_eval_results_scored.json",
        "3c32acbdcf667967a4e1f9f541b06566ae5e7361dc92f79f9043af7d068adc6b",
        645_227,
    ),
)
_CHRONICLES = "https://huggingface.co/datasets/jihyoung/ConversationChronicles"
_CHRONICLES_COMMIT = "9639b3552594a612ceafa76238a34f0f6eeaa207"

SOURCES: dict[str, tuple[Source, ...]] = {
    "locomo": (
        Source(
            "locomo",
            "locomo10.json",
            f"{_LOCOMO}/3eb6f2c585f5e1699204e3c3bdf7adc5c28cb376/data/locomo10.json",
            "CC BY-NC 4.0",
            "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4",
            2_805_274,
        ),
    ),
    "locomo-conv": tuple(
        Source("locomo-conv", name, f"{_CONV}/{_CONV_COMMIT}/data/{name}", "none stated")
        for name in ("locomo10_dialog.json", "locomo10_multimem_full.json")
    ),
    "msc": (
        Source(
            "msc",
            "msc_v0.1.tar.gz",
            "https://parl.ai/downloads/msc/msc_v0.1.tar.gz",
            "none stated for the data",
            # As the data's own build file in ParlAI states it; we could not measure it.
            "e640e37cf4317cd09fc02a4cd57ef130a185f23635f4003b0cee341ffcb45e60",
        ),
    ),
    "cc": (
        Source(
            "cc",
            "test.jsonl",
            f"{_CHRONICLES}/resolve/{_CHRONICLES_COMMIT}/test.jsonl",
            "CC BY 4.0",
        ),
    ),
    "locomo-audit": tuple(
        Source("locomo-audit", name, f"{_AUDIT}/{path}", "CC BY-NC 4.0", sha256, size)
        for name, path, sha256, size in _AUDIT_FILES
    ),
    "theanine": (
        *(
            Source(
                "theanine",
                path.rpartition("/")[2],
                f"{_THEANINE}/{_THEANINE_COMMIT}/{path}",
                "none stated",
                sha256,
                size,
            )
            for path, sha256, size in _THEANINE_FILES
        ),
        _SAMPLE,
    ),
}

KNOWN_VARIANTS = {
    "589a37f5dd7d83ce20f35d1100894b8ddac910bbf0e62c0c6f82e0d793fefbc8": (
        "the copy inside MemInsight: an acronym is replaced by 'SD' in conv-26, and the order of "
        "conversations differs"
    ),
    "6c679a67d5227e44cea271180fff24e5afcbee3fdf794fc7a751679cdaf2234b": "an edited copy",
    "2e570ce748611d20f388559de30508dbeb8025db12f881b2de8d6561446f197e": "an edited copy",
    "5805543832119db9211e197274ce334093ad2d01b2c666fbaee58e07d1d55820": "an edited copy",
    "fd11a0db4af967c38e18c3ef44beca2935fb634d6dac92b1527f2556fbdb924a": "an edited copy",
    "8f941d1c22ab3dee4cb72521fbccc82d24c30208590a15b0b4005a2f927ff769": (
        "dial481/locomo at its newest commit: 26 questions edited, one removed"
    ),
}
"""Files that go by the name locomo10.json and are not the official one."""
