// Keeps the page true: asks for it again every few seconds and takes the new
// content if it differs. Stays quiet in a hidden tab and while a film plays.
const every = 3000

async function look() {
  const live = document.querySelector("[data-live]")
  if (document.hidden || !live || document.querySelector(".consent") || [...live.querySelectorAll("video")].some((v) => !v.paused)) return
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } })
  if (!answer.ok) return
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html")
  for (const part of ["[data-live]", ".bar-nav"]) {
    const old = document.querySelector(part), now = fresh.querySelector(part)
    if (old && now && shape(old) !== now.innerHTML) old.replaceChildren(...now.childNodes)
  }
}

// shape is the content without what the reader opened.
function shape(node) {
  const copy = node.cloneNode(true)
  for (const d of copy.querySelectorAll("details[open]")) d.removeAttribute("open")
  return copy.innerHTML
}

setInterval(() => look().catch(() => {}), every)
