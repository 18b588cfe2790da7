// Tables: sorting by a click on a heading, and tables made from rows.
(function () {
  "use strict";
  const { show } = window.unmet;

  function sortTable(table, column, direction) {
    const body = table.tBodies[0];
    const sign = direction === "ascending" ? 1 : -1;
    const keyed = [...body.rows].map((row) => {
      const cell = row.cells[column];
      const text = cell.textContent.trim();
      return { row, text, value: cell.dataset.v === undefined ? NaN : Number(cell.dataset.v) };
    });
    const numeric = keyed.some((one) => !Number.isNaN(one.value));
    const compare = new Intl.Collator("en", { numeric: true }).compare;
    keyed.sort((a, b) => {
      if (!numeric) return sign * compare(a.text, b.text);
      if (Number.isNaN(a.value) || Number.isNaN(b.value)) return Number.isNaN(a.value) - Number.isNaN(b.value);
      return sign * (a.value - b.value);
    });
    body.append(...keyed.map((one) => one.row));
    [...table.tHead.rows[0].cells].forEach((cell, n) => {
      if (n === column) cell.setAttribute("aria-sort", direction);
      else cell.removeAttribute("aria-sort");
    });
  }
  function makeSortable(table) {
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.textContent = cell.textContent;
      cell.replaceChildren(button);
      button.addEventListener("click", () => {
        const now = cell.getAttribute("aria-sort");
        const first = cell.classList.contains("n") ? "descending" : "ascending";
        const other = first === "descending" ? "ascending" : "descending";
        sortTable(table, column, now === first ? other : first);
      });
    });
  }
  // columns: [heading, numeric]; rows: arrays of numbers or texts.
  function makeTable(host, caption, columns, rows) {
    const box = document.createElement("div");
    box.className = rows.length > 14 ? "table-box tall" : "table-box";
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", caption);
    const table = document.createElement("table");
    table.createCaption().textContent = caption;
    const head = table.createTHead().insertRow();
    for (const [heading, numeric] of columns) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = heading;
      if (numeric) cell.className = "n";
      head.append(cell);
    }
    const body = table.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      row.forEach((value, n) => {
        const cell = document.createElement(n === 0 ? "th" : "td");
        if (n === 0) cell.scope = "row";
        if (columns[n][1]) cell.className = "n";
        if (typeof value === "number") {
          cell.textContent = show(value);
          if (Number.isFinite(value)) cell.dataset.v = String(value);
          else cell.classList.add("unknown");
        } else cell.textContent = value;
        line.append(cell);
      });
    }
    box.append(table);
    host.replaceChildren(box);
    return table;
  }

  Object.assign(window.unmet, { makeSortable, makeTable });
})();
