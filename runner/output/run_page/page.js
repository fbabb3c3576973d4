/* SPDX-License-Identifier: Apache-2.0 */
// The page is whole without this. With it: words choose states, one button opens all, and a link opens what it leads to.
const states = [...document.querySelectorAll(".states > li")];
const words = document.getElementById("words"), all = document.getElementById("all"), shown = document.getElementById("shown");
const texts = new Map();
const textOf = (state) => {
  if (!texts.has(state)) texts.set(state, state.textContent.toLowerCase());
  return texts.get(state);
};
const isChosen = (state) => !state.hidden && document.getElementById("show-" + state.className).checked;
const choose = () => {
  const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const state of states) state.hidden = !wanted.every((word) => textOf(state).includes(word));
  for (const group of document.querySelectorAll(".group")) group.hidden = !group.querySelector("li:not([hidden])");
  const count = states.filter(isChosen).length;
  shown.textContent = `${count} of ${states.length} ${shown.dataset.noun}`;
};
const reveal = () => {
  const wanted = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!states.includes(wanted)) return;
  if (!isChosen(wanted)) {
    words.value = "";
    document.getElementById("show-" + wanted.className).checked = true;
    choose();
  }
  wanted.firstElementChild.open = true;
  wanted.scrollIntoView();
};
if (states.length) {
  document.querySelector(".scripted").hidden = false;
  words.addEventListener("input", choose);
  document.querySelector("fieldset").addEventListener("change", choose);
  all?.addEventListener("click", () => {
    const open = all.textContent === "Open all";
    for (const state of states) if (isChosen(state)) state.firstElementChild.open = open;
    all.textContent = open ? "Close all" : "Open all";
  });
  addEventListener("hashchange", reveal);
  choose();
  reveal();
}
