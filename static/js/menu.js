// Folds open menus (details.menu): on Escape, on a click elsewhere, and when
// the focus leaves. Opening and closing by the button is the browser's own.
const opened = () => document.querySelectorAll("details.menu[open]")

document.addEventListener("click", (e) => {
  for (const menu of opened()) {
    if (!menu.contains(e.target)) menu.open = false
  }
})

document.addEventListener("focusout", (e) => {
  const menu = e.target.closest?.("details.menu[open]")
  if (menu && e.relatedTarget && !menu.contains(e.relatedTarget)) menu.open = false
})

document.addEventListener("keydown", (e) => {
  const menu = e.target.closest?.("details.menu[open]")
  if (!menu) return
  if (e.key === "Escape") {
    e.preventDefault()
    menu.open = false
    menu.querySelector("summary").focus()
  } else if ((e.key === "ArrowDown" || e.key === "ArrowUp") && !e.target.matches("input, select, textarea")) {
    step(menu, e)
  }
})

function step(menu, e) {
  const stops = [...menu.querySelectorAll(".menu-list :is(a[href], button:not(:disabled))")].filter((s) => s.checkVisibility())
  if (stops.length === 0) return
  e.preventDefault()
  const by = e.key === "ArrowDown" ? 1 : -1
  const at = stops.indexOf(document.activeElement)
  const next = at < 0 ? (by > 0 ? 0 : stops.length - 1) : (at + by + stops.length) % stops.length
  stops[next].focus()
}
