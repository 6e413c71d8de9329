// Where arrow keys lead among the buttons of a grid that wraps as wide as it is.
const STEPS = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }

// stepFrom is the button that a key leads to from here: none past either end of a row
// or of all, and undefined if the key leads nowhere at all.
export function stepFrom(here, seen, key) {
  const step = STEPS[key]
  if (!step) return undefined
  if (key === "ArrowRight" || key === "ArrowLeft") return seen[seen.indexOf(here) + step] ?? null
  return beyond(here, seen, step)
}

// beyond is the nearest one of the next row, up or down.
function beyond(here, seen, step) {
  const { left, top } = here.getBoundingClientRect()
  let best = null, least
  for (const b of seen) {
    const box = b.getBoundingClientRect()
    const down = (box.top - top) * step
    if (down < 2) continue
    const far = down * 100 + Math.abs(box.left - left)
    if (least === undefined || far < least) [best, least] = [b, far]
  }
  return best
}

// goTo moves the focus, and with it the grid's one stop of the tab key.
export function goTo(panel, to) {
  if (!to) return
  for (const b of panel.querySelectorAll('.emoji-grid button[tabindex="0"]')) b.tabIndex = -1
  if (to.matches("button")) to.tabIndex = 0
  to.focus()
}
