// What the whole page needs: sortable tables, the button of the theme.
(function () {
  "use strict";
  document.querySelectorAll("table[data-sortable]").forEach(window.unmet.makeSortable);

  const theme = document.getElementById("theme");
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
})();
