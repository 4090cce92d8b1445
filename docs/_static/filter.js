// A box above the errata: entries without the words typed into it are hidden.
document.addEventListener("DOMContentLoaded", () => {
  const page = document.getElementById("errata");
  if (!page) return;
  const box = Object.assign(document.createElement("input"), { id: "filter", type: "search" });
  box.placeholder = "Show only entries that contain: theorem, cobo, released code ...";
  page.querySelector("p").after(box);
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/);
    for (const entry of page.querySelectorAll(":scope > section > section")) {
      const text = entry.textContent.toLowerCase();
      entry.hidden = !words.every((word) => text.includes(word));
    }
  });
});
