// The map by keyboard: one stop for Tab, arrows go to the next place that way, Enter or Space opens it.
(function () {
  "use strict";
  const { select } = window.unmet;
  const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  function reachable(map) {
    const circles = [...map.querySelectorAll("circle.place")];
    if (!circles.length) return;
    const at = (circle) => [circle.cx.baseVal.value, circle.cy.baseVal.value];
    function stop(circle) {
      circles.forEach((one) => { one.tabIndex = one === circle ? 0 : -1; });
    }
    // The nearest place that way; what lies aside counts double.
    function next(from, [right, down]) {
      const [x, y] = at(from);
      let found = from, least = Infinity;
      for (const circle of circles) {
        const [dx, dy] = [at(circle)[0] - x, at(circle)[1] - y];
        const along = dx * right + dy * down;
        const far = along + 2 * Math.abs(dx * down - dy * right);
        if (circle !== from && along > 0 && far < least) [found, least] = [circle, far];
      }
      return found;
    }
    // With scripts this is a group of buttons; without, a picture.
    map.setAttribute("role", "group");
    for (const circle of circles) {
      circle.setAttribute("role", "button");
      circle.setAttribute("aria-label", circle.querySelector("title").textContent);
      circle.addEventListener("focus", () => stop(circle));
      circle.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          select(Number(circle.dataset.place), true);
        } else if (event.key in WAYS) {
          event.preventDefault();
          next(circle, WAYS[event.key]).focus();
        }
      });
    }
    stop(map.querySelector("circle.chosen") || circles[0]);
  }
  document.querySelectorAll("svg.map").forEach(reachable);
})();
