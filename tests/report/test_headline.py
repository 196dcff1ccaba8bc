from unbidden.report.headline import retrieval_numbers


def test_numbers_of_a_run_without_scores(toy):
    numbers = retrieval_numbers(toy.assign(value=float("nan")), 10)
    assert numbers["change_implicit_s"] == numbers["recall_question_s"] == "–"
