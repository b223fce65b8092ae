/* Sorting and filtering for the tables of the book. Without this script every table is whole and in its own order. */
"use strict";

(() => {
  const text = (element) => element.textContent.trim().replace(/\s+/g, " ");

  /* Numbers sort as numbers ("1,024", "4.4×"), words as words; cells without anything come last. */
  const keyOf = (cell) => {
    const shown = text(cell);
    const number = parseFloat(shown.replace(/,/g, "").replace(/^[^\d.+-]+/, ""));
    return { shown, number: /^[≥≤~<>]?\s*[+-]?\d/.test(shown) ? number : NaN, empty: shown === "" || shown === "–" };
  };
  const compare = (a, b) => {
    if (a.empty || b.empty) return a.empty - b.empty;
    if (!Number.isNaN(a.number) && !Number.isNaN(b.number)) return a.number - b.number;
    return a.shown.localeCompare(b.shown);
  };

  const makeSortable = (table) => {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "ev-sort";
      button.textContent = text(head);
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const next = { ascending: "descending", descending: "" }[head.getAttribute("aria-sort")] ?? "ascending";
        heads.forEach((each) => each.removeAttribute("aria-sort"));
        let sorted = rows;
        if (next) {
          head.setAttribute("aria-sort", next);
          const keyed = rows.map((row) => [keyOf(row.cells[column]), row]);
          const sign = next === "ascending" ? 1 : -1;
          keyed.sort(([a], [b]) => (a.empty || b.empty ? compare(a, b) : sign * compare(a, b)));
          sorted = keyed.map(([, row]) => row);
        }
        body.append(...sorted);
      });
    });
  };

  /* The words of a cell that a facet offers: its badges and marked words. */
  const wordsOf = (cell) => [...cell.querySelectorAll(".ev-badge, .ev-word")].map(text);

  const field = (title, control) => {
    const label = document.createElement("label");
    label.append(title, control);
    return label;
  };

  const makeFilter = (table) => {
    const rows = [...table.tBodies[0].rows];
    if (rows.length < 6) return;
    const bar = document.createElement("div");
    bar.className = "ev-filter";
    bar.setAttribute("role", "search");
    bar.setAttribute("aria-label", text(table.caption));
    const search = Object.assign(document.createElement("input"), { type: "search" });
    bar.append(field("Filter rows", search));
    const facets = [];
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      if (!head.classList.contains("ev-facet")) return;
      const words = [...new Set(rows.flatMap((row) => wordsOf(row.cells[column])))].sort();
      if (words.length < 2) return;
      const select = document.createElement("select");
      select.append(new Option("all", ""), ...words.map((word) => new Option(word, word)));
      facets.push([column, select]);
      const name = [...head.classList].find((each) => each.startsWith("ev-facet--")).slice(10).replace(/-/g, " ");
      bar.append(field(name[0].toUpperCase() + name.slice(1), select));
    });
    const count = document.createElement("output");
    const apply = () => {
      const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row) => {
        const content = row.textContent.toLowerCase();
        row.hidden =
          !wanted.every((word) => content.includes(word)) ||
          !facets.every(([column, select]) => !select.value || wordsOf(row.cells[column]).includes(select.value));
        shown += !row.hidden;
      });
      count.textContent = `${shown} of ${rows.length} rows`;
    };
    bar.append(count);
    bar.addEventListener("input", apply);
    bar.addEventListener("change", apply); // some drivers of a list of options tell only this
    apply();
    const region = table.closest(".pst-scrollable-table-container") ?? table;
    region.before(bar);
  };

  const start = () =>
    document.querySelectorAll("table.ev-sortable").forEach((table) => {
      makeFilter(table);
      makeSortable(table);
    });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
