// Live numbers: the server sends {cell id: text}; only texts that differ are written, so that focus and scrolling stay.
(function () {
  "use strict";
  if (!window.EventSource || /[?&](cmd=edit|re=)/.test(location.search)) return;
  var source = null;
  function start() {
    if (source) return;
    source = new EventSource("?events=1");
    source.onmessage = function (event) {
      var cells = JSON.parse(event.data);
      Object.keys(cells).forEach(function (id) {
        var cell = document.getElementById(id);
        if (cell && cell.textContent !== cells[id]) cell.textContent = cells[id];
      });
    };
  }
  function stop() {
    if (source) source.close();
    source = null;
  }
  document.addEventListener("visibilitychange", function () {
    if (document.hidden) stop(); else start();
  });
  start();
})();
