"""Pages as the shop sends them: what is read, and what can be done."""

from __future__ import annotations

import pytest

from forethought.evals.environments.webshop.page import BOUGHT, Control, parse_page

HEAD = '<html><head><title>T</title><script>no()</script></head><body><div id="instruction-text">'
HEAD += "<h4>Instruction:<br>buy &lt;a&gt; mug</h4></div>"
ITEM = f"""{HEAD}<!-- unseen -->
<form method="post" action="/back"><button class="btn btn-success">Back to Search</button></form>
<h4>color</h4>
<input type="radio" id="r0" name="color" value="Red" data-url="/item?o=red"><label for="r0">Red</label>
<input type="radio" id="r1" name="color" value="blue" data-url="/item?o=blue"><label for="r1">blue</label>
<h2>A  mug</h2>
<form method="post" action="/done"><button class="btn purchase">Buy Now</button></form></body></html>"""


def test_an_item_page() -> None:
    page = parse_page(ITEM)
    assert page.instruction == "buy <a> mug"
    assert page.search is None
    assert page.reward is None
    assert page.controls == {
        "back to search": Control("/back", posts=True),
        "buy now": Control("/done", posts=True),
        "red": Control("/item?o=red", option="color"),
        "blue": Control("/item?o=blue", option="color"),
    }


def test_lines_mark_what_can_be_clicked_and_what_was_chosen() -> None:
    text = parse_page(ITEM).text({"color": "red"})
    assert text == "[Back to Search]\ncolor\n  [Red] (chosen)\n  [blue]\nA mug\n[Buy Now]"


def test_a_search_page_and_its_results() -> None:
    form = (
        '<form method="post" action="/s1"><input id="search_input"><button class="btn">Search</button></form>'
    )
    page = parse_page(f"{HEAD}{form}</body>")
    assert (page.search, dict(page.controls)) == ("/s1", {})
    found = parse_page(f'{HEAD}<h4><a class="product-link" href="/item/B1">B0X</a></h4></body>')
    assert found.controls == {"b0x": Control("/item/B1", opens_product=True)}
    assert found.text({}) == "[B0X]"


def test_the_last_page_tells_the_score_to_nobody() -> None:
    page = parse_page('<h1>Thanks</h1><h3 id="reward">Your score<pre>0.75</pre></h3>')
    assert page.reward == 0.75
    assert page.text({}) == BOUGHT


@pytest.mark.parametrize(
    "html",
    ["", "<h1>It works!</h1>", '<h3 id="reward"><pre>much</pre></h3>', '<h3 id="reward"><pre>7</pre></h3>',
     '<h3 id="reward"><pre>nan</pre></h3>'],
)  # fmt: skip
def test_what_is_no_page_of_a_shop_is_refused(html: str) -> None:
    with pytest.raises(ValueError, match=r"score|float"):
        parse_page(html)
