"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const storageKey = "unbidden-labels:" + data.packet;
const at = (id) => document.getElementById(id);
let state = { annotator: "", labels: {}, comments: {}, place: 0 };

function notice(text) { at("notice").textContent = text; }

// Texts of the data only ever become text nodes.
function make(tag, text, name) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (name) node.className = name;
  return node;
}

function load() {
  try {
    const kept = JSON.parse(localStorage.getItem(storageKey) || "null");
    for (const name of ["labels", "comments"]) {
      if (kept && kept[name] && typeof kept[name] === "object") state[name] = kept[name];
    }
    if (kept && typeof kept.annotator === "string") state.annotator = kept.annotator;
    if (kept && Number.isInteger(kept.place)) state.place = kept.place;
  } catch (error) {
    notice("Earlier progress could not be read (" + error.message + "). Export often.");
  }
  if (!(state.place >= 0 && state.place < data.items.length)) state.place = 0;
}

function save() {
  try {
    localStorage.setItem(storageKey, JSON.stringify(state));
  } catch (error) {
    notice("This browser keeps no progress (" + error.message + "). Export before you close the page.");
  }
}

function checkKeys(item) {
  return data.checks[item.style].flatMap((check) =>
    check.each_member ? item.facts.map((_, n) => ({ check, key: check.id + "." + n, member: n }))
      : [{ check, key: check.id, member: null }]);
}

function finished(item) {
  const labels = state.labels[item.id] || {};
  return checkKeys(item).every(({ key }) => key in labels);
}

function showProgress() {
  const done = data.items.filter(finished).length;
  at("progress").max = data.items.length;
  at("progress").value = done;
  at("count").textContent = done + " of " + data.items.length + " finished";
  data.items.forEach((item, n) => {
    at("jump").options[n].textContent = (n + 1) + " " + item.style + (finished(item) ? " (finished)" : "");
  });
}

function factNode(fact, n, many) {
  const box = make("section", undefined, "fact");
  box.append(make("h2", many ? "Fact " + (n + 1) : "The fact"));
  for (const [label, text] of [["Plain question: ", fact.question], ["Answer: ", fact.answer]]) {
    const line = make("p", label);
    line.append(make("strong", text, "text"));
    box.append(line);
  }
  const list = make("ul", undefined, "evidence");
  for (const turn of fact.evidence) {
    const entry = make("li");
    entry.append(make("span", turn.when + ", " + turn.speaker + ": " + turn.text, "text"));
    if (turn.image) entry.append(make("span", " [image: " + turn.image + "]", "text"));
    list.append(entry);
  }
  box.append(list);
  return box;
}

function checkNode(item, { check, key, member }) {
  const box = make("fieldset");
  box.append(make("legend", check.ask + (member === null ? "" : " (fact " + (member + 1) + ")")));
  for (const [value, text] of check.options) {
    const label = make("label");
    const input = make("input");
    input.type = "radio";
    input.name = key;
    input.value = value;
    input.checked = (state.labels[item.id] || {})[key] === value;
    input.addEventListener("change", () => {
      (state.labels[item.id] = state.labels[item.id] || {})[key] = value;
      save();
      showProgress();
    });
    label.append(input, make("span", text));
    box.append(label);
  }
  return box;
}

function show(place) {
  state.place = place;
  const item = data.items[place];
  const main = at("item");
  main.replaceChildren();
  main.append(make("h2", (place + 1) + ". " + item.style + " query"));
  const who = make("p", "Said to an assistant by ");
  who.append(make("strong", item.speaker, "text"), " (the other person is ", make("span", item.listener, "text"), ")");
  main.append(who, make("blockquote", item.query, "text"));
  item.facts.forEach((fact, n) => main.append(factNode(fact, n, item.facts.length > 1)));
  checkKeys(item).forEach((part) => main.append(checkNode(item, part)));
  const label = make("label", "Comment (optional)");
  const comment = make("textarea");
  comment.value = state.comments[item.id] || "";
  comment.addEventListener("input", () => { state.comments[item.id] = comment.value; save(); });
  label.append(comment);
  main.append(label);
  at("jump").selectedIndex = place;
  at("previous").disabled = place === 0;
  at("next").disabled = place === data.items.length - 1;
  save();
}

// Moves to an item as a reader expects: its heading in view and in focus.
function go(place) {
  show(place);
  const heading = at("item").querySelector("h2");
  heading.tabIndex = -1;
  heading.focus();
}

function exportLabels() {
  if (!state.annotator.trim()) {
    notice("Write your name first: labels are compared by person.");
    at("annotator").focus();
    return;
  }
  const value = {
    format: "unbidden-labels/1",
    packet: data.packet,
    annotator: state.annotator.trim(),
    items: data.items.map((item) => ({ id: item.id, style: item.style, members: item.facts.length })),
    labels: state.labels,
    comments: state.comments,
  };
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(value, null, 1) + "\n"], { type: "application/json" }));
  link.download = "labels-" + data.packet + ".json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  notice("Exported. " + at("count").textContent + ".");
}

load();
data.items.forEach(() => at("jump").append(make("option")));
at("annotator").value = state.annotator;
at("annotator").addEventListener("input", (event) => { state.annotator = event.target.value; save(); });
at("export").addEventListener("click", exportLabels);
at("previous").addEventListener("click", () => go(state.place - 1));
at("next").addEventListener("click", () => go(state.place + 1));
at("jump").addEventListener("change", (event) => go(event.target.selectedIndex));
at("open").addEventListener("click", () => {
  const order = data.items.map((_, n) => (state.place + 1 + n) % data.items.length);
  const place = order.find((n) => !finished(data.items[n]));
  if (place === undefined) notice("All items are finished. Export your labels.");
  else go(place);
});
showProgress();
show(state.place);
