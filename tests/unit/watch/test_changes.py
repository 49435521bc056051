"""Of a screen that changed, what a browser must be told is what differs, and no more."""

from dash import dcc, html

from eml.watch.changes import MOST, changes, with_ids


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


def test_another_shape_is_another_screen():
    assert changes(screen(1), screen(1, rows=3)) is None
    assert changes(with_ids(html.P("x")), with_ids(html.P(html.B("x")))) is None
    assert changes(with_ids(html.P("x")), with_ids(html.H1("x"))) is None
    assert changes(with_ids(html.P("x", title="a")), with_ids(html.P("x"))) is None


def test_many_changes_are_another_screen_too():
    assert changes(screen(1, rows=MOST + 2), screen(2, rows=MOST + 2)) is None
