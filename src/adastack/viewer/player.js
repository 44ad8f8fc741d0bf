"use strict";
/* Plays recorded episodes: the world, the memory below it, and a slider through time. */

/* What the step before this frame evicted: its symbol and its age, or null. */
function givenUp(episode, step) {
  const frame = episode.frames[step];
  if (step === 0 || frame.evicted < 0) return null;
  const before = episode.frames[step - 1];
  return {symbol: before.slots[frame.evicted], age: before.ages[frame.evicted]};
}

function drawMemory(svg, episode, step, top) {
  const frame = episode.frames[step], dropped = givenUp(episode, step);
  shape(svg, "text", {x: EDGE, y: top + 12, class: "label"}, "memory, oldest first");
  const size = drawSlots(svg, episode.symbols, frame.slots, frame.ages, top + 22);
  const place = Math.max(size.width, 2 * EDGE + 2 * PITCH) + 8;
  if (dropped) {
    const [x, y] = slotPlace(frame.evicted, top + 22);
    cross(svg, x - 9, y + SLOT / 2, 4);
    shape(svg, "text", {x: place, y: top + 12, class: "label"}, "evicted");
    const symbol = dropped.symbol < 0 ? null : episode.symbols[dropped.symbol];
    tile(svg, place, top + 22, SLOT, symbol, {faded: true});
    cross(svg, place + SLOT / 2, top + 22 + SLOT / 2, 11);
    const steps = dropped.age === 1 ? "1 step" : `${dropped.age} steps`;
    const age = symbol ? (dropped.age ? `kept ${steps}` : "just seen") : "empty";
    shape(svg, "text", {x: place + SLOT / 2, y: top + SLOT + 38, class: "age"}, age);
  }
  return {width: place + SLOT + EDGE, height: top + 22 + size.height};
}

/* What was kept beyond the step it was seen in: from when until when, its symbol, if it has one, and
   a lane in which nothing else was at the time. */
function keptBars(frames) {
  const bars = new Map();
  frames.forEach((frame, step) => frame.ages.forEach((age, slot) => {
    if (age < 0) return;
    const key = `${step - age},${frame.slots ? frame.slots[slot] : ""}`;
    if (!bars.has(key)) bars.set(key, {from: step - age, symbol: frame.slots && frame.slots[slot]});
    bars.get(key).to = step;
  }));
  const kept = [...bars.values()].filter((bar) => bar.to > bar.from && bar.from >= 0), ends = [];
  for (const bar of kept.sort((a, b) => a.from - b.from)) {
    const free = ends.findIndex((end) => end <= bar.from);
    bar.lane = free < 0 ? ends.length : free;
    ends[bar.lane] = bar.to;
  }
  return kept;
}

/* A bar for each observation in memory, over time, with rewards below; a step can be clicked. */
function drawKept(player, go) {
  const {episode, kept, last} = player, bars = keptBars(episode.frames);
  if (!bars.length || !last) return;
  /* As many units as pixels, so that letters are as large on a phone. */
  const width = Math.min(640, player.slider.parentElement.clientWidth || 640), left = EDGE, right = width - EDGE, top = 24;
  const lanes = 1 + Math.max(...bars.map((bar) => bar.lane));
  const row = Math.max(3, Math.min(18, 200 / lanes)), bottom = top + lanes * row + 4;
  const x = (step) => left + (right - left) * step / last;
  shape(kept, "text", {x: left, y: 12, class: "label"}, "kept in memory, from when it was seen until it was evicted");
  bars.forEach((bar) => shape(kept, "rect", {
    x: x(bar.from), y: top + bar.lane * row, width: x(bar.to) - x(bar.from) - 1, height: row - 2, rx: Math.min(3, row / 4),
    class: "bar", style: bar.symbol >= 0 ? `fill: ${episode.symbols[bar.symbol].colour}` : "",
  }));
  shape(kept, "path", {d: `M${left} ${bottom}H${right}`, class: "axis"});
  episode.frames.forEach((frame, step) => {
    if (frame.reward) shape(kept, "circle", {cx: x(step), cy: bottom, r: 3, class: frame.reward > 0 ? "paid" : "fined"});
  });
  shape(kept, "text", {x: left, y: bottom + 16, class: "label"}, "step 0");
  shape(kept, "text", {x: right, y: bottom + 16, class: "label end"}, last);
  player.cursor = shape(kept, "path", {d: `M0 ${top - 4}V${bottom + 4}`, class: "cursor"});
  player.x = x;
  kept.setAttribute("viewBox", `0 0 ${width} ${bottom + 22}`);
  kept.onclick = (event) => {
    const box = kept.getBoundingClientRect(), at = (event.clientX - box.left) / box.width * width;
    go(Math.max(0, Math.min(last, Math.round((at - left) / (right - left) * last))));
  };
}

