// Keys press what carries them in aria-keyshortcuts: a link or button is pressed, a
// field gets the focus, and so does the field of a fold that is opened. What stands
// in the part (data-keys) that has the focus comes first. Single keys do nothing where somebody types, and nothing
// at all once they are switched off. The arrows walk through what was found.
const OFF = "herald-single-keys-off"

function off() {
  try {
    return localStorage.getItem(OFF) !== null
  } catch {
    return false
  }
}

const typing = (at) => at.matches("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]")

document.addEventListener("keydown", (e) => {
  if (e.defaultPrevented || e.altKey || e.isComposing || !(e.target instanceof Element)) return
  const chord = e.ctrlKey ? "Control+" : e.metaKey ? "Meta+" : ""
  if (!chord && (typing(e.target) || off())) return
  const key = chord + (e.key.length === 1 ? e.key.toUpperCase() : e.key)
  const within = [...document.querySelectorAll("dialog:modal")].at(-1) ?? document
  const answers = (one) => one.getAttribute("aria-keyshortcuts").split(" ").includes(key) && one.checkVisibility()
  const hit = [e.target.closest("[data-keys]"), within].map((part) => [...(part?.querySelectorAll("[aria-keyshortcuts]") ?? [])].find(answers)).find(Boolean)
  if (!hit) return
  e.preventDefault()
  if (typing(hit)) return hit.focus()
  hit.click()
  if (hit.matches("summary")) hit.parentElement.querySelector("textarea")?.focus()
})

document.addEventListener("keydown", (e) => {
  if (e.key !== "ArrowDown" && e.key !== "ArrowUp" || !e.target.closest?.(".find-form, .find")) return
  const root = e.target.closest("dialog") ?? document
  const stops = [root.querySelector(".find-form input"), ...root.querySelectorAll(".find-item")]
  const next = stops.indexOf(document.activeElement) + (e.key === "ArrowDown" ? 1 : -1)
  e.preventDefault()
  stops[(next + stops.length) % stops.length].focus()
})

// Enter goes to the first that was found.
document.addEventListener("submit", (e) => {
  if (!e.target.matches("dialog .find-form")) return
  const first = e.target.closest("dialog").querySelector(".find-item")
  if (!first) return
  e.preventDefault()
  first.click()
})

// Opened, the dialog shows where one can go before anything is asked.
document.addEventListener("focusin", (e) => {
  if (e.target.matches?.("dialog .find-form input") && !e.target.closest("dialog").querySelector(".find-item")) e.target.dispatchEvent(new Event("look"))
})

const show = () => document.documentElement.toggleAttribute("data-single-keys-off", off())
show()

document.addEventListener("click", (e) => {
  if (!e.target.closest?.('[data-action="single-keys"]')) return
  try {
    if (off()) localStorage.removeItem(OFF)
    else localStorage.setItem(OFF, "")
  } catch {
    // nothing can be kept here
  }
  show()
})
