"""Pieces of HTML: everything a page needs is in the page."""

import base64
import html
import io


def text(value):
    return html.escape(str(value))


def paragraph(words, kind=""):
    return f"<p class='{kind}'>{text(words)}</p>" if kind else f"<p>{text(words)}</p>"


class Cell(str):
    """A cell of a table with a class of its own."""
    kind = ""

    def __new__(cls, value, kind):
        made = super().__new__(cls, value)
        made.kind = kind
        return made


def table(head, rows, caption="", words=(), classes=()):
    """words: numbers of columns that hold text, besides the first; classes: of each row."""
    def entry(tag, index, value):
        kinds = " ".join(filter(None, ["text" if index in words else "", getattr(value, "kind", "")]))
        return f"<{tag}{f' class={chr(39)}{kinds}{chr(39)}' if kinds else ''}>{text(value)}</{tag}>"

    def line(tag, values, kind=""):
        opening = f"<tr class='{kind}'>" if kind else "<tr>"
        return opening + "".join(entry(tag, index, value) for index, value in enumerate(values)) + "</tr>"

    kinds = list(classes) or [""] * len(rows)
    title = f"<caption>{text(caption)}</caption>" if caption else ""
    return "\n".join(["<div class='scroll'><table>" + title, "<thead>" + line("th", head) + "</thead>", "<tbody>",
                      *(line("td", row, kind) for row, kind in zip(rows, kinds)), "</tbody></table></div>"])


def picture(pyplot, figure, about, keep=None):
    """A figure of matplotlib inside the page. keep: a path for the PNG by itself."""
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=110, bbox_inches="tight", facecolor="white")
    pyplot.close(figure)
    if keep is not None:
        keep.write_bytes(data.getvalue())
    coded = base64.b64encode(data.getvalue()).decode("ascii")
    return (f"<figure><img alt='{text(about)}' src='data:image/png;base64,{coded}'><figcaption>{text(about)}</figcaption>"
            "</figure>")


def section(name, title, *parts):
    return "\n".join([f"<section id='{name}'><h2>{text(title)}</h2>", *filter(None, parts), "</section>"])


def page(title, style, navigation, body):
    """A whole page. navigation: pairs (id, words)."""
    links = "".join(f"<a href='#{name}'>{text(words)}</a>" for name, words in navigation)
    return "\n".join(["<!DOCTYPE html>", "<html lang='en'><head><meta charset='utf-8'>",
                      "<meta name='viewport' content='width=device-width, initial-scale=1'>",
                      f"<title>{text(title)}</title>", f"<style>\n{style}</style></head><body><main>", body[0], f"<nav>{links}</nav>",
                      *body[1:], "</main></body></html>", ""])
