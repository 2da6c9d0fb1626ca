"""The report of a campaign: which sections there are, in which order."""

import pathlib
import re

from campaign import limits, papers, sweep, tables, verdicts
from page import figures, scaling, sweep_plot
from page.markup import Cell, page, paragraph, picture, section, table, text
from report import kernels, solvers

NARROWER = ("A: first/later", "residual", "first")  # columns for which paper has no room
STYLE = pathlib.Path(__file__).with_name("style.css")


class Page:
    """Makes the page of some results. keep: a folder for the pictures by themselves, or None."""

    def __init__(self, results, pyplot, keep=None):
        self.results, self.pyplot, self.keep = results, pyplot, keep
        figures.style(pyplot)
        self.done = [cell for cell in results.cells if cell["status"] == "done"]
        self.flags = verdicts.flags(self.done)
        self.targets = verdicts.targets(results)
        self.number = 0

    def draw(self, figure, about):
        if figure is None:
            return ""
        self.number += 1
        path = self.keep / f"{self.number:02d}.png" if self.keep else None
        return picture(self.pyplot, figure, about, path)

    def text(self):
        sections = [("targets", "Targets", self.target_parts()), ("latency", "Latency", self.latency_parts()),
                    ("scaling", "Scaling", self.scaling_parts()), ("papers", "Papers", self.paper_parts()),
                    ("kernels", "Kernels", self.kernel_parts()), ("cells", "Cells", self.cell_parts()),
                    ("machine", "Machine", self.machine_parts())]
        sections = [(name, title, parts) for name, title, parts in sections if any(parts)]
        title = ", ".join(campaign["title"] for campaign in self.results.campaigns.values()) or "Campaign"
        body = [self.head(title), *(section(name, words, *parts) for name, words, parts in sections)]
        return page(title, STYLE.read_text(encoding="utf-8"), [(name, words) for name, words, _ in sections], body)

    def head(self, title):
        failed = len(self.results.cells) - len(self.done)
        counts = [(sum(row["held"] is True for row in self.targets), "targets held", "held"),
                  (sum(row["held"] is False for row in self.targets), "targets missed", "missed"),
                  (sum(row["held"] is None for row in self.targets), "without a result", "none"),
                  (len(self.done), "cells measured", ""), (failed, "cells failed", "missed" if failed else ""),
                  (len(self.results.missing), "not run yet", ""), (len(self.flags), "flagged as noisy", "none" if self.flags else "")]
        shown = [entry for entry in counts if entry[0] or entry[1] in ("cells measured", "flagged as noisy")]
        numbers = "".join(f"<div><b class='{kind}'>{number}</b>{text(words)}</div>" for number, words, kind in shown)
        about = [paragraph(campaign["about"]) for campaign in self.results.campaigns.values() if campaign["about"]]
        return "\n".join([f"<h1>{text(title)}</h1>", *about, f"<div class='big'>{numbers}</div>", *self.warnings()])

    def warnings(self):
        lines = []
        if len({cell["environment"] for cell in self.results.cells}) > 1:
            lines.append("Cells come from different machines, builds or commits: compare within a cell only.")
        if self.results.outdated:
            lines.append(f"{len(self.results.outdated)} cells of an earlier form of the campaign are left out.")
        if any(environment.get("changed_since_commit") for environment in self.results.environments.values()):
            lines.append("The source had changes that no commit holds.")
        return [paragraph(line, "warning") for line in lines]

    def target_parts(self):
        if not self.targets:
            return []
        rows = []
        for row, one in zip(tables.target_rows(self.results), self.targets):
            kind = {True: "held", False: "missed", None: "none"}[one["held"]]
            noisy = " (noisy)" if one["key"] in self.flags else ""
            rows.append([*row[:6], Cell(row[6] + noisy, kind), *row[7:]])
        head = [*tables.TARGET_HEAD[:-1], "over"]
        parts = [paragraph("Each is a ratio of medians of one run, on the same system, right-hand side and tolerance, with the "
                           "range of the ratios turn by turn."), table(head, rows, words=(1, 6, 7, 8)),
                 self.draw(figures.targets(self.pyplot, self.targets), "Ratios found and targets.")]
        missed = [[one["title"], verdicts.kind(one), f"{one['value']:.2f}", f"{one['at_most']:.2f}",
                   one.get("tried", "nothing is noted")] for one in self.targets if one["held"] is False]
        if missed:
            parts += ["<h3>Missed</h3>", table(["cell", "kind", "found", "at most", "what was tried"], missed, words=(1, 4))]
        return parts

    def latency_parts(self):
        parts = []
        for cells in sweep.series(self.results.cells, "latency_us"):
            swept = sweep.summarize(cells)
            title = re.sub(r", [^,]* us emulated$", "", cells[0]["title"])
            parts += [f"<h3>{text(title)}</h3>", self.draw(sweep_plot.draw(self.pyplot, swept),
                      f"{title}: EMULATED latency: the fastest of each family, medians, least and greatest. No all-reduce completes "
                      "sooner than the latency after its start.")]
            for group in swept["groups"]:
                turns = ["Capstan's fastest / fastest peer, turn by turn",
                         *(tables.ratio(verdicts.compare(cell, {"group": group["name"]})) for cell in cells)]
                parts.append(table(sweep.head(swept, group), [*sweep.rows(group), turns]))
                words = [one["text"] for one in group["crossings"]]
                parts.append(paragraph("Crossovers: " + "; ".join(words) + ".") if words else "")
        return parts

    def scaling_parts(self):
        parts = []
        curves = [curve for campaign in self.results.campaigns.values() for curve in campaign["curves"]]
        for cells in sweep.series(self.results.cells, "ranks"):
            wanted = [curve for curve in curves if curve["experiment"] == cells[0]["experiment"]]
            title = scaling.title_of(cells)
            about = f"{title}: medians, least and greatest. " + " ".join(f"{c['label']}: {c['source']}." for c in wanted if "source" in c)
            parts += [f"<h3>{text(title)}</h3>", self.draw(scaling.draw(self.pyplot, cells, wanted), about)]
            for group in dict.fromkeys(one["group"] for one in cells[0]["solvers"]):
                rows = [self.scaling_row(row) for row in scaling.rows_of(cells, group)]
                parts.append(table([f"{group}: ranks", "Capstan's fastest", "ms", "peer", "ms", "ratio", "/ limit"], rows, words=(1, 3)))
        return parts

    def paper_parts(self):
        told = papers.claims(self.results)
        parts = []
        if told:
            head, rows = papers.claim_table(self.results)
            parts.append(table(head, rows, caption="Speed-ups: the time of the second over that of the first, medians, and turn by turn"
                               if len(head) > 3 else ""))
            rows = [[claim["what"], claim["where"], claim.get("differs", "not measured"), claim["source"]] for claim, _ in told]
            parts.append(table(["speed-up", "the paper's", "here", "paper (docs/references.md)"], rows, caption="What differs",
                               words=(1, 2, 3)))
        rows = papers.count_rows(self.results)
        if rows:
            sources = ", ".join(dict.fromkeys(entry["source"] for entry, *_ in papers.counts(self.results)))
            parts.append(table(papers.COUNT_HEAD, rows, caption=f"Counts of an iteration without a preconditioner, {sources}"))
            parts.append(paragraph("Counted: all-reduces by wrappers of MPI, products by the operator, over the iterations of a solve; "
                                   "start and end of a solve are in it.", "soft"))
        return parts

    @staticmethod
    def scaling_row(row):
        ranks, ours, peer, limit = row
        of = [solvers.median(one) if one else None for one in (ours, peer)]
        shown = [f"{1e3 * seconds:.2f}" if seconds else "-" for seconds in of]
        return [str(ranks), ours["name"] if ours else "-", shown[0], peer["name"] if peer else "-", shown[1],
                f"{of[0] / of[1]:.2f}" if all(of) else "-", f"{of[0] / limit:.2f}" if of[0] and limit else "-"]

    def kernel_parts(self):
        runs, reason = self.results.kernels, self.results.kernels_reason
        failed = [paragraph(f"Failed: {reason}", "missed")] if reason else []
        if not runs:
            return failed
        return [*failed, self.draw(figures.roofline(self.pyplot, runs), "Bytes of distinct data a second over the bandwidth of the STREAM triad of "
                          "the same run: the roofline of kernels that memory bounds."),
                *(table(kernels.HEAD, kernels.rows(run), caption=kernels.title(run)) for run in runs)]

    def cell_parts(self):
        parts = []
        for cell in self.results.cells:
            parts.append(f"<h3>{text(cell['title'])}</h3>")
            if cell["status"] != "done":
                parts.append(paragraph(f"Failed: {cell['reason']}", "missed"))
                continue
            found = limits.machine(cell["reference"])
            parts.append(paragraph(f"{cell['rows']} rows, {cell['entries']} entries, {cell['repeat']} turns, "
                                   f"{'each rank on a core of its own' if cell['pinned'] else 'ranks not bound to cores'}. Triad "
                                   f"{found['memory'] / 1e9:.1f} GB/s in memory, {found['working_set'] / 1e9:.1f} on arrays as large as "
                                   f"the system; an all-reduce at best {1e6 * found['all_reduce']:.1f} us.", "soft"))
            parts += [paragraph(f"Noise check: {word}.", "warning") for word in self.flags.get(cell["key"], [])]
            parts += [paragraph(f"Note: {word}", "soft") for word in cell["notes"]]
            for group in dict.fromkeys(one["group"] for one in cell["solvers"]):
                rows = tables.solver_rows(cell, group)
                kinds = ["own" if row[1] == "capstan" else "" if row[tables.SOLVED] == "yes" else "bad" for row in rows]
                kept = [k for k, title in enumerate(tables.SOLVER_HEAD) if title not in NARROWER]
                parts.append(table([f"{group} solver", *(tables.SOLVER_HEAD[k] for k in kept[1:])], [[row[k] for k in kept] for row in rows],
                                   words=(1, kept.index(tables.SOLVED)), classes=kinds))
            parts.append(self.draw(figures.phases(self.pyplot, cell), f"{cell['title']}: medians; Capstan's phases as shares of the last solve "
                                   "on rank 0."))
            rows = tables.phase_rows(cell)
            if rows:
                parts.append(table(tables.PHASE_HEAD, rows, caption="Phases beside the limit of each"))
            parts.append(self.draw(figures.histories(self.pyplot, cell), f"{cell['title']}: convergence histories."))
        if parts:
            parts.insert(0, paragraph(tables.LEGEND))
        return parts

    def machine_parts(self):
        rows = []
        for one in self.results.environments.values():
            rows += [["processor", f"{one['machine']['processor']}, {one['machine']['cores']} cores, {one['machine']['caches']}"],
                     ["memory, system", f"{one['machine']['memory']}, {one['machine']['system']}"],
                     ["commit", f"{one.get('commit')}{' with changes' if one.get('changed_since_commit') else ''}"],
                     ["build", ", ".join(f"{key}: {value}" for key, value in one["build"].items() if key != "folder")],
                     ["launcher", " ".join(one["launcher"])], ["begun, load", f"{one['date']}, {one['load_average']['start']:.1f}"]]
        for cell in self.done[:1]:
            rows += [[name, str(cell[name])] for name in ("mpi", "petsc", "hypre") if cell.get(name)]
        rows += [["cell", f"{key}: {'; '.join(words)}"] for key, words in self.flags.items()]
        return [table(["", ""], rows, words=(1,))] if rows else []
