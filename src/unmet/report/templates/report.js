// The page's own script: sorting, the choice of a place, its curves. Text goes in as text, never as markup.
(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const SVG = "http://www.w3.org/2000/svg";

  // ---- numbers and times -------------------------------------------------------------------------------
  function show(value, digits) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (!Number.isFinite(value)) return "not identified";
    if (digits === undefined) {
      digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 1 ? 1 : 2;
    }
    return value.toLocaleString("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  }
  // Clocks are local seconds as if they were UTC, so the reader's own time zone plays no part.
  function moment(seconds, hours) {
    const at = new Date(seconds * 1000);
    const text = `${DAYS[at.getUTCDay()]} ${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`;
    return hours ? `${text} ${String(at.getUTCHours()).padStart(2, "0")}:00` : text;
  }
  function range(low, high, digits) {
    return Number.isFinite(high) ? `${show(low, digits)}–${show(high, digits)}` : `${show(low, digits)} or more`;
  }

  // ---- two letters a number ----------------------------------------------------------------------------
  const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const CODE = new Map([...LETTERS].map((letter, n) => [letter, n]));
  function unpack(text, step) {
    const found = new Array(text.length / 2);
    for (let n = 0; n < found.length; n += 1) {
      const code = CODE.get(text[2 * n]) * 64 + CODE.get(text[2 * n + 1]);
      found[n] = code === 4095 ? NaN : code === 4094 ? Infinity : code * step;
    }
    return found;
  }

  // ---- sortable tables ---------------------------------------------------------------------------------
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

  // ---- curves ------------------------------------------------------------------------------------------
  function node(parent, name, attributes, text) {
    const found = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
    if (text !== undefined) found.textContent = text;
    parent.append(found);
    return found;
  }
  function ticks(high, most) {
    const power = 10 ** Math.floor(Math.log10(high / most));
    const step = [1, 2, 2.5, 5, 10, 20].map((n) => n * power).find((n) => high / n <= most) || high;
    const found = [];
    for (let n = 0; n * step <= high * 1.0001; n += 1) found.push(n * step);
    return found;
  }
  // Stretches of numbers n for which test(n) holds.
  function runs(length, test) {
    const found = [];
    let start = -1;
    for (let n = 0; n <= length; n += 1) {
      const holds = n < length && test(n);
      if (holds && start < 0) start = n;
      if (!holds && start >= 0) { found.push([start, n]); start = -1; }
    }
    return found;
  }

  // series: clock, low, mid, high (arrays); low50, high50, seen, ranOut, now may be absent; label, hours, tell.
  function drawSeries(host, series) {
    const width = Math.max(260, host.clientWidth || 680);
    const height = width > 500 ? 280 : 230;
    const right = 8, top = 26, bottom = 28;
    const count = series.clock.length;
    const finite = (values) => (values || []).filter(Number.isFinite);
    const upper = Math.max(1, ...finite(series.high), ...finite(series.high50), ...finite(series.mid), ...finite(series.seen)) * 1.12;
    const marks = ticks(upper, 5);
    const left = 14 + 7.4 * Math.max(3, ...marks.map((value) => show(value).length));
    const dx = (width - left - right) / Math.max(1, count - 1);
    const x = (n) => left + n * dx;
    const y = (value) => height - bottom - ((height - top - bottom) * Math.min(value, upper)) / upper;
    const at = (n, value) => `${x(n).toFixed(1)} ${y(value).toFixed(1)}`;
    host.replaceChildren();
    const svg = node(host, "svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": series.label, tabindex: "0" });
    for (const value of marks) {
      node(svg, "line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) });
      node(svg, "text", { class: "tick", x: left - 6, y: y(value), dy: ".32em", "text-anchor": "end" }, show(value));
    }
    node(svg, "text", { class: "axis-title", x: 0, y: 10 }, series.unit);
    function area(low, high, kind, test) {
      for (const [start, stop] of runs(count, test)) {
        const there = [], back = [];
        for (let n = start; n < stop; n += 1) { there.push(at(n, high(n))); back.unshift(at(n, low(n))); }
        if (stop - start === 1) {
          there.push(`${(x(start) + Math.max(1.5, dx / 2)).toFixed(1)} ${y(high(start)).toFixed(1)}`);
          back.unshift(`${(x(start) + Math.max(1.5, dx / 2)).toFixed(1)} ${y(low(start)).toFixed(1)}`);
        }
        node(svg, "path", { class: kind, d: `M${there.join("L")}L${back.join("L")}Z` });
      }
    }
    const given = (n) => !Number.isNaN(series.low[n]);
    // The highest bound that is known: hatching begins there.
    const known = (n) => {
      for (const values of [series.high, series.high50, series.mid, series.low]) {
        if (values && Number.isFinite(values[n])) return values[n];
      }
      return 0;
    };
    area((n) => Math.min(series.low[n], known(n)), known, "band-90", given);
    area(known, () => upper, "hatched unidentified", (n) => given(n) && series.high[n] === Infinity);
    if (series.low50) area((n) => Math.min(series.low50[n], known(n)), (n) => Math.min(series.high50[n], known(n)), "band-50", given);
    for (const [start, stop] of runs(count, (n) => Number.isFinite(series.mid[n]))) {
      const points = [];
      for (let n = start; n < stop; n += 1) points.push(at(n, series.mid[n]));
      node(svg, "path", { class: "line demand-line", d: `M${points.join("L")}` });
    }
    if (series.now !== undefined && series.now > 0 && series.now < count) {
      const edge = x(series.now - 0.5);
      node(svg, "line", { class: "now", x1: edge, x2: edge, y1: top - 6, y2: height - bottom });
      const before = edge > width - 70;
      node(svg, "text", { class: "note", x: edge + (before ? -5 : 5), y: top - 2, "text-anchor": before ? "end" : "start" }, before ? "now" : "now → forecast");
    }
    if (series.seen) {
      let dots = "", carets = "";
      const size = dx > 6 ? 4.5 : dx > 2.5 ? 3.6 : 3;
      series.seen.forEach((value, n) => {
        if (!Number.isFinite(value)) return;
        if (series.ranOut[n]) {
          const px = x(n), py = y(value);
          carets += `M${(px - size).toFixed(1)} ${(py + size * 0.8).toFixed(1)}L${px.toFixed(1)} ${(py - size).toFixed(1)}L${(px + size).toFixed(1)} ${(py + size * 0.8).toFixed(1)}Z`;
        } else dots += `M${at(n, value)}h0`;
      });
      if (dots) node(svg, "path", { class: "dots", d: dots, "stroke-width": dx > 6 ? 5 : dx > 2.5 ? 4 : 2.8 });
      if (carets) node(svg, "path", { class: "carets", d: carets });
    }
    const room = 80;
    let last = -Infinity;
    series.clock.forEach((clock, n) => {
      if (clock % 86400 !== 0 || x(n) - last < room || x(n) > width - 40) return;
      last = x(n);
      node(svg, "line", { class: "tickmark", x1: x(n), x2: x(n), y1: height - bottom, y2: height - bottom + 4 });
      node(svg, "text", { class: "tick", x: x(n), y: height - bottom + 17, "text-anchor": "middle" }, moment(clock, false));
    });
    node(svg, "line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom });
    const cursor = node(svg, "line", { class: "cursor", y1: top, y2: height - bottom, visibility: "hidden" });
    let current = -1;
    function read(n) {
      current = Math.max(0, Math.min(count - 1, n));
      cursor.setAttribute("x1", x(current));
      cursor.setAttribute("x2", x(current));
      cursor.setAttribute("visibility", "visible");
      if (series.tell) series.tell(current);
    }
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      read(Math.round(((event.clientX - box.left) * (width / box.width) - left) / dx));
    });
    svg.addEventListener("pointerleave", () => cursor.setAttribute("visibility", "hidden"));
    svg.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -24, PageDown: 24, Home: -count, End: count };
      if (!(event.key in steps)) return;
      event.preventDefault();
      read(current < 0 ? (event.key === "End" ? count - 1 : 0) : current + steps[event.key]);
    });
    return svg;
  }

  // ---- one place ---------------------------------------------------------------------------------------
  const curves = data.curves;
  let chosen = data.worst[0];
  let days = 0;
  function fineSeries(place) {
    const entry = curves.fine[place];
    const all = curves.clock.length;
    let first = 0;
    if (days > 0 && curves.history > 0) {
      const edge = Math.floor(curves.clock[curves.history - 1] / 86400) - days + 1;
      while (first < curves.history && Math.floor(curves.clock[first] / 86400) < edge) first += 1;
    }
    const part = (name) => unpack(entry[name], entry.step).slice(first);
    const pad = new Array(all - curves.history).fill(NaN);
    return {
      clock: curves.clock.slice(first),
      low: part("q05"), low50: part("q25"), mid: part("q50"), high50: part("q75"), high: part("q95"),
      seen: part("y").concat(pad),
      ranOut: [...entry.ran_out].slice(first).map((flag) => flag === "1"),
      now: curves.history - first,
      hours: data.by === "hour",
      unit: data.by === "hour" ? "rides an hour" : "rides a day",
    };
  }
  function coarseSeries(place) {
    const entry = curves.coarse[place];
    const part = (name) => unpack(entry[name], entry.step);
    return {
      clock: curves.coarseClock, low: part("lo"), mid: part("mean"), high: part("hi"), seen: part("y"),
      ranOut: unpack(entry.ran_out, 1).map((number) => number > 0),
      hours: false,
      unit: curves.coarseDays === 1 ? "rides a day" : `rides in ${curves.coarseDays} days`,
    };
  }
  function sentence(series, n) {
    const parts = [];
    if (series.seen && Number.isFinite(series.seen[n])) {
      parts.push(series.ranOut[n] ? `at least ${show(series.seen[n])} wanted (observed, then ran out)` : `observed ${show(series.seen[n])}`);
    }
    if (!Number.isNaN(series.low[n])) {
      parts.push(`demand ${show(series.mid[n])} (90% ${range(series.low[n], series.high[n])})`);
    }
    return `${moment(series.clock[n], series.hours)}: ${parts.join(", ") || "nothing known"}`;
  }
  function rowsOf(series) {
    return series.clock.map((clock, n) => [
      moment(clock, series.hours),
      series.seen[n],
      series.ranOut[n] ? "ran out" : "",
      series.low[n], series.mid[n], series.high[n],
    ]);
  }
  const HEADINGS = [["Time", false], ["Observed", true], ["Supply", false], ["5%", true], ["Middle", true], ["95%", true]];
  function draw(kind, series, name) {
    const reader = byId(`${kind}-read`);
    series.tell = (n) => { reader.textContent = sentence(series, n); };
    series.label = `${byId(`${kind}-title`).textContent}, ${name}. Arrow keys read the values; a table follows.`;
    reader.textContent = "";
    drawSeries(byId(`${kind}-chart`), series);
    const details = byId(`${kind}-details`);
    const fill = () => { if (details.open) makeTable(byId(`${kind}-table`), name, HEADINGS, rowsOf(series)); };
    details.ontoggle = fill;
    fill();
  }
  function redraw() {
    if (!curves) return;
    const name = data.places[chosen].name;
    if (curves.clock.length) draw("fine", fineSeries(chosen), name);
    else byId("fine-chart").textContent = "This run has no forecasts to show.";
    draw("coarse", coarseSeries(chosen), name);
  }
  function select(n, jump) {
    if (!(n >= 0 && n < data.places.length)) return;
    chosen = n;
    const place = data.places[n];
    byId("place-name").textContent = place.name;
    byId("place-facts").textContent =
      `Observed ${show(place.observed)}, estimated demand ${show(place.demand)}, lost ${show(place.lost)} rides ` +
      `(90% ${range(place.low, place.high === null ? Infinity : place.high)}); ` +
      `without a vehicle ${show(100 * place.empty, 1)}% of the time. Id ${place.id}.`;
    const choice = byId("place-choice");
    if (choice.value !== String(n)) {
      if (![...choice.options].some((option) => option.value === String(n))) { byId("place-search").value = ""; list(""); }
      choice.value = String(n);
    }
    for (const circle of document.querySelectorAll("circle.chosen")) circle.classList.remove("chosen");
    const circle = document.querySelector(`circle.place[data-place="${n}"]`);
    if (circle) circle.classList.add("chosen");
    redraw();
    if (jump) {
      byId("place").scrollIntoView();
      byId("place-name").focus({ preventScroll: true });
    }
    document.dispatchEvent(new CustomEvent("unmet:place", { detail: { number: n, id: place.id } }));
  }
  function list(words) {
    const wanted = words.trim().toLocaleLowerCase("en");
    const found = data.worst.filter((n) => {
      const place = data.places[n];
      return !wanted || place.name.toLocaleLowerCase("en").includes(wanted) || place.id.toLocaleLowerCase("en").includes(wanted);
    });
    byId("place-choice").replaceChildren(...found.map((n) => {
      const option = document.createElement("option");
      option.value = String(n);
      option.textContent = `${data.places[n].name} – ${show(data.places[n].lost)} lost`;
      option.selected = n === chosen;
      return option;
    }));
    byId("place-found").textContent = wanted ? `${found.length} of ${data.places.length} places match` : "";
    return found;
  }
  function spans() {
    const choice = byId("place-span");
    const has = curves && curves.history > 0 ? Math.floor((curves.clock[curves.history - 1] - curves.clock[0]) / 86400) + 1 : 0;
    const found = data.by === "hour" ? [2, 3, 7, 14, 28].filter((n) => n < has) : [];
    const options = found.map((n) => [n, `last ${n} days and forecast`]).concat([[0, has ? "all tested days and forecast" : "forecast"]]);
    choice.replaceChildren(...options.map(([value, text]) => {
      const option = document.createElement("option");
      option.value = String(value);
      option.textContent = text;
      return option;
    }));
    const usual = innerWidth < 640 ? 2 : 7;
    days = found.includes(usual) ? usual : found.length ? found[0] : 0;
    choice.value = String(days);
    choice.addEventListener("change", () => { days = Number(choice.value); redraw(); });
  }

  // ---- start -------------------------------------------------------------------------------------------
  document.querySelectorAll("table[data-sortable]").forEach(makeSortable);
  byId("place-name").tabIndex = -1;
  byId("picker").addEventListener("submit", (event) => event.preventDefault());
  byId("place-search").addEventListener("input", (event) => {
    const found = list(event.target.value);
    if (found.length && !found.includes(chosen)) select(found[0], false);
  });
  byId("place-choice").addEventListener("change", (event) => select(Number(event.target.value), false));
  document.addEventListener("click", (event) => {
    const target = event.target.closest("[data-place]");
    if (target) select(Number(target.dataset.place), true);
  });
  spans();
  list("");
  select(chosen, false);

  let waiting = 0, seenWidth = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === seenWidth) return;
    seenWidth = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(redraw, 120);
  });
  addEventListener("beforeprint", redraw);

  const theme = byId("theme");
  const root = document.documentElement;
  const named = () => { theme.textContent = `Theme: ${root.dataset.theme || "system"}`; };
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const next = { undefined: "light", light: "dark", dark: "" }[root.dataset.theme];
    if (next) root.dataset.theme = next;
    else delete root.dataset.theme;
    try {
      if (next) localStorage.setItem("unmet-theme", next);
      else localStorage.removeItem("unmet-theme");
    } catch (error) { /* storage may be forbidden; the choice lasts until the page is closed */ }
    named();
  });
  named();
  window.unmet = { data, select, drawSeries, makeTable, makeSortable, show, moment };
})();
