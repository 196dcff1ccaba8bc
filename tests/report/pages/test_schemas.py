"""The page of schemas says what the files really hold."""

import pyarrow.parquet as pq

from tests.conftest import ROOT
from tests.report.comparing.conftest import item, project, write_run  # noqa: F401
from unbidden.report.comparing import open_run
from unbidden.report.pages.schemas import chapter_schemas, descriptions, schema_page, schemas_of
from unbidden.report.tables import escape_markdown
from unbidden.retrieval.rows import GOLD_COLUMNS, RANKING_COLUMNS


def test_the_page_has_the_columns_of_the_recorded_files(monkeypatch):
    monkeypatch.chdir(ROOT)
    schemas = {(schema.chapter, schema.file): schema for schema in schemas_of("default")}
    recorded = sorted((ROOT / "results" / "recorded").glob("*/[0-9]*/*.parquet"))
    assert recorded
    for path in recorded:
        real = pq.read_schema(path)
        schema = schemas[path.parent.name, path.name]
        if "default" not in {p.name for p in (ROOT / "results" / "runs").glob("*")}:
            assert [column.name for column in schema.columns] == real.names
        for column in schema.columns:
            assert column.about, f"lib/unbidden/report/columns.yaml lacks {column.name!r}"
    page = schema_page(list(schemas.values()))
    assert "02\\_retrieval\\: items\\.parquet" in page
    for (_, file), _schema in schemas.items():
        if file.startswith("tables/"):
            assert f"| {escape_markdown(file)} |" in page


def test_kinds_and_missing_values(project):  # noqa: F811
    write_run(project, "mine", [item("a#1", 1.0), item("a#2", None, unscored="why")])
    (schema,) = chapter_schemas(open_run("mine")["02_retrieval"])
    columns = {column.name: (column.kind, column.missing) for column in schema.columns}
    assert columns["value"] == ("number", True)
    assert columns["k"] == ("integer", False)
    assert columns["category"] == ("integer", False)
    assert columns["style"] == ("text", False)


def test_columns_a_chapter_writes_are_described():
    from unbidden.retrieval.score import ITEM_COLUMNS

    missing = {*ITEM_COLUMNS, *RANKING_COLUMNS, *GOLD_COLUMNS} - set(descriptions())
    assert not missing
