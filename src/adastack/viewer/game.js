"use strict";
/* The player holds the stack: chooses what to forget, then acts. Everything runs on the task's tables. */

const WINDOW = [15, 17];
const ARROWS = {up: "ArrowUp", right: "ArrowRight", down: "ArrowDown", left: "ArrowLeft"};
const SIGNS = {up: "▲", right: "▶", down: "▼", left: "◀"};

/* An index drawn by weights. */
function drawn(weights) {
  let rest = Math.random() * weights.reduce((sum, weight) => sum + weight, 0);
  const found = weights.findIndex((weight) => (rest -= weight) < 0);
  return found < 0 ? weights.length - 1 : found;
}

/* The outcomes of an action as places in the flattened tables. */
function outcomes(task, state, action) {
  const first = (state * task.actions.length + action) * task.n_outcomes;
  return Array.from({length: task.n_outcomes}, (_, index) => first + index);
}

/* ---- the rules of the game: no drawing here ---- */

function begin(game) {
  const task = game.task;
  game.state = task.starts[drawn(task.start_weights)];
  game.reachable = reachable(task, game.state);
  game.started = game.state;
  game.clock = 0;
}

function newEpisode(game) {
  begin(game);
  game.slots = Array(game.task.k).fill(-1);
  game.ages = Array(game.task.k).fill(-1);
  game.slots[game.task.k - 1] = game.task.observation[game.state];
  game.ages[game.task.k - 1] = 0;
  game.over = false;
  game.message = "";
  game.choice = usual(game);
}

/* The memory action that evicts a slot now; -1 if the rule cannot. */
function memoryAction(game, slot) {
  const filled = game.slots.filter((symbol) => symbol >= 0).length;
  return game.task.evict.findIndex((row) => row[filled] === slot);
}

/* The slot that is chosen unless the player says otherwise: an empty one, else the last choice. */
function usual(game) {
  const able = game.slots.map((_, slot) => slot).filter((slot) => memoryAction(game, slot) >= 0);
  const empty = able.find((slot) => game.slots[slot] < 0);
  if (empty !== undefined) return empty;
  return able.includes(game.choice) ? game.choice : able[able.length - 1];
}

function push(game, slot, symbol) {
  game.slots.splice(slot, 1);
  game.ages.splice(slot, 1);
  game.ages = game.ages.map((age) => (age < 0 ? -1 : age + 1));
  game.slots.push(symbol);
  game.ages.push(0);
}

function step(game, action) {
  const task = game.task, places = outcomes(task, game.state, action);
  const place = places[drawn(places.map((at) => task.probability[at]))];
  const reward = task.reward[place], ends = task.ends[place] === 1;
  game.clock += 1;
  game.score.steps += 1;
  game.score.reward += reward;
  const cut = !ends && task.time_limit !== null && game.clock >= task.time_limit;
  game.before = game.state;
  if (ends && task.continual) begin(game);
  else game.state = task.next_state[place];
  push(game, game.choice, task.observation[game.state]);
  game.choice = usual(game);
  game.message = reward ? `Reward ${reward > 0 ? "+" : ""}${Math.round(1000 * reward) / 1000}.` : "";
  if (ends || cut) finish(game, ends && reward > 0, cut);
}

/* What would have solved the attempt at its last step, in words; nothing if nothing would. */
function right(game) {
  const task = game.task;
  const names = [], goals = new Set();
  task.actions.forEach((name, action) => {
    const at = outcomes(task, game.before, action)
      .find((place) => task.probability[place] > 0 && task.ends[place] === 1 && task.reward[place] > 0);
    /* Of several actions that lead to one goal, the first names it. */
    if (at === undefined || goals.has(task.next_state[at])) return;
    goals.add(task.next_state[at]);
    names.push(`“${name}”`);
  });
  const cues = [...new Set(task.cue[game.before])].filter((symbol) => symbol >= 0)
    .map((symbol) => `“${task.symbols[symbol].name}”`);
  if (!names.length) return "";
  return `Right was ${names.join(" or ")}${cues.length ? `: the cue was ${cues.join(" and ")}` : ""}.`;
}

function finish(game, solved, cut) {
  game.score.attempts += 1;
  game.score.solved += solved ? 1 : 0;
  const verdict = solved ? "Solved!" : cut ? "Out of time." : `Not solved. ${right(game)}`;
  const next = game.task.continual ? "The next attempt has begun, and your memory is as it was." : "";
  game.message = [verdict, game.message, next].join(" ");
  game.solved = solved;
  game.over = !game.task.continual;
}

/* ---- the map ---- */

function reachable(task, first) {
  const found = new Set([first]), queue = [first];
  while (queue.length) {
    const state = queue.pop();
    for (let action = 0; action < task.actions.length; action++)
      for (const place of outcomes(task, state, action)) {
        const after = task.next_state[place];
        if (task.probability[place] > 0 && !found.has(after)) { found.add(after); queue.push(after); }
      }
  }
  return found;
}

/* What each cell shows now; cells that this attempt cannot visit are walls. */
function cellsNow(game) {
  const task = game.task, picture = task.picture;
  const cells = picture.background.map((row) => row.map(() => -1));
  for (const state of [...game.reachable, game.started]) {
    const [r, c] = picture.agent[state];
    cells[r][c] = picture.background[r][c];
  }
  const paint = ([r, c], symbol) => { if (symbol >= 0 && r >= 0 && c >= 0) cells[r][c] = symbol; };
  paint(picture.agent[game.started], task.observation[game.started]);
  /* When all is over nothing is to be remembered; the map still shows what was. */
  const state = game.over ? game.before : game.state;
  task.cue[state].forEach((symbol, index) => paint(picture.cue_cells[state][index], symbol));
  paint(picture.agent[game.state], task.observation[game.state]);
  return cells;
}

