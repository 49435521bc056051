"""Of a screen that changed, what a browser must be told is what differs, and no more."""

from dash import dcc, html

from eml.watch.changes import FEW, changes, with_ids


def screen(count, *, rows=2, series=(1, 2)):
    table = html.Table([html.Tr([html.Td(f"row {n}"), html.Td(str(count + n))]) for n in range(rows)])
    graph = dcc.Graph(figure={"data": [{"y": list(series)}]})
    return with_ids(html.Div([html.H1("Fleet"), html.P(["now ", str(count)]), table, graph]))


def test_every_component_has_an_id_of_its_place():
    ids = [each.id for each in screen(1)._traverse() if hasattr(each, "id")]
    assert len(ids) == len(set(ids)) == 3 + 3 * 2 + 1  # all but the outermost, which Dash does not count


def test_nothing_is_told_where_nothing_changed():
    assert changes(screen(1), screen(1)) == {}


def test_texts_and_charts_are_set_where_they_stand():
    told = changes(screen(1), screen(2, series=(1, 3)))
    assert told == {
        "at-1": {"children": ["now ", "2"]},
        "at-2-0-1": {"children": ["2"]},
        "at-2-1-1": {"children": ["3"]},
        "at-3": {"figure": {"data": [{"y": [1, 3]}]}},
    }


def test_what_has_another_shape_is_built_anew_and_nothing_around_it():
    told = changes(screen(1), screen(1, rows=3))
    assert told is not None
    assert list(told) == ["at-2"]
    assert [row.id for row in told["at-2"]["children"]] == ["at-2-0", "at-2-1", "at-2-2"]
    one, other = html.Div([html.P("x"), html.P("y")]), html.Div([html.P("x"), html.P("y", title="new")])
    assert list(changes(with_ids(one), with_ids(other)) or ()) == ["at"]  # properties can be set, not taken away


def test_another_screen_is_none_of_this():
    assert changes(with_ids(html.P("x")), with_ids(html.H1("x"))) is None
    assert changes(with_ids(html.P("x", title="a")), with_ids(html.P("x"))) is None


def test_a_table_of_which_much_changed_is_built_anew():
    def rows(shift):
        return with_ids(html.Tbody([html.Tr(html.Td(str(number + shift))) for number in range(FEW + 2)]))

    assert list(changes(rows(0), rows(1)) or ()) == ["at"]


def test_applied_the_changes_make_the_new_screen():
    old, new = screen(1, rows=2), screen(9, rows=4, series=(5,))
    for name, told in (changes(old, new) or {}).items():
        for each in [old, *old._traverse()]:
            if getattr(each, "id", None) == name:
                for prop, value in told.items():
                    setattr(each, prop, value)
    assert changes(old, new) == {}
