// Picking things up with a mouse or, by a long press, with a finger. A finger that
// moves first scrolls, as everywhere. What is under way is told to the caller:
// lift(thing), carry(place, share of its height), drop() and, if it was given up,
// leave(). Places are what matches the selector; grip is where a thing is taken,
// which is anywhere on it unless the caller says so.
const NEAR = 5
const STILL = 8
const PRESS = 400
const EDGE = 56

export function drags(board, things, places, { signal, grip = things, lift, carry, drop, leave }) {
  let thing, ghost, from, timer, pointer, last, frame

  const begin = () => {
    clearTimeout(timer)
    last ??= from
    const box = thing.getBoundingClientRect()
    ghost = thing.cloneNode(true)
    ghost.removeAttribute("id")
    ghost.setAttribute("aria-hidden", "true")
    ghost.classList.add("ghost")
    ghost.style.inlineSize = `${box.width}px`
    board.append(ghost)
    lift(thing, ghost)
    follow(last)
    frame = requestAnimationFrame(scroll)
  }

  const follow = (at) => {
    ghost.style.translate = `${at.clientX + 6}px ${at.clientY + 6}px`
    const place = document.elementFromPoint(at.clientX, at.clientY)?.closest(places)
    if (place && board.contains(place)) {
      const box = place.getBoundingClientRect()
      carry(place, (at.clientY - box.top) / box.height)
    } else carry(null, 0)
  }

  const scroll = () => {
    if (!ghost) return
    const by = last.clientY < EDGE ? -10 : last.clientY > innerHeight - EDGE ? 10 : 0
    if (by) {
      scrollBy(0, by)
      follow(last)
    }
    frame = requestAnimationFrame(scroll)
  }

  const end = (done) => {
    clearTimeout(timer)
    cancelAnimationFrame(frame)
    const lifted = ghost !== undefined
    ghost?.remove()
    thing = ghost = pointer = last = undefined
    if (lifted) (done ? drop : leave)()
    return lifted
  }

  const on = (target, type, f, options) => target.addEventListener(type, f, { signal, ...options })

  on(board, "pointerdown", (e) => {
    const hit = e.target.closest(grip)?.closest(things)
    if (!hit || e.button !== 0 || e.shiftKey || e.ctrlKey || e.metaKey || thing) return
    thing = hit
    from = { clientX: e.clientX, clientY: e.clientY }
    pointer = e.pointerId
    if (e.pointerType !== "mouse") timer = setTimeout(begin, PRESS)
  })
  on(window, "pointermove", (e) => {
    if (!thing || e.pointerId !== pointer) return
    last = { clientX: e.clientX, clientY: e.clientY }
    const far = Math.hypot(e.clientX - from.clientX, e.clientY - from.clientY)
    if (ghost) follow(last)
    else if (e.pointerType === "mouse" && far > NEAR) begin()
    else if (e.pointerType !== "mouse" && far > STILL) end(false)
  })
  on(window, "pointerup", (e) => {
    if (!thing || e.pointerId !== pointer) return
    if (!end(true)) return
    // The click that follows a drop is not one on a link.
    const swallow = (click) => { click.preventDefault(); click.stopPropagation() }
    window.addEventListener("click", swallow, { capture: true, once: true })
    setTimeout(() => window.removeEventListener("click", swallow, { capture: true }))
  })
  on(window, "pointercancel", (e) => { if (e.pointerId === pointer) end(false) })
  on(window, "keydown", (e) => { if (e.key === "Escape" && ghost) end(false) })
  on(board, "touchmove", (e) => { if (ghost && e.cancelable) e.preventDefault() }, { passive: false })
  on(board, "contextmenu", (e) => { if (thing && pointer !== undefined && (ghost || timer) && e.pointerType !== "mouse") e.preventDefault() })
  on(board, "dragstart", (e) => { if (e.target.closest?.(grip)) e.preventDefault() })
}
