// The what-if panel: asks /api/plan and /api/forecast and shows the answers as text, a table and a chart.
"use strict";
(() => {
  const root = document.getElementById("wi-panel");
  if (!root) return;

  // Texts from the service are only ever set as text, never as HTML.
  const make = (tag, properties = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in node) node[name] = value;
      else node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  };
  const draw = (tag, attributes, ...children) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const show = (value, digits = 1, least = 0) =>
    value === null || value === undefined ? "–"
      : value.toLocaleString("en", { minimumFractionDigits: least, maximumFractionDigits: Math.abs(value) >= 100 ? least : digits });

  const count = (value, noun, digits) => {
    const text = show(value, digits);
    return `${text} ${noun}${text === "1" ? "" : "s"}`;
  };
  // Quantiles are those of demand plus a fraction; their whole part is the quantile of the count.
  const whole = (values) => values.map((value) => (value === null ? null : Math.floor(value)));

  const ask = async (path, values, signal) => {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(values)) if (value !== "" && value !== null) query.set(name, value);
    const response = await fetch(`${path}?${query}`, { signal, headers: { accept: "application/json" } });
    const body = await response.json();
    if (!response.ok) throw new Error(body.detail || response.statusText);
    return body;
  };

  const field = (id, label, input) => {
    input.id = id;
    return make("label", { htmlFor: id }, label, input);
  };
  const fleet = make("input", { type: "number", min: "0", max: "1000000", step: "1", inputMode: "numeric" });
  const lost = make("input", { type: "number", min: "0.01", max: "1000000000", step: "any", value: "1" });
  const idle = make("input", { type: "number", min: "0", max: "1000000000", step: "any", value: "0" });
  const place = make("select");
  const day = make("input", { type: "date" });
  const answer = make("p", { className: "wi-answer", id: "wi-answer", role: "status", "aria-live": "polite" });
  const note = make("p", { className: "wi-note", id: "wi-note" });
  const table = make("table", { className: "wi-table", id: "wi-places" });
  const chosen = make("p", { className: "wi-answer", id: "wi-place-answer" });
  const chart = make("div", { id: "wi-chart" });
  const behind = make("table", { className: "wi-table", id: "wi-forecast" });
  const results = make("div", { id: "wi-results" });

  root.replaceChildren(
    make("form", { className: "wi-form", id: "wi-form" },
      field("wi-fleet", "Vehicles in the fleet", fleet),
      field("wi-lost", "Cost of a lost ride", lost),
      field("wi-idle", "Cost of an idle vehicle", idle),
      field("wi-place", "Place", place),
      field("wi-day", "Day", day)),
    answer, results);
  results.append(note,
    make("details", { open: true },
      make("summary", { textContent: "Places where the target differs most from the usual stock" }),
      make("div", { className: "wi-scroll", tabIndex: 0, role: "region", "aria-label": "Targets" }, table)),
    chosen, chart,
    make("details", {},
      make("summary", { textContent: "The forecast as a table" }),
      make("div", { className: "wi-scroll", tabIndex: 0, role: "region", "aria-label": "Forecast" }, behind)));

  const fill = (target, caption, heads, rows) => {
    const line = (cells, tag) => make("tr", {}, ...cells.map((cell, n) => {
      if (tag === "td" && n > 0) return make("td", { textContent: cell });
      return make("th", { textContent: cell, scope: tag === "th" ? "col" : "row" });
    }));
    target.replaceChildren(
      make("caption", { textContent: caption }),
      make("thead", {}, line(heads, "th")),
      make("tbody", {}, ...rows.map((cells) => line(cells, "td"))));
  };

  const tellPlan = (plan) => {
    const usual = plan.expected_lost_usual === null ? "" : `; with the usual stock, about ${show(plan.expected_lost_usual)}`;
    answer.textContent = `${count(plan.fleet, "vehicle")}, each where it saves most: about ${count(plan.expected_lost, "ride")} lost${usual}.`;
    const when = plan.date ? `Expected for ${plan.date}${plan.periods > 1 ? ", from 4:00 to 4:00 the next day" : ""}, if no van comes. ` : "";
    note.textContent = when + (plan.kept_back
      ? `Keep ${count(plan.kept_back, "vehicle")} back: placed anywhere, they would cost more than they save.`
      : "No vehicle costs more than it saves.");
    const moved = (row) => Math.abs(row.target - (row.usual_stock ?? 0));
    const rows = [...plan.places].sort((a, b) => moved(b) - moved(a) || b.target - a.target).slice(0, 10);
    fill(table, "Stock at the start of the day, and the rides lost with it", ["Place", "Usual stock", "Target", "Lost rides", "One more would save"],
      rows.map((row) => [row.identified ? row.name : `${row.name} (demand not fully identified)`, show(row.usual_stock, 1, 1),
        show(row.target), show(row.expected_lost, 2, 2), show(row.value_of_next_vehicle, 2, 2)]));
    const own = plan.places.find((row) => row.unique_id === place.value);
    chosen.textContent = own
      ? `${own.name}: ${count(own.target, "vehicle")}, about ${count(own.expected_lost, "ride", 2)} lost; one more vehicle would save ${show(own.value_of_next_vehicle, 2)}.`
      : "";
  };

  const local = (zone, by) => {
    const form = new Intl.DateTimeFormat("en-GB", { timeZone: zone, weekday: "short", day: "numeric", month: "short",
      ...(by === "hour" ? { hour: "2-digit", minute: "2-digit" } : {}) });
    return (text) => form.format(new Date(text));
  };

  const tellForecast = (found) => {
    const [q05, q50, q95] = ["q05", "q50", "q95"].map((name) => whole(found.quantiles[name]));
    const [width, height, left, bottom] = [1000, 280, 56, 36];
    const known = q95.filter((value) => value !== null);
    const most = Math.max(1, ...known, ...q50.filter((value) => value !== null));
    const top = most * 1.1;
    const x = (n) => left + (n + 0.5) * (width - left) / q50.length;
    const y = (value) => (height - bottom) * (1 - value / top) + 4;
    const text = local(found.zone, found.by);
    const pattern = draw("pattern", { id: "wi-hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      draw("line", { class: "wi-hatch", x1: 0, y1: 0, x2: 0, y2: 6 }));
    const shapes = q50.map((_, n) => {
      const half = (width - left) / q50.length / 2;
      const [low, high] = [y(q05[n] ?? 0), q95[n] === null ? 4 : y(q95[n])];
      const box = { x: x(n) - half, width: 2 * half, y: high, height: Math.max(0, low - high) };
      // Hatch up to the edge where the data identify no upper bound.
      return q95[n] === null ? draw("rect", { ...box, fill: "url(#wi-hatch)" }) : draw("rect", { ...box, class: "wi-band" });
    });
    const line = q50.map((value, n) => (value === null ? null : `${x(n).toFixed(1)},${y(value).toFixed(1)}`)).filter(Boolean);
    const label = `Forecast for ${found.name}: median and 90% interval of demand, ${count(found.horizon, found.by)} from ${text(found.ds[0])}`;
    const ticks = (most % 2 ? [0, most] : [0, most / 2, most]).map((value) => draw("text", { x: 0, y: Math.max(y(value) + 4, 24) }, show(value)));
    const ends = [0, found.ds.length - 1].map((n, end) =>
      draw("text", { x: end ? width : left, y: height - 4, "text-anchor": end ? "end" : "start" }, text(found.ds[n])));
    chart.replaceChildren(draw("svg", { class: "wi-chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
      draw("defs", {}, pattern), ...shapes, draw("polyline", { class: "wi-median", points: line.join(" ") }),
      draw("line", { class: "wi-axis", x1: left, x2: width, y1: y(0), y2: y(0) }), ...ticks, ...ends));
    fill(behind, label, ["Time", "Mean", "5%", "50%", "95%"], found.ds.map((time, n) =>
      [text(time), show(found.mean[n], 1, 1), show(q05[n]), show(q50[n]), q95[n] === null ? "not identified" : show(q95[n])]));
  };

  const fail = (problem) => {
    results.hidden = true; // it answers an earlier question
    answer.className = "wi-answer wi-wrong";
    answer.textContent = problem.message;
  };

  const hints = () => [
    [fleet, "Vehicles in the fleet: enter a whole number from 0 to 1,000,000."],
    [lost, "Cost of a lost ride: enter a number of at least 0.01."],
    [idle, "Cost of an idle vehicle: enter 0 or more."],
    [day, day.min ? `Day: choose one from ${day.min} to ${day.max}.` : "Day: choose a date."],
  ];

  let pending = null;
  let planned = false;
  const update = async () => {
    if (pending) pending.abort();
    pending = new AbortController();
    const { signal } = pending;
    const wrong = hints().find(([input]) => !input.checkValidity());
    if (wrong) {
      fail(new Error(wrong[1]));
      return;
    }
    try {
      const costs = { cost_lost: lost.value, cost_idle: idle.value };
      const plan = planned ? await ask("/api/plan", { fleet: fleet.value, ...costs, date: day.value }, signal) : null;
      const when = plan ? { start: plan.start, horizon: plan.periods } : { start: day.value };
      const forecast = await ask("/api/forecast", { place: place.value, ...when }, signal);
      answer.className = "wi-answer";
      results.hidden = false;
      if (plan) tellPlan(plan);
      else answer.textContent = "This run has no plan yet; `unmet plan` makes one. The forecast is below.";
      tellForecast(forecast);
      root.dataset.fleet = String(plan ? plan.fleet : "");
      root.dataset.answers = String(Number(root.dataset.answers || 0) + 1);
    } catch (problem) {
      if (problem.name !== "AbortError") fail(problem);
    }
  };
  let timer = null;
  const soon = () => { clearTimeout(timer); timer = setTimeout(update, 150); };

  const start = async () => {
    try {
      const found = await ask("/api/places", {});
      place.append(...found.places.map((entry) => make("option", { value: entry.unique_id, textContent: entry.name })));
      fleet.value = found.fleet ?? "";
      planned = Boolean(found.plan);
      if (planned) Object.assign(day, { min: found.plan.from, max: found.plan.to, value: found.plan.from });
      document.getElementById("wi-form").addEventListener("submit", (event) => { event.preventDefault(); update(); });
      for (const input of [fleet, lost, idle, place, day]) input.addEventListener("input", soon);
      await update();
    } catch (problem) {
      fail(problem);
    }
  };
  start();
})();
