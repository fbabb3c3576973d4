/* SPDX-License-Identifier: Apache-2.0 */
// The page is whole without this. With it: a pointer on a box shows its arrows, and words in the field choose SLS files.
for (const svg of document.querySelectorAll(".picture svg")) {
  const arrows = [...svg.querySelectorAll(".arrow")], boxes = [...svg.querySelectorAll(".box")];
  const show = (number) => {
    const near = new Set([number]);
    for (const arrow of arrows) {
      const touches = number !== null && (arrow.dataset.a === number || arrow.dataset.b === number);
      arrow.classList.toggle("weak", number !== null && !touches);
      arrow.classList.toggle("strong", touches);
      if (touches) near.add(arrow.dataset.a).add(arrow.dataset.b);
    }
    for (const box of boxes) box.classList.toggle("weak", number !== null && !near.has(box.dataset.n));
  };
  for (const box of boxes) {
    box.addEventListener("mouseenter", () => show(box.dataset.n));
    box.addEventListener("mouseleave", () => show(null));
  }
}
const all = [...document.querySelectorAll("details")];
const field = document.querySelector("input");
field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const each of all) {
    const fits = words.every((word) => each.textContent.toLowerCase().includes(word));
    each.hidden = !fits;
    each.open = fits && words.length > 0;
  }
});
document.querySelector("button").addEventListener("click", () => {
  const open = !all.every((each) => each.open);
  for (const each of all) each.open = open;
});
const reveal = () => {
  const wanted = document.getElementById(location.hash.slice(1));
  if (wanted) { wanted.hidden = false; wanted.open = true; wanted.scrollIntoView(); }
};
addEventListener("hashchange", reveal);
reveal();
