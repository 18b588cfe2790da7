// Before anything is drawn: the theme that the reader chose, and the mark that scripts run.
(function () {
  "use strict";
  var root = document.documentElement;
  root.classList.add("scripted");
  try {
    var chosen = localStorage.getItem("unmet-theme");
    if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  } catch (error) { /* storage may be forbidden; the system's theme is used */ }
})();
