// Tabs that are radio buttons (fieldset.tabset). A link that leads into a part opens
// it first; a tab opens the parts of other sets that go with it (data-pairs).
const picks = (set) => [...set.querySelectorAll(":scope > .tab-part > .tab-face > .tab-pick")]

function open(place) {
  for (let part = place?.closest(".tab-part"); part; part = part.parentElement.closest(".tab-part")) {
    part.querySelector(":scope > .tab-face > .tab-pick").checked = true
  }
  for (let fold = place?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true
}

document.addEventListener("click", (e) => {
  const link = e.target.closest?.("a[href^='#']")
  const place = link && document.getElementById(link.hash.slice(1))
  if (!place) return
  open(place)
  if (place.matches("input, select, textarea")) {
    e.preventDefault()
    place.scrollIntoView({ block: "center" })
    place.focus({ preventScroll: true })
  }
})

document.addEventListener("change", (e) => {
  const pick = e.target.closest?.(".tab-pick[data-pairs]")
  if (!pick?.dataset.pairs) return
  for (const set of document.querySelectorAll(".tabset")) {
    const all = picks(set)
    if (all.includes(pick)) continue
    if (all.find((p) => p.checked)?.dataset.pairs === pick.dataset.pairs) continue
    const match = all.find((p) => p.dataset.pairs === pick.dataset.pairs)
    if (match) match.checked = true
  }
})
