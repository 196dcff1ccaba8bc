/* The explorer: a list to filter, and one item to read. Works from a file, asks no server.
   Every text of the data reaches the page through textContent, so none of it can be markup. */
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const root = document.getElementById("unbidden-explorer");
  if (!root) return;
  const folder = root.dataset.folder || "explorer-data";
  const [PAGE, SHOWN] = [25, 3];
  const [ID, STYLE, CATEGORY, TALK, QUERY, RANKS, VERDICTS, SHARD, PLACE] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const received = new Map();
  const waiting = new Map();
  let index, found = [], first = 0, texts = [];

  /* A page opened from a file may not fetch; each shard is a script that makes this one call. */
  window.unbiddenExplorerData = (name, value) => received.set(name, value);

  function load(name) {
    if (received.has(name)) return Promise.resolve(received.get(name));
    if (!waiting.has(name)) {
      waiting.set(name, new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = `${folder}/${name}.js`;
        script.onload = () => resolve(received.get(name));
        script.onerror = () => { waiting.delete(name); reject(new Error(`${name} cannot be loaded`)); };
        document.head.append(script);
      }));
    }
    return waiting.get(name);
  }

  function make(tag, properties = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name.includes("-") || name === "for" || name === "scope" || name === "role") node.setAttribute(name, value);
      else node[name] = value;
    }
    node.append(...children.filter((child) => child !== null));
    return node;
  }

  /* ---------- the list ---------- */

  const filters = make("form", { className: "ux-filters", "aria-label": "Filter the items" });
  const count = make("p", { className: "ux-count", role: "status" });
  const body = make("tbody");
  const table = make("table", { className: "ux-table" },
    make("caption", { textContent: "Items that pass the filters" }),
    make("thead", {}, make("tr", {}, ...["What was said", "First gold turn at rank"]
      .map((name) => make("th", { scope: "col", textContent: name })))), body);
  const back = make("button", { type: "button", textContent: "Earlier items", onclick: () => turn(-PAGE) });
  const on = make("button", { type: "button", textContent: "Later items", onclick: () => turn(PAGE) });
  const list = make("div", {}, filters, count, table, make("p", { className: "ux-pager" }, back, on));
  const detail = make("section", { hidden: true, "aria-label": "One item" });
  const fields = {};

  function field(name, label, options) {
    const id = `ux-${name}`;
    const input = options
      ? make("select", { id, onchange: refresh }, ...options.map(([value, text]) => make("option", { value, textContent: text })))
      : make("input", { id, type: "search", autocomplete: "off", oninput: refresh });
    fields[name] = input;
    filters.append(make("div", {}, make("label", { for: id, textContent: label }), input));
  }

  const numbered = (names, all) => [["", all], ...names.map((name, i) => [String(i), name])];

  function build() {
    field("words", "Words or id");
    field("style", "Style", numbered(index.styles, "all styles"));
    field("talk", "Conversation", numbered(index.conversations, "all conversations"));
    field("category", "Category", numbered(index.categories, "all categories"));
    field("system", "System", numbered(index.systems, "any system"));
    field("rank", "What it found", [["", "anything"], ["one", "a gold turn first"], ["ten", "a gold turn somewhere"],
      ["none", "no gold turn"], ["unscored", "not scored or not run"]]);
    field("judge", "Judge", numbered(index.judges, "any judge"));
    field("label", "Verdict", numbered(index.labels, "any verdict, or none"));
    filters.append(make("button", { type: "button", textContent: "Clear filters", onclick: () => { filters.reset(); refresh(); } }));
    filters.onsubmit = (event) => event.preventDefault();
    texts = index.rows.map((row) => `${row[ID]} ${row[QUERY]}`.toLowerCase());
  }

  const RANK = { one: (r) => r === 1, ten: (r) => r > 0, none: (r) => r === 0, unscored: (r) => r === -1 };

  function passes(row, place, wanted) {
    if (wanted.style !== "" && row[STYLE] !== +wanted.style) return false;
    if (wanted.talk !== "" && row[TALK] !== +wanted.talk) return false;
    if (wanted.category !== "" && row[CATEGORY] !== +wanted.category) return false;
    if (wanted.system !== "" || wanted.rank !== "") {
      const ranks = row[RANKS].filter(([system]) => wanted.system === "" || system === +wanted.system);
      if (!ranks.some(([, rank]) => wanted.rank === "" || RANK[wanted.rank](rank))) return false;
    }
    if (wanted.judge !== "" || wanted.label !== "") {
      if (!row[VERDICTS].some(([judge, label]) => (wanted.judge === "" || judge === +wanted.judge)
        && (wanted.label === "" || label === +wanted.label))) return false;
    }
    return wanted.words.every((word) => texts[place].includes(word));
  }

  function refresh() {
    const wanted = Object.fromEntries(Object.entries(fields).map(([name, input]) => [name, input.value]));
    wanted.words = wanted.words.toLowerCase().split(/\s+/).filter(Boolean);
    found = [];
    index.rows.forEach((row, place) => { if (passes(row, place, wanted)) found.push(place); });
    first = 0;
    draw();
  }

  function turn(step) {
    first += step;
    draw();
    table.scrollIntoView({ block: "nearest" });
    (body.querySelector("button") || count).focus();
  }

  function ranks(row) {
    const one = fields.system.value;
    return row[RANKS].filter(([system, rank]) => one !== "" ? system === +one : rank !== -1)
      .map(([system, rank]) => `${index.systems[system]}\u00a0${rank > 0 ? rank : rank === 0 ? "none" : "not\u00a0scored"}`).join(", ") || "–";
  }

  function draw() {
    const last = Math.min(first + PAGE, found.length);
    count.textContent = found.length
      ? `Items ${first + 1} to ${last} of ${found.length.toLocaleString("en")} (${index.rows.length.toLocaleString("en")} in all)`
      : "No item passes these filters.";
    table.hidden = !found.length;
    back.disabled = first === 0;
    on.disabled = last >= found.length;
    body.replaceChildren(...found.slice(first, last).map((place) => {
      const row = index.rows[place];
      return make("tr", {},
        make("td", {}, make("button", { type: "button", className: "ux-open", textContent: row[QUERY] || row[ID], onclick: () => show(place) }),
          make("div", { className: "ux-ids", textContent: `${index.styles[row[STYLE]]}, ${row[ID]}` })),
        make("td", { textContent: ranks(row) }));
    }));
  }

  /* ---------- one item ---------- */

  const heading = (level, text) => make(`h${level}`, { textContent: text });

  function memory([text, sources, gold], words) {
    return make("li", { className: gold ? "ux-gold" : "" }, gold ? make("strong", { textContent: "gold " }) : null,
      words[sources] ? make("span", { className: "ux-ids", textContent: `${words[sources]} ` }) : null, words[text]);
  }

  function memories(one, words) {
    if (!one.memories.length) return [make("p", { textContent: "Returned nothing." })];
    const [shown, rest] = [one.memories.slice(0, SHOWN), one.memories.slice(SHOWN)];
    const listed = [make("ol", {}, ...shown.map((each) => memory(each, words)))];
    if (rest.length) {
      listed.push(make("details", {}, make("summary", { textContent: `${rest.length} more memories of ${one.system}` }),
        make("ol", { start: SHOWN + 1 }, ...rest.map((each) => memory(each, words)))));
    }
    return listed;
  }

  function systems(returned, words) {
    if (!returned.length) return [make("p", { textContent: "Not on file for this item." })];
    const not = returned.filter((one) => one.unscored !== null);
    return [
      ...returned.filter((one) => one.unscored === null).flatMap((one) => [heading(4, one.system), ...memories(one, words)]),
      ...(not.length ? [heading(4, "Not scored"), make("ul", {}, ...not.map((one) => make("li", { textContent: `${one.system}: ${words[one.unscored]}` })))] : []),
    ];
  }

  function verdicts(reply) {
    const rows = reply.judgements.map(([judge, rubric, label, reason, unscored]) => make("tr", {},
      make("th", { scope: "row", textContent: judge }), make("td", { textContent: rubric }),
      make("td", { textContent: label ?? "unscored" }), make("td", { textContent: unscored || reason || "gave none" })));
    if (!rows.length) return make("p", { textContent: "No judge has read this reply." });
    return make("table", { className: "ux-table" }, make("caption", { textContent: "Verdicts on this reply" }),
      make("thead", {}, make("tr", {}, ...["Judge", "Rubric", "Verdict", "Reason"].map((name) => make("th", { scope: "col", textContent: name })))),
      make("tbody", {}, ...rows));
  }

  function fill(row, item, words) {
    const title = heading(2, `${row[ID]}, ${index.styles[row[STYLE]]}`);
    title.tabIndex = -1;
    const at = found.indexOf(index.rows.indexOf(row));
    const step = (text, by) => make("button", { type: "button", textContent: text, disabled: at < 0 || !(at + by in found),
      onclick: () => show(found[at + by]) });
    detail.replaceChildren(
      make("p", { className: "ux-pager" }, make("button", { type: "button", textContent: "Back to the list", onclick: () => close(row) }),
        step("Previous item", -1), step("Next item", 1)),
      title,
      make("blockquote", {}, make("p", { textContent: `${item.speaker ? `${item.speaker}: ` : ""}${row[QUERY]}` })),
      heading(3, "What it should bring to mind"),
      make("dl", {}, ...item.answers.flatMap(([question, answer]) => [make("dt", { textContent: words[question] }), make("dd", { textContent: words[answer] })])),
      item.gold.length ? make("ul", {}, ...item.gold.map(([id, text]) => make("li", {}, make("span", { className: "ux-ids", textContent: `${id} ` }), words[text])))
        : make("p", { textContent: "No turn is cited as evidence." }),
      heading(3, "What each system returned"),
      ...systems(item.returned, words),
      heading(3, "Replies and verdicts"),
      ...(item.replies.length ? item.replies.flatMap((reply) => [heading(4, reply.by),
        make("blockquote", {}, make("p", { className: "ux-reply", textContent: reply.text === null ? `No reply: ${reply.unscored}` : words[reply.text] })), verdicts(reply)])
        : [make("p", { textContent: "No reply to this item is on file." })]));
    list.hidden = true;
    detail.hidden = false;
    title.focus();
    detail.scrollIntoView({ block: "start" });
  }

  async function show(place) {
    const row = index.rows[place];
    try {
      const shard = await load(`items-${row[SHARD]}`);
      fill(row, shard.items[row[PLACE]], shard.texts);
      history.replaceState(null, "", `#item-${place}`);
    } catch (error) {
      count.textContent = `This item cannot be shown: ${error.message}.`;
    }
  }

  function close(row) {
    detail.hidden = true;
    list.hidden = false;
    history.replaceState(null, "", "#");
    const place = found.indexOf(index.rows.indexOf(row));
    if (place >= 0 && (place < first || place >= first + PAGE)) { first = place - place % PAGE; draw(); }
    (body.querySelectorAll("button")[place - first] || count).focus();
  }

  load("index").then((value) => {
    index = value;
    build();
    refresh();
    root.replaceChildren(list, detail);
    const asked = /^#item-(\d+)$/.exec(location.hash);
    if (asked && +asked[1] < index.rows.length) show(+asked[1]);
  }).catch((error) => { root.textContent = `The items of this run cannot be shown: ${error.message}.`; });
});
