// A form that changes something is sent once: while its answer is on the way a
// second submit is dropped and the button that sent it shows as busy. The button
// keeps its focus and its value, so it is marked and not disabled. The server
// refuses replays by itself; this only spares people the refusal.
const sending = new WeakMap()

const asks = (elt) => elt?.matches("[hx-post], [hx-put], [hx-patch], [hx-delete]") ?? false

function release(form) {
  const button = sending.get(form)
  sending.delete(form)
  button?.removeAttribute("aria-busy")
  button?.removeAttribute("aria-disabled")
}

document.addEventListener("submit", (e) => {
  if (!sending.has(e.target)) return
  e.preventDefault()
  e.stopImmediatePropagation()
}, { capture: true })

document.addEventListener("submit", (e) => {
  const form = e.target
  const byHtmx = asks(form) || asks(e.submitter)
  const byItself = form.method === "post" && !e.defaultPrevented
  if (!(byHtmx || byItself) || form.hasAttribute("data-repeat")) return
  const button = e.submitter ?? form.querySelector("button[type=submit], button:not([type])")
  sending.set(form, button)
  button?.setAttribute("aria-busy", "true")
  button?.setAttribute("aria-disabled", "true")
})

document.addEventListener("htmx:finally:request", (e) => {
  const source = e.detail.ctx.sourceElement
  const form = source.closest("form")
  if (source === form || source === sending.get(form)) release(form)
})

// The back button can bring a page back as it was left: busy.
window.addEventListener("pageshow", (e) => {
  if (!e.persisted) return
  for (const form of document.forms) release(form)
})
