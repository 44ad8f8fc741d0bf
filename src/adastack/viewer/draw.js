"use strict";
/* What the player and the game draw alike: tiles, mazes and the slots of a memory. */

const CELL = 40, GAP = 4, SLOT = 54, PITCH = SLOT + 18, EDGE = 14;
const PER_ROW = window.innerWidth < 600 ? 5 : 11;
const NS = "http://www.w3.org/2000/svg";

function shape(parent, name, attributes, text) {
  const node = document.createElementNS(NS, name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}

function isDark(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return 0.3 * red + 0.59 * green + 0.11 * blue < 125;
}

/* A colour speaks for itself, and on the map so does a place ("3,1"). */
function lines(name, onMap) {
  const silent = onMap ? /^\d+,\d+$|^(grey|blue|red|green)$/ : /^(grey|blue|red|green)$/;
  return silent.test(name) ? [] : name.split(/[\s_-]+/).slice(0, 3).map((word) => word.slice(0, 8));
}

/* A square that shows an observation; a dashed one if it is null. */
function tile(parent, x, y, size, symbol, options) {
  const {bold = false, onMap = false, faded = false} = options || {};
  const group = shape(parent, "g", faded ? {opacity: 0.45} : {});
  shape(group, "rect", {
    x, y, width: size, height: size, rx: 6, fill: symbol ? symbol.colour : "none",
    class: symbol ? (bold ? "tile now" : "tile") : "tile empty",
  });
  const words = symbol ? lines(symbol.name, onMap) : [];
  words.forEach((word, index) => shape(group, "text", {
    x: x + size / 2, y: y + size / 2 + 4 + (index - (words.length - 1) / 2) * 12,
    class: isDark(symbol.colour) ? "name light" : "name",
  }, word));
  return group;
}

function cross(parent, x, y, reach) {
  const d = `M${x - reach} ${y - reach}l${2 * reach} ${2 * reach}m0 ${-2 * reach}l${-2 * reach} ${2 * reach}`;
  shape(parent, "path", {d, class: "cross"});
}

function mazeWidth(cells) {
  return cells ? 2 * EDGE + cells[0].length * CELL : 0;
}

/* Draws cells (rows of symbol numbers, -1 a wall) with the agent; returns {height}. */
function drawMaze(svg, symbols, cells, agent, more) {
  cells.forEach((row, r) => row.forEach((symbol, c) => {
    if (symbol >= 0)
      tile(svg, EDGE + c * CELL, EDGE + r * CELL, CELL - GAP, symbols[symbol], {onMap: true});
  }));
  const columns = cells[0].length, middle = EDGE + (agent[0] + 0.5) * CELL;
  if (more[0]) shape(svg, "text", {x: 6, y: middle, class: "more"}, "…");
  if (more[1]) shape(svg, "text", {x: EDGE + 2 + columns * CELL, y: middle, class: "more"}, "…");
  shape(svg, "circle", {
    cx: EDGE + agent[1] * CELL + (CELL - GAP) / 2, cy: EDGE + agent[0] * CELL + (CELL - GAP) / 2,
    r: 10, class: "agent",
  });
  return {height: EDGE + cells.length * CELL};
}

function ageText(age, isNow) {
  return isNow ? "now" : age === 1 ? "1 step ago" : age + " ago";
}

/* Draws the slots in rows, oldest first; returns a group for each, and {width, height}. */
function drawSlots(svg, symbols, slots, ages, top) {
  const groups = slots.map((symbol, slot) => {
    const x = EDGE + (slot % PER_ROW) * PITCH, last = slot === slots.length - 1;
    const y = top + Math.floor(slot / PER_ROW) * (SLOT + 30);
    const group = tile(svg, x, y, SLOT, symbol < 0 ? null : symbols[symbol], {bold: last});
    if (symbol >= 0)
      shape(group, "text", {x: x + SLOT / 2, y: y + SLOT + 16, class: "age"}, ageText(ages[slot], last));
    return group;
  });
  const rows = Math.ceil(slots.length / PER_ROW);
  return {groups, width: 2 * EDGE + Math.min(slots.length, PER_ROW) * PITCH, height: rows * (SLOT + 30)};
}

function slotPlace(slot, top) {
  return [EDGE + (slot % PER_ROW) * PITCH, top + Math.floor(slot / PER_ROW) * (SLOT + 30)];
}

function resize(svg, width, height) {
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("width", width);
}
