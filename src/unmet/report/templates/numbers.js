// Numbers and times as text, and numbers packed two letters each. Opens window.unmet, which the other scripts add to.
(function () {
  "use strict";
  const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

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

  const data = JSON.parse(document.getElementById("data").textContent);
  window.unmet = { data, show, moment, range, unpack };
})();