function drawMap(game, svg) {
  svg.replaceChildren();
  const cells = cellsNow(game), agent = game.task.picture.agent[game.state];
  const used = cells[0].map((_, c) => cells.some((row) => row[c] >= 0));
  const bounds = [[0, cells.length - 1], [used.indexOf(true), used.lastIndexOf(true)]];
  const [rows, columns] = bounds.map(([low, high], axis) => {
    const size = Math.min(WINDOW[axis], high - low + 1);
    const from = Math.max(low, Math.min(agent[axis] - (size >> 1), high - size + 1));
    return {from, to: from + size, more: [from > low, from + size <= high]};
  });
  const shown = cells.slice(rows.from, rows.to).map((row) => row.slice(columns.from, columns.to));
  const at = [agent[0] - rows.from, agent[1] - columns.from];
  const size = drawMaze(svg, game.task.symbols, shown, at, columns.more);
  resize(svg, mazeWidth(shown), size.height);
}

/* ---- what the player sees and touches ---- */

function slotButton(game, slot) {
  const task = game.task, symbol = game.slots[slot], last = slot === task.k - 1;
  const button = document.createElement("button"), svg = document.createElementNS(NS, "svg");
  button.className = slot === game.choice ? "slot chosen" : "slot";
  button.disabled = game.over || memoryAction(game, slot) < 0;
  const name = symbol < 0 ? "empty" : task.symbols[symbol].name;
  button.setAttribute("aria-label", `slot ${slot + 1}: ${name}`);
  button.setAttribute("aria-pressed", String(slot === game.choice));
  tile(svg, 2, 2, SLOT, symbol < 0 ? null : task.symbols[symbol], {bold: last, faded: slot === game.choice});
  if (slot === game.choice) cross(svg, SLOT - 7, 11, 6);
  svg.setAttribute("viewBox", `0 0 ${SLOT + 4} ${SLOT + 4}`);
  const label = document.createElement("span");
  label.innerHTML = `<kbd>${slot + 1}</kbd> ${symbol < 0 ? "empty" : ageText(game.ages[slot], last)}`;
  button.append(svg, label);
  button.onclick = () => { game.choice = slot; render(game); };
  return button;
}

function keyOf(game, action) {
  return ARROWS[game.task.actions[action]] || String.fromCharCode(97 + action);
}

function actionButton(game, action) {
  const name = game.task.actions[action], button = document.createElement("button");
  button.className = SIGNS[name] ? `move ${name}` : "move";
  button.innerHTML = SIGNS[name] ? SIGNS[name] : `<kbd>${keyOf(game, action)}</kbd> `;
  if (!SIGNS[name]) button.append(name);
  button.setAttribute("aria-label", name);
  button.onclick = () => act(game, action);
  return button;
}

function hint(game) {
  const found = game.task.hints[game.slots.join(",")];
  if (!found) return "No hint: an optimal agent never holds this stack.";
  const [action, memory] = found, filled = game.slots.filter((symbol) => symbol >= 0).length;
  const slot = game.task.evict[memory][filled], symbol = game.slots[slot];
  const what = symbol < 0 ? "an empty slot" : `“${game.task.symbols[symbol].name}”`;
  return `An optimal agent evicts ${what} (slot ${slot + 1}) and takes “${game.task.actions[action]}”.`;
}

function render(game) {
  const find = (name) => game.root.querySelector(name), score = game.score;
  for (const name of ["attempts", "solved", "steps"]) find(`.${name}`).textContent = score[name];
  find(".reward").textContent = Math.round(100 * score.reward) / 100;
  find(".slots").replaceChildren(...game.slots.map((_, slot) => slotButton(game, slot)));
  find(".message").textContent = game.message || "Choose what to forget, then act.";
  find(".message").className = `message ${game.message.startsWith("Solved") ? "holds" : game.over ? "fails" : ""}`;
  find(".again").hidden = !game.over;
  find(".pad").hidden = game.over;
  find(".hint").textContent = game.hints && !game.over ? hint(game) : "";
  const map = find(".map");
  map.style.display = game.task.picture && (game.map || game.over) ? "block" : "none";
  if (game.task.picture) drawMap(game, map);
}

function act(game, action) {
  if (!game.over) step(game, action);
  render(game);
}

function again(game) {
  newEpisode(game);
  render(game);
}

function onKey(game, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const action = game.task.actions.findIndex((_, index) => keyOf(game, index) === event.key);
  const slot = Number(event.key) - 1;
  if (game.over && (event.key === "Enter" || event.key === " ")) again(game);
  else if (!game.over && action >= 0) act(game, action);
  else if (!game.over && slot >= 0 && slot < game.task.k && memoryAction(game, slot) >= 0) {
    game.choice = slot;
    render(game);
  } else return;
  event.preventDefault();
}

function play(root) {
  const task = JSON.parse(root.querySelector("script").textContent);
  const score = {attempts: 0, solved: 0, steps: 0, reward: 0};
  const game = {root, task, score, map: false, hints: false};
  root.querySelector(".pad").append(...task.actions.map((_, action) => actionButton(game, action)));
  root.querySelector(".pad").classList.toggle("cross-pad", task.actions.every((name) => SIGNS[name]));
  root.querySelector(".again").onclick = () => again(game);
  for (const name of ["map", "hints"]) {
    const box = root.querySelector(`input[name=${name}]`);
    if (box) box.onchange = () => { game[name] = box.checked; box.blur(); render(game); };
  }
  document.addEventListener("keydown", (event) => onKey(game, event));
  newEpisode(game);
  render(game);
  return game;
}

document.querySelectorAll("section.game").forEach(play);
