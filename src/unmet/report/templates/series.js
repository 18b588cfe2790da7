// A series over time as a chart: band, line, observed points, hatching where nothing is known, values by keyboard.
(function () {
  "use strict";
  const { show, moment } = window.unmet;
  const SVG = "http://www.w3.org/2000/svg";

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

  Object.assign(window.unmet, { drawSeries });
})();