/* Pictures are drawn with their memory; a table-drawn task draws its own. */
function drawFrame(player, step) {
  const episode = player.episode, frame = episode.frames[step];
  if (frame.image !== undefined) {
    player.image.src = episode.images[frame.image];
    return;
  }
  player.svg.replaceChildren();
  const maze = frame.cells
    ? drawMaze(player.svg, episode.symbols, frame.cells, frame.agent, frame.more).height + 10 : 0;
  const memory = drawMemory(player.svg, episode, step, maze);
  resize(player.svg, Math.max(memory.width, player.widest), memory.height);
}

function words(episode, step) {
  const frame = episode.frames[step], total = episode.frames.length - 1;
  const parts = [`step ${step} of ${total}`];
  if (frame.reward) parts.push(`reward ${Math.round(1000 * frame.reward) / 1000}`);
  if (frame.over) parts.push(frame.success == null ? "over" : frame.success ? "solved" : "not solved");
  if (frame.action !== undefined) parts.push(`next: ${frame.action}`);
  return parts.join(" · ");
}

function show(player, step) {
  drawFrame(player, step);
  player.slider.value = step;
  player.says.textContent = words(player.episode, step);
  if (player.cursor) player.cursor.setAttribute("transform", `translate(${player.x(step)} 0)`);
}

/* What is in memory, however many slots there are: the symbols held, or the ages in a picture. */
function held(frame) {
  if (frame === undefined) return "";
  return JSON.stringify(frame.slots ? [...new Set(frame.slots.filter((symbol) => symbol >= 0))].sort() : frame.ages);
}

/* The first step at which the episodes do not hold the same; 0 if there is none. */
function firstDifference(players) {
  const [first, ...rest] = players.map((player) => player.episode.frames);
  const found = first.findIndex((frame, step) => rest.some((frames) => held(frames[step]) !== held(frame)));
  return Math.max(found, 0);
}

function playerOf(figure) {
  const episode = JSON.parse(figure.querySelector("script").textContent);
  return {
    episode, last: episode.frames.length - 1,
    /* One width for all frames: nothing jumps when mazes differ in length. */
    widest: Math.max(...episode.frames.map((frame) => mazeWidth(frame.cells))),
    svg: figure.querySelector("svg.screen"), kept: figure.querySelector("svg.kept"), image: figure.querySelector("img"),
    slider: figure.querySelector("input"), says: figure.querySelector(".says"),
    button: figure.querySelector("button"),
  };
}

/* Episodes that are compared share one clock; a shorter one waits at its end. */
function start(group) {
  const players = [...group.querySelectorAll("figure.episode")].map(playerOf);
  const last = Math.max(...players.map((player) => player.last));
  const beat = Math.max(...players.map((player) => player.episode.milliseconds || 350));
  let timer = null, now = 0;
  const go = (step) => {
    now = step;
    players.forEach((player) => show(player, Math.min(step, player.last)));
  };
  const label = (text) => players.forEach((player) => { player.button.textContent = text; });
  const stop = () => { clearInterval(timer); timer = null; label("play"); };
  const advance = () => (now >= last ? stop() : go(now + 1));
  for (const player of players) {
    player.slider.max = player.last;
    drawKept(player, (step) => { stop(); go(step); });
    player.slider.oninput = () => { stop(); go(Number(player.slider.value)); };
    player.button.onclick = () => {
      if (timer) return stop();
      if (now >= last) go(0);
      label("pause");
      timer = setInterval(advance, beat);
    };
  }
  go(players.length > 1 ? firstDifference(players) : 0);
}

document.querySelectorAll(".together").forEach(start);
