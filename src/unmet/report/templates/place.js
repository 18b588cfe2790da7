// One place: the choice of it, its curves, its tables. Text goes in as text, never as markup.
(function () {
  "use strict";
  const { data, show, moment, range, unpack, makeTable, drawSeries } = window.unmet;
  const byId = (id) => document.getElementById(id);
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
      hours: data.hours,
      unit: data.words.fine,
    };
  }
  function coarseSeries(place) {
    const entry = curves.coarse[place];
    const part = (name) => unpack(entry[name], entry.step);
    return {
      clock: curves.coarseClock, low: part("lo"), mid: part("mean"), high: part("hi"), seen: part("y"),
      ranOut: unpack(entry.ran_out, 1).map((number) => number > 0),
      hours: false,
      unit: curves.coarseDays === 1 ? data.words.coarse : `${data.words.noun} in ${curves.coarseDays} ${data.words.block}s`,
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
  // Of thousands of places the page holds the forecasts of those that lost most rides.
  function blank() {
    const count = curves.fine.filter(Boolean).length;
    byId("fine-read").textContent = "";
    byId("fine-table").replaceChildren();
    byId("fine-details").ontoggle = null;
    byId("fine-chart").textContent = curves.clock.length
      ? `This page holds the forecasts by ${data.by} of the ${show(count)} places that lost most rides. Those of this place are in forecast.parquet and backtest.parquet.`
      : "This run has no forecasts to show.";
  }
  function redraw() {
    if (!curves) return;
    const name = data.places[chosen].name;
    if (curves.clock.length && curves.fine[chosen]) draw("fine", fineSeries(chosen), name);
    else blank();
    draw("coarse", coarseSeries(chosen), name);
  }
  function select(n, jump) {
    if (!(n >= 0 && n < data.places.length)) return;
    chosen = n;
    const place = data.places[n];
    byId("place-name").textContent = place.name;
    byId("place-facts").textContent =
      `${place.facts} ` + (place.lost === null ? "" :
        `The 90% interval of lost ${data.words.noun} is ${place.interval}. ` +
        `${data.words.without} ${show(100 * place.empty, 1)}% of the time. `) + `Id ${place.id}.`;
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
      const { name, lost } = data.places[n];
      option.textContent = lost === null ? name : `${name} – ${lost} lost`;
      option.selected = n === chosen;
      return option;
    }));
    byId("place-found").textContent = wanted ? `${found.length} of ${data.places.length} ${data.words.places} match` : "";
    return found;
  }
  function spans() {
    const choice = byId("place-span");
    const has = curves && curves.history > 0 ? Math.floor((curves.clock[curves.history - 1] - curves.clock[0]) / 86400) + 1 : 0;
    const found = data.hours ? [2, 3, 7, 14, 28].filter((n) => n < has) : [];
    const options = found.map((n) => [n, `last ${n} days and forecast`]).concat([[0, has ? `all tested ${data.words.block}s and forecast` : "forecast"]]);
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
  Object.assign(window.unmet, { select });
})();
