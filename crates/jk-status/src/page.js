// Live numbers. The server sends {cell id: text}; only texts that differ are written, so that focus, selection and scrolling stay.
// Without event stream the page is fetched every five seconds and its cells are taken over. Nothing runs while the tab is hidden.
(function () {
  "use strict";
  var body = document.body, live = document.getElementById("live"), said = document.getElementById("said");
  // After a change the address has no query: loading it again must not send the change again.
  if ("posted" in body.dataset) history.replaceState(null, "", location.pathname);
  if (/[?&]re=/.test(location.search)) return;

  var tones = { "●": "ok", "○": "off", "◐": "warn", "▲": "bad" };
  var first = true, stale = false;

  function put(id, text) {
    var cell = document.getElementById(id);
    if (id === "plan") return replan(text);
    if (!cell || cell.textContent === text) return;
    cell.textContent = text;
    if (id === "attention") refetch();
    if (!cell.classList.contains("is")) return;
    cell.className = "is " + (tones[text.charAt(0)] || "off");
    var row = cell.closest("tr"), name = row && row.querySelector("th a");
    if (name && !first) said.textContent = name.textContent + ": " + text.slice(2);
  }

  function take(cells) {
    Object.keys(cells).forEach(function (id) { put(id, cells[id]); });
    if (cells.requests) rate(cells.requests);
    first = false;
  }

  // Another plan may have other rows: load again, unless somebody is at work here.
  function replan(plan) {
    if (plan === body.dataset.plan || stale) return;
    stale = true;
    var active = document.activeElement;
    if (active && active !== body && document.getElementById("main").contains(active) || document.querySelector("form.edit")) {
      document.getElementById("moved").hidden = false;
    } else {
      location.reload();
    }
  }

  // Requests a second of the last minute.
  var spark = document.getElementById("spark"), now = document.getElementById("now"), last = null, rates = [];
  function rate(text) {
    var count = Number(text.replace(/\D/g, "")), time = Date.now();
    if (last && time > last.time && spark) {
      rates.push(Math.max(0, (count - last.count) * 1000 / (time - last.time)));
      if (rates.length > 60) rates.shift();
      now.textContent = Math.round(rates[rates.length - 1]) + "/s now, ";
      var most = Math.max.apply(null, rates.concat(1));
      spark.querySelector("path").setAttribute("d", rates.map(function (value, at) {
        return (at ? "L" : "M") + (at * 2).toFixed(0) + " " + (22 - value * 20 / most).toFixed(1);
      }).join(""));
      spark.classList.toggle("on", rates.length > 1);
    }
    last = { count: count, time: time };
  }

  // The whole page again, for what has no cell.
  function fetched(use) {
    if ("posted" in body.dataset) return;
    fetch(location.href, { cache: "no-store" }).then(function (reply) {
      if (!reply.ok) throw new Error(reply.status);
      return reply.text();
    }).then(function (text) {
      use(new DOMParser().parseFromString(text, "text/html"));
    }).catch(function () { tell("no answer"); });
  }

  function swap(page) {
    document.querySelectorAll("[data-swap]").forEach(function (old) {
      var next = page.getElementById(old.id);
      if (next && !old.contains(document.activeElement) && next.innerHTML !== old.innerHTML) {
        old.replaceWith(document.importNode(next, true));
      }
    });
  }

  function refetch() { fetched(swap); }

  function poll() {
    fetched(function (page) {
      var cells = {};
      page.querySelectorAll("main [id], header [id]").forEach(function (cell) {
        var mine = document.getElementById(cell.id);
        if (mine && !cell.children.length && !mine.children.length && cell.id !== "live" && cell.id !== "said") {
          cells[cell.id] = cell.textContent;
        }
      });
      take(cells);
      swap(page);
      tell("every 5 s");
    });
  }

  function tell(text) {
    live.hidden = false;
    if (live.textContent !== text) live.textContent = text;
  }

  var source = null, timer = null;
  function start() {
    if (source || timer) return;
    if (!window.EventSource) return fallBack();
    source = new EventSource("?events=1");
    source.onmessage = function (event) { take(JSON.parse(event.data)); tell("live"); };
    source.onerror = function () {
      // Refused, and not only interrupted.
      if (source && source.readyState === 2) { stop(); fallBack(); } else { tell("no answer"); }
    };
  }
  function fallBack() { timer = setInterval(poll, 5000); }
  function stop() {
    if (source) source.close();
    if (timer) clearInterval(timer);
    source = timer = null;
  }
  document.addEventListener("visibilitychange", function () {
    if (document.hidden) stop(); else { last = null; start(); }
  });
  start();

  // The filter also works while typing, on the rows that are here.
  var find = document.getElementById("find");
  if (find) find.addEventListener("input", function () {
    var wanted = find.value.trim().toLowerCase();
    document.querySelectorAll("tbody tr").forEach(function (row) {
      row.hidden = wanted !== "" && row.textContent.toLowerCase().indexOf(wanted) < 0;
    });
  });
})();
