"use strict";
/* Plays recorded episodes: a maze, the memory below it, and a slider through time. */

const CELL = 40, GAP = 4, SLOT = 54;
const NS = "http://www.w3.org/2000/svg";

function shape(parent, name, attributes, text) {
  const node = document.createElementNS(NS, name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}

function tile(parent, x, y, size, symbol, marked) {
  shape(parent, "rect", {
    x, y, width: size, height: size, rx: 6, fill: symbol ? symbol.colour : "none",
    stroke: symbol ? (marked ? "#202020" : "#00000030") : "#b0b0b0",
    "stroke-width": marked ? 3 : 1, "stroke-dasharray": symbol ? "none" : "4 4",
  });
}

/* A colour speaks for itself, and on the map so does a place ("3,1"). */
function caption(symbol, onMap) {
  const silent = onMap ? /^\d+,\d+$|^(grey|blue|red|green)$/ : /^(grey|blue|red|green)$/;
  return silent.test(symbol.name) ? "" : symbol.name.slice(0, 7);
}

function drawMaze(svg, episode, frame) {
  if (!frame.cells) return 0;
  frame.cells.forEach((row, r) => row.forEach((symbol, c) => {
    if (symbol < 0) return;
    const x = 14 + c * CELL, y = 14 + r * CELL, found = episode.symbols[symbol];
    tile(svg, x, y, CELL - GAP, found, false);
    shape(svg, "text", {x: x + CELL / 2 - 2, y: y + CELL / 2 + 2, class: "name"}, caption(found, true));
  }));
  const columns = frame.cells[0].length, middle = 14 + (frame.agent[0] + 0.5) * CELL;
  if (frame.more[0]) shape(svg, "text", {x: 6, y: middle, class: "more"}, "…");
  if (frame.more[1]) shape(svg, "text", {x: 16 + columns * CELL, y: middle, class: "more"}, "…");
  shape(svg, "circle", {
    cx: 14 + frame.agent[1] * CELL + (CELL - GAP) / 2,
    cy: 14 + frame.agent[0] * CELL + (CELL - GAP) / 2, r: 10, fill: "#202020",
  });
  return frame.cells.length * CELL + 20;
}

function drawMemory(svg, episode, frame, top) {
  shape(svg, "text", {x: 14, y: top + 12, class: "label"}, "memory, oldest first");
  frame.slots.forEach((symbol, slot) => {
    const x = 14 + slot * (SLOT + 16), y = top + 22, found = symbol < 0 ? null : episode.symbols[symbol];
    tile(svg, x, y, SLOT, found, slot === frame.slots.length - 1);
    if (found) {
      shape(svg, "text", {x: x + SLOT / 2, y: y + SLOT / 2 + 4, class: "name"}, caption(found, false));
      const age = slot === frame.slots.length - 1 ? "now" : frame.ages[slot] + " ago";
      shape(svg, "text", {x: x + SLOT / 2, y: y + SLOT + 16, class: "age"}, age);
    }
    if (slot === frame.evicted)
      shape(svg, "text", {x: x - 8, y: y + SLOT / 2 + 5, class: "evicted"}, "×");
  });
  return top + 22 + SLOT + 26;
}

function draw(player, step) {
  const episode = player.episode, frame = episode.frames[step];
  player.svg.replaceChildren();
  const bottom = drawMemory(player.svg, episode, frame, drawMaze(player.svg, episode, frame));
  const cells = frame.cells ? 34 + frame.cells[0].length * CELL : 0;
  const width = Math.max(cells, 28 + frame.slots.length * (SLOT + 16));
  player.svg.setAttribute("viewBox", `0 0 ${width} ${bottom}`);
  player.svg.setAttribute("width", width);
  player.slider.value = step;
  const reward = frame.reward ? `, reward ${frame.reward}` : "";
  const action = frame.action ? `, goes ${frame.action}` : "";
  player.says.textContent = `step ${step} of ${episode.frames.length - 1}${reward}${action}`;
}

function start(figure) {
  const episode = JSON.parse(figure.querySelector("script").textContent);
  const player = {
    episode,
    svg: figure.querySelector("svg"),
    slider: figure.querySelector("input"),
    says: figure.querySelector(".says"),
  };
  const button = figure.querySelector("button");
  let timer = null;
  const stop = () => { clearInterval(timer); timer = null; button.textContent = "play"; };
  const advance = () => {
    const next = Number(player.slider.value) + 1;
    if (next >= episode.frames.length) return stop();
    draw(player, next);
  };
  player.slider.max = episode.frames.length - 1;
  player.slider.oninput = () => { stop(); draw(player, Number(player.slider.value)); };
  button.onclick = () => {
    if (timer) return stop();
    if (Number(player.slider.value) === episode.frames.length - 1) draw(player, 0);
    button.textContent = "pause";
    timer = setInterval(advance, 350);
  };
  draw(player, 0);
}

document.querySelectorAll("figure.episode").forEach(start);
