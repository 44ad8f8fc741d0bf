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
}

function start(figure) {
  const episode = JSON.parse(figure.querySelector("script").textContent);
  const player = {
    episode,
    /* One width for all frames: nothing jumps when mazes differ in length. */
    widest: Math.max(...episode.frames.map((frame) => mazeWidth(frame.cells))),
    svg: figure.querySelector("svg"), image: figure.querySelector("img"),
    slider: figure.querySelector("input"), says: figure.querySelector(".says"),
  };
  const button = figure.querySelector("button"), last = episode.frames.length - 1;
  let timer = null;
  const stop = () => { clearInterval(timer); timer = null; button.textContent = "play"; };
  const advance = () => {
    const next = Number(player.slider.value) + 1;
    if (next > last) return stop();
    show(player, next);
  };
  player.slider.max = last;
  player.slider.oninput = () => { stop(); show(player, Number(player.slider.value)); };
  button.onclick = () => {
    if (timer) return stop();
    if (Number(player.slider.value) === last) show(player, 0);
    button.textContent = "pause";
    timer = setInterval(advance, episode.milliseconds || 350);
  };
  show(player, 0);
}

document.querySelectorAll("figure.episode").forEach(start);
