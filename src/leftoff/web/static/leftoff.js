"use strict";
// Small helpers for a page that also works without them: live updates, search as you type,
// keyboard, copying. Everything that changes the store is a plain form.

const content = document.getElementById("content");
const part = { headers: { "X-Part": "1" }, credentials: "same-origin" };

async function fetchPart(address) {
  const answer = await fetch(address, part);
  if (!answer.ok) throw new Error(String(answer.status));
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return page.body;
}

// --- parts that take longer, fetched when they come into view ---

let waiting = Promise.resolve();
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    watcher.unobserve(entry.target);
    // One after the other, so that a page of cards does not start fifty programs at once.
    waiting = waiting.then(() => fill(entry.target));
  }
}, { rootMargin: "200px" });

async function fill(place) {
  try {
    const found = await fetchPart(place.dataset.lazy);
    place.replaceChildren(...found.childNodes);
  } catch {
    place.replaceChildren();
  }
  place.dataset.filled = "";
  prepare(place);
}

function prepare(root) {
  for (const place of root.querySelectorAll("[data-lazy]")) watcher.observe(place);
  for (const button of root.querySelectorAll("[data-copy]")) button.hidden = !navigator.clipboard;
}

// --- live updates ---

let stream = null;
let isStale = false;

function setLive(state, text) {
  const place = document.getElementById("live");
  place.dataset.state = state;
  document.getElementById("live-text").textContent = text;
}

function listen() {
  if (stream || document.hidden) return;
  stream = new EventSource("/events");
  stream.addEventListener("ready", () => {
    setLive("on", "Live");
    if (isStale) refresh();
    isStale = false;
  });
  stream.addEventListener("change", refresh);
  stream.addEventListener("end", () => {
    stop();
    setLive("ended", "Ended; run leftoff ui again");
  });
  stream.addEventListener("error", () => {
    isStale = true;
    setLive("off", "Not connected");
  });
}

function stop() {
  if (stream) stream.close();
  stream = null;
}

function isBusy() {
  const active = document.activeElement;
  const isTyping = active && content.contains(active) && /^(INPUT|TEXTAREA|SELECT)$/.test(active.tagName);
  return isTyping || content.querySelector("details.edit[open]") !== null;
}

let refreshing = false;
let again = false;
async function refresh() {
  // What somebody is typing must not be replaced; the page catches up when they leave the field.
  if (isBusy()) {
    isStale = true;
    return;
  }
  if (refreshing) {
    again = true;
    return;
  }
  refreshing = true;
  try {
    const found = await fetchPart(location.pathname + location.search);
    if (!isBusy()) swap(found);
  } catch {
    isStale = true;
  }
  refreshing = false;
  if (again) {
    again = false;
    refresh();
  }
}

function swap(found) {
  const focused = document.activeElement && content.contains(document.activeElement) ? document.activeElement : null;
  const key = focused && (focused.id || focused.getAttribute("href"));
  const open = new Set([...content.querySelectorAll("details[open] > summary")].map((each) => each.textContent));
  // Parts that were fetched stay until their new version is there, so that nothing jumps.
  const fetched = new Map([...content.querySelectorAll("[data-lazy]")].map((each) => [each.dataset.lazy, each]));
  for (const place of found.querySelectorAll("[data-lazy]")) {
    const before = fetched.get(place.dataset.lazy);
    if (before) place.replaceChildren(...[...before.childNodes].map((node) => node.cloneNode(true)));
  }
  content.replaceChildren(...found.childNodes);
  for (const summary of content.querySelectorAll("summary")) summary.parentElement.open ||= open.has(summary.textContent);
  prepare(content);
  if (!key) return;
  const target = document.getElementById(key) || [...content.querySelectorAll("a")].find((each) => each.getAttribute("href") === key);
  if (target) target.focus({ preventScroll: true });
}

function catchUp() {
  if (!isStale || !stream || isBusy()) return;
  isStale = false;
  refresh();
}
// After the event, when it is known what has the focus now.
content.addEventListener("focusout", () => setTimeout(catchUp));
content.addEventListener("toggle", () => setTimeout(catchUp), true);

document.addEventListener("visibilitychange", () => {
  // Browsers open only six connections to one server, so a hidden page gives its own back.
  if (document.hidden) {
    stop();
    isStale = true;
  } else {
    listen();
  }
});
addEventListener("pagehide", stop);
addEventListener("pageshow", (event) => {
  if (event.persisted) listen();
});

