"use strict";
const query = document.getElementById("query");
const count = document.getElementById("count");
const plain = (text) => text.toLowerCase().replace(/[-_]/g, " ");
const entries = [...document.querySelectorAll("details")].map((node) => ({
  node,
  name: plain(node.dataset.name),
  words: plain(node.dataset.words),
  text: plain(node.textContent),
}));

// 0 is the best; an entry that lacks a word is none.
function fit(entry, wanted) {
  if (entry.name === wanted) return 0;
  if ((" " + entry.words + " ").includes(" " + wanted + " ")) return 1;
  if (entry.name.includes(wanted)) return 2;
  return wanted.split(/\s+/).every((word) => entry.text.includes(word)) ? 3 : null;
}

function search() {
  const wanted = plain(query.value).trim();
  const fits = entries.map((entry) => (wanted ? fit(entry, wanted) : 3));
  const best = Math.min(...fits.filter((found) => found !== null));
  let shown = 0;
  entries.forEach((entry, at) => {
    const found = fits[at];
    // What only mentions the word is left out where something is called so.
    entry.node.hidden = found === null || (best < 3 && found === 3);
    entry.node.open = Boolean(wanted) && found === best && best < 2;
    shown += entry.node.hidden ? 0 : 1;
  });
  document.querySelectorAll("section").forEach((section) => {
    section.hidden = !section.querySelector("details:not([hidden])");
  });
  count.textContent = shown + " of " + entries.length + " entries";
}

function follow() {
  const node = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (node) {
    query.value = "";
    search();
    node.open = true;
    node.scrollIntoView();
  }
}

query.addEventListener("input", search);
window.addEventListener("hashchange", follow);
// A link may carry the word: `reference.html?q=mask`.
query.value = new URLSearchParams(location.search).get("q") || "";
search();
follow();
