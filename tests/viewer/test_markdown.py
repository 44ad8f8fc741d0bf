from adastack.viewer.markdown import to_html
from adastack.viewer.svg import slim


def test_paragraphs_join_lines_and_blank_lines_separate():
    assert to_html("one\ntwo\n\nthree") == "<p>one two</p><p>three</p>"


def test_emphasis_code_and_links():
    html = to_html("**bold** *soft* `a*b*` 2*3*4 [here](https://x.org/a) [page](page.md)")
    assert html == (
        "<p><strong>bold</strong> <em>soft</em> <code>a*b*</code> 2*3*4 "
        '<a href="https://x.org/a">here</a> page</p>'
    )


def test_lists_tables_headings_and_code():
    assert to_html("- a\n  b\n- c") == "<ul><li>a b</li><li>c</li></ul>"
    assert to_html("1. a\n2. b") == "<ol><li>a</li><li>b</li></ol>"
    assert to_html("# big\ntext") == "<h3>big</h3><p>text</p>"
    assert to_html("```\na < b\n\nc\n```") == "<pre>a &lt; b\n\nc</pre>"
    table = to_html("| a | b |\n| --- | --- |\n| 1 | `2` |")
    assert "<th>a</th><th>b</th>" in table
    assert "<td>1</td><td><code>2</code></td>" in table


def test_what_is_typed_is_shown_not_run():
    assert to_html("<script>alert(1)</script>") == "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"


def test_a_slim_drawing_keeps_the_size_of_its_letters():
    svg = '<svg><path d="M 1.999 0.5" transform="translate(2.345 1) scale(0.015625 -0.1)"/></svg>'
    slimmer = '<svg><path d="M 1.99 0.5" transform="translate(2.34 1) scale(0.015625 -0.1)"/></svg>'
    assert slim(svg) == slimmer


def test_a_slim_drawing_keeps_its_words_and_loses_digits():
    svg = '<?xml?>\n<svg a="1.23456">\n <!-- x -->\n <text x="0.999">0.12345</text>\n</svg>\n'
    assert slim(svg) == '<svg a="1.23"><text x="0.99">0.12345</text></svg>'