// --- search as you type ---

let timer = 0;
let turn = 0;
function soon(action) {
  clearTimeout(timer);
  timer = setTimeout(action, 120);
}

// From the field beside every page: show the page for searching, and go on typing there.
async function openSearch(field) {
  const asked = field.value;
  const address = `/search?${new URLSearchParams({ q: asked })}`;
  const mine = ++turn;
  const found = await fetchPart(address).catch(() => null);
  if (!found || mine !== turn || document.activeElement !== field) return;
  content.replaceChildren(...found.childNodes);
  history.pushState(null, "", address);
  shownPath = location.pathname;
  document.title = "Search · leftoff";
  document.querySelector("[aria-current=page]")?.removeAttribute("aria-current");
  const words = document.getElementById("q");
  words.value = field.value;
  words.focus();
  words.setSelectionRange(words.value.length, words.value.length);
  if (words.value !== asked) search(words.form);
}

let shownPath = location.pathname;
addEventListener("popstate", () => {
  if (location.pathname !== shownPath) location.reload();
});

async function search(form) {
  const given = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
  const address = `/search?${given}`;
  const mine = ++turn;
  const found = await fetchPart(address).catch(() => null);
  // An earlier answer must not replace a later one.
  if (!found || mine !== turn) return;
  history.replaceState(null, "", address);
  document.getElementById("results").replaceChildren(...found.querySelector("#results").childNodes);
}

document.addEventListener("input", (event) => {
  if (event.isComposing) return;
  const form = event.target.closest("#search-form");
  if (form) soon(() => search(form));
  else if (event.target.id === "quick" && event.target.value.trim()) soon(() => openSearch(event.target));
});
document.addEventListener("submit", (event) => {
  if (event.target.id === "search-form") {
    event.preventDefault();
    search(event.target);
  }
});
document.addEventListener("change", (event) => {
  if (event.target.closest("[data-submit]")) event.target.form.requestSubmit();
});

// --- forms that change something: come back to the same place ---

document.addEventListener("submit", (event) => {
  if (event.target.method !== "post") return;
  // With the keyboard, the next row is chosen, so that a list can be worked through.
  const row = document.activeElement.matches(":focus-visible") && event.target.closest("[data-row]");
  const number = row ? [...content.querySelectorAll("[data-row]")].indexOf(row) : -1;
  sessionStorage.setItem("place", JSON.stringify([location.pathname + location.search, scrollY, number]));
});

function comeBack() {
  const [address, top, number] = JSON.parse(sessionStorage.getItem("place") || "[]");
  sessionStorage.removeItem("place");
  if (address !== location.pathname + location.search) return;
  scrollTo(0, top);
  const rows = content.querySelectorAll("[data-row]");
  if (number >= 0 && rows.length) choose([...rows], Math.min(number, rows.length - 1), { preventScroll: true });
}

// --- copying ---

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  const before = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = before; }, 1500);
});

// --- keyboard ---

const keys = document.getElementById("keys");
const showKeys = document.getElementById("show-keys");
showKeys.hidden = false;
showKeys.addEventListener("click", () => keys.showModal());

function move(step) {
  const rows = [...content.querySelectorAll("[data-row]")];
  if (!rows.length) return;
  const now = rows.findIndex((row) => row.classList.contains("chosen") || row.contains(document.activeElement));
  choose(rows, Math.min(Math.max(now + step, 0), rows.length - 1));
}

function choose(rows, number, options) {
  for (const row of rows) row.classList.toggle("chosen", row === rows[number]);
  (rows[number].querySelector("[data-open]") || rows[number]).focus(options);
}

function findSearchField() {
  const field = document.querySelector("[data-live-search]") || document.getElementById("quick");
  field.focus();
  field.select();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
  const isField = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.key === "Escape" && isField) return event.target.blur();
  const field = document.getElementById("q");
  if (isField && event.target === field && event.key === "ArrowDown") {
    event.preventDefault();
    return move(1);
  }
  if (isField) return;
  const acts = {
    "/": findSearchField,
    j: () => move(1),
    k: () => move(-1),
    o: () => location.assign("/"),
    "?": () => keys.showModal(),
  };
  if (event.key in acts) {
    event.preventDefault();
    acts[event.key]();
  }
});

prepare(content);
comeBack();
listen();
if (document.querySelector("[data-live-search]")) findSearchField();
