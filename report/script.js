// SPDX-License-Identifier: Apache-2.0
// What a page of text cannot do alone: sort tables, zoom timelines, and show tips where there is no mouse.
"use strict";

// Tables: a click sorts by that column, another one turns the order round. Absent figures go last.
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement;
    const table = head.closest("table");
    const column = head.cellIndex;
    const isText = head.classList.contains("left") || column === 0;
    const first = isText ? "ascending" : "descending", second = isText ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === first ? second : first;
    const sign = order === "ascending" ? 1 : -1;
    const value = (row) => row.cells[column].dataset.v ?? (isText ? row.cells[column].textContent : "");
    const body = table.tBodies[0];
    const rows = [...body.rows].sort((a, b) => {
      const x = value(a), y = value(b);
      if (isText) return sign * x.localeCompare(y);
      if (x === "" || y === "") return (x === "") - (y === "");
      return sign * (x - y);
    });
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    body.append(...rows);
  });
}

// Timelines: positions are percentages, so that zooming is a wider drawing in the same window.
function niceStep(us, count) {
  const rough = us / count, power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= rough);
}
function timeText(us, step) {
  const [scale, unit] = step < 1 ? [1e3, "ns"] : step < 1e3 ? [1, "µs"] : step < 1e6 ? [1e-3, "ms"] : [1e-6, "s"];
  return +(us * scale).toPrecision(6) + " " + unit;
}
function element(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}
for (const figure of document.querySelectorAll(".timeline")) {
  const track = figure.querySelector(".track");
  const drawing = track.querySelector("svg");
  const total = +figure.dataset.us;
  const boxes = [...drawing.querySelectorAll("[data-w]")];
  let zoom = 1;

  const draw = () => {
    const width = track.clientWidth * zoom;
    drawing.style.width = width + "px";
    for (const box of boxes)
      box.classList.toggle("small", box.dataset.w * width / 100 < 8 + 6.4 * box.lastElementChild.textContent.length);
    const axis = drawing.querySelector(".axis");
    axis.replaceChildren();
    const step = niceStep(total, Math.max(2, width / 110));
    for (let us = 0; total > 0 && us <= total; us += step) {
      const x = us / total * 100 + "%";
      axis.append(element("line", {x1: x, x2: x, y1: 0, y2: "100%"}),
                  element("text", {x, dx: 4, y: 12}, timeText(us, step)));
    }
    figure.querySelector(".zoom").textContent = zoom + "×";
  };
  const set = (value, at = 0.5) => {
    const next = Math.min(256, Math.max(1, value));
    const middle = (track.scrollLeft + at * track.clientWidth) / zoom;
    zoom = next;
    draw();
    track.scrollLeft = middle * zoom - at * track.clientWidth;
  };
  figure.querySelector(".in").addEventListener("click", () => set(zoom * 2));
  figure.querySelector(".out").addEventListener("click", () => set(zoom / 2));
  figure.querySelector(".all").addEventListener("click", () => set(1));
  track.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    set(event.deltaY < 0 ? zoom * 2 : zoom / 2, (event.clientX - track.getBoundingClientRect().left) / track.clientWidth);
  }, {passive: false});
  figure.querySelector(".tools").hidden = false;
  addEventListener("resize", draw);
  draw();
}

// Tips: the text of the <title> at once, and for a tap too.
const tip = document.getElementById("tip");
for (const title of document.querySelectorAll("svg title")) {
  title.parentElement.dataset.tip = title.textContent;
  title.parentElement.setAttribute("aria-label", title.textContent);
  title.remove();
}
function showTip(event) {
  const about = event.target.closest?.("[data-tip]");
  tip.hidden = !about;
  if (!about) return;
  tip.textContent = about.dataset.tip;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(6, Math.min(event.clientX + 14, innerWidth - box.width - 6)) + "px";
  const below = event.clientY + 18;
  tip.style.top = (below + box.height < innerHeight ? below : Math.max(6, event.clientY - box.height - 12)) + "px";
}
addEventListener("pointermove", showTip);
addEventListener("pointerdown", showTip);
addEventListener("scroll", () => { tip.hidden = true; }, {passive: true, capture: true});
